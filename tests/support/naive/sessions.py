"""A session that encodes all of its text after each change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Ids = list[int]


class Appended(NamedTuple):
    """Appended ids, and their text when they were appended."""

    ids: Ids
    text: str


class NaiveSession:
    """A list of parts: texts, and appended ids.

    Args:
        encode: encodes a text, without special tokens around it.
        text_of: returns the text of ids; its first argument contains the id before them, or is empty.
        special: a special token with which no other special token begins; empty if the vocabulary finds no special tokens in texts.
    """

    def __init__(self, encode: Callable[[str], Ids], text_of: Callable[[Ids, Ids], str], special: str) -> None:
        self._encode, self._text_of, self._special = encode, text_of, special
        self.parts: list[str | Appended] = [""]  # a text, and then appended ids and a text by turns

    def copy(self) -> NaiveSession:
        """Copy the session."""
        other = NaiveSession(self._encode, self._text_of, self._special)
        other.parts = [*self.parts]
        return other

    @property
    def ids_of_parts(self) -> Sequence[Ids]:
        """The ids of each part."""
        found = []
        for number, part in enumerate(self.parts):
            if isinstance(part, Appended):
                found.append(part.ids)
            elif number and self._special:
                found.append(self._encode(self._special + part)[1:])
            else:
                found.append(self._encode(part))
        return found

    @property
    def ids(self) -> Ids:
        """All ids."""
        return [number for part in self.ids_of_parts for number in part]

    @property
    def texts(self) -> Sequence[str]:
        """The text of each part."""
        return [part if isinstance(part, str) else part.text for part in self.parts]

    @property
    def text(self) -> str:
        """All text."""
        return "".join(self.texts)

    def append_ids(self, ids: Ids) -> None:
        """Append ids; if they follow other appended ids directly, both become one part."""
        if len(self.parts) > 1 and not self.parts[-1]:
            del self.parts[-1]
            last = self.parts.pop()
            assert isinstance(last, Appended)
            ids = [*last.ids, *ids]
        before = self.ids[-1:]
        self.parts += [Appended(ids, self._text_of(before, ids)), ""]

    def edit(self, begin: int, end: int, text: str) -> bool:
        """Replace the characters from `begin` to `end - 1`, and return True; return False if they are not in one text."""
        for number, part in reversed([*enumerate(self.texts)]):
            start = sum(map(len, self.texts[:number]))
            if number % 2 == 0 and start <= begin and end <= start + len(part):
                self.parts[number] = part[: begin - start] + text + part[end - start :]
                return True
        return False
