"""Kernels that rewrite one text by one stage of rules, or by the best path, for hosts that run the stages of a table one after another.

Each kernel reads a text and writes another, with its start 0 and its end. The outputs have `MARGIN` bytes past their capacity, because the
next kernel may read them. With `spans`, it also writes the span of each byte, in bytes of the text that the host has given.

Kernels return `DONE`; `FAULT` if there is no new text; or a number of bytes that the output needs. Preconditions are those of the kernels
that rewrite rows, and texts that fit into their arrays.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.best_path import arguments as best
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.unicode import CONTINUATION, character_at
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.machines.best_path.kernels import rewriting as paths
from fst.runtime.machines.rules import kernel as rules
from fst.runtime.rewriting import rows

DONE, FAULT = U0, U1
MARGIN, LAST = np.int64(rows.MARGIN), U1
LAYERS, FIRST = best.LAYERS, np.uint64(best.FIRST)
FILLED, STATE, REPORT = best.FILLED, best.STATE, best.REPORT


@kernel
def begin_spans(text, starts, spans):
    """Write the span of each byte of a text: the first byte of its character, and the byte after its last one.

    Args:
        text: uint8[n]; starts: int64[2], 0 and the number of bytes.
        spans: int32[2 * n + 2].

    Returns:
        `DONE`.
    """
    begin = np.int64(0)
    for at in range(starts[1]):
        if text[at] & LEAD_MASK != CONTINUES:
            begin = at
        spans[2 * at] = begin
        for before in range(begin, at + 1):
            spans[2 * before + 1] = at + 1
    return DONE


@inlined
def result_of(out, out_starts):
    """`DONE`, or the number of bytes that the output needs."""
    return DONE if out_starts[1] + MARGIN <= len(out) else np.uint64(out_starts[1])


@kernel
def run_passes(text, starts, spans, stage, silent, columns, out, out_starts, out_spans):
    """Rewrite a text by a stage of two passes.

    Args:
        text: uint8[n]; starts: int64[2], 0 and the number of bytes; spans: int32[2 * n + 2] or empty.
        stage: `fst.machines.rules.arguments.Stage`.
        silent: `fst.machines.rules.quiet.Quiet` of the stage.
        columns: uint16[n], a working array.
        out, out_starts, out_spans: the new text, as the first three.
    """
    target = out[: len(out) - MARGIN]
    has_islands = len(spans) == 0 and len(silent.stops) > 0
    if has_islands and rules.rewrite_islands(text, starts, stage, silent, columns, target, out_starts) != rules.TOO_MANY:
        return result_of(out, out_starts)
    rules.to_left(text, starts, stage, U0, columns)
    if len(spans):
        rules.align(text, starts, stage, columns, U0, LAST, spans, target, out_starts, out_spans)
    else:
        rules.to_right(text, starts, stage, columns, U0, LAST, target, out_starts)
    return result_of(out, out_starts)


@kernel
def run_keys(text, starts, spans, keys, memo, out, out_starts, out_spans):
    """Rewrite a text by a stage of keys.

    Args:
        text, starts, spans, out, out_starts, out_spans: as in `run_passes`.
        keys: `fst.machines.rules.keys.KeyArguments`.
        memo: uint64[3], a working array.
    """
    rules.replace_keys(text, starts, keys, memo, spans, out[: len(out) - MARGIN], out_starts, out_spans)
    return result_of(out, out_starts)


@kernel
def turn(text, starts, spans, out, out_starts, out_spans):
    """Reverse the characters of a text. The arguments are as in `run_passes`."""
    out_starts[1] = starts[1]
    rules.mirror(text, starts, spans, out, out_spans)
    return DONE


@inlined
def is_utf_8(text, end):
    """Whether the first bytes of a text are UTF-8."""
    at, size = U0, U1
    while at < end and size:
        size = U1
        if np.uint64(text[at]) >= CONTINUATION:
            _, size = character_at(text, at, end - at)
        at += size
    return size > U0


@inlined
def follow_best_path(text, starts, spans, place, table, work, out, out_starts, out_spans):
    """Rewrite a text from its start; return the result of the machine's kernel."""
    for index in range(len(place)):
        place[index] = U0
    place[STATE] = table.start[0]
    work.counts[LAYERS] = max(work.counts[LAYERS], FIRST)
    return paths.rewrite(text, starts, U0, place, spans, out[: len(out) - MARGIN], out_starts, out_spans, table, work)


@kernel
def run_best_path(text, starts, spans, place, writes_characters, table, work, out, out_starts, out_spans):
    """Rewrite a text by the best path.

    Args:
        text, starts, spans, out, out_starts, out_spans: as in `run_passes`.
        place: uint64[5], a working array.
        writes_characters: uint64, 1 if every new text is UTF-8; 0: a text that is not UTF-8 is a `FAULT`.
        table: `fst.machines.best_path.arguments.Arguments`.
        work: `fst.machines.best_path.arguments.Work`, zeros before the first call.
    """
    result = follow_best_path(text, starts, spans, place, table, work, out, out_starts, out_spans)
    if result == paths.NEEDS_OUTPUT:
        return place[REPORT]
    return DONE if result == paths.DONE and (writes_characters or is_utf_8(out, place[FILLED])) else FAULT
