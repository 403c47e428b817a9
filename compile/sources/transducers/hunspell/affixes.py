"""Affixes: if a word has the flag of an affix and fits its condition, the affix strips characters from the word and adds others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from fst.compile.sources.transducers.hunspell.flags import Flags
from fst.compile.sources.transducers.hunspell.lines import Lines
from fst.errors import quoted

MAX_CONDITION = 100
MAX_DOTS = 5  # maximum number of "." that are read in three ways, see `conditions`
MANY = 16  # a set of at least this number of characters is stored as a frozenset
PARTS = re.compile(r"\[\^?[^\]^][^\]]*\]|.", re.DOTALL)
ASCII = frozenset(map(chr, range(128)))


class Part(NamedTuple):
    """A part of a condition, which reads one character: `chars` are the allowed characters, or those that are not allowed."""

    is_negated: bool
    chars: str | frozenset[str]

    def allows(self, char: str) -> bool:
        """Whether the part reads a character."""
        return (char in self.chars) != self.is_negated


ANY = Part(True, "")
Condition = tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Affix:
    """A prefix or suffix. The edge of a word is its beginning for a prefix, and its end for a suffix.

    Attributes:
        flag: the flag of words that take the affix.
        crosses: whether a word may take the affix together with an affix of the other side.
        strip: the characters removed from the word.
        add: the characters added to the word.
        condition: the parts for the characters of a word, in order from the edge.
        flags: the flags of the new word.
        stripped: the characters of `strip`, in order from the edge.
        may_lack_last: whether the word may end before the last part of the condition.
        data: the data of the new word, such as ``is:plural``.
    """

    flag: int
    crosses: bool
    strip: str
    add: str
    condition: Condition
    flags: Flags
    stripped: str
    may_lack_last: bool = False
    data: str = ""

    @cached_property
    def reach(self) -> int:
        """The number of characters of a word, from the edge, that decide whether it takes this affix."""
        return max(len(self.condition), len(self.strip))

    @cached_property
    def least(self) -> int:
        """The smallest number of characters of a word that takes this affix."""
        return max(len(self.condition) - self.may_lack_last, len(self.strip))

    def allows(self, char: str, place: int) -> bool:
        """Whether words that take this affix may have a character at a place; places are counted from 0, from the edge."""
        if place < len(self.stripped) and char != self.stripped[place]:
            return False
        return place >= len(self.condition) or self.condition[place].allows(char)

    def fits(self, edge: str) -> bool:
        """Whether a word takes this affix. The first `reach` characters of the word from the edge are enough."""
        return len(edge) >= self.least and all(self.allows(char, place) for place, char in enumerate(edge[: self.reach]))


def conditions(text: str, lines: Lines, *, from_end: bool, has_dots: bool) -> list[Condition]:
    """The conditions for the edge of a word; one of them must hold. Each has characters, ``.`` for any character, and sets in brackets.

    In UTF-8, a ``.`` in a condition for the end of a word also reads the character before an ASCII character, if this character is not
    ASCII; except at the beginning of the condition. There are then three conditions instead of one.

    Args:
        text: the condition.
        lines: the file, for errors.
        from_end: whether the edge is the last part.
        has_dots: whether ``.`` has this meaning.
    """
    parts = _parts(text)
    if parts is None:
        known = f"at most {MAX_CONDITION} characters, and sets such as [abc] or [^abc]"
        raise lines.fault(f"the condition is {quoted(text)}; expected {known}", text)
    parts = parts[::-1] if from_end else parts
    if not has_dots or "." not in text or ANY not in parts[:-1]:
        return [parts]
    if parts[:-1].count(ANY) > MAX_DOTS:
        raise lines.fault(f"the condition is {quoted(text)}; expected at most {MAX_DOTS} dots after its first character", text)
    return [*_with_dots(parts)]


def may_lack_last(text: str, *, from_end: bool) -> bool:
    """Whether a word may end before the last part of a condition for the beginning of words (`from_end`: its parts are reversed): in
    Hunspell, if this part allows any character, or all but some, and follows a character.
    """
    *others, last = PARTS.findall(text)[:: -1 if from_end else 1] or [""]
    return (last == "." or last.startswith("[^")) and (not others or (len(others[-1]) == 1 and others[-1] != "."))


def _with_dots(parts: Condition) -> Iterator[Condition]:
    if len(parts) < 2:
        yield parts
        return
    ascii_char, other = Part(False, ASCII), Part(True, ASCII)
    for rest in _with_dots(parts[1:]):
        if parts[0] != ANY:
            yield (parts[0], *rest)
            continue
        yield other, *rest
        yield ascii_char, other, *rest
        yield ascii_char, Part(False, frozenset(filter(rest[0].allows, ASCII))), *rest[1:]


@lru_cache(1 << 12)
def _parts(text: str) -> Condition | None:
    if text.rfind("[") > text.rfind("]"):  # a set without an end, for which each bracket would be tried
        return None
    parts = PARTS.findall(text)
    if "[" in parts or "]" in parts or len(parts) > MAX_CONDITION:
        return None
    return tuple(map(_part, parts))


@lru_cache(1 << 12)
def _part(part: str) -> Part:
    if part == ".":
        return ANY
    if len(part) == 1:
        return Part(False, part)
    is_negated = part[1] == "^"
    chars = part[1 + is_negated : -1]
    return Part(is_negated, chars if len(chars) < MANY else frozenset(chars))
