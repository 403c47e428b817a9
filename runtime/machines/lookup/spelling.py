"""The strings of analyses, from their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fst.core.jit import Deferred
from fst.machines.lookup.layout import END
from fst.runtime.rows.strings import ends_of
from fst.runtime.rows.texts import PAST_END, Bytes, Ints
from fst.runtime.workspace import Ids

NOTHING = np.empty(0, np.uint8), np.empty(0, np.int64)

spell = Deferred("fst.runtime.machines.lookup.kernels.spelling", "spell")


class Strings(NamedTuple):
    """Strings in UTF-8, such as the pieces of a table.

    Attributes:
        data: uint8[bytes + PAST_END], the concatenation of the strings, and `PAST_END` bytes.
        starts: int64[strings + 1], the start of each string, and the end of the last.
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
    """The number of bytes, and of analyses, of the ids of any number of words."""
    size, count = spell.call(ids, pieces, np.uint64(weighted), *NOTHING)
    return int(size), int(count)


def spelled_all(ids: Ids, pieces: Strings, *, weighted: bool) -> tuple[Bytes, Ints]:
    """The UTF-8 of all analyses, concatenated; and int64[analyses + 1], the start of each analysis, and the end of the last."""
    size, count = size_of(ids, pieces, weighted=weighted)
    data, starts = np.empty(size + PAST_END, np.uint8), np.empty(count + 1, np.int64)
    spell.call(ids, pieces, np.uint64(weighted), data, starts)
    return data[:size], starts
