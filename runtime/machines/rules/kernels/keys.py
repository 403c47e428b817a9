"""Replace the keys of a stage, see `fst.machines.rules.keys`, in rows of text.

The requirements of `fst.runtime.machines.rules.kernels.passes` apply, and rows are complete.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, kernel
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.machines.rules.kernels.islands import next_event
from fst.runtime.machines.rules.kernels.passes import put
from fst.runtime.machines.rules.kernels.spans import put_new, put_spans


@inlined
def put_text(text, at, end, spans, out, filled, out_spans):
    """Copy text, with its spans if they are requested."""
    if len(spans):
        put_spans(spans, at, end, out_spans, filled)
    return put(text, at, end, out, filled)


@kernel
def replace_keys(text, starts, keys, memo, spans, out, out_starts, out_spans):
    """Write the new rows.

    Args:
        text, starts, out, out_starts: as in `fst.runtime.machines.rules.kernels.passes.to_right`.
        keys: `fst.machines.rules.keys.KeyArguments`.
        memo: uint64[3], a working array.
        spans, out_spans: as in `fst.runtime.machines.rules.kernels.spans.align`, or empty.

    Returns:
        The number of replaced keys.
    """
    trie, filled, count = keys.trie, U0, U0
    for row in range(len(starts) - 1):
        out_starts[row] = filled
        copied = at = np.uint64(starts[row])
        end = np.uint64(starts[row + 1])
        reset(at, memo)
        at = next_event(text, at, end, keys.stops)
        while at < end:
            node, _ = match_at(text, ITEMS, at, end, U0, trie, memo)
            size = np.uint64(trie.nodes[node, LENGTH])
            if size:
                count += U1
                filled = put_text(text, copied, at, spans, out, filled, out_spans)
                copied = at + size
                first, last = (spans[at << U1], spans[(copied << U1) - U1]) if len(spans) else (np.int32(0), np.int32(0))
                filled = put_new(keys, np.uint64(trie.nodes[node, VALUE]), first, last, out, filled, out_spans)
            at = next_event(text, at + max(size, U1), end, keys.stops)
        filled = put_text(text, copied, end, spans, out, filled, out_spans)
    out_starts[len(starts) - 1] = filled
    return count
