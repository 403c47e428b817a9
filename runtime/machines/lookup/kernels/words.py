"""Look up one word with a single call from Python: the list of its analyses, see `fst.runtime.machines.lookup.words`.

The kernel keeps the interpreter's lock, unless a word is long. It requires arguments that no other call uses at the same time: `in_use`
ensures this.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, object_kernel
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U16
from fst.runtime.kernels.objects import exchange, new_list, nothing
from fst.runtime.kernels.short_texts import encode_utf_16
from fst.runtime.kernels.strings import put_string
from fst.runtime.machines.lookup.kernels.spelling import measured, put_spelled

SLOW = layout.SLOW


@inlined
def analyses_of(text, short, pieces, spelled):
    """Return the analyses of a word, as `look_up` does."""
    ids = short.ids
    count = encode_utf_16(text, short)
    if count < 0 or count > len(ids) or (count == 1 and ids[0] == SLOW):
        return nothing()
    end, data, starts = np.uint64(count), spelled.data, spelled.starts
    size, analyses = measured(ids, end, pieces, spelled.weighted[0])
    if size + U16 > np.uint64(len(data)) or analyses >= np.uint64(len(starts)):
        return nothing()
    put_spelled(ids, end, pieces, spelled.weighted[0], data, starts)
    found, address = new_list(np.int64(analyses)), np.uint64(spelled.address[0])
    for row in range(np.int64(analyses)):
        put_string(found, row, data, np.uint64(starts[row]), np.uint64(starts[row + 1]), address, 0, spelled.work)
    return found


@object_kernel
def look_up(short, pieces, spelled, in_use, text):
    """Look up a word.

    Args:
        short: `fst.runtime.short_texts.ShortText`.
        pieces: `fst.runtime.machines.lookup.spelling.Strings`.
        spelled: `fst.runtime.machines.lookup.words.Spelled`.
        in_use: uint64[1], 1 while a call uses these arguments.
        text: the word, a str.

    Returns:
        The list of analyses; None if the word needs a batch, because it is long, has long analyses, is left to the slow walk, or has a lone
        surrogate, or because another call uses the arguments.
    """
    if exchange(in_use, U1):
        return nothing()
    found = analyses_of(text, short, pieces, spelled)
    in_use[0] = U0
    return found
