"""Constants that the kernels of WordPiece by score and their caller share."""

from __future__ import annotations

GAP, INNER = -1, -2  # values of cells that are not ids
NONE = -1  # in place of a row number: there is no row
HALF_OUT = -1  # the count of a pair that is already removed from the heap and from one of its two lists, but not yet from the other list
DONE, STEPS, PAIRS = 0, 1, 2  # reasons why `learn` returns: no pair is left; the round is over; more rows are needed

# Columns of `Index.pairs`. Eight int64 per row fill one cache line.
LEFT, RIGHT, COUNT, START, END, NEXT_OF_LEFT, NEXT_OF_RIGHT, PLACE = range(8)
WIDTH = 8

# Indices into `Index.numbers`: the size of the heap; the first free row; the number of rows used so far; the end of the pool; the number of
# neighbouring tokens in all words; and the minimum count of a pair for a merge.
HEAP_SIZE, FREE, USED, POOL_END, NEIGHBOURS, LEAST = range(6)
NUMBERS = 6
