"""Write special ids around texts, and special tokens between pre-tokens."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U1
from fst.runtime.kernels.output import put_special_ids
from fst.runtime.pretokens.kernels.find import SPECIAL


@inlined
def begin_call(starts, more, output, state):
    """Write the special ids before the first text, unless the last call began this text. Store whether the last text continues."""
    if len(starts) > 1 and not state.is_open:
        state.count = put_special_ids(output.prefix, state.count, output)
    state.is_open = more


@inlined
def end_row(row, output, at):
    """Write the special ids after a text, the end of the text's row, and, if there is a next text, the special ids before it.

    Returns:
        The output index after the last id; and the next row.
    """
    at = put_special_ids(output.suffix, at, output)
    output.ends[row] = at
    row += U1
    if row < np.uint64(len(output.ends)):
        at = put_special_ids(output.prefix, at, output)
    return at, row


@inlined
def put_other(kind, special_ids, special, row, output, at):
    """Write the id of a special token, or the end of a row, for an item that is not a pre-token.

    Returns:
        The output index after the last id; the next row; and the index in `special_ids` of the next special token.
    """
    if kind == SPECIAL:
        output.ids[at] = special_ids[special]
        return at + U1, row, special + U1
    at, row = end_row(row, output, at)
    return at, row, special


@part
def end_rows(places, count, row, output, at):
    """Write the ends of `count` rows. The caller has already written the ids of all rows, with gaps for the special ids around the ends.

    Args:
        places: uint64[count], the output index after the last id of each row.
        row: the first of the rows.
        output: the output arrays.
        at: the output index after the last id, for the case that another row follows.

    Returns:
        The output index after the last id (after the last row of the output, no special ids follow); and the row after these rows.
    """
    after = at
    for index in range(count):
        after, row = end_row(row, output, places[index])
    return after if count and row == np.uint64(len(output.ends)) else at, row
