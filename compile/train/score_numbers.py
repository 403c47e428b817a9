"""Numbers that the kernels of WordPiece by score share with their caller."""

from __future__ import annotations

GAP, INNER = -1, -2  # cells without an id
NONE = -1  # no row
HALF_OUT = -1  # the count of a pair that is out of the heap, and still in one of its two lists
DONE, STEPS, PAIRS = 0, 1, 2  # why a kernel stops: no pair is left that may merge; it has done its share; rows are needed

# Columns of `Index.pairs`: a row fills a line of cache.
LEFT, RIGHT, COUNT, START, END, NEXT_OF_LEFT, NEXT_OF_RIGHT, PLACE = range(8)
WIDTH = 8

# Indices of `Index.numbers`: the size of the heap; the first free row; the rows ever used; the end of the pool; the pairs of neighbours in
# all words; and the least count of a pair that may merge.
HEAP_SIZE, FREE, USED, POOL_END, NEIGHBOURS, LEAST = range(6)
NUMBERS = 6
