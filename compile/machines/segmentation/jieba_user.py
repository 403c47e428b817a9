"""Words that a user adds to jieba. If a word has no frequency, jieba computes the lowest frequency with which the word is not cut.

Source: jieba 0.42.1, ``Tokenizer.load_userdict``, ``add_word`` and ``suggest_freq``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from fst.compile.dictionary_words import ASCII_SPACE, FREQUENCY
from fst.compile.files import read_text
from fst.core.lazy import Lazy
from fst.errors import VocabularyError, quoted

LINE = re.compile(r"(.+?)( [0-9]+)?( [a-z]+)?")  # a word, its frequency and its part of speech
BLOCKS = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
LETTER = re.compile(r"[a-zA-Z0-9]")
SPACES = re.compile(r"(\r\n|\s)")


class UserWord(NamedTuple):
    """A word of a user."""

    word: Any
    frequency: int | None  # the word's frequency; None: computed by `Frequencies.suggested`
    place: str  # the word's position, for messages
    tag: str = ""  # the word's part of speech; "" if it has none


def user_words(source: str | Path | Iterable[Any], most: int) -> Iterator[UserWord]:
    """Read the words of a user from a file as in ``jieba.load_userdict``, or from words and pairs of a word and its frequency. `source`:
    the path of a file with lines ``word``, ``word frequency``, ``word part-of-speech`` or ``word frequency part-of-speech``; or words, and
    pairs of a word and its frequency. `most`: the maximum frequency.
    """
    if isinstance(source, str | Path):
        yield from _of_lines(read_text(Path(source), drop_mark=True).split("\n"), str(source))
        return
    for place, entry in enumerate(source):
        word, frequency, tag = (entry, None, "") if isinstance(entry, str) else _entry(entry, place)
        if frequency is not None and (type(frequency) is not int or not 0 <= frequency <= most):
            raise VocabularyError(f"entry {place}, {quoted(word)}: the frequency is {quoted(frequency)}; expected 0 to {most:,}, or None")
        yield UserWord(word, frequency, f"entry {place}", tag)


def _entry(entry: Any, place: int) -> tuple[Any, Any, str]:
    if not isinstance(entry, Sequence) or len(entry) < 2:
        raise VocabularyError(f"entry {place} is {quoted(entry)}; expected a word, or a pair of a word and its frequency")
    return entry[0], entry[1], tag_of(entry, f"entry {place}")


def tag_of(entry: Sequence[Any], place: str) -> str:
    """The part of speech in a triple of a word, its frequency and its part of speech; "" for a pair."""
    tag = entry[2] if len(entry) > 2 else ""
    if not isinstance(tag, str) or not tag.isprintable():
        raise VocabularyError(f"{place}, {quoted(entry[0])}: the part of speech is {quoted(tag)}; expected a string such as 'n'")
    return tag


def _of_lines(lines: Sequence[str], path: str) -> Iterator[UserWord]:
    for number, line in enumerate(lines, 1):
        found = LINE.fullmatch(line.strip(ASCII_SPACE))
        if not found:
            continue
        word, frequency, place = found[1], found[2] and found[2].strip(), f"{path}, line {number}"
        if frequency and not FREQUENCY.fullmatch(frequency):
            raise VocabularyError(f"{place}: the frequency is {frequency}; expected at most 18 digits")
        yield UserWord(word, int(frequency) if frequency else None, place, (found[3] or "").strip())


class Frequencies:
    """The frequencies of words while a user adds words.

    Args:
        words: the words of the dictionary.
        frequencies: the frequency of each word; of equal words, the last is used.

    Attributes:
        known: the frequency of each word.
    """

    def __init__(self, words: Sequence[str], frequencies: Sequence[int]) -> None:
        self._words, self._added = words, list[str]()
        self.known, self._total = dict(zip(words, frequencies, strict=True)), sum(frequencies)

    def add(self, word: str, frequency: int) -> None:
        """Add a word."""
        self.known[word] = frequency
        self._total += frequency
        self._added.append(word)

    def suggested(self, word: str) -> int:
        """The lowest frequency with which the word is not cut, by jieba's operations in jieba's order, because floating-point results
        depend on it.
        """
        if not self._total:
            raise VocabularyError("the dictionary has no word with a frequency above 0; expected lines 'word frequency'")
        share = 1.0
        for part in self._cut(word):
            share *= self._frequency(part) / float(self._total)
        return max(int(share * self._total) + 1, self._frequency(word))

    def _frequency(self, text: str) -> int:
        """The frequency of a text: of a word, its frequency; of a beginning of a word, 0; of any other text, 1."""
        return self.known[text] if text in self.known else int(not self._begins_word(text))

    def _begins_word(self, text: str) -> bool:
        place = bisect_left(self._sorted, text)
        begins = place < len(self._sorted) and self._sorted[place].startswith(text)
        return begins or any(word.startswith(text) for word in self._added)

    @Lazy
    def _sorted(self) -> list[str]:
        return sorted(self._words)

    def _cut(self, text: str) -> Iterator[str]:
        """The tokens of ``jieba.cut(text, HMM=False)``."""
        for number, part in enumerate(BLOCKS.split(text)):
            if number % 2:
                yield from self._block(part)
            else:
                for place, other in enumerate(SPACES.split(part)):
                    yield from [other] if place % 2 else other

    def _block(self, text: str) -> Iterator[str]:
        ends, at, letters = self._best_ends(text), 0, ""
        while at < len(text):
            token, at = text[at : ends[at]], ends[at]
            if len(token) == 1 and LETTER.match(token):
                letters += token
                continue
            if letters:
                yield letters
                letters = ""
            yield token
        if letters:
            yield letters

    def _best_ends(self, text: str) -> list[int]:
        """The end of the word at each position on the most probable path; of equal paths, the longest word."""
        log_total, scores, best = log(self._total), [0.0] * (len(text) + 1), [0] * len(text)
        for start in range(len(text) - 1, -1, -1):
            ends = [end for end in range(start + 1, len(text) + 1) if self.known.get(text[start:end])] or [start + 1]
            scores[start], best[start] = max((log(self.known.get(text[start:end]) or 1) - log_total + scores[end], end) for end in ends)
        return best
