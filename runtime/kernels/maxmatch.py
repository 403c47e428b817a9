"""MaxMatch. `fst.machines.maxmatch` says what the tokens are; its slow walk specifies them.

The kernel is that of keyword search, which writes the characters between matches, too: see `fst.runtime.kernels.maxmatch_tokens`. Texts
that are read backward come to it in reverse order, and so do its tokens: `fst.runtime.maxmatch` calls the other kernels for this.

Kernels check nothing. They require a proven table, UTF-8 or its reverse, and room for an id for each byte of text.
"""

from __future__ import annotations

import numpy as np

from fst.jit import kernel
from fst.runtime.kernels.keywords import search
from fst.runtime.kernels.maxmatch_tokens import DONE
from fst.runtime.kernels.numbers import U1

ZERO = np.int64(0)


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Segment texts. Arguments and result are those of `fst.runtime.kernels.bpe.encode_rows`, but for `machine`, which is
    `fst.machines.maxmatch.Arguments`, and `work`, which is `fst.machines.keywords.Work`.
    """
    work.notes[DONE] = starts[0]
    return search(text, starts, more, machine, output, work)


@kernel
def reverse_bytes(text, first, stop, reverse):
    """Write the bytes of a part of a text in reverse order."""
    for index in range(stop - first):
        reverse[index] = text[stop - U1 - index]


@kernel
def turn_round(place, ends, before, ids, spans):
    """Turn the tokens of rows round.

    Args:
        place, ends: where the tokens of the first row begin, and where those of each row end. The last row comes first, and each from its
            end.
        before: int64, the number of characters of the text's first row that come before its tokens.
        ids: int32[n], changed.
        spans: int32[2 * n], in characters, changed; empty if there are none. The tokens of a row cover it.
    """
    begin, rows = place, np.uint64(len(ends))
    for index in range(rows):
        row = np.uint64(index)
        end = np.uint64(ends[row])
        if len(spans) and begin < end:
            size = np.int64(spans[(end << U1) - U1]) + (before if row + U1 == rows else ZERO)
            for token in range(begin, end):
                at = np.uint64(token) << U1
                spans[at], spans[at | U1] = size - spans[at | U1], size - spans[at]
        begin = end
    while place + U1 < begin:
        begin -= U1
        ids[place], ids[begin] = ids[begin], ids[place]
        if len(spans):
            low, high = place << U1, begin << U1
            spans[low], spans[high] = spans[high], spans[low]
            spans[low | U1], spans[high | U1] = spans[high | U1], spans[low | U1]
        place += U1
