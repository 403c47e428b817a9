"""Boundary contexts and their factors, with which a kernel decides 64 positions at a time.

A context is the symbols around a position; it decides whether a pre-token begins there (`fst.compile.pretokens.boundaries`).

The decisions have up to a million entries, and a look-up decides one position. A left half is the two symbols before a position; a right
half is the position's own symbol and the next one. Only a few kinds of halves differ. So the decision about a position is an entry of a
small matrix, in the row of its left half and the column of its right half. Windows are wider than the two halves. Where the symbols further
left matter, the entry is `UNDECIDED`, and the kernel looks up the whole window. In English and in code, this is one position in a hundred.

For 64 positions, all these look-ups are permutations of bytes in registers, by AVX-512 or AVX2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

INSIDE, BEGINS, UNDECIDED = 0, 1, 3  # decisions; the lowest bit: a piece begins there, or may begin
AROUND = 2  # symbols without a class: after the end of the text, and before its start
MAX_WINDOW = 20  # bits of a window: the decisions take 1 MiB, but the ones that a text uses stay in a core's own cache

HALVES, WIDEST = 4, 6  # number of symbols of both halves, and maximum number of symbols of a window
SYMBOL_BITS = 4  # maximum number of bits of a symbol: two symbols make a byte
ROWS, COLUMNS = 32, 16
# The starts of the parts: symbols by ASCII character, kinds of left halves by two symbols, kinds of right halves, the matrix.
LEFT, RIGHT, MATRIX, SIZE = 128, 384, 640, 896


def factors(ascii_symbols: NDArray[np.uint8], decisions: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """The four parts for the windows over ASCII text.

    Args:
        ascii_symbols: uint8[128], the symbol of each ASCII character, or 255 without one.
        decisions: uint8[1 << width * bits], as in `fst.machines.bpe.table.BpeTable`.
        bits: the number of bits of a symbol.

    Returns:
        uint8[SIZE]; empty if symbols are too large, windows too narrow or too wide, or too many halves differ. The first part is
        `ascii_symbols`. A left half of row r has the number ``(r & 15) << 4 | r >> 4``; a right half of column c has the number c. The
        decision about a position is in the byte ``(r & 15) << 4 | c`` of the matrix, in bits 0 and 1 if r is below 16, else in bits 2 and
        3.
    """
    width = (len(decisions).bit_length() - 1) // bits
    symbols = np.flatnonzero(np.bincount(ascii_symbols[ascii_symbols < 1 << bits]))
    if bits > SYMBOL_BITS or not HALVES <= width <= WIDEST or not len(symbols):
        return np.empty(0, np.uint8)
    windows = decisions.reshape((1 << bits,) * width)[np.ix_(*[symbols] * width)]
    for _ in range(width - HALVES):
        windows = np.where((windows == windows[0]).all(axis=0), windows[0], np.uint8(UNDECIDED))
    rows, row_of = np.unique(windows.reshape(len(symbols) ** 2, -1), axis=0, return_inverse=True)
    matrix, column_of = np.unique(rows, axis=1, return_inverse=True)
    if len(matrix) > ROWS or matrix.shape[1] > COLUMNS:
        return np.empty(0, np.uint8)
    return _laid_out(ascii_symbols, symbols, row_of.ravel(), column_of.ravel(), matrix)


def _laid_out(
    ascii_symbols: NDArray[np.uint8],
    symbols: NDArray[np.intp],
    row_of: NDArray[np.intp],
    column_of: NDArray[np.intp],
    matrix: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """The four parts, concatenated."""
    found = np.zeros(SIZE, np.uint8)
    halves = (symbols[:, None] << 4 | symbols).ravel()
    found[:LEFT] = ascii_symbols
    found[LEFT + halves] = (row_of & 15) << 4 | row_of >> 4
    found[RIGHT + halves] = column_of
    for row, decided in enumerate(matrix):
        first = MATRIX + ((row & 15) << 4)
        found[first : first + len(decided)] |= decided << 2 * (row >> 4)
    return found
