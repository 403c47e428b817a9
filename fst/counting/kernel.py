"""The kernel that merges the counts of equal words."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel

PLACE = 3  # number of elements of a first occurrence


@inlined
def is_earlier(first, row, least, word):
    """Whether the first occurrence of a row is before the first occurrence of a merged word."""
    for part in range(PLACE):
        one, other = first[PLACE * row + part], least[PLACE * word + part]
        if one != other:
            return one < other
    return False


@kernel
def merge_equal(order, begins, counts, first, rows, sums, least):
    """Merge equal words: add their counts, and find their earliest first occurrences.

    Args:
        order: int64[n], the rows sorted by their words.
        begins: uint8[n], 1 where a word of this order differs from the previous word, else 0; the first element is 1.
        counts: int64[n], the count of each row; their sum is below 2^63.
        first: int64[PLACE * n], the first occurrence of each row.
        rows: output, int64[words], the first of the equal rows in `order`, for each distinct word.
        sums: output, int64[words].
        least: output, int64[PLACE * words].
    """
    word = np.int64(-1)
    for place in range(len(order)):
        row = order[place]
        if begins[place]:
            word += 1
            rows[word], sums[word] = row, counts[row]
        else:
            sums[word] += counts[row]
            if not is_earlier(first, row, least, word):
                continue
        for part in range(PLACE):
            least[PLACE * word + part] = first[PLACE * row + part]
