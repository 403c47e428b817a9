"""The kernel of byte-level BPE, which encodes text to token ids. `fst.machines.bpe.table.BpeTable.run` specifies the ids of a pre-token.

The kernel reads text in rounds of a few thousand pre-tokens, and runs a few loops over each round. Each loop does one step for all
pre-tokens, with almost no branches that depend on the text. So the processor works on many pre-tokens at the same time::

    find_pretokens text → pre-tokens, see `fst.runtime.pretokens.kernels.find`
    find_words     pre-tokens → ids, see `fst.runtime.pretokens.kernels.look_up`; a pre-token that is not found is pending
    transduce      pending pre-tokens → ids; reads one byte of each pre-token in turn, and then writes one id of each in turn
    emit           ids → output: inserts the ids of pending pre-tokens, and the special ids of each text

If spans are requested, `fst.runtime.pretokens.kernels.spans.locate` writes the spans at the end of each round.

Kernels check nothing. They require:

- The table has passed `Table.prove`, or comes directly from the compiler.
- ``text`` is valid UTF-8, except for the marks of added tokens (`fst.text.arguments`), and `fst.runtime.rows.texts.PAST_END` bytes after it
  can be read; ``starts`` ascends within ``text``, and no start is inside a character. `fst.runtime.rows.texts` and
  `fst.runtime.text.normalizer` ensure these requirements.
- ``output.ids`` has an element for each byte of text and for each special id, and `fst.tables.kernel_call.SLACK` more elements.
- The arrays in ``work`` come from `fst.pretokens.arguments.work`, and only kernels write to these arrays.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.core.prefetch import prefetch
from fst.machines.bpe.automaton import ENTRY
from fst.pretokens.arguments import LONGEST as LONGEST_PRETOKEN
from fst.runtime.kernels.constants import ROOT, U0, U1
from fst.runtime.kernels.intrinsics import copy_8_ids, opaque
from fst.runtime.kernels.output import copy, copy_few
from fst.runtime.pretokens.kernels.find import KIND, LONG, PLACE, ROW_END, SPECIAL, find_pretokens
from fst.runtime.pretokens.kernels.look_up import MOST_TUNED_IDS, bounds_of, find_words, is_tuned, long_pretoken, pending_of, tuned_of
from fst.runtime.pretokens.kernels.rows import begin_call, end_rows
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import IDS_ALONE

LONGEST = np.uint64(LONGEST_PRETOKEN)
LEFT, OUT, ITEM, FIELD = np.uint64(16), np.uint64(32), np.uint64(48), np.uint64((1 << 16) - 1)  # the fields of an active pre-token
LABEL_SHIFT, TARGET = np.uint64(ENTRY.label_shift), np.uint64(ENTRY.max_target)


@inlined
def step(entries, state, byte):
    """Return the state after a byte is read."""
    entry, root = np.uint64(entries[state + U1 + byte]), np.uint64(entries[ROOT + U1 + byte])
    is_other = U0 - np.uint64(entry >> LABEL_SHIFT != byte)
    return (entry ^ (entry ^ root) & opaque(is_other)) & TARGET  # no branch: see LOG, "Merges and words", "a step"


@part
def put_tuned(pretokens, pending, waiting, tuned, tokens, slices):
    """Copy the ids of tuned words to `tokens`, where `write_tokens` would write them, and set the slices of these words; set the slices of
    all other items to 0.

    Eight ids are copied for each item, so up to six numbers after a word are overwritten: those of the next bytes, which later copies or
    `read_bytes` overwrite. For items that are no tuned words, eight unused elements at the end of `tokens` are overwritten.
    """
    first, unused = np.uint64(pretokens[0]) & PLACE, np.uint64(len(tokens)) - MOST_TUNED_IDS
    for item in range(waiting):
        begin, end = tuned_of(pending[item])
        _, after, _ = bounds_of(pretokens, pending_of(pending[item])[1])
        own = opaque(U0 - np.uint64(begin < end))
        after -= first
        out = after - (end - begin)
        copy_8_ids(tuned, begin, tokens, unused ^ (unused ^ out) & own)
        slices[item] = (after << LEFT | out << OUT) & own


@part
def list_pending(pretokens, pending, waiting, active):
    """List the pending pre-tokens of at most `LONGEST` bytes that are no tuned words, see `transduce`; return their number."""
    count, first = U0, np.uint64(pretokens[0]) & PLACE
    for item in range(waiting):
        start, end, length = bounds_of(pretokens, pending_of(pending[item])[1])
        active[count] = start - first | (end - first) << LEFT | (end - first) << OUT | np.uint64(item) << ITEM
        count += np.uint64((length <= LONGEST) & (not is_tuned(pending[item])))
    return count


@inlined
def read_bytes(text, begins, entries, active, count, states):
    """Read one byte of each active pre-token; if `begins`, this is the first byte. Remove pre-tokens when their last byte is read; return
    the new number of active pre-tokens.
    """
    left = U0
    for item in range(count):
        at, end = active[item] & FIELD, active[item] >> LEFT & FIELD
        state, more = step(entries, ROOT if begins else np.uint64(states[at - U1]), np.uint64(text[at])), np.uint64(at + U1 < end)
        states[at] = state
        prefetch(entries, state)
        prefetch(entries, state + U1 + np.uint64(text[at + more]))
        active[left] = active[item] + U1
        left += more
    return left


@inlined
def write_tokens(table, active, count, states, slices):
    """Write the last token of each active pre-token that is not written yet. Remove pre-tokens without bytes before this token; return the
    new number of active pre-tokens.
    """
    entries, lengths, left = table.entries, table.shared.lengths, U0
    for item in range(count):
        slice_ = active[item]
        start, end, out = slice_ & FIELD, slice_ >> LEFT & FIELD, (slice_ >> OUT & FIELD) - U1
        token = np.uint64(entries[np.uint64(states[end - U1])]) & TARGET
        size = np.uint64(lengths[token])
        states[out] = token
        slice_ -= size << LEFT | U1 << OUT
        slices[slice_ >> ITEM] = active[left] = slice_
        left += np.uint64(start + size < end)
    return left


@part
def transduce(text, pretokens, pending, waiting, table, active, states, slices):
    """Encode the pending pre-tokens of at most `LONGEST` bytes. One byte of each pre-token is read in turn, and then one token of each
    pre-token is written in turn, the last token first. So memory accesses overlap, and no branch depends on the text.

    Positions are counted from the first byte of the round. An active pre-token is ``start | end << 16 | end << 32 | item << 48``. These
    fields have 16 bits, because a round has at most `fst.pretokens.arguments.PRETOKENS` items, and its pre-tokens begin in its first
    ``2 * CHUNK`` bytes. While the pre-token is read, the start moves forward. Then, for each token, the first end moves backward by the
    token's bytes, and the second end by 1.

    Args:
        text, pretokens, pending, waiting, table: as in `emit`.
        active: uint64[n], the list of active pre-tokens.
        states: uint32[n], the state after each byte. Then the tokens of each pre-token are written to the end of its states. Each token has
            at least one byte, so tokens overwrite only states that are not needed any more. The ids of tuned words are copied to the same
            places, see `put_tuned`.
        slices: uint64[waiting], output: the active pre-token after its tokens are written; 0 for a longer pre-token, or another item.
    """
    text = text[np.uint64(pretokens[0]) & PLACE :]
    if len(table.shared.tuned):
        put_tuned(pretokens, pending, waiting, table.shared.tuned, states, slices)
    else:
        for item in range(waiting):
            slices[item] = U0
    count = list_pending(pretokens, pending, waiting, active)
    count = read_bytes(text, True, table.entries, active, count, states)
    while count:
        count = read_bytes(text, False, table.entries, active, count, states)
    count = list_pending(pretokens, pending, waiting, active)
    while count:
        count = write_tokens(table, active, count, states, slices)


@part
def encode_long(text, start, end, table, ids, at):
    """Encode a long pre-token: write the last token at each byte to `ids`, and then the ids; return the output index after the last id."""
    entries, lengths = table.entries, table.shared.lengths
    state, left = ROOT, end - start
    for index in range(left):
        state = step(entries, state, np.uint64(text[start + np.uint64(index)]))
        ids[at + np.uint64(index)] = np.int32(np.uint64(entries[state]) & TARGET)
    out = left
    while left:
        token = ids[at + left - U1]
        out -= U1
        ids[at + out] = token
        left -= np.uint64(lengths[np.uint64(token)])
    count = end - start - out
    for index in range(count):
        ids[at + np.uint64(index)] = ids[at + out + np.uint64(index)]
    return at + count


@part
def emit(text, pretokens, scratch, written, pending, waiting, row, table, output, work):
    """Write ids to the output, together with the special ids and the ends of texts; return the row after the last complete row.

    No branch depends on the text, except for special tokens and long pre-tokens. The first elements of `slices`, after they are read,
    store the output index at which each text ends, and `end_rows` writes the ends.

    Args:
        pretokens: the items of the round.
        scratch, written: the ids of pre-tokens, with an unused place for each pending pre-token; and the number of ids and places.
        pending, waiting: ``place in scratch | index of the item << 32`` for each pending pre-token; and the number of pending pre-tokens.
        row: the first row that is not complete.
        text, table, output, work: as in `encode_rows`.
    """
    tokens, slices, special_ids, ids, at = work.tokens, work.slots, work.special_ids, output.ids, work.state.count
    start = special = ends = U0
    offset, around = np.uint64(pretokens[0]) & PLACE, np.uint64(len(output.suffix) + len(output.prefix))
    for item in range(waiting):
        gap, index = pending_of(pending[item])
        slice_, kind = slices[item], np.uint64(pretokens[index]) >> KIND << KIND
        at = copy(scratch, start, gap, ids, at)
        start = gap + U1
        if slice_ or kind == ROW_END:
            out = slice_ >> OUT & FIELD
            _, end, _ = bounds_of(pretokens, index)
            at = copy_few(tokens, out, end - offset if slice_ else out, ids, at)
            slices[ends] = at
            at += around if kind == ROW_END else U0
            ends += np.uint64(kind == ROW_END)
        elif kind == SPECIAL:
            ids[at] = special_ids[special]
            at, special = at + U1, special + U1
        elif kind == LONG:
            first, end, _ = bounds_of(pretokens, index)
            ids[at] = long_pretoken(text, first, end, table.shared.long_pretokens)
            at += U1
        else:
            first, end, _ = bounds_of(pretokens, index)
            at = encode_long(text, first, end, table, ids, at)
    at = copy(scratch, start, written, ids, at)
    work.state.count, row = end_rows(slices, ends, row, output, at)
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
        transduce(text, pretokens, pending, waiting, table, work.active, work.tokens, work.slots)
        place, first = state.count, ended
        ended = emit(text, pretokens, scratch, written, pending, waiting, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, shared, output, place, first, state)
    return at
