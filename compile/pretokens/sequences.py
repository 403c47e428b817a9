"""Compile a sequence of splits, each of which cuts the pre-tokens of the previous split, into one splitter without gaps.

The automata of two splits run in parallel over a pre-token of the first split. For the second automaton, the end of this pre-token is the
end of the text. Both automata report an end one symbol later, so the combined automaton can report the ends of the second split. The
compiler explores both automata over all texts, and refuses the splits unless two conditions hold:

- At each symbol, the same end can be reported, whether the pre-token of the first split ends here or continues.
- The search begins again after a reported end. If the second split cuts inside a pre-token of the first split, a search of the first split
  that begins at this cut must therefore end where this pre-token ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns.budget import Budget
from fst.compile.patterns.sets import Dialect
from fst.compile.pretokens.automata import Automaton, Step, at_edges, explored, reduced, whole
from fst.compile.pretokens.counted_runs import common_codes
from fst.compile.pretokens.gaps import is_unclear, total
from fst.compile.pretokens.scripts import ROWS, split_of_scripts
from fst.compile.pretokens.splits import steps
from fst.compile.pretokens.splitter import splitter
from fst.compile.text.components import Component
from fst.compile.text.pre_tokenizers import SCRIPTS, Splits
from fst.errors import UnsupportedError
from fst.text.splitter import DEAD, START, Splitter

ENTANGLED = "splits in sequence that no automaton can run: the second cuts pre-tokens of the first where the first cannot begin again"
BEHAVIORS = {
    "Isolated": "isolated",
    "Removed": "removed",
    "Contiguous": "contiguous",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
}
KEPT_SPLITS = 8  # number of cached splitters, about 1 MB each; compiling a vocabulary asks for the same ones several times
NOWHERE = -1  # in place of a state: the automaton does not run, because the first split drops the text


def in_sequence(parts: Sequence[Component], absent: Collection[str] = ()) -> Splitter:
    r"""Compile splits in sequence into a splitter.

    Args:
        parts: splits in the form of `fst.compile.pretokens.splits`, without other parts.
        absent: strings that no text contains, such as special tokens, which are cut out earlier.

    Examples:
        >>> digits = {"type": "Split", "pattern": {"Regex": "[0-9]"}, "behavior": "Isolated", "invert": False}
        >>> words = {"type": "Split", "pattern": {"Regex": r"\S+"}, "behavior": "Removed", "invert": True}
        >>> text = "in 1984 B4"
        >>> [text[begin:end] for begin, end in in_sequence([digits, words]).pretokens(text)]
        ['in', '1', '9', '8', '4', 'B', '4']
    """
    budget = Budget()
    return chained([total(split_of(part, absent, budget), budget) for part in parts], budget)


def of_words(parts: Sequence[Component]) -> Sequence[Splitter]:
    """Compile the pre-tokenizers of a model of words into splitters, each for the pre-tokens of the previous one. Empty if an alphabet
    can express the cuts. `parts`: from `fst.compile.text.pre_tokenizers.components`.
    """
    with suppress(UnsupportedError):
        Splits(parts)
        return ()
    return in_groups([step for part in parts for step in steps(part)])


def in_groups(parts: Sequence[Component]) -> Sequence[Splitter]:
    """Compile splits in sequence into splitters, each for as many splits as one automaton can run. `fst.text.normalizer.EDGE` separates the
    pre-tokens of a splitter, and each later splitter cuts there first. The first splitter may leave gaps, which are pre-tokens, too.
    """
    budget = Budget()
    leading = with_gaps(parts[:1])
    found: list[Splitter] = []
    for part in parts[len(leading) :]:
        split = total(split_of(part, (), budget), budget)
        try:
            found[-1:] = [composed(found[-1] if found else at_edges(), split, budget)] if found or leading else [split]
        except UnsupportedError:
            found.append(composed(at_edges(), split, budget))
    return [*leading, *found]


def with_gaps(parts: Sequence[Component]) -> list[Splitter]:
    """The splitter of the first split if its gaps are pre-tokens and no automaton without gaps is equivalent; otherwise empty. Only a
    normalizer can run such a splitter.
    """
    split = split_of(parts[0], (), Budget()) if parts else None
    return [split] if split and split.behavior == BEHAVIORS["Isolated"] and not split.runs and is_unclear(split) else []


def chained(splits: Sequence[Splitter], budget: Budget) -> Splitter:
    """Compile splitters in sequence into a splitter. No splitter may leave gaps."""
    return reduce(lambda first, second: composed(first, second, budget), splits) if splits else whole()


def split_of(part: Component, absent: Collection[str], budget: Budget) -> Splitter:
    """The splitter of a single split. There may be gaps between its matches."""
    if part["type"] == SCRIPTS:
        return split_of_scripts(part["half"])
    ((form, pattern),) = part["pattern"].items()
    behavior, dialect = BEHAVIORS[part["behavior"]], part.get("dialect", "oniguruma")
    present = dialect == "fancy-regex"  # in tiktoken, a user may encode special tokens as ordinary text, so texts may contain them
    found, taken = _kept(pattern, behavior, part["invert"], dialect, form == "String", frozenset(() if present else absent))
    budget.take(taken)
    return found


@lru_cache(maxsize=KEPT_SPLITS)
def _kept(
    pattern: str, behavior: str, invert: bool, dialect: Dialect, literal: bool, absent: frozenset[str]
) -> tuple[Splitter, int]:
    """The splitter of a pattern, and the steps that compiling it takes."""
    budget = Budget()
    found = splitter(pattern, behavior, invert, dialect=dialect, literal=literal, absent=absent, budget=budget)
    return found, budget.taken


def last_apart(parts: Sequence[Component]) -> int:
    """The number of splits up to the last one that needs a splitter of its own, because it has counted runs (`fst.text.counted_runs`) or is
    the first half of UnicodeScripts; 0 if there is none.
    """
    return max((place for place, part in enumerate(parts, 1) if part == ROWS or split_of(part, (), Budget()).runs), default=0)


def composed(first: Splitter, second: Splitter, budget: Budget) -> Splitter:
    """The splitter that cuts the pre-tokens of `first` by `second`. Both splitters must be without gaps."""
    one, other, runs = common_codes(first, second)
    classes, pairs = _common(one, other)
    automaton = _Composition(first, second, pairs).automaton(budget, None if runs else classes)
    drops = np.array([left in first.dropped or right in second.dropped for left, right in pairs])
    return replace(reduced(classes, automaton, drops), runs=runs)


def _common(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], list[tuple[int, int]]]:
    """The common class of each code point, and for each common class, the pair of original classes.

    Common classes are numbered in the order of first occurrence.
    """
    width = int(other.max()) + 1
    keys = one * np.uint16(width) + other
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))  # starts of runs of code points
    numbers: dict[int, int] = {}
    of_runs = [numbers.setdefault(key, len(numbers)) for key in keys[starts].tolist()]
    classes = np.repeat(np.array(of_runs, np.uint16), np.diff(starts, append=len(keys)))
    return classes, [divmod(key, width) for key in numbers]


class _Situation(NamedTuple):
    """The state of a search for a pre-token, which ends at the last reported end.

    Attributes:
        first: the state of the first automaton.
        second: the state of the second automaton, if the first automaton's pre-token does not end here. DEAD: the end of its match is
            known, unless the first automaton's pre-token ends earlier. NOWHERE: the first automaton drops the pre-token.
        lost: whether the last match of the second automaton ended before the reported end.
        again: the state of a new search by the first automaton from the end of the second automaton's match. DEAD: the second automaton has
            no match yet, or the new search is over. NOWHERE: the first automaton would drop the text there.
        agrees: whether the new search has reported the same end as the first automaton.
    """

    first: int
    second: int
    lost: bool = False
    again: int = DEAD
    agrees: bool = False


BEGIN, OVER = _Situation(START, START), _Situation(DEAD, DEAD)


@dataclass(frozen=True)
class _Side:
    """One of the two automata that a `_Composition` runs in parallel.

    Attributes:
        moves: the steps by state and common class; the last class is the end of the text.
        drops: for each common class, whether pre-tokens that begin with a character of the class are dropped.
        surely: for each state, whether a match ends later, for every text that follows.
    """

    moves: list[list[Step]]
    drops: list[bool]
    surely: list[bool]

    @classmethod
    def of(cls, split: Splitter, classes: Sequence[int]) -> _Side:
        """Create the side of a splitter. `classes` maps each common class to the splitter's class."""
        automaton = Automaton.of(split.moves[:, [*classes, -1]])
        return cls(automaton.steps(), [number in split.dropped for number in classes] + [False], automaton.surely_ends().tolist())

    def step(self, state: int, symbol: int) -> Step:
        """The next state after a state and a symbol, and whether a match ends before the symbol."""
        return self.moves[state][symbol] if state != NOWHERE else (NOWHERE, False)


class _Composition:
    """The combination of two automata that run in parallel."""

    def __init__(self, first: Splitter, second: Splitter, pairs: Sequence[tuple[int, int]]) -> None:
        self._first = _Side.of(first, [one for one, _ in pairs])
        self._second = _Side.of(second, [other for _, other in pairs])
        self._end = len(pairs)

    def automaton(self, budget: Budget, classes: NDArray[Any] | None) -> Automaton:
        """The combined automaton. `classes`: as in `explored`."""
        return explored(self._begin, self._next, OVER, self._end + 1, budget, classes)

    def _begin(self, symbol: int) -> tuple[_Situation, bool]:
        """The first step."""
        if self._first.drops[symbol]:
            return _Situation(self._first.moves[START][symbol][0], NOWHERE), False
        return self._next(BEGIN, symbol)

    def _next(self, now: _Situation, symbol: int) -> tuple[_Situation, bool]:
        """The situation after a symbol, and whether an end is reported before it."""
        first, first_ends = self._first.step(now.first, symbol)
        if now.second == NOWHERE:
            return _Situation(first, NOWHERE) if first else OVER, first_ends
        second, second_ends = self._second.step(now.second, symbol)
        again, again_ends = self._first.step(now.again, symbol)
        agrees = again_ends if first_ends else now.agrees and not again_ends
        # If the first automaton's pre-token ends here, either a match of the second automaton also ends here, or the second automaton's
        # last match ended inside this pre-token.
        ends_with_both = first_ends and self._second.step(now.second, self._end)[1]
        if first_ends and not ends_with_both and (now.lost or again != first or not agrees):
            raise UnsupportedError(ENTANGLED)
        if first == DEAD:
            return OVER, ends_with_both
        # If the pre-token of the first automaton may end here, report this end instead of the end of the second automaton's match.
        is_sure = self._first.surely[first]
        named = second_ends if is_sure else ends_with_both
        if second_ends:
            lost, again, agrees = not named, self._restarted(symbol), False
        else:
            lost, agrees = now.lost or named, agrees and not is_sure
        # The reported end is final, and a new search by the first automaton from there ends where the current search would end.
        is_decided = second == DEAD and not lost and again == first and (is_sure or agrees)
        return OVER if is_decided else _Situation(first, second, lost, again, agrees), named

    def _restarted(self, symbol: int) -> int:
        """The state of the first automaton after the first symbol of a search."""
        return NOWHERE if self._first.drops[symbol] else self._first.moves[START][symbol][0]
