"""Split texts with too many ids into windows, which are overlapping rows, as ``tokenizers`` does with truncation on the right."""

from __future__ import annotations

from operator import index
from typing import NamedTuple

import numpy as np

from fst.automata.trie import spread
from fst.errors import quoted
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints
from fst.runtime.workspace import SpecialIds


class Window(NamedTuple):
    """The size and overlap of windows, and the ids around them.

    Attributes:
        capacity: the maximum number of a text's ids in a window; greater than `stride`.
        stride: the number of ids that a window shares with the previous window.
        special_ids: the special ids around each window.
    """

    capacity: int
    stride: int
    special_ids: SpecialIds


def window(max_ids: int | None, stride: int, special_ids: SpecialIds) -> Window:
    """Make the form of windows with at most `max_ids` ids, special ids included."""
    if max_ids is None:
        raise ValueError(f"stride is {quoted(stride)} without max_length; pass max_length, the length of windows")
    try:
        shared, capacity = index(stride), max_ids - len(special_ids[0]) - len(special_ids[1])
    except TypeError:
        raise ValueError(f"stride is {quoted(stride)}; expected a whole number") from None
    if not 0 <= shared < capacity:
        raise ValueError(f"stride is {shared}; expected at least 0 and less than {capacity}, the number of ids of a text in a window")
    return Window(capacity, shared, special_ids)


def in_windows(batch: Batch, form: Window) -> tuple[Batch, Ints]:
    """Split the rows of a batch into windows; the rows must have no special ids around texts.

    Returns:
        The windows; and int64[rows + 1], the index of each row's first window, and the number of windows. Each row has at least one window.

    Examples:
        >>> rows = Batch(np.arange(10, 17, dtype=np.int32), np.array([0, 5, 7]))
        >>> found, splits = in_windows(rows, Window(3, 1, (np.array([1], np.int32), np.array([2], np.int32))))
        >>> [row.tolist() for row in found], splits.tolist()
        ([[1, 10, 11, 12, 2], [1, 12, 13, 14, 2], [1, 15, 16, 2]], [0, 2, 3])
    """
    capacity, stride, (before, after) = form
    sizes, step = np.diff(batch.row_splits), capacity - stride
    counts = 1 + np.maximum(-(-(sizes - capacity) // step), 0)
    numbers = spread(np.zeros(len(counts), np.int64), counts)  # the index of each window in its row
    firsts = numbers * step
    lengths = np.minimum(np.repeat(sizes, counts) - firsts, capacity)
    chosen = spread(np.repeat(batch.row_splits[:-1], counts) + firsts, lengths)
    splits = np.concatenate([[0], np.cumsum(lengths + len(before) + len(after))])
    places = spread(splits[:-1] + len(before), lengths)
    ids = np.empty(splits[-1], np.int32)
    ids[places] = batch.ids[chosen]
    ids[splits[:-1, None] + np.arange(len(before))] = before
    ids[splits[1:, None] - len(after) + np.arange(len(after))] = after
    spans = None
    if batch.offsets is not None:
        spans = np.zeros((len(ids), 2), np.int32)
        spans[places] = batch.offsets[chosen]
    return Batch(ids, splits, spans), np.concatenate([[0], np.cumsum(counts)])
