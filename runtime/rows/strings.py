"""Convert rows of UTF-8 to str, for results that are texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fst.runtime.rows.texts import Bytes, Ints

# If there are more rows than this, and their mean number of bytes is less than this, rows beyond ASCII are cut from one str.
FEW_ROWS, SHORT_ROW = 16, 64


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
    are_short = len(ends) > FEW_ROWS and len(data) < SHORT_ROW * len(ends)
    if are_short and len(whole) < len(data):
        ends = np.append(0, np.cumsum(data & 0xC0 != 0x80))[ends]  # characters, because slices of a str are faster than of bytes
    if are_short or len(whole) == len(data):
        return [whole[begin:end] for begin, end in pairwise(ends.tolist())]
    return [str(contents[begin:end], "utf-8") for begin, end in pairwise(ends.tolist())]
