"""Splitters: automata that cut a text into pre-tokens by a pattern. The slow walk here is their specification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS, PAGE_BITS, Array
from fst.core.fields import Fields, Scalar
from fst.tables.proof import need, need_none
from fst.text.counted_runs import CountedRuns

Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
Span = tuple[int, int]

BEHAVIORS: tuple[str, ...] = get_args(Behavior)
MAX_CLASSES = 62
DEAD, START = 0, 1
# Constants for the kernels that search for pre-tokens:
MEMO = 3  # the first elements of a memo are for `fst.runtime.kernels.tries.match_at`, the later elements for the search for pre-tokens
STRETCH, STRETCH_ENDS, HAS_FAILED, FAILED = range(MEMO, MEMO + 4)  # indices of these later elements, see `fst.runtime.text.kernels.search`
FAILED_BITS = 14  # at most ``1 << FAILED_BITS`` failed searches are remembered


@dataclass(frozen=True, eq=False)
class Splitter:
    """An automaton that cuts a text into pre-tokens by a pattern.

    A search begins in START at a position of the text and reads one symbol at a time. A move consists of the next state and of a bit, which
    is set if a match ends before the symbol. So the end of a match is known only after the next symbol is read, and a pattern can look one
    symbol ahead. A search ends in DEAD, and its result is the longest match. The next search begins at the end of this match. If a search
    finds no match, the next search begins one symbol after the start of the failed search.

    Attributes:
        classes: uint8[0x110000], the class of each code point, from 0; at most 62 classes. With `runs`, the classes of the virtual codes
            follow.
        moves: uint16[states, classes + 1], ``target << 1 | match_ends`` for a state and the class of the next symbol. The last column is
            for the end of the text, and leads to DEAD. The row of DEAD is zero.
        behavior: the reference's name of the rule that makes pre-tokens from matches and from the gaps between them.
        invert: whether gaps count as matches, and matches as gaps.
        dropped: a set of classes. A pre-token is dropped if the class of its first character is in this set.
        runs: the runs of characters that the pattern counts; None if it counts no characters.
    """

    classes: NDArray[np.uint8]
    moves: NDArray[np.uint16]
    behavior: Behavior = "isolated"
    invert: bool = False
    dropped: frozenset[int] = frozenset()
    runs: CountedRuns | None = None

    def stored(self) -> dict[str, Any]:
        """The JSON form of a splitter with the default behavior: the starts and classes of runs of code points, moves, dropped classes, and
        counted runs if there are any.
        """
        starts = np.flatnonzero(np.append(True, self.classes[1:] != self.classes[:-1]))
        runs = {"starts": starts.tolist(), "numbers": self.classes[starts].tolist()}
        counted = {"runs": self.runs.stored()} if self.runs else {}
        return {**runs, "moves": self.moves.tolist(), "dropped": sorted(self.dropped), **counted}

    @classmethod
    def from_stored(cls, stored: Any) -> Splitter:
        """Read a splitter with the default behavior from its JSON form."""
        if not isinstance(stored, dict) or sorted({*stored} - {"runs"}) != ["dropped", "moves", "numbers", "starts"]:
            raise ValueError("a splitter has other keys than dropped, moves, numbers, runs and starts")
        runs = CountedRuns.from_stored(stored["runs"]) if "runs" in stored else None
        codes = CODE_POINTS + (runs.virtual_codes if runs else 0)
        starts, numbers, moves, dropped = (stored[name] for name in ("starts", "numbers", "moves", "dropped"))
        if not isinstance(moves, list) or not moves or any(not _are_whole(row, 1 << 16) or len(row) != len(moves[0]) for row in moves):
            raise ValueError("the moves of a splitter are not rows of one length with numbers of 16 bits")
        classes = len(moves[0]) - 1
        if not all(_are_whole(listed, classes) for listed in (numbers, dropped)) or not _are_whole(starts, codes):
            raise ValueError("a splitter has other than lists of code points and of its classes")
        if len(starts) != len(numbers) or starts[:1] != [0] or any(one >= other for one, other in pairwise(starts)):
            raise ValueError("the runs of a splitter do not ascend from 0, or have no class each")
        found = np.array(moves, np.uint16)
        prove_moves(found)
        return cls(np.repeat(np.array(numbers, np.uint8), np.diff(starts, append=codes)), found, dropped=frozenset(dropped), runs=runs)

    def symbols(self, text: str) -> list[int]:
        """The class of each character of a text."""
        return [int(self.classes[code]) for code in (self.runs.codes(text) if self.runs else map(ord, text))]

    def pretokens(self, text: str) -> list[Span]:
        """The spans of the pre-tokens of a text, in characters."""
        symbols = self.symbols(text)
        spans = kept(self.segments(text), self.behavior)
        return [(start, end) for start, end in spans if start < end and symbols[start] not in self.dropped]

    def segments(self, text: str) -> list[tuple[Span, bool]]:
        """Divide a text into segments: matches, and the gaps between them. A segment has the flag True if it counts as a match."""
        segments, start = [], 0
        for first, last in self.matches(text):
            if start < first:
                segments.append(((start, first), self.invert))
            segments.append(((first, last), not self.invert))
            start = last
        if start < len(text):
            segments.append(((start, len(text)), self.invert))
        return segments

    def matches(self, text: str) -> Iterator[Span]:
        """The spans of the matches, from left to right."""
        symbols = [*self.symbols(text), -1]
        place = 0
        while place < len(text):
            end = self._match(symbols, place)
            if end is not None:
                yield place, end
            place = place + 1 if end is None else end

    def _match(self, symbols: Sequence[int], place: int) -> int | None:
        """The end of the match that begins at a position; None if no match begins there."""
        state, end = START, None
        while state != DEAD:
            move = int(self.moves[state, symbols[place]])
            if move & 1:
                end = place
            state = move >> 1
            place += 1
        return end


def _are_whole(listed: Any, limit: int) -> bool:
    """Whether a value is a list of integers that are at least 0 and below a limit."""
    return isinstance(listed, list) and all(type(number) is int and 0 <= number < limit for number in listed)


def prove_moves(moves: NDArray[np.uint16]) -> None:
    """Prove that searches stay inside the array of moves and end with their text, and that no match is empty."""
    states, columns = moves.shape
    need(states > START and 1 < columns <= MAX_CLASSES + 1, f"the splitter has {states} states and {columns - 1} classes")
    need_none((moves >> 1 >= states).any(axis=1), lambda state: f"state {state} of the splitter leads to a state past the last")
    need(not moves[DEAD].any(), "the splitter leaves the dead state")
    need(not (moves[:, -1] >> 1).any(), "the splitter reads past the end of the text")
    need(not (moves[START] & 1).any(), "the splitter has an empty match")


def kept(segments: Sequence[tuple[Span, bool]], behavior: Behavior) -> list[Span]:
    """The pre-tokens that a behavior makes from segments. The flag of a segment is True for a match, and False for a gap.

    >>> segments = [((0, 1), True), ((1, 4), False), ((4, 5), True), ((5, 6), True)]
    >>> kept(segments, "removed")
    [(1, 4)]
    >>> kept(segments, "merged_with_previous")
    [(0, 1), (1, 5), (5, 6)]
    >>> kept(segments, "merged_with_next")
    [(0, 4), (4, 5), (5, 6)]
    >>> kept(segments, "contiguous")
    [(0, 1), (1, 4), (4, 6)]
    """
    if behavior == "merged_with_next":
        mirrored = [((-end, -start), matched) for (start, end), matched in reversed(segments)]
        return [(-end, -start) for start, end in reversed(kept(mirrored, "merged_with_previous"))]
    pretokens: list[Span] = []
    before = False  # whether the previous segment is a match
    for (start, end), matched in segments:
        if pretokens and _joins(behavior, before, matched):
            pretokens[-1] = (pretokens[-1][0], end)
        elif not (matched and behavior == "removed"):
            pretokens.append((start, end))
        before = matched
    return pretokens


def _joins(behavior: Behavior, before: bool, matched: bool) -> bool:
    """Whether a segment becomes part of the pre-token before it."""
    return before == matched if behavior == "contiguous" else behavior == "merged_with_previous" and matched and not before


class SplitterScalars(Fields):
    """The scalars of `SplitterArguments`."""

    columns: Scalar  # number of columns of `moves`
    members: Scalar  # the next four: see `fst.text.counted_runs.CountedRuns`; without counted runs, all are 0
    kinds: Scalar
    end: Scalar
    period: Scalar


class SplitterArguments(NamedTuple):
    """The splitter of a `fst.text.normalizer.Normalizer`, as kernels read it. Without a splitter, all arrays are empty.

    The kernels first convert a text to symbols, one byte for each character, and then search in the symbols.

    Attributes:
        classes: see `Splitter`; without a splitter, empty.
        marks: see `fst.text.counted_runs.CountedRuns`; without counted runs, empty.
        pages, blocks: the class of each symbol, which is the symbol itself, in the form of `fst.pretokens.table.PretokenTable`.
        moves: uint16[states * columns].
        drops: uint8[classes], 1 if pre-tokens that begin with a character of the class are dropped.
    """

    scalars: SplitterScalars
    classes: Array
    marks: Array
    pages: Array
    blocks: Array
    moves: Array
    drops: Array


def splitter_arguments(split: Splitter | None) -> SplitterArguments:
    """The arguments for a splitter."""
    bytes_, units = np.empty(0, np.uint8), np.empty(0, np.uint16)
    if split is None:
        return SplitterArguments(SplitterScalars(), bytes_, bytes_, units, bytes_, units, bytes_)
    columns, runs = split.moves.shape[1], split.runs
    counted = {"members": runs.members, "kinds": runs.kinds, "end": runs.end, "period": runs.period} if runs else {}
    return SplitterArguments(
        SplitterScalars(columns=columns, **counted),
        split.classes,
        runs.marks if runs else bytes_,
        np.zeros(1, np.uint16),
        np.arange(1 << PAGE_BITS, dtype=np.uint8),
        split.moves.ravel(),
        np.isin(np.arange(columns - 1), [*split.dropped]).astype(np.uint8),
    )
