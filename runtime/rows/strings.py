"""Convert rows of UTF-8 to str, for results that are texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.runtime.rows.texts import PAST_END, Bytes, Ints

FEW_ROWS = 4  # maximum number of rows that Python decodes, because the call of a kernel takes longer
MOST_UNITS = 1 << 16  # maximum number of bytes of a row that the kernel decodes; Python decodes longer rows

make_strings = Deferred("fst.runtime.kernels.strings", "make_strings")


class Work(NamedTuple):
    """The working arrays of a call.

    Attributes:
        units: uint16[n], the units of a row in UTF-16.
        address: int64[1], the address of `units`.
    """

    units: NDArray[np.uint16]
    address: Ints


def new_work() -> Work:
    """Allocate the working arrays of a call."""
    units = np.empty(MOST_UNITS + PAST_END, np.uint16)
    return Work(units, np.array([units.ctypes.data]))


def ends_of(texts: Sequence[bytes]) -> Ints:
    """Return the start of each text in the concatenation of all texts, and the end of the last text."""
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return ends


def strings_of(data: Bytes, ends: Ints, given: Sequence[Any] = ()) -> list[str]:
    """Decode rows of UTF-8 to a list of str.

    Args:
        data: uint8[n].
        ends: int64[rows + 1], the start of each row in `data`, and the end of the last row.
        given: for each row an object, such as the text that became the row. If the object is a str that equals the row, the result contains
            this object.
    """
    contents: memoryview = data.data
    if len(ends) <= FEW_ROWS + 1:
        return [str(contents[start:end], "utf-8") for start, end in pairwise(ends.tolist())]
    listed = given if type(given) is list else [*given]
    made: list[str] = make_strings.call(data, ends, data.ctypes.data, id(listed) if len(listed) == len(ends) - 1 else 0, new_work())
    return made
