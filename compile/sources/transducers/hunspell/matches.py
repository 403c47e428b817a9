"""Find the affixes that words take, by the characters from the edge of the word on: its beginning for prefixes, its end for suffixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from fst.compile.sources.transducers.hunspell.affixes import Affix

ALL = 1 << 30  # the number of characters that decide, where the length of the word decides, too
Found = TypeVar("Found")


class Matches:
    """Affixes of one side. Those that the first characters of an edge leave are found once for all words with these characters.

    Attributes:
        reach: the largest number of characters that decide which affixes a word takes.
    """

    def __init__(self, affixes: Sequence[Affix], take: Callable[[int], None]) -> None:
        self.reach = _reach(affixes)
        self._take = take
        self._left: dict[str, tuple[Sequence[Affix], int]] = {"": (affixes, self.reach)}  # with the largest reach

    def of(self, edge: str) -> tuple[Sequence[Affix], int]:
        """The affixes that a word takes, and the number of characters that decide: any, or `ALL`. `edge`: the first `reach` characters from
        the edge on, or the entire word from the edge on.
        """
        left, reach = self._left[""]
        for place, char in enumerate(edge):
            if place >= reach:
                return left, place
            key = edge[: place + 1]
            found = self._left.get(key)
            if found is None:
                self._take(1 + len(left))
                some = [affix for affix in left if affix.allows(char, place)]
                found = (left, reach) if len(some) == len(left) else (some, _reach(some))
                self._left[key] = found
            left, reach = found
        if reach <= len(edge):
            return left, len(edge)
        return [affix for affix in left if affix.reach <= len(edge)], ALL


def _reach(affixes: Sequence[Affix]) -> int:
    return max((affix.reach for affix in affixes), default=0)


class ByEnding(Generic[Found]):
    """Values by the last characters of words, as many as decide."""

    def __init__(self) -> None:
        self._found: dict[str, Found] = {}
        self._lengths: list[int] = []
        self._of_all: dict[str, Found] = {}

    def get(self, ending: str) -> Found | None:
        """The value for a word with an ending, or None. `ending`: as many of the last characters as may decide, or the entire word."""
        for length in self._lengths:
            found = self._found.get(ending[-length:] if length else "")
            if found is not None:
                return found
        return self._of_all.get(ending)

    def put(self, ending: str, decisive: int, value: Found) -> None:
        """Store a value for all words whose last characters, as many as `decisive`, are those of an ending."""
        if decisive == ALL:
            self._of_all[ending] = value
            return
        if decisive not in self._lengths:
            self._lengths = sorted([*self._lengths, decisive])
        self._found[ending[-decisive:] if decisive else ""] = value
