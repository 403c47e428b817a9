"""Find the affixes that words take, by the characters from the edge of the word: its beginning for prefixes, its end for suffixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from fst.compile.sources.transducers.hunspell.affixes import Affix

ALL = 1 << 30  # in place of the number of characters that decide: the length of the word decides, too
Found = TypeVar("Found")


class Matches:
    """Affixes of one side. The affixes that fit the first characters from the edge are found once for all words with these characters.

    Attributes:
        reach: the largest number of characters that decide which affixes a word takes.
    """

    def __init__(self, affixes: Sequence[Affix], take: Callable[[int], None]) -> None:
        self.reach = _reach(affixes)
        self._take = take
        self._left: dict[str, tuple[Sequence[Affix], int]] = {"": (affixes, self.reach)}  # with the largest reach

    def of(self, edge: str) -> tuple[Sequence[Affix], int]:
        """The affixes that a word takes; and the number of characters from the edge that decide this, or `ALL`. `edge`: the first `reach`
        characters from the edge, or the entire word in this order.
        """
        left, reach, place = self._read(edge)
        if reach <= place:
            return left, place
        return [affix for affix in left if affix.least <= place], ALL

    def possible(self, edge: str) -> Sequence[Affix]:
        """The affixes that a word may take whose first characters from the edge are `edge`, fewer than `reach`."""
        return self._read(edge)[0]

    def _read(self, edge: str) -> tuple[Sequence[Affix], int, int]:
        """The affixes that the first characters of an edge allow; their largest reach; and the number of characters that were read."""
        left, reach = self._left[""]
        for place, char in enumerate(edge):
            if place >= reach:
                return left, reach, place
            key = edge[: place + 1]
            found = self._left.get(key)
            if found is None:
                self._take(1 + len(left))
                some = [affix for affix in left if affix.allows(char, place)]
                found = (left, reach) if len(some) == len(left) else (some, _reach(some))
                self._left[key] = found
            left, reach = found
        return left, reach, len(edge)


def _reach(affixes: Sequence[Affix]) -> int:
    return max((affix.reach for affix in affixes), default=0)


class ByEnding(Generic[Found]):
    """Values by the last characters of words, as many as decide the value."""

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}
        self._lengths: list[int] = []
        self._of_all: dict[str, Found] = {}

    def get(self, ending: str) -> Found | None:
        """The value for a word with an ending; None if there is no value. `ending`: the last characters of the word, as many as may decide,
        or the entire word.
        """
        for length in self._lengths:
            found = self._found.get(ending[-length:] if length else "")
            if found is not None:
                return found
        return self._of_all.get(ending)

    def put(self, ending: str, decisive: int, value: Found) -> None:
        """Store a value for all words whose last `decisive` characters are those of `ending`."""
        if decisive == ALL:
            self._of_all[ending] = value
            return
        if decisive not in self._lengths:
            self._lengths = sorted([*self._lengths, decisive])
        self._found[ending[-decisive:] if decisive else ""] = value
