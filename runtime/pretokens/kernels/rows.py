"""Write special ids around texts, and special tokens between pre-tokens."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined
from fst.runtime.kernels.constants import U1
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
