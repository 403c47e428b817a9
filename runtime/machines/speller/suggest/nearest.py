"""The nearest words to a misspelling, in the order of their distances (`fst.machines.speller.nearest`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.core.random import is_index
from fst.errors import not_one_of, quoted
from fst.machines.speller.nearest import (
    BUDGETS,
    CELLS,
    FIRST_LABEL,
    MAX_STEPS,
    MAX_SYMBOLS,
    Near,
    NearWord,
    NearWork,
    arguments_of,
    work_of,
)
from fst.tables.strings import StringColumn

find_near = Deferred("fst.runtime.machines.speller.suggest.kernels.nearest", "find_near")
STYLES = NEAREST, HUNSPELL = "nearest", "hunspell"
CHECKED = 4  # the number of words that are checked together, per suggestion


def need_limit(limit: int, style: str) -> None:
    """Refuse a number of suggestions that is no whole number or less than 1, and an unknown style."""
    if not is_index(limit) or limit < 1:
        raise ValueError(f"limit is {quoted(limit)}; expected at least 1")
    if style not in STYLES:
        raise ValueError(not_one_of("style", style, STYLES))


class NearWords:
    """The search of near words in a table; threads may share it.

    Args:
        table: a table with the automaton of words.
        check: checks words; returns bool[words].
    """

    def __init__(self, table: Any, check: Callable[[Sequence[str]], Array]) -> None:
        self._check, self._is_reversed = check, bool(table.named_options.complex_prefixes)
        self._arguments = arguments_of(table)
        self._letters = [*map(chr, table.near_letters.tolist())]
        self._labels = {letter: FIRST_LABEL + number for number, letter in enumerate(self._letters)}
        strings = [*StringColumn(table.near_bytes, table.near_ends)]
        self._replacements = [
            (fault, [self._labels[letter] for letter in correction])
            for fault, correction in zip(strings[::2], strings[1::2], strict=True)
            if self._labels.keys() >= {*correction}
        ]
        self._works = list[NearWork]()

    def suggestions(self, word: str, limit: int) -> list[Near]:
        """The words of least distance, at most the last one of `BUDGETS`; those of equal distance in the order of code points. A search
        that takes too many steps is not complete, so that only nearer words are suggested.
        """
        found, budgets = list[Near](), BUDGETS if limit == 1 else BUDGETS[::-1]  # few words have several others within the first one
        for budget in budgets if 0 < len(word) <= MAX_SYMBOLS else ():
            near = self._within(word, budget)
            found = found if near is None else self._correct(word, near, limit)
            if len(found) == limit or (near is not None and budget == BUDGETS[-1]):
                break
        return found

    def _correct(self, word: str, near: Sequence[Near], limit: int) -> list[Near]:
        """The first `limit` correct words of some."""
        found = list[Near]()
        for start in range(0, len(near), CHECKED * limit):
            some = [each for each in near[start : start + CHECKED * limit] if each.text != word]
            found += [each for each, is_correct in zip(some, self._check([each.text for each in some]).tolist(), strict=True) if is_correct]
            if len(found) >= limit:
                return found[:limit]
        return found

    def _within(self, word: str, budget: int) -> list[Near] | None:
        """The words within a distance, in their order, and strings that are no words; None if there are too many."""
        found = dict[str, int]()
        for form, restored in _cases(word):
            near = self._search(form, budget)
            if near is None:
                return None
            for distance, text in near:
                text = restored(text)
                found[text] = min(distance, found.get(text, distance))
        return sorted(Near(distance, text) for text, distance in found.items())

    def _search(self, word: str, budget: int) -> list[Near] | None:
        work = self._take()
        counts = np.array([0, 0, MAX_STEPS], np.int64)
        find_near.call(np.int64(budget), counts, self._word(word[::-1] if self._is_reversed else word), self._arguments, work)
        labels, found = work.text[: counts[1]].tolist(), work.found[: 3 * counts[0]].reshape(-1, 3).tolist()
        self._works.append(work)
        if not counts[2]:
            return None
        texts = ("".join([self._letters[label - FIRST_LABEL] for label in labels[begin:end]]) for begin, end, _ in found)
        return [Near(distance, text[::-1] if self._is_reversed else text) for text, (_, _, distance) in zip(texts, found, strict=True)]

    def _take(self) -> NearWork:
        """Working arrays that no other thread uses."""
        try:
            return self._works.pop()
        except IndexError:
            return work_of(FIRST_LABEL + len(self._letters))

    def _word(self, word: str) -> NearWord:
        """The labels of a misspelling, and the places where replacements are possible."""
        others = {letter: FIRST_LABEL + len(self._letters) + number for number, letter in enumerate({*word} - self._labels.keys())}
        labels = [self._labels[letter] if letter in self._labels else others[letter] for letter in word]
        ends, sizes, starts, written = list[int](), list[int](), [0], list[int]()
        for fault, correction in self._replacements:
            if fault in word:
                for end in _ends(word, fault):
                    if len(written) > CELLS:  # no row has room for them
                        break
                    ends.append(end)
                    sizes.append(len(fault))
                    written += correction
                    starts.append(len(written))
        return NearWord(*(np.array(numbers, np.int64) for numbers in (labels, ends, sizes, starts, written)))


def _ends(word: str, fault: str) -> Iterator[int]:
    """The ends of all places of a string in a word."""
    place = word.find(fault)
    while place >= 0:
        yield place + len(fault)
        place = word.find(fault, place + 1)


def _cases(word: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yield the forms of a word that are searched, each with the function that restores the case of the word."""
    yield word, str
    lower = word.lower()
    if word != lower and word == word.upper():
        yield lower, str.upper
    if word[:1] != lower[:1] and word[1:] == lower[1:]:
        yield lower, _capitalized


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
