"""Look up columns of Arrow. This module needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from fst.errors import TextError
from fst.runtime.rows.arrow import MAX_VALUES, Lists, made
from fst.runtime.rows.texts import Bytes, Column, Ints


def looked_up(column: Any, look_up: Callable[[Column], tuple[Bytes, Ints, Ints]]) -> Any:
    """Make a column of lists of strings from a column of words.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        look_up: a function that returns the UTF-8 of all analyses of the rows, the start of each analysis and the end of the last, and the
            row splits.
    """

    def make(rows: Column) -> Lists:
        data, starts, row_splits = look_up(rows)
        if starts[-1] > MAX_VALUES:
            raise TextError(f"the analyses have {starts[-1]:,} bytes in one array; expected at most {MAX_VALUES:,}; pass slices of it")
        buffers = [None, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(data)]
        return Lists(pa.Array.from_buffers(pa.string(), len(starts) - 1, buffers), row_splits)

    return made(column, make, pa.list_(pa.string()), None, by_row=False)
