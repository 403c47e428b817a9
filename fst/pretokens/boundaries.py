"""Factors of boundary contexts: small tables with which a kernel decides 64 positions at a time.

A context, or *window*, is the symbols around a position; it decides whether a pre-token begins there (`fst.compile.pretokens.boundaries`).

The full table of decisions has up to a million entries, and a look-up decides only one position. So the table is factored. A left half is
the two symbols before a position; a right half is the position's own symbol and the next one. Many halves have the same effect, so there
are only a few kinds of halves. The decision about a position is an entry of a small matrix, in the row of its left half and the column of
its right half. A window can contain further symbols, left of the left half. If the decision depends on these symbols, the entry is
`UNDECIDED`, and the kernel looks up the window in the full table. In English and in code, this happens at one position in a hundred.

The look-ups for 64 positions are a few permutations of bytes in registers, with AVX-512 or AVX2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

INSIDE, BEGINS, UNDECIDED = 0, 1, 3  # decisions; the lowest bit is set if a pre-token begins or may begin there
AROUND = 2  # number of symbols that belong to no class: one for the position after a text, and one for the position before it
MAX_WINDOW = 20  # maximum number of bits of a window; of the 1 MiB of decisions, the few that a text uses fit into a core's own cache

HALVES, WIDEST = 4, 6  # number of symbols of both halves together, and maximum number of symbols of a window
SYMBOL_BITS = 4  # maximum number of bits of a symbol: two symbols make a byte
ROWS, COLUMNS = 32, 16
# The factors are the symbols of ASCII characters, and three parts whose starts are given here: kinds of left halves by two symbols, kinds
# of right halves, and the matrix. The last number is the total size.
LEFT, RIGHT, MATRIX, SIZE = 128, 384, 640, 896


def factors(ascii_symbols: NDArray[np.uint8], decisions: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """The four parts of the factored decisions for ASCII text, concatenated.

    Args:
        ascii_symbols: uint8[128], the symbol of each ASCII character; 255 for a character without a symbol.
        decisions: uint8[1 << width * bits], as in `fst.machines.bpe.table.BpeTable`.
        bits: the number of bits of a symbol.

    Returns:
        uint8[SIZE]; empty if the decisions cannot be factored: symbols are too large, windows are too narrow or too wide, or there are
        too many kinds of halves. The first part is `ascii_symbols`. A left half of row r has the number ``(r & 15) << 4 | r >> 4``; a right
        half of column c has the number c. The decision about a position is in the byte ``(r & 15) << 4 | c`` of the matrix, in bits 0 and 1
        if r is below 16, else in bits 2 and 3.
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
    """Concatenate the four parts of the factors."""
    found = np.zeros(SIZE, np.uint8)
    halves = (symbols[:, None] << 4 | symbols).ravel()
    found[:LEFT] = ascii_symbols
    found[LEFT + halves] = (row_of & 15) << 4 | row_of >> 4
    found[RIGHT + halves] = column_of
    for row, decided in enumerate(matrix):
        first = MATRIX + ((row & 15) << 4)
        found[first : first + len(decided)] |= decided << 2 * (row >> 4)
    return found
