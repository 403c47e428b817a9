"""Run MaxMatch in both directions: for `fst.runtime.run`, this module is the kernel.

Backward, all rows of a call are read as one text in reverse order. So the tokens come in reverse order, too, and are turned round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.jit import Deferred
from fst.machines.kernel_call import BEFORE, COUNT, OPEN, Output, SpansOutput
from fst.machines.maxmatch import Arguments
from fst.runtime.run import NO_MORE, NOTHING, kernel_of
from fst.runtime.texts import PAST_END, Ints, Units, characters

KERNEL = "fst.runtime.kernels.maxmatch"
reverse_bytes, turn_round = Deferred(KERNEL, "reverse_bytes"), Deferred(KERNEL, "turn_round")


def encode_rows(text: Units, starts: Ints, more: np.uint64, machine: Arguments, output: Output, work: Any) -> int:
    """Segment texts; see `fst.runtime.kernels.maxmatch.encode_rows`."""
    if not machine.is_backward[0]:
        read: int = kernel_of(KERNEL, "encode_rows", len(output)).call(text, starts, more, machine, output, work)
        return read
    return _encode_backward(text, starts, more, machine, output, work)


def _encode_backward(text: Units, starts: Ints, more: np.uint64, machine: Arguments, output: Output, work: Any) -> int:
    """Segment texts from their ends. A text that goes on in the next call is read up to its last cut."""
    state, first, stop = work.state, int(starts[0]), int(starts[-1])
    before, place = int(state[BEFORE]) if state[OPEN] else 0, int(state[COUNT])
    if more:
        cuts = np.flatnonzero(machine.is_cut[text[starts[-2] : stop]])
        stop = int(starts[-2]) + (int(cuts[-1]) + 1 if len(cuts) else 0)
    reverse, ends = np.zeros(stop - first + PAST_END, np.uint8), np.empty(len(starts) - 1, np.int64)
    reverse_bytes.call(text, np.uint64(first), np.uint64(stop), reverse)
    state[OPEN] = 0
    reverse_starts = stop - np.minimum(starts, stop)[::-1]
    run = kernel_of(KERNEL, "encode_rows", len(output)).call
    run(reverse[: stop - first], reverse_starts, NO_MORE, machine, output._replace(ends=ends), work)
    output.ends[:] = (place + np.cumsum(np.diff(ends, prepend=place)[::-1]))[: len(output.ends)]
    spans = output.offsets if isinstance(output, SpansOutput) else NOTHING
    turn_round.call(np.uint64(place), ends, np.int64(before), output.ids, spans)
    if more:
        state[BEFORE] = (before if len(starts) == 2 else 0) + characters(text[starts[-2] : stop])
    state[OPEN] = more
    return stop

