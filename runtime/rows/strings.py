"""Convert rows of UTF-8 to str, for results that are texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fst.runtime.rows.texts import Bytes, Ints

SHORT_ROW = 64  # number of bytes; shorter rows with characters beyond ASCII are cut from one str


def ends_of(texts: Sequence[bytes]) -> Ints:
    """Return the start of each text in the concatenation of all texts, and the end of the last text."""
    return np.cumsum([0, *map(len, texts)], dtype=np.int64)


def strings_of(data: Bytes, ends: Ints) -> list[str]:
    """Decode rows of UTF-8 to a list of str.

    Args:
        data: uint8[n].
        ends: int64[rows + 1], the start of each row in `data`, and the end of the last row.
    """
    contents: memoryview = data.data
    whole = str(contents, "utf-8")
    if len(whole) < len(data) < SHORT_ROW * len(ends):
        ends = np.append(0, np.cumsum(data & 0xC0 != 0x80))[ends]  # characters, because slices of a str are faster than of bytes
    if len(whole) == len(data) or len(data) < SHORT_ROW * len(ends):
        return [whole[begin:end] for begin, end in pairwise(ends.tolist())]
    return [str(contents[begin:end], "utf-8") for begin, end in pairwise(ends.tolist())]
