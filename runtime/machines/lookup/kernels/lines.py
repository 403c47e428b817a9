"""Write the analyses of words as lines; `fst.runtime.machines.lookup.lines.line_of` specifies the lines.

Kernels check nothing: the caller computes an upper bound for the output.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.machines.lookup.kernels.spelling import put_row, put_wide
from fst.runtime.machines.lookup.kernels.streams import put_escaped

CUT = np.int64(layout.CUT)
LINE_FEED, TAB, BEGIN, STOP, SLASH, STAR, PLUS, QUESTION = (np.uint64(ord(char)) for char in "\n\t^$/*+?")


@inlined
def put_byte(byte, out, filled):
    """Write a byte; return the output index after it."""
    out[filled] = byte
    return filled + U1


@inlined
def put_analysis(ids, place, pieces, out, filled):
    """Write an analysis; return the index of its end mark, and the output index."""
    while np.int64(ids[place]) >= 0:
        filled = put_row(pieces, ids[place], out, filled)
        place += U1
    return place, filled


@inlined
def put_weight(weights, count, out, filled):
    """Write a tab and the weight of analysis `count`; return the output index after them."""
    return put_row(weights.written, weights.numbers[count], out, put_byte(TAB, out, filled))


@part
def put_tabbed(ids, place, last, words, row, pieces, weights, count, out, filled):
    """Write a line for each analysis of a word; an unknown word has no lines.

    Args:
        place, last: the bounds of the ids of the word.
        row: the number of the word.
        count: the number of analyses of all words before this word.

    Returns:
        The number of analyses up to the end of this word, and the output index.
    """
    while place < last and np.int64(ids[place]) > CUT:
        filled = put_byte(TAB, out, put_row(words, row, out, filled))
        place, filled = put_analysis(ids, place, pieces, out, filled)
        if len(weights.numbers):
            filled = put_weight(weights, count, out, filled)
        filled = put_byte(LINE_FEED, out, filled)
        place, count = place + U1 + np.uint64(len(weights.numbers) > 0), count + U1
    return count, filled


@kernel
def write_tabbed(ids, row_splits, words, pieces, weights, marks_unknown, out):
    """Write the lines of all words, with tabs between the fields of a line.

    Args:
        ids, row_splits: the batch, see `fst.machines.lookup.table`.
        words, pieces: the words, and the pieces of the table, both `fst.runtime.machines.lookup.spelling.Strings`.
        weights: `fst.runtime.machines.lookup.lines.Weights`.
        marks_unknown: uint64, 1 for the output of flookup: a mark follows the tab of an unknown word, and an empty line follows the lines
            of each word.
        out: uint8, the output; up to 15 bytes after the last byte are written, too.

    Returns:
        The number of bytes.
    """
    filled, count = U0, U0
    for index in range(np.uint64(len(row_splits)) - U1):
        row, before = np.uint64(index), count
        place, last = np.uint64(row_splits[row]), np.uint64(row_splits[row + U1])
        count, filled = put_tabbed(ids, place, last, words, row, pieces, weights, count, out, filled)
        if count == before:
            filled = put_byte(TAB, out, put_row(words, row, out, filled))
            if marks_unknown:
                filled = put_byte(QUESTION, out, put_byte(PLUS, out, filled))
            filled = put_byte(LINE_FEED, out, filled)
        if marks_unknown:
            filled = put_byte(LINE_FEED, out, filled)
    return filled


@kernel
def write_apertium(ids, row_splits, words, pieces, weights, escapes, out):
    """Write a line for each word, as lt-proc prints it. For the arguments and the result, see `write_tabbed`.

    Args:
        escapes: bool[256], whether a backslash is written before each of the 256 bytes, if it occurs in a word.
    """
    filled, weighted = U0, np.uint64(len(weights.numbers) > 0)
    for index in range(np.uint64(len(row_splits)) - U1):
        row = np.uint64(index)
        place, last = np.uint64(row_splits[row]), np.uint64(row_splits[row + U1])
        start, end = np.uint64(words.starts[row]), np.uint64(words.starts[row + U1])
        first = put_byte(BEGIN, out, filled)
        _, filled = put_escaped(words.data, start, end, end - start, escapes, out, first)
        if place == last or np.int64(ids[place]) <= CUT:
            after = put_byte(STAR, out, put_byte(SLASH, out, filled))
            filled = put_wide(out, first, filled, out, after)
        while place < last and np.int64(ids[place]) > CUT:
            place, filled = put_analysis(ids, place, pieces, out, put_byte(SLASH, out, filled))
            place += U1 + weighted
        filled = put_byte(LINE_FEED, out, put_byte(STOP, out, filled))
    return filled
