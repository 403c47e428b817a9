"""Write special ids around texts, and special tokens between pre-tokens."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.output import put_special_ids
from fst.runtime.pretokens.kernels.find import SPECIAL
from fst.tables.kernel_call import COUNT, OPEN


@inlined
def begin_call(starts, more, output, state):
    """Write the special ids before the first text, unless the last call began this text. Store whether the last text continues."""
    if len(starts) > 1 and not state[OPEN]:
        state[COUNT] = put_special_ids(output.prefix, state[COUNT], output)
    state[OPEN] = more


@inlined
def put_other(kind, special_ids, special, row, output, at):
    """Write the id of a special token, or the special ids around the end of a text.

    Returns:
        The output index after the last id; the next row; and the index in `special_ids` of the next special token.
    """
    if kind == SPECIAL:
        output.ids[at] = special_ids[special]
        return at + U1, row, special + U1
    at = put_special_ids(output.suffix, at, output)
    output.ends[row] = at
    row += U1
    if row < np.uint64(len(output.ends)):
        at = put_special_ids(output.prefix, at, output)
    return at, row, special


@part
def end_rows(places, count, row, at, output):
    """Write the ends of `count` rows, and the special ids around the ends. The caller has left out the output indices of these ids.

    Args:
        places: uint64[count], the output index after the last id of each row.
        row: the first of these rows.
        at: the output index after the last id.
        output: the output arrays.

    Returns:
        The new output index, which is lower if no row follows and thus no special ids are before it; and the row after these rows.
    """
    for index in range(count):
        after = put_special_ids(output.suffix, places[index], output)
        output.ends[row] = after
        row += U1
        if row < np.uint64(len(output.ends)):
            put_special_ids(output.prefix, after, output)
    unused = count and row == np.uint64(len(output.ends))
    return at - (np.uint64(len(output.prefix)) if unused else U0), row
