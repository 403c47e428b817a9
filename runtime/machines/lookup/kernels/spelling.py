"""Join the pieces of analyses into strings, for a batch, or for one word, which is looked up by a single call from Python.

The kernel `look_up` keeps the interpreter's lock, unless a word is long.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, object_kernel, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U16
from fst.runtime.kernels.intrinsics import copy_16
from fst.runtime.kernels.objects import exchange, new_list, nothing, store
from fst.runtime.kernels.short_texts import encode_utf_16
from fst.runtime.kernels.strings import put_string

SLOW, END = layout.SLOW, np.int64(layout.END)


@inlined
def put_wide(data, at, end, out, filled):
    """Copy some bytes; return the output index after them. Up to 15 more bytes are read and written."""
    after = filled + (end - at)
    while at < end:
        copy_16(data, at, out, filled)
        at += U16
        filled += U16
    return after


@inlined
def put_row(strings, row, out, filled):
    """Write one of `fst.runtime.machines.lookup.spelling.Strings`, such as a piece; return the output index after it."""
    number = np.uint64(row)
    return put_wide(strings.data, np.uint64(strings.starts[number]), np.uint64(strings.starts[number + U1]), out, filled)


@part
def measured(ids, end, pieces, is_weighted):
    """Return the number of bytes, and of analyses, of the first ids."""
    size, count, place = U0, U0, U0
    while place < end:
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            size += np.uint64(pieces.starts[np.uint64(piece) + U1]) - np.uint64(pieces.starts[np.uint64(piece)])
        elif piece == END:
            count += U1
            place += is_weighted
    return size, count


@part
def put_spelled(ids, end, pieces, is_weighted, data, starts):
    """Write the strings of the first ids; see `spell`."""
    filled, count, place = U0, U0, U0
    starts[U0] = 0
    while place < end:
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            filled = put_row(pieces, piece, data, filled)
        elif piece == END:
            count += U1
            starts[count] = filled
            place += is_weighted


@kernel
def spell(ids, pieces, is_weighted, data, starts):
    """Write the strings of all analyses in a batch; with empty `data`, only measure them.

    Args:
        ids: int32[n], the ids of the batch, see `fst.machines.lookup.table`.
        pieces: `fst.runtime.machines.lookup.spelling.Strings`.
        is_weighted: uint64, 1 if a weight follows each analysis, otherwise 0.
        data: output, uint8[bytes + 15], the UTF-8 of all analyses.
        starts: output, int64[analyses + 1], the start of each analysis, and the end of the last analysis.

    Returns:
        The number of bytes and the number of analyses; 0 and 0 if the strings are written.
    """
    if len(data) == 0:
        return measured(ids, np.uint64(len(ids)), pieces, is_weighted)
    put_spelled(ids, np.uint64(len(ids)), pieces, is_weighted, data, starts)
    return U0, U0


@inlined
def analyses_of(text, short, pieces, spelled):
    """Return the result of `look_up`."""
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
        spelled: `fst.runtime.machines.lookup.spelling.Spelled`.
        in_use: uint64[1], 1 while a call uses these arguments, which no other call may use at the same time.
        text: the word, a str.

    Returns:
        The list of analyses; None if another call uses the arguments, or if the word needs a batch: a word that is long, has long analyses,
        is left to the slow walk, or has a lone surrogate.
    """
    if exchange(in_use, U1):
        return nothing()
    found = analyses_of(text, short, pieces, spelled)
    store(in_use, U0)
    return found
