"""Spans of ids that tile the bytes of their pieces: the stage of byte-level machines that runs only if spans are asked for."""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, part
from fst.machines.kernel_call import BEFORE, WORD
from fst.runtime.kernels.counting import characters_before, count_from, count_to
from fst.runtime.kernels.numbers import U0, U1
from fst.runtime.kernels.pieces import DROPPED, KIND, PLACE, ROW_END


@inlined
def put_span(first, last, word, output, place):
    """Write the span of an id."""
    output.offsets[place << U1], output.offsets[place << U1 | U1] = first, last
    output.words[place] = word


@part
def end_of(text, at, end, token, machine):
    """Where the bytes that a token stands for end, in a piece that ends at `end`. One of no bytes stands for a run of missing bytes."""
    after = at + np.uint64(machine.lengths[token])
    if after == at:
        after += U1
        while after < end and machine.missing[text[after]]:
            after += U1
    return after


@part
def locate(text, pieces, count, machine, output, place, row, state):
    """Write the spans of the ids of some pieces.

    Args:
        text, pieces, count: the pieces, see `fst.runtime.kernels.pieces`.
        machine: `fst.machines.bpe_arguments.Arguments`.
        output: `fst.machines.kernel_call.SpansOutput`, with all ids, and the spans of frames; filled.
        place: the index of the first id of the pieces.
        row: the row in which the pieces begin.
        state: `BEFORE` and `WORD` are the numbers of characters and words of the open text so far.
    """
    characters, word = state[BEFORE], state[WORD]
    block, bits, behind = count_from(text, np.uint64(pieces[0]) & PLACE, characters)
    for index in range(count):
        item, end = np.uint64(pieces[index]), np.uint64(pieces[np.uint64(index) + U1]) & PLACE
        at, kind = item & PLACE, item >> KIND << KIND
        if kind == ROW_END:
            row += U1
            place += np.uint64(len(output.suffix)) + (np.uint64(len(output.prefix)) if row < np.uint64(len(output.ends)) else U0)
            characters = word = U0
            block, bits, behind = count_from(text, end, U0)
            continue
        while at < end:
            after = end if kind else end_of(text, at, end, np.uint64(output.ids[place]), machine)
            first = characters - (bits >> at - block & U1)
            block, bits, behind = count_to(text, after, block, bits, behind)
            characters = characters_before(after, block, bits, behind)
            at = after
            if kind != DROPPED:
                put_span(first, characters, word, output, place)
                place += U1
        word += np.uint64(kind != DROPPED)
    state[BEFORE], state[WORD] = characters, word
