"""Text that surely goes on: what tells a stream, from new text alone, that a kernel would read nothing of all that is unread.

Kernels require what those of `fst.runtime.pretokens.kernels.find` and `fst.runtime.text.kernels.normalizer` require.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.machines.bpe.arguments import COLUMNS
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.pretokens.kernels.find import may_begin_special
from fst.runtime.pretokens.kernels.search import class_at
from fst.runtime.text.kernels.normalizer import border_between, first_lag

AT, STATE = 0, 1  # indices into `reached`
PLACE, COVERED, STAYS = 0, 1, 2  # indices into `noted`


@kernel
def read_on(text, machine, memo, reached):
    """Read on in a piece.

    Args:
        text: uint8[n], UTF-8.
        machine: `fst.machines.bpe.arguments.Arguments`.
        memo: uint64[3], scratch.
        reached: uint64[2], changed. `AT`: how far the text is read, without a special token. `STATE`: the splitter's state there.

    Returns:
        Whether the piece goes on to the end of the text, or to where a special token may begin.
    """
    moves, columns, stop = machine.moves, machine.params[COLUMNS], np.uint64(len(text))
    at, state, is_open = reached[AT], reached[STATE], False
    reset(at, memo)
    while at < stop and state and not is_open:
        node = U0
        if may_begin_special(text, at, stop, machine.special_bytes):
            node, is_open = match_at(text, ITEMS, at, stop, U1, machine.specials, memo)
        if is_open:
            break
        if node:  # its bytes may be those of no character
            state = U0
        else:
            symbol, at = class_at(text, at, machine)
            state = np.uint64(moves[state * columns + symbol]) >> U1
    reached[AT], reached[STATE] = at, state
    return state > U0


@kernel
def has_border(text, limit, rewriter, memo, noted):
    """Whether a text that goes on has a border, see `fst.runtime.text.kernels.normalizer.last_border`.

    Args:
        text: uint8[n], UTF-8.
        limit, rewriter, memo: as in `fst.runtime.text.kernels.normalizer.border_between`.
        noted: uint64[3], changed. `PLACE`: where the search begins, and then from where on the next one may go on. `COVERED`, `STAYS`: how
            far tokens cover the text there, and how many bytes before it stay.
    """
    found = border_between(text, U0, np.uint64(len(text)), noted[COVERED], noted[STAYS], limit, rewriter, memo)
    border, noted[PLACE], noted[COVERED], noted[STAYS] = found
    return border > U0


@kernel
def has_lag(text, rewriter):
    """Whether spans may lag behind somewhere in a text. No border is sought from there on."""
    return first_lag(text, U0, np.uint64(len(text)), rewriter) < np.uint64(len(text))
