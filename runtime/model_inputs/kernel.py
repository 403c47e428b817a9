"""Kernels that make the rows for a model from the ids of texts: `plan_rows` chooses the ids of each row, and `lay_out` writes the rows."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.model_inputs.plan import (
    ADDED,
    CAPACITY,
    CUT_LEFT,
    FIRST_BEGIN,
    FIRST_END,
    KEEP,
    LENGTH,
    ONLY_FIRST,
    ONLY_SECOND,
    PAIRED,
    REVERSED,
    SAMPLE,
    SECOND_BEGIN,
    SECOND_END,
    STRATEGY,
    STRIDE,
    WINDOWS,
)


@inlined
def kept(first, second, paired, strategy, capacity):
    """Compute the number of ids of the first and of the second text after truncation; -1 for a text without remaining ids."""
    over = first + second - capacity
    if strategy == KEEP or over <= 0:
        return first, second
    if capacity == 0:
        return 0, 0
    if strategy == ONLY_FIRST:
        return (first - over if first > over else -1), second
    if strategy == ONLY_SECOND:
        return first, (second - over if paired and second > over else -1)
    if not paired:
        return capacity, second
    short = min(first, second)
    long = max(short, capacity - short)
    if short + long > capacity:
        short, long = capacity >> 1, capacity - (capacity >> 1)
    return (long, short) if first > second else (short, long)


@inlined
def count_windows(count, size, stride):
    """Compute the number of windows over `count` ids; return 0 if `stride` is so large that windows would not advance."""
    if size >= count:
        return 1
    if size == 0:
        return 2
    if stride >= size:
        return 0
    return (count - stride - 1) // (size - stride) + 1


@inlined
def window(start, end, size, stride, from_left, index):
    """Compute the start and the end of a window. If `size` is 0, the first window is empty, and the second window contains all ids."""
    if size == 0:
        return start, (end if index else start)
    if size >= end - start:
        return start, end
    step = index * (size - stride)
    if from_left:
        return max(end - step - size, start), end - step
    return start + step, min(start + step + size, end)


@kernel
def plan_rows(splits, samples, cut, plan):
    """Truncate samples, and choose the ids of each row.

    Args:
        splits: int64[texts + 1], the start of each text's ids, and the end of the last text's ids.
        samples: int64[samples, 5], see `fst.runtime.model_inputs.plan`.
        cut: int64[9], see `fst.runtime.model_inputs.plan`. The capacities and the stride must be at least 0.
        plan: int64[rows, 7], the output. Rows past the end of this array are counted, but not written.

    Returns:
        The number of rows; the maximum length of the first rows of samples; the minimum and the maximum length of written rows; and the
        index of the first sample that cannot be truncated as requested, or -1.
    """
    strategy, stride, from_left, every, reverse = cut[STRATEGY], cut[STRIDE], cut[CUT_LEFT], cut[WINDOWS], cut[REVERSED]
    rows, longest, least, most = 0, 0, np.int64(1 << 62), 0
    for sample in range(len(samples)):
        paired = samples[sample, PAIRED]
        start, end = splits[samples[sample, FIRST_BEGIN]], splits[samples[sample, FIRST_END]]
        begin_2, end_2 = splits[samples[sample, SECOND_BEGIN]], splits[samples[sample, SECOND_END]]
        size, size_2 = kept(end - start, end_2 - begin_2, paired, strategy, cut[CAPACITY + paired])
        count, count_2 = count_windows(end - start, size, stride), count_windows(end_2 - begin_2, size_2, stride)
        if min(size, size_2) < 0 or count * count_2 == 0:
            return rows, longest, least, most, sample
        added = cut[ADDED + paired]
        longest = max(longest, size + size_2 + added)
        inner = count if reverse else count_2
        for turn in range(count * count_2 if every else 1):
            if rows < len(plan):
                # The outer loop is over the windows of the first text of the row. Except for row 0, the rows with the first window of this
                # text come last.
                place = turn + inner - 1 if turn else 0
                again = place >= count * count_2
                outer_index = 0 if again else place // inner
                inner_index = place - count * count_2 + 1 if again else place % inner
                index, index_2 = (inner_index, outer_index) if reverse else (outer_index, inner_index)
                begun, ended = window(start, end, size, stride, from_left, index)
                begun_2, ended_2 = window(begin_2, end_2, size_2, stride, from_left, index_2)
                length = ended - begun + ended_2 - begun_2 + added
                plan[rows, FIRST_BEGIN], plan[rows, FIRST_END] = begun, ended
                plan[rows, SECOND_BEGIN], plan[rows, SECOND_END] = begun_2, ended_2
                plan[rows, PAIRED], plan[rows, SAMPLE], plan[rows, LENGTH] = paired, sample, length
                least, most = min(least, length), max(most, length)
            rows += 1
    return rows, longest, least, most, -1


@inlined
def put(out, plane, at, count, value):
    """Write a value to consecutive columns of a plane."""
    for index in range(count):
        out[plane, at + np.uint64(index)] = value


@inlined
def put_pieces(out, at, count, pieces, piece, first):
    """Write the values of an item of a template to the planes from `first` on."""
    for plane in range(first, len(out)):
        put(out, np.uint64(plane), at, count, pieces[piece, 1 + plane])


@kernel
def lay_out(values, plan, single, pair, width, from_left, out):
    """Write the rows of a plan: values to the first plane, and constants from the templates to all other planes.

    Args:
        values: int32[ids], a value for each id, such as the id itself or the index of its word.
        plan: int64[rows, 7], see `fst.runtime.model_inputs.plan`.
        single, pair: int64[pieces, 1 + planes], templates; each row of the array is an item. The first field of an item is 0 for the first
            text, 1 for the second text, and -1 for a special token. The other fields of an item are its values, one for each plane; the
            kernel does not read the first value of an item for a text. The last item is padding.
        width: the minimum length of rows, to which shorter rows are padded.
        from_left: whether padding is added on the left.
        out: int64[planes, n], the output: the rows, concatenated.
    """
    at = U0
    for row in range(len(plan)):
        pieces = pair if plan[row, PAIRED] else single
        last = len(pieces) - 1
        padding = np.uint64(max(width - plan[row, LENGTH], 0))
        if from_left:
            put_pieces(out, at, padding, pieces, last, 0)
            at += padding
        for piece in range(last):
            text = pieces[piece, 0]
            if text < 0:
                put_pieces(out, at, U1, pieces, piece, 0)
                at += U1
                continue
            start, end = np.uint64(plan[row, FIRST_BEGIN + 2 * text]), np.uint64(plan[row, FIRST_END + 2 * text])
            for index in range(end - start):
                out[U0, at + np.uint64(index)] = values[start + np.uint64(index)]
            put_pieces(out, at, end - start, pieces, piece, 1)
            at += end - start
        if not from_left:
            put_pieces(out, at, padding, pieces, last, 0)
            at += padding
