"""The kernel of byte-level BPE, which encodes text to token ids. `fst.machines.bpe.table.BpeTable.run` specifies the ids of a pre-token.

The kernel reads text in rounds of a few thousand pre-tokens, and runs a few loops over each round. Each loop does one step for all
pre-tokens, with almost no branches that depend on the text. So the processor works on many pre-tokens at the same time::

    find_pretokens text → pre-tokens, see `fst.runtime.pretokens.kernels.find`
    find_words     pre-tokens → ids, see `fst.runtime.pretokens.kernels.look_up`; a pre-token that is not found is pending
    transduce      pending pre-tokens → the last token at each byte; reads one byte of each pre-token in turn
    emit           ids → output: inserts the ids of pending pre-tokens, from the last token to the first, and the special ids of each text

If spans are requested, `fst.runtime.pretokens.kernels.spans.locate` writes them at the end of each round.

Kernels check nothing. They require:

- The table has passed `Table.prove`, or comes directly from the compiler.
- ``text`` is valid UTF-8, except for the marks of added tokens (`fst.text.arguments`), and the 32 bytes after it can be read; ``starts``
  ascends within ``text``, and no start is inside a character. `fst.runtime.rows.texts` and `fst.runtime.text.normalizer` ensure these
  requirements.
- ``output.ids`` has an element for each byte of text and for each special id, and `fst.tables.kernel_call.SLACK` more elements.
- The arrays in ``work`` come from `fst.pretokens.arguments.work`, and only kernels write to these arrays.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.automaton import ENTRY
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1, U2
from fst.runtime.kernels.intrinsics import prefetch
from fst.runtime.kernels.output import copy
from fst.runtime.pretokens.kernels.find import KIND, LONG, find_pretokens
from fst.runtime.pretokens.kernels.look_up import bounds_of, find_words, long_pretoken
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.pretokens.kernels.segments import LONGEST, sort_pretokens
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import COUNT, IDS_ALONE

LABEL_SHIFT, TARGET = np.uint64(ENTRY.label_shift), np.uint64(ENTRY.max_target)


@inlined
def put_last(entries, lengths, state, tokens, place):
    """Write the last token of a state: ``id | number of bytes << 32``."""
    token = np.uint64(entries[state]) & TARGET
    tokens[place] = token | np.uint64(lengths[token]) << HALF


@inlined
def step(entries, state, byte):
    """Return the state after a byte is read."""
    entry = np.uint64(entries[state + U1 + byte])
    entry = entry if entry >> LABEL_SHIFT == byte else np.uint64(entries[ROOT + U1 + byte])
    return entry & TARGET


@part
def transduce(text, pretokens, pending, waiting, table, active, longer, tokens):
    """Find the last token at each byte of the pending pre-tokens. One byte of each pre-token is read in turn, so that memory accesses
    overlap.
    """
    entries, lengths, last = table.entries, table.shared.lengths, np.uint64(len(text)) - U1
    most = sort_pretokens(pretokens, pending, waiting, active, longer, LONGEST, U0, U0)
    for index in range(most):
        done = np.uint64(index)
        for item in range(U0, longer[done + U1] << U1, U2):
            state, at, place = active[item], (active[item + U1] & LOW_HALF) + done, (active[item + U1] >> HALF) + done
            if done:
                put_last(entries, lengths, state, tokens, place - U1)
            state = step(entries, state, np.uint64(text[at]))
            active[item] = state
            prefetch(entries, state)
            prefetch(entries, state + U1 + np.uint64(text[min(at + U1, last)]))
        for item in range(longer[done + U2] << U1 if done + U1 < most else U0, longer[done + U1] << U1, U2):
            put_last(entries, lengths, active[item], tokens, (active[item + U1] >> HALF) + done)
    for length in range(most + U1):
        longer[length] = U0


@inlined
def put_tokens(tokens, begin, end, ids, at):
    """Write the ids of a pre-token, from the last token at its end back to its begin; return the output index after the last id."""
    left = out = end
    while left > begin:
        token = tokens[left - U1]
        out -= U1
        tokens[out] = token
        left -= token >> HALF
    for index in range(end - out):
        ids[at + np.uint64(index)] = np.int32(tokens[out + np.uint64(index)] & LOW_HALF)
    return at + (end - out)


@part
def encode_long(text, begin, end, table, ids, at):
    """Encode a long pre-token: write the last token at each byte to `ids`, and then the ids; return the output index after the last id."""
    entries, lengths = table.entries, table.shared.lengths
    state, left = ROOT, end - begin
    for index in range(left):
        state = step(entries, state, np.uint64(text[begin + np.uint64(index)]))
        ids[at + np.uint64(index)] = np.int32(np.uint64(entries[state]) & TARGET)
    out = left
    while left:
        token = ids[at + left - U1]
        out -= U1
        ids[at + out] = token
        left -= np.uint64(lengths[np.uint64(token)])
    count = end - begin - out
    for index in range(count):
        ids[at + np.uint64(index)] = ids[at + out + np.uint64(index)]
    return at + count


@part
def emit(text, pretokens, scratch, written, pending, waiting, row, table, output, work):
    """Write ids to the output, with the special ids and the ends of texts; return the row after the last complete row."""
    tokens, special_ids, ids, at = work.tokens, work.special_ids, output.ids, work.state[COUNT]
    begin = base = special = U0
    for item in range(waiting):
        gap, index = pending[item] & LOW_HALF, pending[item] >> HALF
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last, length = bounds_of(pretokens, index)
        at = copy(scratch, begin, gap, ids, at)
        begin = gap
        if length <= LONGEST:
            at = put_tokens(tokens, base, base + length, ids, at)
            base += length
        elif kind == U0:
            at = encode_long(text, first, last, table, ids, at)
        elif kind == LONG:
            ids[at] = long_pretoken(text, first, last, table.shared.long_pretokens)
            at += U1
        else:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
    work.state[COUNT] = copy(scratch, begin, written, ids, at)
    return row


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts.

    Args:
        text: uint8[n], UTF-8 of all texts.
        starts: int64[rows + 1], the start of each text in `text`, and the end of the last text.
        more: uint64, 1 if the last text continues in the next call, otherwise 0.
        table: `fst.machines.bpe.arguments.BpeArguments`.
        output: `fst.tables.kernel_call.IdsOutput`, or `SpansOutput` for ids and spans; receives the result.
        work: `fst.pretokens.arguments.Work`. All elements of ``state`` must be 0 before the first call.

    Returns:
        The position where reading stopped: the end of `text`; with `more`, the start of the first pre-token that later text may change.
    """
    state, pretokens, scratch, pending, shared = work.state, work.pretokens, work.scratch, work.pending, table.shared
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, work)
        written, waiting = find_words(text, count, shared, work)
        transduce(text, pretokens, pending, waiting, table, work.active, work.longer, work.tokens)
        place, first = state[COUNT], ended
        ended = emit(text, pretokens, scratch, written, pending, waiting, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, shared, output, place, first, state)
    return at
