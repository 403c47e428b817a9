"""Kernels that read one short str, run prepared calls on this str, and return the result; Python makes a single call.

The kernels copy the text before they release the interpreter's lock. They require a buffer for `fst.tables.kernel_call.SHORT` characters,
and arguments that no other thread uses; `fst.runtime.short_texts` ensures this.
"""

from __future__ import annotations

import numpy as np

from fst.core import prepared
from fst.core.jit import inlined, object_kernel
from fst.runtime.kernels import unicode, utf_8
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.objects import acquire, characters_of, exchange, new_list, nothing, put_tuple, release, run, store
from fst.tables.kernel_call import SHORT

FAILED = np.uint64(prepared.FAILED)
HELD = np.uint64(512)  # maximum number of units of a text that is encoded without releasing the lock, because the release would take longer


@inlined
def run_calls(short):
    """Run the kernels on the text; return False if the text needs a batch."""
    if not len(short.is_unchanged) or run(short.is_unchanged) == U1:
        return run(short.encode) != FAILED
    return len(short.rewrite) > 0 and run(short.rewrite) != FAILED and run(short.encode_rewritten) != FAILED


@inlined
def is_short(views):
    """Whether a str, given as views, has at most `SHORT` characters."""
    narrow, units, codes = views
    return len(narrow) + len(units) + len(codes) <= SHORT


@inlined
def encoded(end, is_wrong, short):
    """Encode the text, which has `end` units; return the number of ids, or -1 if the text needs a batch. `is_wrong`: whether the text has a
    lone surrogate.
    """
    if is_wrong:
        return -1
    short.starts[1] = end
    for index in range(len(short.state)):
        short.state[index] = U0
    if end <= HELD:
        is_read = run_calls(short)
    else:
        thread = release()
        is_read = run_calls(short)
        acquire(thread)
    return np.int64(short.state.count) if is_read else -1


@object_kernel
def encode_utf_8(text, short):
    """Encode a str with kernels that read UTF-8.

    Args:
        text: the str.
        short: `fst.runtime.short_texts.ShortText`.

    Returns:
        The number of ids; -1 if the text is too long, has a lone surrogate, or cannot be read by the kernels.
    """
    views = characters_of(text)
    if not is_short(views):
        return -1
    end, is_wrong = utf_8.put_string(views, short.text, U0)
    return encoded(end, is_wrong, short)


@object_kernel
def encode_utf_16(text, short):
    """Encode a str with kernels that read UTF-16; see `encode_utf_8`."""
    views = characters_of(text)
    if not is_short(views):
        return -1
    end, is_wrong = unicode.put_string(views, short.text, U0)
    return encoded(end, is_wrong, short)


@inlined
def tuples(text, short, kind, form):
    """Find the ids of a str, and the spans of the ids, as in `find`."""
    count = encode_utf_8(text, short)
    if count < 0:
        return nothing()
    found, ids, offsets = new_list(count), short.ids, short.offsets
    for index in range(count):
        at = np.uint64(index)
        start, end = np.int64(offsets[at << U1]), np.int64(offsets[at << U1 | U1])
        put_tuple(found, index, kind, form[0], form[1], np.int64(ids[at]), start, end)
    return found


@object_kernel
def find(short, in_use, kind, form, text):
    """Find the ids of a str, and the spans of the ids, with kernels that read UTF-8.

    Args:
        short, text: as in `encode_utf_8`.
        in_use: uint64[1], 1 while a call uses `short`.
        kind: a subclass of tuple.
        form: int64[2], the results of `fst.core.native.tuple_form`.

    Returns:
        A list with an object of `kind` for each id: the id, the start and the end. None if the text needs a batch, or `short` is in use.
    """
    if exchange(in_use, U1):
        return nothing()
    found = tuples(text, short, kind, form)
    store(in_use, U0)
    return found
