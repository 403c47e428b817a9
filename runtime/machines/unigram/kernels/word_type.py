"""The kernel for SentencePiece's model type ``word``, in which a token is a word. `fst.machines.unigram.table.UnigramTable.run` specifies
the result.

The loops over a round are those of `fst.runtime.machines.unigram.kernels.encode`, but no path is searched, because a pre-token is in the
table of words, in the trie, or unknown.

Without byte fallbacks, a *run* of consecutive unknown words becomes one id, and may continue in the next round or call. If a call ends
inside a run, the kernel removes the run's id from the output and stops before the run. The next call reads the run again.

Kernels check nothing, and have the requirements of `fst.runtime.machines.unigram.kernels.encode`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.unigram.viterbi_kernels import token_of
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.output import copy
from fst.runtime.kernels.utf_8 import count_characters
from fst.runtime.machines.unigram.kernels.encode import locate, put_id
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, PLACE, find_pretokens
from fst.runtime.pretokens.kernels.look_up import bounds_of, find_words, pending_of
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.text.kernels.whitespace import SPACE_BYTE
from fst.tables.kernel_call import IDS_ALONE

NO_RUN = ~U0  # the value of `run` if no run is unfinished


@inlined
def put_end(end, output, at):
    """If spans are requested, set the end of the span of the previous id, at index `at - 1`."""
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[(at << U1) - U1] = end


@part
def put_bytes(text, start, end, table, output, at):
    """Write the ids for the bytes of an unknown word, each with the span of the word; return the next output index."""
    for place in range(start, end):
        byte = text[np.uint64(place)]
        if byte == SPACE_BYTE and len(table.space):
            for index in range(len(table.space)):
                at = put_id(table.space[np.uint64(index)], start, end, output, at)
        else:
            at = put_id(table.fallbacks[byte], start, end, output, at)
    return at


@part
def emit(text, pretokens, scratch, written, pending, waiting, row, run, table, output, work):
    """Write ids to the output, with the special ids and the ends of texts.

    Args:
        run: the start of an unfinished run, or `NO_RUN`. If a run continues from an earlier round, the words of the run in this round are
            marked as dropped. The other arguments are as in `fst.runtime.machines.unigram.kernels.encode.emit`.

    Returns:
        The row after the last complete row; the start of the run that is unfinished at the end of the round, or `NO_RUN`; and the end of
        the words that continue a run from an earlier round, or 0.
    """
    special_ids, ids, start, at = work.shared.special_ids, output.ids, work.shared.state.count, work.shared.state.count
    begin = special = reached = U0
    for item in range(waiting):
        gap, index = pending_of(pending[item])
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last, _ = bounds_of(pretokens, index)
        run = NO_RUN if begin < gap else run
        at = copy(scratch, begin, gap, ids, at)
        begin, before = gap + U1, at
        value = token_of(text, first, last, table.trie) if kind == U0 else U0
        if kind != U0:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
            run = NO_RUN
        elif value:
            at, run = put_id(np.int32(value - U1), first, last, output, at), NO_RUN
        elif len(table.fallbacks):
            at = put_bytes(text, first, last, table, output, at)
        elif run == NO_RUN:
            at, run = put_id(table.unk_id[0], first, last, output, at), first
        elif at == start:
            pretokens[index], reached = first | DROPPED, last
        else:
            put_end(last, output, at)
        work.counts[item] = at - before
    work.shared.state.count = copy(scratch, begin, written, ids, at)
    return row, NO_RUN if begin < written else run, reached


@part
def take_back(at, run, output, state):
    """Remove the id of an unfinished run; return the position where reading stops: the start of this run, or `at` without an unfinished
    run.
    """
    if run == NO_RUN:
        return at
    state.count -= U1
    if len(output) > IDS_ALONE and len(output.offsets):
        state.before = output.offsets[state.count << U1]
    return run


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.unigram.kernels.encode.encode`."""
    own, shared = work.shared, table.shared
    state, pretokens, scratch, pending = own.state, own.pretokens, own.scratch, own.pending
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck, run = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False, NO_RUN
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, own)
        written, waiting = find_words(text, count, shared, own)
        place, first = state.count, ended
        ended, run, reached = emit(text, pretokens, scratch, written, pending, waiting, ended, run, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, waiting, table, output, place, first, work)
            if reached:
                output.offsets[(place << U1) - U1] += count_characters(text, np.uint64(pretokens[0]) & PLACE, reached)
    return take_back(at, run, output, state)
