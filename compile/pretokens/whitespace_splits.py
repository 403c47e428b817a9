r"""Separators, that is, characters that a splitter drops and after which it starts as at the beginning of a text.

Text between two runs of separators is cut as if it were a separate text, so a run of separators may be replaced by another run. This has
two consequences:

- A `Replace` of whitespace by whitespace, such as CLIP's ``\s+`` → space, does not change ids, words or offsets.
- A pattern may contain added tokens. Usually no text contains added tokens, because they are cut out earlier, so the automata of
  `sequences` ignore them. However, normalizers may produce an added token from other text. In this case, a space is inserted after the
  token, which has the same effect as the pattern (`fst.text.normalizer.Cuts`).

Example: the pattern ``<end>|[a-z]+|[^\sa-z]+``, whose matches are split again by ``[a-z]+|[^\sa-z]+``, and the added token <end>. No
automaton runs both patterns, so the splitter is the one without <end>::

    text      by the patterns      by the splitter      with a space after <end>
    a<end>!   a < end > !          a < end >!           a < end > !
    !<end>!   !< end >!            !< end >!            no space: after !, no pre-token begins before <end>
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, takewhile

import numpy as np

from fst.automata.rows import WHITE_SPACE
from fst.compile.patterns import code_points, parser
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.code_points import SURROGATES
from fst.compile.patterns.tree import Characters, Choice, LookAhead, Node, children, matches_nothing
from fst.compile.pretokens.automata import Automaton, Step
from fst.compile.pretokens.gaps import total
from fst.compile.pretokens.sequences import in_sequence, split_of
from fst.compile.pretokens.splitter import spelled
from fst.compile.text.added_tokens import runs
from fst.compile.text.components import Component
from fst.compile.text.folding import characters_of
from fst.errors import UnsupportedError, quoted
from fst.tables.header import ContextualToken
from fst.text.normalizer import MAX_CUTS, NO_CUTS, Cuts, Normalizer
from fst.text.splitter import DEAD, START, Span, Splitter
from fst.text.whitespace import NEVER, SPACE

LITERAL = {("Isolated", False), ("Isolated", True), ("Removed", True)}  # the pairs (behavior, invert) that keep each match as a pre-token
NO_WHITE_SPACE = "."
UNCLEAR = -1  # in place of an end whose position is unknown


def are_separators(chars: Iterable[str], split: Splitter) -> bool:
    """Whether all given characters are separators of a splitter without gaps, and can replace each other."""
    classes = {int(split.classes[ord(char)]) for char in chars}
    if not classes <= split.dropped:
        return False
    automaton = Automaton.of(split.moves)
    steps, others = automaton.steps(), [number for number in range(split.moves.shape[1] - 1) if number not in split.dropped]
    in_pieces = _reached(steps, others, range(len(steps[START])))
    in_gaps = _reached(steps, split.dropped, split.dropped)
    same_ends = all(len({steps[state][number] for number in classes}) <= 1 for state in in_pieces)
    ends = all(steps[state][number][0] == DEAD for state in in_pieces for number in classes)
    return ends and same_ends and all(steps[state][number] == (DEAD, True) for state in in_gaps for number in others)


def _reached(steps: Sequence[Sequence[Step]], firsts: Iterable[int], others: Iterable[int]) -> set[int]:
    """The states that a search can reach after one of the symbols `first` and any number of further symbols."""
    others, found = [*others], {steps[START][symbol][0] for symbol in firsts} - {DEAD}
    waiting = [*found]
    for state in waiting:  # the loop appends to `waiting`
        fresh = {steps[state][symbol][0] for symbol in others} - found - {DEAD}
        found |= fresh
        waiting += fresh
    return found


# Whitespace that becomes other whitespace.


def makes_white_space(part: Component) -> bool:
    """Whether a normalizer is a `Replace` of whitespace by whitespace; False for a `Replace` of a single character, which is compiled as a
    map.
    """
    if part["type"] != "Replace" or not part["content"]:
        return False
    return characters_of(part["pattern"]) is None and {*_replaced(part["pattern"]), *part["content"]} <= {*WHITE_SPACE}


def need_without_effect(part: Component, after: Normalizer, late: Mapping[str, ContextualToken], split: Splitter) -> None:
    """Refuse a normalizer that turns whitespace into other whitespace, unless no later step distinguishes the two. `late` are the added
    tokens that are found in normalized text, by their normalized spelling.
    """
    chars = {*_replaced(part["pattern"]), *part["content"]}
    images = {image for char in chars for image in _images(after, char)} | ({SPACE} if after.whitespace.prefix != NEVER else set())
    is_apart = not any(token.lstrip or token.rstrip or images.intersection(spelling) for spelling, token in late.items())
    if after.edits or after.earlier or not (is_apart and "" not in images and are_separators(images, split)):
        raise UnsupportedError(f"normalizer Replace of {quoted(part['pattern'])} where the pre_tokenizer does not drop all white space")


def _replaced(pattern: Component) -> str:
    """The characters of the matches of a pattern, if all of these are whitespace; otherwise a character that is not whitespace."""
    ((form, spelling),) = pattern.items() if len(pattern) == 1 else [("", None)]
    if form not in ("String", "Regex") or not isinstance(spelling, str):
        return NO_WHITE_SPACE
    try:
        tree = parser.literal(spelling) if form == "String" else parser.parse(spelling)
    except UnsupportedError:
        return NO_WHITE_SPACE
    taken = code_points.union(*_taken(tree))
    if matches_nothing(tree) or len(code_points.difference(taken, code_points.of_text(WHITE_SPACE))):
        return NO_WHITE_SPACE
    return "".join(map(chr, code_points.members(taken).tolist()))


def _taken(node: Node) -> Iterator[code_points.Set]:
    """The sets of characters in the matches of a node, without the characters of look-aheads."""
    if isinstance(node, Characters):
        yield node.edges
    elif not isinstance(node, LookAhead):
        for child in children(node):
            yield from _taken(child)


def _images(after: Normalizer, char: str) -> str | tuple[str]:
    """The characters that `char` becomes; an empty string if `char` may be deleted, or if the result depends on the characters next to
    it.
    """
    image, _ = after.normalized(char)
    parts, step = image, after.composition
    if step:
        parts += step.apply(char)[0] + replace(step, pairs={}).apply(char)[0]
        known = {code for pair in step.pairs for code in pair} | step.orders.keys()
        if not known.isdisjoint(map(ord, parts)):
            return ("",)
    return image or ("",)


# Strings in a pattern.


def splitter_and_cuts(parts: Sequence[Component], absent: Collection[str], early: Collection[str]) -> tuple[Splitter, Cuts]:
    """Compile a sequence of splits into a splitter. Also return the strings after which a separator must be inserted. No text between added
    tokens contains a string of `absent`; normalization may again produce added tokens of raw text, `early`.
    """
    try:
        return in_sequence(parts, absent), NO_CUTS
    except UnsupportedError:
        strings = _strings(parts[0], absent, early)
        if not strings or any(_holds(spelling, strings) for part in parts[1:] for spelling in _spellings(part)):
            raise
        split = in_sequence(parts, [*absent, *strings])
        inside = _inside(total(split_of(parts[0], [*absent, *strings], budget := Budget()), budget), strings)
        are_cut_alike = all(_alone(parts[1:], string) == _followed(split, string) for string in strings)
        if inside is None or not are_cut_alike or not are_separators(SPACE, split):
            raise
        return split, Cuts(strings, inside)


def _strings(part: Component, absent: Collection[str], early: Collection[str]) -> list[str]:
    """The strings of `early` that are the first alternatives in a split's pattern."""
    spellings = _spellings(part) if (part.get("behavior"), part.get("invert")) in LITERAL and "dialect" not in part else []
    known = [*takewhile(lambda string: string in early or _holds(string, absent), spellings)]
    found = [string for string in known if not _holds(string, absent)]
    others = [string for string in spellings if string not in found]
    are_apart = len({*found}) == len(found) and not any(one.startswith(other) for one, other in permutations(found, 2))
    fit = all(any(map(str.isascii, string)) for string in found) and sum(map(len, found)) <= MAX_CUTS
    return found if are_apart and fit and not any(_holds(string, found) for string in others) else []


def _spellings(part: Component) -> list[str]:
    """The string of each alternative of a split's pattern; empty for an alternative that is not a string."""
    pattern = part.get("pattern", {})
    tree = parser.parse(pattern["Regex"]) if "Regex" in pattern else None
    return [spelled(node) for node in tree.parts] if isinstance(tree, Choice) else []


def _holds(string: str, others: Iterable[str]) -> bool:
    return any(other in string for other in others)


def _inside(split: Splitter, strings: Sequence[str]) -> list[list[int]] | None:
    """Runs of code points. If one of the strings follows a character in these runs, no pre-token begins before the string. None if the runs
    are unknown.

    If a string follows any other character, a pre-token begins before the string.
    """
    steps, symbols = Automaton.of(split.moves).steps(), range(split.moves.shape[1] - 1)
    rows = [[int(split.classes[ord(char)]) for char in string] for string in strings]
    befores = [{steps[state][symbol][0] for state in range(START, len(steps))} - {DEAD} for symbol in symbols]
    ends = [{_end(steps, before, row) for before in states for row in rows} - {None} for states in befores]
    if any(UNCLEAR in found or (0 in found and len(found) > 1) for found in ends):
        return None
    inside = [symbol for symbol in symbols if 0 not in ends[symbol]]
    flags = np.isin(split.classes, inside)
    flags[SURROGATES[0] : SURROGATES[1] + 1] = False
    edges = runs(flags)
    return [[*run] for run in zip(edges[0::2], edges[1::2], strict=True)]


def _end(steps: Sequence[Sequence[Step]], state: int, symbols: Sequence[int]) -> int | None:
    """The number of symbols that a search in `state` adds to the current pre-token; None if the pre-token ends before these symbols;
    `UNCLEAR` if the number is unknown.
    """
    end = None
    for place, symbol in enumerate(symbols):
        state, ends = steps[state][symbol]
        end = place if ends else end
        if state == DEAD:
            return end
    return UNCLEAR


def _alone(parts: Sequence[Component], string: str) -> list[Span]:
    """The pre-tokens into which the later splits cut a string that is a pre-token of the first split."""
    return in_sequence(parts).pretokens(string)


def _followed(split: Splitter, string: str) -> list[Span]:
    """The pre-tokens of a string that is followed by a space."""
    return split.pretokens(string + SPACE)
