"""Strings in two arrays of a table: their concatenated UTF-8, and the end of each string."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import Ints, spread
from fst.core.jit import Deferred
from fst.errors import TableError
from fst.tables.proof import need, need_none

BEGIN, END = b"\xfe", b"\xff"  # no UTF-8 contains these bytes

make_keys, sort_words, copy_words = (Deferred("fst.automata.kernels.sorting", name) for name in ("make_keys", "sort_words", "copy_words"))


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


def parts_of(data: Array, ends: Array) -> tuple[bytes, ...]:
    """The strings in two arrays like the arrays of a `StringColumn`, as bytes."""
    joined, places = data.tobytes(), ends.tolist()
    return tuple(joined[start:end] for start, end in zip([0, *places[:-1]], places, strict=True))


def texts_of(data: Array, ends: Array) -> tuple[str, ...]:
    """All strings in the two arrays of a `StringColumn`."""
    return tuple(part.decode() for part in parts_of(data, ends))


def enclosed(data: Array, ends: Array) -> bytes:
    r"""Strings of UTF-8 as one bytes object, each between `BEGIN` and `END`, so that ``bytes.replace`` changes all strings at once.

    Examples:
        >>> enclosed(*stored(["a", "", "bc"]))
        b'\xfea\xff\xfe\xff\xfebc\xff'
    """
    found = np.empty(len(data) + 2 * len(ends), np.uint8)
    is_text, before = np.ones(len(found), np.bool_), 2 * np.arange(len(ends))
    begins, ends = ends - np.diff(ends, prepend=0) + before, ends + before + 1
    is_text[begins] = is_text[ends] = False
    found[is_text], found[begins], found[ends] = data, BEGIN[0], END[0]
    return found.tobytes()


def opened(strings: bytes) -> tuple[Array, Array]:
    """The two arrays of strings that are `enclosed`."""
    data = np.frombuffer(strings, np.uint8)
    ends = np.flatnonzero(data == END[0])
    return data[data < BEGIN[0]], ends - 2 * np.arange(len(ends)) - 1


def equal_to(wanted: bytes, data: Array, ends: Array) -> Ints:
    """The indices of the strings that are equal to one string, ascending."""
    sizes, size = np.diff(ends, prepend=0), len(wanted)
    found = np.flatnonzero(sizes == size)
    if wanted:
        found = found[data[ends[found] - 1] == wanted[-1]]  # few strings are left, whose bytes are then compared
    columns = data[spread(ends[found] - size, sizes[found])].reshape(len(found), size)
    are_equal: NDArray[np.bool_] = (columns == np.frombuffer(wanted, np.uint8)).all(axis=1)
    return found[are_equal]


def order_of(data: Array, ends: Array, *, in_runs: bool = False) -> tuple[Ints, NDArray[np.uint8]]:
    """The indices of strings in the order of their bytes, those of equal strings ascending; and for each string in this order, 1 if it
    differs from the previous string, else 0. `in_runs`: whether the strings consist of few sorted runs, which are merged in less time.
    """
    count, data, ends = len(ends), np.ascontiguousarray(data), np.ascontiguousarray(ends)
    keys, first, begins = np.empty(4 * count, np.uint64), np.empty(count, np.uint64), np.empty(count, np.uint8)
    make_keys.call(data, ends, keys, first)
    order = np.argsort(first, kind="stable" if in_runs else None)
    sort_words.call(data, ends, keys, first[order], order, np.empty_like(order), begins)
    return order, begins


def taken(data: Array, ends: Array, chosen: Ints) -> tuple[Array, Ints]:
    """The strings with the indices `chosen`, in this order, as two arrays."""
    begins = np.append(0, ends)[chosen]
    after = np.cumsum(ends[chosen] - begins)
    found = np.empty(int(after[-1]) if len(after) else 0, np.uint8)
    copy_words.call(np.ascontiguousarray(data), begins, after, found)
    return found, after


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
    need_none(ends < np.append(0, ends[:-1]), lambda number: f"number {number} of the {name} ends before it begins")
    need(ends[-1] == len(data), f"the last of the {name} ends at byte {ends[-1]} of {len(data)}")
