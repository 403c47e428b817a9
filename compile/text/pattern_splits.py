r"""Splits by patterns whose cuts depend on two adjacent characters alone, for `fst.compile.text.pre_tokenizers`.

Such a pattern is a choice of sets of characters, each for one character or, with ``+``, for a run, such as ``\s+`` or ``[a-z]+|[0-9]``.
Other patterns, such as ``Br?|C``, depend on more characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fst.compile.patterns import parser
from fst.compile.patterns.code_points import Set, difference, intersection, union
from fst.compile.patterns.tree import Atomic, Characters, Choice, Node, Repeat
from fst.compile.patterns.tree import Sequence as Several
from fst.compile.text.components import FLAG, MAPPING, STRING, Component, Fields, kind_of
from fst.errors import UnsupportedError, quoted

DELIMITER = "CharDelimiterSplit"
KNOWN: Fields = {"Split": {"pattern": MAPPING, "behavior": STRING, "invert": FLAG}, DELIMITER: {"delimiter": STRING}}
EVERY = r"[\s\S]"
MAX_RUNS = 500  # maximum number of sets whose runs a pattern matches; each takes milliseconds to compile


class Cuts(NamedTuple):
    """The matches of a pattern.

    Attributes:
        singles: the characters that are a match alone.
        runs: disjoint sets; each longest run of characters of a set is a match.
    """

    singles: Set
    runs: Sequence[Set]


def is_pattern(part: Component) -> bool:
    """Whether a pre-tokenizer splits by a pattern."""
    return kind_of(part, "pre_tokenizer") in KNOWN


def as_split(part: Component) -> dict[str, Any]:
    """The Split that is equivalent to a Split or a CharDelimiterSplit, with one pattern. An empty pattern matches before each character, so
    it cuts at each character.
    """
    if part["type"] == DELIMITER:
        if len(part["delimiter"]) != 1:
            raise ValueError(f"delimiter of pre_tokenizer {DELIMITER} is {quoted(part['delimiter'])}; expected one character")
        return {"type": "Split", "pattern": {"String": part["delimiter"]}, "behavior": "Removed", "invert": False}
    pattern = part["pattern"]
    if len(pattern) != 1 or not pattern.keys() <= {"Regex", "String"} or not all(isinstance(value, str) for value in pattern.values()):
        raise ValueError(f"pre_tokenizer Split has {quoted(pattern)} for its pattern; it is a Regex or a String")
    if "" in pattern.values() and not (part["behavior"] == "Removed" and part["invert"]):
        return {"type": "Split", "pattern": {"Regex": EVERY}, "behavior": "Isolated", "invert": False}
    return {**part, "behavior": part["behavior"] or "Isolated"}


def cuts_of(pattern: Mapping[str, str]) -> Cuts:
    """The matches of the pattern of a Split.

    Examples:
        >>> cuts = cuts_of({"Regex": "[a-c]+|[b-d]"})
        >>> cuts.singles.tolist(), [run.tolist() for run in cuts.runs]
        ([100, 101], [[97, 100]])
    """
    ((form, spelling),) = pattern.items()
    tree = parser.literal(spelling) if form == "String" else parser.parse(spelling)
    singles, together, runs = union(), union(), list[Set]()  # `together`: the characters of all runs
    for node in tree.parts if isinstance(tree, Choice) else (tree,):
        found, is_run = _set_of(node)
        if found is None or (is_run and len(intersection(found, union(singles, together)))):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(spelling)}; expected sets of characters, or runs of disjoint sets")
        if is_run:
            runs.append(found)
            together = union(together, found)
        else:
            singles = union(singles, difference(found, together))
        if len(runs) > MAX_RUNS:
            raise UnsupportedError(f"a pre_tokenizer Split matches runs of more than {MAX_RUNS} sets of characters")
    return Cuts(singles, runs)


def _set_of(node: Node) -> tuple[Set | None, bool]:
    """The set of a node that matches a character or a run of characters, and whether it matches runs; None for other nodes."""
    if isinstance(node, Several) and len(node.parts) == 1:
        return _set_of(node.parts[0])
    if isinstance(node, Atomic):
        return _set_of(node.body)
    if isinstance(node, Characters):
        return node.edges, False
    if isinstance(node, Repeat) and isinstance(node.body, Characters) and (node.least, node.most, node.lazy) == (1, None, False):
        return node.body.edges, True
    return None, False
