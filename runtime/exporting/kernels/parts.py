"""Kernels that encode a text, or a part of a text, for tables that rewrite texts: one call replaces `fst.runtime.run.Runner`.

A part is rewritten up to its `last_border`. If rewriting changes nothing, the part is read in place, and ``rewritten.starts[1]`` is 0.
Rewritten text that is not encoded yet remains in ``rewritten``; the state contains the size of this text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.runtime.kernels.constants import U0
from fst.runtime.kernels.unicode import CONTINUATION
from fst.runtime.kernels.utf_8 import LOW_6
from fst.runtime.machines.bpe.kernels import encode, merge_queue
from fst.runtime.machines.unigram.kernels import encode as unigram
from fst.runtime.machines.unigram.kernels import text_scope, word_type
from fst.runtime.text.kernels import normalizer as normalizing
from fst.runtime.text.kernels.unchanged import is_unchanged
from fst.tables.kernel_call import IDS_ALONE


@inlined
def has_border(text, starts, more, output, by, memo):
    """Whether a part contains text that can be read; if the text continues, the end of the part becomes its last border."""
    start, end = np.uint64(starts[0]), np.uint64(starts[1])
    if more and len(output) > IDS_ALONE and len(output.offsets):
        starts[1] = np.int64(normalizing.last_border(text, start, end, by, memo))
    elif more:
        starts[1] = np.int64(normalizing.border_before(text, start, end, by, memo))
    return not more or starts[1] > starts[0]


@inlined
def is_read_in_place(text, starts, state, by, memo):
    """Whether kernels can read a part in place."""
    return state.kept == U0 and is_unchanged(text, starts, by, memo)


@inlined
def rewrite(text, starts, more, is_inside, state, by, work, rewritten):
    """Rewrite a part, and append it to the rewritten text that is not encoded yet. The kernel that encodes counts characters from the start
    of the rewritten text.
    """
    normalizing.rewrite(text, starts, state.before, is_inside, more, state.kept, state.kept_characters, by, work, rewritten)
    state.before = U0


@inlined
def finish(rewritten, read, output, state):
    """If spans are requested, find the spans in the raw text; move the rewritten text that is not encoded yet to the front."""
    if len(output) > IDS_ALONE and len(output.offsets):
        normalizing.restore_all(output, state, rewritten)
    text, end, count = rewritten.text, np.uint64(rewritten.starts[1]), U0
    for index in range(end - read):
        byte = text[read + np.uint64(index)]
        text[np.uint64(index)] = byte
        count += np.uint64(np.uint64(byte) & ~LOW_6 != CONTINUATION)
    places, first = rewritten.places, np.uint64(rewritten.firsts[1]) - count
    for index in range(count if len(places) else U0):
        places[np.uint64(index)] = places[first + np.uint64(index)]
    state.kept, state.kept_characters = end - read, count


@inlined
def encode_part(encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by the kernel of a machine.

    Args:
        encode_rows: the kernel.
        text, starts, more, table, output, work: the arguments of this kernel, for one text; the second start is changed.
        marked: the argument ``table`` for rewritten texts.
        state: the state in ``work``; ``state.before`` is the number of characters before `text`.
        by, buffers, rewritten: the normalizer, the working memory and the output of the normalizer, see `fst.text.arguments`.

    Returns:
        The position in `text` at which reading stopped.
    """
    is_inside, is_kept = state.is_open, False
    if not has_border(text, starts, more, output, by, buffers.memo):
        return np.uint64(starts[0])
    if is_read_in_place(text, starts, state, by, buffers.memo):
        rewritten.starts[1] = 0
        read = np.uint64(encode_rows(text, starts, more, table, output, work))
        if not more or read > np.uint64(starts[0]):
            return read
        is_kept = True
    rewrite(text, starts, more, is_inside, state, by, buffers, rewritten)
    read = U0 if is_kept else np.uint64(encode_rows(rewritten.text, rewritten.starts, more, marked, output, work))
    finish(rewritten, read, output, state)
    return np.uint64(starts[1])


@kernel
def bpe_part(text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by the automaton of byte-level BPE; see `encode_part`."""
    return encode_part(encode.encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten)


@kernel
def merges_part(text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by a list of merges; see `encode_part`."""
    return encode_part(merge_queue.encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten)


@kernel
def unigram_part(text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by Unigram; see `encode_part`."""
    return encode_part(unigram.encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten)


@kernel
def text_scope_part(text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by Unigram that sums scores over whole texts; see `encode_part`."""
    return encode_part(text_scope.encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten)


@kernel
def word_type_part(text, starts, more, table, marked, output, work, state, by, buffers, rewritten):
    """Encode a part of a text by Unigram whose tokens are words; see `encode_part`."""
    return encode_part(word_type.encode_rows, text, starts, more, table, marked, output, work, state, by, buffers, rewritten)
