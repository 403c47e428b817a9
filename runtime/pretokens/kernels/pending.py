"""Test whether an unfinished pre-token continues to the end of new text, so that a stream need not call the kernel.

The requirements of `fst.runtime.pretokens.kernels.find` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.pretokens.kernels.symbols import may_begin_special
from fst.runtime.text.kernels.search import class_at

AT, STATE = 0, 1  # indices into `reached`


@kernel
def read_on(text, table, memo, reached):
    """Continue to read an unfinished pre-token.

    Args:
        text: uint8[n], UTF-8.
        table: `fst.pretokens.arguments.Arguments`.
        memo: uint64[3], the memo of `fst.runtime.kernels.tries.match_at`.
        reached: uint64[2], updated. ``reached[AT]`` is the position up to which the text is read; no special token begins before this
            position. ``reached[STATE]`` is the splitter's state at this position.

    Returns:
        Whether the pre-token continues to the end of the text, or to a position where a special token may begin.
    """
    moves, columns, end = table.moves, table.scalars.columns, np.uint64(len(text))
    at, state, is_open = reached[AT], reached[STATE], False
    reset(at, memo)
    while at < end and state and not is_open:
        node = U0
        if may_begin_special(text, at, end, table.special_bytes):
            node, is_open = match_at(text, ITEMS, at, end, U1, table.specials, memo)
        if is_open:
            break
        if node:  # do not read the bytes of a token as characters
            state = U0
        else:
            symbol, at = class_at(text, at, table)
            state = np.uint64(moves[state * columns + symbol]) >> U1
    reached[AT], reached[STATE] = at, state
    return state > U0
