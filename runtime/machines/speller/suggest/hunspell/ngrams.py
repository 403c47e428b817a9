"""Suggestions by similarity: the stems with most n-grams of the misspelling, and their forms [SuggestMgr::ngsuggest]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.lazy import Lazy
from fst.machines.speller.hints import Hints
from fst.runtime.machines.speller.suggest.hunspell.expansion import Forms
from fst.runtime.machines.speller.suggest.hunspell.letters import Letters
from fst.runtime.machines.speller.suggest.hunspell.scores import (
    Best,
    common_places,
    common_start,
    common_subsequence,
    ngrams,
)
from fst.runtime.machines.speller.suggest.hunspell.sounds import Sounds
from fst.runtime.machines.speller.suggest.hunspell.stages import MOST

MOST_STEMS, MOST_GUESSES, MOST_SIMILAR, MOST_SOUNDS = 100, 200, 4, 2
FARTHEST = 4  # the maximum difference in length of a stem
SOUND_SCORE, FARTHEST_SOUND = 2, 3  # sounds are compared of stems with a better score, and at most this difference in length
EQUAL, EXCELLENT, DOUBTFUL, BAD = 2000, 1000, -100, -1000  # scores
NO_SCORE = -(1 << 20)


class Stems(NamedTuple):
    """The stems of one length: their numbers; their characters, and the same in lower case, each a column; whether they have a capital only
    at the beginning.
    """

    numbers: Array
    units: Array
    lower: Array
    are_initial: Array


class Similar:
    """The search for similar stems.

    Args:
        table: a table with the options of suggestions.
        hints: the options.
        letters: the case of letters.
    """

    def __init__(self, table: Any, hints: Hints, letters: Letters) -> None:
        self._table, self._hints, self._letters = table, hints, letters
        self._sounds = Sounds(hints.phonetic, table.metadata.dictionary.encoding) if hints.phonetic else None
        self._allows_names = table.metadata.dictionary.language == "de" or self._sounds is not None
        self._known = dict[int, str]()
        most = hints.most_difference
        self._factor = 1.0 if most is None else (10.0 - most) / 5.0
        self._most = MOST_SIMILAR if hints.most_similar is None else hints.most_similar

    @Lazy
    def _forms(self) -> Forms:
        return Forms(self._table, self._letters)

    @Lazy
    def _stems(self) -> dict[int, Stems]:
        """The stems of each length."""
        units, ends = self._table.root_units, self._table.root_ends.astype(np.int64)
        some, places = np.unique(units, return_inverse=True)
        lower = np.array([ord(self._letters.lowered(chr(unit))) for unit in some.tolist()], np.uint16)[places]
        sizes, found = np.diff(ends), dict[int, Stems]()
        for size in np.unique(sizes).tolist():
            numbers = np.flatnonzero(sizes == size)
            at = ends[numbers] + np.arange(size)[:, None]
            found[size] = Stems(numbers, units[at], lower[at], (self._table.root_sets[numbers] & 1).astype(bool))
        return found

    def add(self, texts: list[str], word: str, is_accepted: Callable[[str], bool], *, is_lower: bool) -> None:
        """Add the suggestions for a word. `is_accepted`: whether a word is accepted; `is_lower`: whether the fault has no capitals."""
        scores = self._scores(word, is_lower=is_lower)
        guesses = self._guesses(word, [(self._stem(number), int(self._table.root_sets[number]) >> 1) for _, number in _best(scores)])

        def may_add(guess: str) -> bool:
            return not texts or (not any(text in guess for text in texts) and is_accepted(guess))

        size, is_last = len(texts), False
        for score, guess in self._weighted(word, guesses):
            if len(texts) >= min(size + self._most, MOST) or (is_last and score <= EXCELLENT):
                continue
            is_last |= score > EXCELLENT or score < DOUBTFUL
            if score < DOUBTFUL and (len(texts) > size or self._hints.only_most_similar):
                continue
            if may_add(guess):
                texts.append(guess)
        size = len(texts)
        for guess in self._with_similar_sounds(word, scores) if self._sounds else ():
            if len(texts) < min(size + MOST_SOUNDS, MOST) and may_add(guess):
                texts.append(guess)

    def _scores(self, word: str, *, is_lower: bool) -> Array:
        """The score of each stem."""
        scores = np.full(len(self._table.root_sets), NO_SCORE, np.int64)
        for size, stems in self._stems.items():
            if abs(size - len(word)) <= FARTHEST:
                found = _scores_of(word, stems)
                if is_lower and not self._allows_names:
                    found[stems.are_initial] = NO_SCORE
                scores[stems.numbers] = found
        return scores

    def _with_similar_sounds(self, word: str, scores: Array) -> list[str]:
        """The stems whose sounds are most similar to that of a word, the best first."""
        sizes = np.diff(self._table.root_ends.astype(np.int64))
        numbers = np.flatnonzero((scores > SOUND_SCORE) & (np.abs(sizes - len(word)) <= FARTHEST_SOUND))
        if not len(numbers):
            return []
        sounds = np.array([self._sound(number) for number in numbers.tolist()])
        units = sounds.view(np.uint32).reshape(len(sounds), -1).T
        sounding = np.full(len(scores), NO_SCORE, np.int64)
        sounding[numbers] = 2 * _ngrams_of(self._sound_of(word), units, np.count_nonzero(units, axis=0))
        found = list[tuple[int, str]]()
        for score, number in sorted(_best(sounding), key=lambda each: -each[0]):
            stem = self._stem(number)
            lower = self._letters.lowered(stem)
            common = common_start(word, lower, self._letters.lowered(lower[:1]))
            found.append((score + 2 * common_subsequence(word, lower) - abs(len(word) - len(stem)) + common, stem))
        return [stem for _, stem in sorted(found, key=lambda each: -each[0])]

    def _sound(self, number: int) -> str:
        """The sound of a stem."""
        if number not in self._known:
            self._known[number] = self._sound_of(self._stem(number))
        return self._known[number]

    def _sound_of(self, text: str) -> str:
        assert self._sounds is not None
        return self._sounds.of(self._letters.raised(text))

    def _stem(self, number: Any) -> str:
        start, end = self._table.root_ends[number : number + 2].tolist()
        return str(self._table.root_units[start:end].astype("<u2").tobytes().decode("utf-16-le", "surrogatepass"))

    def _least(self, word: str) -> int:
        """The score that a guess must exceed: that of the word with other characters."""
        total = 0
        for start in range(1, 4):
            other = "".join(["*" if place >= start and (place - start) % 4 == 0 else char for place, char in enumerate(word)])
            total += ngrams(len(word), word, self._letters.lowered(other))
        return int(total / 3) - 1

    def _guesses(self, word: str, stems: list[tuple[str, int]]) -> list[tuple[int, str]]:
        """The forms of stems with the best scores, in Hunspell's order."""
        least, best, fitting = self._least(word), Best[str](MOST_GUESSES), self._forms.fitting(word)
        for stem, flags in stems:
            for form in fitting.forms(stem, flags):
                lower = self._letters.lowered(form)
                score = ngrams(len(word), word, lower) + common_start(word, form, lower[:1])
                if score > least:
                    best.add(score, form)
        found = [(score, form) for score, form in zip(best.scores, best.items, strict=True) if form is not None]
        return sorted(found, key=lambda each: -each[0])

    def _weighted(self, word: str, guesses: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """The guesses by a finer score. As in Hunspell, guesses after one that differs only in case keep their score."""
        found = list[tuple[int, str]]()
        for place, (score, guess) in enumerate(guesses):
            lower = self._letters.lowered(guess)
            common = common_subsequence(word, lower)
            if len(word) == len(guess) == common:
                found += [(score + EQUAL, guess), *guesses[place + 1 :]]
                break
            found.append((self._weight(word, lower, common), guess))
        return sorted(found, key=lambda each: -each[0])

    def _weight(self, word: str, other: str, common: int) -> int:
        pairs = ngrams(2, word, other, is_weighted=True)
        pairs += ngrams(2, other, self._letters.lowered(word), is_weighted=True)
        has_equal_place, is_swap = common_places(word, other)
        score = 2 * common - abs(len(word) - len(other)) + common_start(word, other, other[:1]) + has_equal_place + 10 * is_swap
        score += ngrams(4, word, other) + pairs
        return score + (BAD if pairs < (len(word) * (self._sounds is None) + len(other)) * self._factor else 0)


def _best(scores: Array) -> list[tuple[int, int]]:
    """The best scores and their numbers, in Hunspell's places."""
    best = Best[int](MOST_STEMS)
    for place in range(0, len(scores), 1 << 12):
        some = scores[place : place + (1 << 12)]
        for at in np.flatnonzero((some > best.lowest) & (some > NO_SCORE)).tolist():
            best.add(int(some[at]), place + at)
    return [(score, number) for score, number in zip(best.scores, best.items, strict=True) if number is not None]


def _scores_of(word: str, stems: Stems) -> Array:
    """The score of each stem: n-grams of one to three characters, and characters in common at the beginning."""
    size = len(stems.lower)
    score = _ngrams_of(word, stems.lower, np.full(stems.lower.shape[1], size))
    run = (stems.units[0] == ord(word[0])) | (stems.lower[0] == ord(word[0]))
    score += run
    for place in range(1, min(len(word), size)):
        run = run & (stems.units[place] == ord(word[place]))
        score += run
    return score


def _ngrams_of(word: str, columns: Array, sizes: Array) -> Array:
    """The number of strings of `word` with one to three characters that other words contain; longer words count less. `columns`: the
    characters of each word, with 0 after its end; `sizes`: their numbers.
    """
    equal = {char: columns == ord(char) for char in {*word}}
    size = len(columns)
    counts = []
    for length in range(1, 4):
        count = np.zeros(columns.shape[1], np.int64)
        for place in range(len(word) - length + 1 if size >= length else 0):
            matches = equal[word[place]][: size - length + 1]
            for more in range(1, length):
                matches = matches & equal[word[place + more]][more : size - length + 1 + more]
            count += matches.any(0)
        counts.append(count)
    first, second, third = counts
    score: Array = first + np.where(first >= 2, second + np.where(second >= 2, third, 0), 0)
    score -= np.maximum(sizes - len(word) - 2, 0) * (sizes > 0)
    return score
