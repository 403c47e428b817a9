r"""Splits by patterns whose cuts depend on two adjacent characters alone, for `fst.compile.text.pre_tokenizers`.

Such a pattern is a choice of sets of characters, each for one character or, with ``+``, for a run, such as ``\s+`` or ``[a-z]+|[0-9]``.
Other patterns, such as ``Br?|C``, depend on more characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fst.compile.patterns import parser
from fst.compile.patterns.code_points import Set, difference, intersection, union
from fst.compile.patterns.tree import Atomic, Characters, Choice, Node, Repeat
from fst.compile.patterns.tree import Sequence as Several
from fst.compile.text.components import MAPPING, STRING, Component, Fields, kind_of
from fst.errors import UnsupportedError, quoted

DELIMITER = "CharDelimiterSplit"
KNOWN: Fields = {"Split": {"pattern": MAPPING, "behavior": STRING, "invert": (bool, "true or false")}, DELIMITER: {"delimiter": STRING}}
EVERY = r"[\s\S]"


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


def behavior_of(part: Component) -> str:
    """What a split does with matches. A split that is inverted does so with the text between matches."""
    return "Removed" if part["type"] == DELIMITER else part["behavior"] or "Isolated"


def cuts_of(part: Component) -> Cuts:
    """The matches of a split's pattern.

    Examples:
        >>> cuts = cuts_of({"type": "Split", "pattern": {"Regex": "[a-c]+|[b-d]"}, "behavior": "Isolated", "invert": False})
        >>> cuts.singles.tolist(), [run.tolist() for run in cuts.runs]
        ([100, 101], [[97, 100]])
    """
    pattern = {"String": part["delimiter"]} if part["type"] == DELIMITER else part["pattern"]
    ((form, spelling),) = pattern.items() if len(pattern) == 1 else [("", None)]
    if form not in ("Regex", "String") or not isinstance(spelling, str):
        raise ValueError(f"pre_tokenizer Split has {quoted(pattern)} for its pattern; it is a Regex or a String")
    tree = parser.literal(spelling) if form == "String" and spelling else parser.parse(spelling or EVERY)
    singles, runs = union(), list[Set]()
    for node in tree.parts if isinstance(tree, Choice) else (tree,):
        found, is_run = _set_of(node)
        if found is None or (is_run and len(intersection(found, union(singles, *runs)))):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(spelling)}; expected sets of characters, or runs of disjoint sets")
        if is_run:
            runs.append(found)
        else:
            singles = union(singles, difference(found, union(*runs)))
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
