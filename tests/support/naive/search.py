"""Keyword search and segmentation by their definitions: slow, obvious, and independent of the package under test."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple


def keyword_matches(
    keywords: Sequence[str], text: str, kind: str, *, ignore_case: bool = False, whole_words: bool = False
) -> list[tuple[int, int, int]]:
    """Find keywords in a text by the definition of a kind of match; return the id, the start and the end of each match.

    The search continues at the end of each match. An empty match at the end of the previous match does not count.
    """
    numbers: dict[str, list[int]] = {}
    for number, keyword in enumerate(keywords):
        numbers.setdefault(folded(keyword) if ignore_case else keyword, []).append(number)
    read, longest = folded(text) if ignore_case else text, max(map(len, keywords))
    spans = ((start, end) for start in range(len(text) + 1) for end in range(start, min(start + longest, len(text)) + 1))
    stand = [(start, end) for start, end in spans if read[start:end] in numbers and (not whole_words or is_whole(read, start, end))]
    possible = [(number, start, end) for start, end in stand for number in numbers[read[start:end]]]
    if kind == "overlapping":
        return sorted(possible, key=lambda match: (match[2], match[1], match[0]))
    orders: dict[str, Callable[[int, int, int], tuple[int, ...]]] = {
        "leftmost-longest": lambda number, start, end: (start, -end, number),
        "leftmost-first": lambda number, start, _: (start, number),
        "standard": lambda number, start, end: (end, start, number),
    }
    found, at = list[tuple[int, int, int]](), 0
    while left := [match for match in possible if match[1] >= at]:
        best = min(left, key=lambda match: orders[kind](*match))
        if found and best[1] == best[2] == found[-1][2]:
            at += 1
        else:
            found.append(best)
            at = best[2]
    return found


def folded(text: str) -> str:
    """A text with folded case; each character becomes one character."""
    return "".join(char.casefold() if len(char.casefold()) == 1 else char.lower() if len(char.lower()) == 1 else char for char in text)


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether a match consists of whole words, so neither its start nor its end is inside a word."""
    edges = [place for place in (start, end) if 0 < place < len(text) and start < end]
    return not any(is_of_words(text[place - 1]) and is_of_words(text[place]) for place in edges)


def is_of_words(char: str) -> bool:
    """Whether a character is part of a word: a letter, a mark, a digit or a connector, but not an ideograph or kana."""
    name, category = unicodedata.name(char, ""), unicodedata.category(char)
    return (category[0] in "LMN" or category == "Pc") and not any(script in name for script in ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPH"))


def jieba_block(frequencies: Mapping[str, int], total: int, block: str) -> list[str]:
    """Segment a block without ASCII letters by `jieba`'s definition: the best of all paths, with scores that are summed from the end.

    Args:
        frequencies: the frequencies above 0.
        total: the sum of all frequencies, including replaced ones.
        block: the text.
    """

    def best(start: int) -> tuple[float, int, list[str]]:
        if start == len(block):
            return 0.0, 0, []
        ends = [end for end in range(start + 1, len(block) + 1) if block[start:end] in frequencies] or [start + 1]
        found = []
        for end in ends:
            score, _, words = best(end)
            found.append((log(frequencies.get(block[start:end], 1)) - log(total) + score, end, [block[start:end], *words]))
        return max(found)

    return best(0)[2]


class MecabDictionary(NamedTuple):
    """A small MeCab dictionary.

    Attributes:
        words: surface, left id, right id and cost of each word.
        unknowns: category, left id, right id and cost of each entry for unknown words.
        matrix: the connection costs, by the right id of the left word and the left id of the right word.
        categories: name of a category → its invoke, group and length.
        characters: the categories of each character; other characters have DEFAULT.
        most: the maximum number of characters of an unknown word, not counting the first.
    """

    words: Sequence[tuple[str, int, int, int]]
    unknowns: Sequence[tuple[str, int, int, int]]
    matrix: Sequence[Sequence[int]]
    categories: Mapping[str, tuple[bool, bool, int]]
    characters: Mapping[str, tuple[str, ...]]
    most: int

    def of(self, char: str) -> tuple[str, ...]:
        """The categories of a character; the settings of the first category apply to unknown words."""
        return self.characters.get(char, ("DEFAULT",))

    def sorts(self, text: str, start: int) -> list[tuple[str, int, int, int]]:
        """The words and unknown words that begin at a position: surface, left id, right id and cost of each."""
        known = [word for word in self.words if text.startswith(word[0], start)]
        first = self.of(text[start])
        invoke, group, length = self.categories[first[0]]
        if known and not invoke:
            return known
        run = start + 1
        while run < len(text) and {*self.of(text[run])} & {*self.of(text[run - 1])}:
            run += 1
        ends = [run] if group and run - start - 1 <= self.most else []
        for end in range(start + 1, start + length + 1):
            if end > len(text) or any(not {*first} & {*self.of(char)} for char in text[start:end]) or (group and end == run):
                break
            ends.append(end)
        if not known and not ends:
            ends = [start + 1]
        entries = [entry for name, *entry in self.unknowns if name == first[0]]
        return known + [(text[start:end], left, right, cost) for end in ends for left, right, cost in entries]

    def least_cost(self, text: str) -> int:
        """The cost of the best path through a text, for dictionaries whose words contain no spaces."""

        def rest(start: int, right: int) -> int:
            while start < len(text) and "SPACE" in self.of(text[start]):
                start += 1
            if start == len(text):
                return self.matrix[right][0]
            found = self.sorts(text, start)
            return min(self.matrix[right][left] + cost + rest(start + len(surface), own) for surface, left, own, cost in found)

        return rest(0, 0)


def maxmatch(words: Iterable[str], text: str, *, backward: bool = False, rules: Mapping[str, str] | None = None) -> list[str]:
    """Segment a text: repeatedly take the longest word that begins at the position, or one character if no word begins there.

    A rule replaces a word by the tokens on its right side.
    """
    rewritten = {left.replace("|", ""): right.split("|") for left, right in (rules or {}).items()}
    known = {*words, *rewritten}
    longest, found, rest = max(map(len, known)), list[str](), text
    while rest:
        sizes = range(min(longest, len(rest)), 0, -1)
        pieces = [rest[-size:] if backward else rest[:size] for size in sizes]
        token = next((piece for piece in pieces if piece in known), pieces[-1])
        rest = rest[: -len(token)] if backward else rest[len(token) :]
        tokens = rewritten.get(token, [token])
        found = [*tokens, *found] if backward else [*found, *tokens]
    return found
