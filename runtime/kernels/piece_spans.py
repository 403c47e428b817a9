"""Spans of ids that tile the bytes of their pieces: the stage of byte-level machines that runs only if spans are asked for."""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, part
from fst.machines.bpe_arguments import JOINS_WORDS
from fst.machines.kernel_call import BEFORE, IN_WORD, WORD
from fst.merge_list import FUSES
from fst.runtime.kernels.characters import ABSENT, next_character
from fst.runtime.kernels.counting import characters_before, count_from, count_to
from fst.runtime.kernels.numbers import U0, U1
from fst.runtime.kernels.pieces import DROPPED, KIND, LONG, PLACE, ROW_END, SPECIAL


@inlined
def put_span(first, last, word, output, place):
    """Write the span of an id."""
    output.offsets[place << U1], output.offsets[place << U1 | U1] = first, last
    output.words[place] = word


@part
def end_of_run(text, begin, at, end, missing, alphabet):
    """Where a run of missing bytes or of unknown characters ends, in a piece."""
    if not len(alphabet.rules):
        after = at + U1
        while after < end and missing[text[after]]:
            after += U1
        return after
    _, after = next_character(text, begin, at, end, alphabet)
    known = not alphabet.rules[FUSES]
    while after < end and not known:
        found, following = next_character(text, begin, after, end, alphabet)
        known = found != ABSENT
        after = after if known else following
    return after


@inlined
def end_of(text, begin, at, end, token, machine):
    """Where the bytes that a token stands for end, in a piece. One of no bytes stands for a run of missing bytes or unknown characters.

    Inlined: nearly all tokens have a length, and a call passes all arrays of the machine, which takes as long as the rest of `locate`.
    """
    after = at + np.uint64(machine.lengths[token])
    return after if after > at else end_of_run(text, begin, at, end, machine.missing, machine.alphabet)


@part
def locate(text, pieces, count, machine, output, place, row, state):
    """Write the spans of the ids of some pieces.

    Args:
        text, pieces, count: the pieces, see `fst.runtime.kernels.pieces`.
        machine: `fst.machines.bpe_arguments.Arguments`.
        output: `fst.machines.kernel_call.SpansOutput`, with all ids, and the spans of frames; filled.
        place: the index of the first id of the pieces.
        row: the row in which the pieces begin.
        state: `BEFORE` and `WORD` are the numbers of characters and words of the open text so far, without a word that it is in, `IN_WORD`.
    """
    characters, word, in_word, joins = state[BEFORE], state[WORD], state[IN_WORD], machine.params[JOINS_WORDS]
    block, bits, behind = count_from(text, np.uint64(pieces[0]) & PLACE, characters)
    for index in range(count):
        item, end = np.uint64(pieces[index]), np.uint64(pieces[np.uint64(index) + U1]) & PLACE
        at = begin = item & PLACE
        kind = item >> KIND << KIND
        if kind == ROW_END:
            row += U1
            place += np.uint64(len(output.suffix)) + (np.uint64(len(output.prefix)) if row < np.uint64(len(output.ends)) else U0)
            characters = word = in_word = U0
            block, bits, behind = count_from(text, end, U0)
            continue
        word += in_word if kind == SPECIAL else U0
        in_word = joins if kind in (U0, LONG) else U0
        while at < end:
            after = end if kind else end_of(text, begin, at, end, np.uint64(output.ids[place]), machine)
            first = characters - (bits >> at - block & U1)
            block, bits, behind = count_to(text, after, block, bits, behind)
            characters = characters_before(after, block, bits, behind)
            at = after
            if kind != DROPPED:
                put_span(first, characters, word, output, place)
                place += U1
        word += np.uint64(kind != DROPPED and not in_word)
    state[BEFORE], state[WORD], state[IN_WORD] = characters, word, in_word
