"""The strings of analyses, from their pieces: for a batch, or for one word, by a single call of a kernel and without a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.machines.lookup.layout import END
from fst.runtime.rows.strings import Work, ends_of, new_work
from fst.runtime.rows.texts import PAST_END, Bytes, Ints
from fst.runtime.run import Runner
from fst.runtime.short_texts import prepared
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids

MOST_BYTES = 1 << 16  # maximum number of bytes of all analyses of a word; words with more bytes need a batch
MOST_ANALYSES = 1 << 10

NOTHING = np.empty(0, np.uint8), np.empty(0, np.int64)

spell, look_up = (Deferred("fst.runtime.machines.lookup.kernels.spelling", name) for name in ("spell", "look_up"))


class Strings(NamedTuple):
    """Strings in UTF-8, such as the pieces of a table.

    Attributes:
        data: uint8[bytes + PAST_END], the concatenation of the strings, and `PAST_END` bytes.
        starts: int64[strings + 1], the start of each string, and the end of the last string.
    """

    data: Bytes
    starts: Ints


def joined(rows: Sequence[bytes]) -> Strings:
    """Concatenate strings."""
    return Strings(np.frombuffer(b"".join([*rows, bytes(PAST_END)]), np.uint8), ends_of(rows))


def spelled(ids: Sequence[int], pieces: Sequence[str], *, weighted: bool) -> list[str]:
    """The analyses of one word, from its ids. This is the specification of the kernels."""
    found, start = list[str](), 0
    for at, number in enumerate(ids):
        if number == END:
            found.append("".join([pieces[piece] for piece in ids[start:at]]))
            start = at + 1 + weighted
    return found


def size_of(ids: Ids, pieces: Strings, *, weighted: bool) -> tuple[int, int]:
    """The number of bytes and the number of analyses in the ids of any number of words."""
    size, count = spell.call(ids, pieces, np.uint64(weighted), *NOTHING)
    return int(size), int(count)


def spelled_all(ids: Ids, pieces: Strings, *, weighted: bool) -> tuple[Bytes, Ints]:
    """The UTF-8 of all analyses, concatenated; and int64[analyses + 1], the start of each analysis, and the end of the last analysis."""
    size, count = size_of(ids, pieces, weighted=weighted)
    data, starts = np.empty(size + PAST_END, np.uint8), np.empty(count + 1, np.int64)
    spell.call(ids, pieces, np.uint64(weighted), data, starts)
    return data[:size], starts


class Spelled(NamedTuple):
    """The strings of one word, and working arrays that make them.

    Attributes:
        weighted: uint64[1], 1 if a weight follows each analysis, otherwise 0.
        data, starts: uint8[n] and int64[n], receive the bytes of all analyses, the start of each analysis, and the end of the last
            analysis.
        address: int64[1], the address of `data`.
        work: the working arrays of `fst.runtime.rows.strings`.
    """

    weighted: NDArray[np.uint64]
    data: Bytes
    starts: Ints
    address: Ints
    work: Work


def finder(runner: Runner, pieces: Strings, *, weighted: bool) -> Callable[[str], list[str] | None]:
    """Make a function that looks up a word.

    Returns:
        A function that returns the analyses of a str; None if the word needs a batch, such as a word of more than
        `fst.tables.kernel_call.SHORT` characters, or if a call in another thread or in the garbage collector has not ended.
    """
    data, starts = np.empty(MOST_BYTES + PAST_END, np.uint8), np.empty(MOST_ANALYSES + 1, np.int64)
    spelled = Spelled(np.array([weighted], np.uint64), data, starts, np.array([data.ctypes.data]), new_work())
    others = pieces, spelled, np.zeros(1, np.uint64)
    short, calls = prepared(runner, NO_SPECIAL_IDS, lambda short: look_up.prepare(short, *others, ""))
    find = partial(look_up.call, short, *others)
    vars(find)["calls"] = calls  # keeps the calls alive: `short` contains only their words
    return find
