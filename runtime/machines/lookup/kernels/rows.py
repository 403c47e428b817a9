"""The kernel of look-up. `fst.machines.lookup.table` describes the ids, and `fst.machines.lookup.walk` specifies them.

A row of text is one word. The kernel stores nothing between calls: if a text continues, the kernel reads nothing of it.

Kernels check nothing, and require a table that has passed `Table.prove`, and text in UTF-16. If the ids do not fit into the output, they
are only counted.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.runtime.kernels.constants import U0, U1, U3
from fst.runtime.machines.lookup.kernels.found import FULL, OVER, SLOW, put, put_analyses, put_spans
from fst.runtime.machines.lookup.kernels.symbols import TOO_LONG, UNKNOWN, characters_of, read_classes
from fst.runtime.machines.lookup.kernels.walk import walk
from fst.tables.kernel_call import IDS_ALONE


@kernel
def run_rows(text, starts, more, table, output, work):
    """Look up words. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.lookup.layout.Arguments`, and `work`, which is `fst.machines.lookup.layout.Work`.
    """
    call, rows = work.state, np.uint64(len(starts)) - U1
    is_weighted = len(table.arc_weights) + len(table.final_weights) > 0
    place = call.count
    complete = rows - U1 if more else rows
    for index in range(complete):
        row, first = np.uint64(index), place
        start, end = np.uint64(starts[row]), np.uint64(starts[row + U1])
        size = read_classes(text, start, end, table, work.classes)
        if size < UNKNOWN:
            count, state = walk(size, table, work)
            if state == FULL:
                place = put(output, place, SLOW)
            else:
                place = put_analyses(count, table.begin[U3], state == OVER, is_weighted, size, output, place, work)
        elif size == TOO_LONG:
            place = put(output, place, SLOW)
        if len(output) > IDS_ALONE:
            put_spans(output, first, place, U0, characters_of(text, start, end))
        output.ends[row] = place
    call.count = place
    return np.uint64(starts[complete])
