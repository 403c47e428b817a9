"""Strings in two arrays of a table: their concatenated UTF-8, and the end of each string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

from fst.automata.rows import Array
from fst.errors import TableError
from fst.tables.proof import need, need_none


class StringColumn(Sequence[str]):
    """A sequence of strings. Each string is decoded when it is read, because a dictionary contains many strings.

    Args:
        data: uint8[n], the strings in UTF-8, concatenated.
        ends: int64[strings], the end of each string in `data`.
    """

    def __init__(self, data: Array, ends: Array) -> None:
        self._data, self._ends = data, ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        number = range(len(self))[index]
        return str(self._data[self._ends[number - 1] if number else 0 : self._ends[number]].data, "utf-8")


def stored(strings: Iterable[str]) -> tuple[Array, Array]:
    """Return the two arrays of a `StringColumn` for some strings."""
    return stored_bytes(string.encode() for string in strings)


def stored_bytes(strings: Iterable[bytes]) -> tuple[Array, Array]:
    """Return two arrays like the arrays of a `StringColumn`, for strings that may be parts of characters."""
    listed = [*strings]
    return np.frombuffer(b"".join(listed), np.uint8), np.cumsum([len(data) for data in listed], dtype=np.int64)


def prove_strings(data: Array, ends: Array, count: int, name: str) -> None:
    """Prove that two arrays contain `count` strings.

    Args:
        data, ends: the arrays of a `StringColumn`.
        count: the expected number of strings, at least 1.
        name: the name of the strings in messages.
    """
    need(len(ends) == count, f"there are {len(ends)} {name}; expected {count}")
    prove_ends(data, ends, name)
    try:
        str(data.data, "utf-8")
    except UnicodeDecodeError as error:
        raise TableError(f"the {name} are not UTF-8 at byte {error.start}") from None
    begins = data[ends[:-1][ends[:-1] < len(data)]]
    need_none(begins & 0xC0 == 0x80, lambda _: f"one of the {name} begins inside a character")


def prove_ends(data: Array, ends: Array, name: str) -> None:
    """Prove that two arrays contain at least one string of bytes; arguments as in `prove_strings`."""
    need_none(np.diff(ends, prepend=0) < 0, lambda number: f"number {number} of the {name} ends before it begins")
    need(ends[-1] == len(data), f"the last of the {name} ends at byte {ends[-1]} of {len(data)}")
