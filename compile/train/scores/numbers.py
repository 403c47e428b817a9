"""Constants of the kernels of WordPiece by score and of their caller."""

from __future__ import annotations

GAP, INNER = -1, -2  # cells without an id
NONE = -1  # no row
HALF_OUT = -1  # the count of a pair that has left the heap and one of its two lists, but not the other
DONE, STEPS, PAIRS = 0, 1, 2  # reasons for the return of a kernel: no pair is left to merge; the round is over; more rows are needed

# Columns of `Index.pairs`: a row fills a cache line.
LEFT, RIGHT, COUNT, START, END, NEXT_OF_LEFT, NEXT_OF_RIGHT, PLACE = range(8)
WIDTH = 8

# Indices into `Index.numbers`: the size of the heap; the first free row; the number of rows used so far; the end of the pool; the number of
# neighbouring tokens in all words; and the minimum count of a pair for a merge.
HEAP_SIZE, FREE, USED, POOL_END, NEIGHBOURS, LEAST = range(6)
NUMBERS = 6
