"""The scores of similarity by which Hunspell compares a stem or a form with a misspelling."""

from __future__ import annotations

from typing import Generic, TypeVar

Item = TypeVar("Item")


def ngrams(size: int, word: str, other: str, *, is_weighted: bool = False) -> int:
    """The number of strings of `word` with at most `size` characters that `other` contains; strings that it lacks count less if the score
    is weighted. A difference in length of more than two counts less, too.
    """
    if not other:
        return 0
    total = 0
    for length in range(1, size + 1):
        places, count = len(word) - length + 1, 0
        for place in range(places):
            if word[place : place + length] in other:
                count += 1
            elif is_weighted:
                count -= 2 if place in (0, places - 1) else 1
        total += count
        if count < 2 and not is_weighted:
            break
    return total - max(abs(len(other) - len(word)) - 2, 0)


def common_start(word: str, other: str, lower_first: str) -> int:
    """The number of equal characters at the beginning. `lower_first`: the first character of `other` in lower case."""
    if not word or not other or word[0] not in (other[0], lower_first):
        return 0
    size = 1
    while size < min(len(word), len(other)) and word[size] == other[size]:
        size += 1
    return size


def common_subsequence(word: str, other: str) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for letter in word:
        before = 0
        for at, char in enumerate(other, 1):
            before, row[at] = row[at], before + 1 if letter == char else max(row[at], row[at - 1])
    return row[-1]


def common_places(word: str, other: str) -> tuple[bool, bool]:
    """Whether two words have an equal character at the same place, and whether they differ only by exchanged characters."""
    different = [place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two]
    is_swap = len(word) == len(other) and len(different) == 2 and all(word[one] == other[two] for one, two in (different, different[::-1]))
    return len(different) < min(len(word), len(other)), is_swap


class Best(Generic[Item]):
    """The items with the best scores, in Hunspell's places: a new item takes the place of the first item of the lowest score.

    Args:
        size: the number of places.
    """

    def __init__(self, size: int) -> None:
        self.scores = [-100 * place for place in range(size)]
        self.items: list[Item | None] = [None] * size
        self._place = size - 1

    @property
    def lowest(self) -> int:
        """The score that a new item must exceed."""
        return self.scores[self._place]

    def add(self, score: int, item: Item) -> None:
        """Add an item, if its score is better than that of another item."""
        if score > self.lowest:
            self.scores[self._place], self.items[self._place] = score, item
            least = min(self.scores)
            if least < score:
                self._place = self.scores.index(least)
