"""Byte-level BPE: text into token ids. `fst.machines.bpe.table.BpeTables.run` specifies the result, one piece after the other.

A kernel reads text in rounds of a few thousand pieces, and runs a few loops over each round. A loop does one thing to all pieces, with
hardly any branch that depends on the text, so that the processor works on many pieces at the same time::

    find_pieces    text → pieces, see `fst.runtime.pretokens.kernels.find`
    mark_dropped   pieces → marks on dropped ones, if the table drops any
    find_slots     pieces → their slots in the table of words, which are prefetched
    look_up        pieces → ids; a piece that the table of words does not hold is pending
    transduce      pending pieces → the last token at each byte: all pieces together, one byte at a time
    emit           ids → output: with the tokens of pending pieces, read off backwards, in between, and the frame of each text

If spans are asked for, `fst.runtime.pretokens.kernels.spans.locate` writes them at the end of each round.

Kernels check nothing. They require:

- The table is proven, or comes directly from the compiler.
- ``text`` is valid UTF-8, except for marks (`fst.text.arguments`), and 32 bytes after it may be read; ``starts`` ascends
  within it, and cuts no character. `fst.runtime.rows.texts` and `fst.runtime.text.normalizer` ensure this.
- ``output.ids`` has room for one id for each byte of text, for frames, and for `fst.tables.kernel_call.SLACK` more ids.
- The arrays in ``work`` come from `fst.machines.bpe.arguments.work`, and only kernels write to them.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernel import child_of
from fst.automata.matcher import ENDING, NO_STRING
from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.arguments import BUCKET_SHIFT, PIECES, SLOT_SHIFT
from fst.machines.bpe.arguments import KEY_PARTS as KEY_PARTS_COUNT
from fst.machines.bpe.arguments import LONGEST as LONGEST_PIECE
from fst.machines.bpe.automaton import ENTRY
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1, U2, U3
from fst.runtime.kernels.intrinsics import hash_of, is_key, prefetch
from fst.runtime.kernels.output import copy, frame
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, LONG, PLACE, SPECIAL, find_pieces, mark_dropped
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import COUNT, IDS_ALONE, OPEN

NO_TOKEN = np.int32(NO_STRING)
LABEL_SHIFT, TARGET = np.uint64(ENTRY.label_shift), np.uint64(ENTRY.max_target)
LONGEST, WORD_BYTES, MOST = np.uint64(LONGEST_PIECE), np.uint64(8 * KEY_PARTS_COUNT), np.uint64(PIECES)


@inlined
def mask_for(length):
    """The index in `key_masks` of the masks for a length in bytes."""
    return min(length, WORD_BYTES) << U2


@inlined
def bounds_of(pieces, index):
    """Where a piece begins and ends, and its length in bytes. The bits of a kind other than 0 make the length huge, above `LONGEST`."""
    item, end = np.uint64(pieces[index]), np.uint64(pieces[index + U1]) & PLACE
    return item & PLACE, end, end - item


@part
def find_slots(text, pieces, count, machine, slots):
    """Find and prefetch the slot of each piece."""
    words, displacements, key_masks, params = machine.words, machine.displacements, machine.key_masks, machine.params
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = params[BUCKET_SHIFT], params[SLOT_SHIFT]
    for index in range(count):
        begin, _, length = bounds_of(pieces, np.uint64(index))
        hashed = hash_of(text, begin, key_masks, mask_for(length))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[index] = slot


@part
def look_up(text, pieces, slots, count, machine, scratch, pending):
    """Look pieces up.

    Returns:
        The number of ids in `scratch`; and the number of items in `pending`, ``number of ids before it | index of the piece << 32``.
    """
    words, key_masks = machine.words, machine.key_masks
    place = waiting = U0
    for index in range(count):
        begin, _, length = bounds_of(pieces, np.uint64(index))
        slot = slots[index]
        value = words[slot + U3]
        found = (value >> HALF == length) & is_key(text, begin, key_masks, mask_for(length), words, slot)
        scratch[place] = np.int32(value & LOW_HALF)
        pending[waiting] = place | np.uint64(index) << HALF
        place += np.uint64(found)
        waiting += np.uint64(not found)
    return place, waiting


@part
def without_dropped(pieces, pending, waiting):
    """Remove dropped pieces from the pending ones. Returns the number of those that are left."""
    left = U0
    for item in range(waiting):
        pending[left] = pending[item]
        left += np.uint64(np.uint64(pieces[pending[item] >> HALF]) >> KIND << KIND != DROPPED)
    return left


@inlined
def read_together(length, widest, stride):
    """The length of a pending piece; 0 if it is too long to be read together with others."""
    return length if length <= (MOST if stride else widest) else U0


@part
def sort_pieces(pieces, pending, waiting, active, longer, widest, stride, apart):
    """Sort the segments of pending pieces by length, the longest first, into `active`.

    A piece is one segment. One of more than `widest` bytes becomes segments of so many, which begin `stride` bytes apart; if that is 0, or
    it is longer than a round, it is left out.

    An active segment has two items: its state, and ``where it begins in text | where it begins in tokens << 32``. `longer`, of zeros
    before, holds in the end for each length the number of segments at least this long. In tokens, `apart` more places than a piece has
    bytes are left for each piece.

    Returns:
        The length of the longest segment.
    """
    most = U0
    for item in range(waiting):
        _, _, length = bounds_of(pieces, pending[item] >> HALF)
        left = read_together(length, widest, stride)
        while left:
            size = min(left, widest)
            longer[size] += U1
            most = max(most, size)
            left -= size if size == left else stride
    before = U0
    for index in range(most + U1):
        length = most - np.uint64(index)
        own = longer[length]
        longer[length] = before
        before += own
    room = U0
    for item in range(waiting):
        begin, _, length = bounds_of(pieces, pending[item] >> HALF)
        length = read_together(length, widest, stride)
        left = length
        while left:
            size, at = min(left, widest), length - left
            rank = longer[size] << U1
            longer[size] += U1
            active[rank], active[rank | U1] = ROOT, begin + at | room + at << HALF
            left -= size if size == left else stride
        room += length + apart if length else U0
    return most


@inlined
def put_last(entries, lengths, state, tokens, place):
    """Write the last token at a state, ``id | number of its bytes << 32``."""
    token = np.uint64(entries[state]) & TARGET
    tokens[place] = token | np.uint64(lengths[token]) << HALF


@inlined
def step(entries, state, byte):
    """The state after a byte."""
    entry = np.uint64(entries[state + U1 + byte])
    entry = entry if entry >> LABEL_SHIFT == byte else np.uint64(entries[ROOT + U1 + byte])
    return entry & TARGET


@part
def transduce(text, pieces, pending, waiting, machine, active, longer, tokens):
    """Find the last token at each byte of the pending pieces: of all together, so that their memory accesses overlap."""
    entries, lengths, last = machine.entries, machine.lengths, np.uint64(len(text)) - U1
    most = sort_pieces(pieces, pending, waiting, active, longer, LONGEST, U0, U0)
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
    """Write the ids of a piece, read off backwards from the last token at each of its bytes. Returns the index after the last id."""
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
def encode_long(text, begin, end, machine, ids, at):
    """Encode a long piece by itself, with the last token at each byte kept in `ids`. Returns the index after the last id."""
    entries, lengths = machine.entries, machine.lengths
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
def long_piece(text, begin, end, pieces):
    """The token that a piece is as a whole, if it is one of `long_pieces`; else `NO_TOKEN`."""
    node, at = child_of(ROOT, np.uint64(text[begin]), pieces.edges), begin + U1
    while at < end and node > ROOT:
        node = child_of(node, np.uint64(text[at]), pieces.edges)
        at += U1
    return pieces.nodes[node, ENDING]


@part
def mark_long(text, pieces, pending, waiting, long_pieces):
    """Mark pending pieces that are one of `long_pieces`."""
    for item in range(waiting):
        index = pending[item] >> HALF
        first, last, _ = bounds_of(pieces, index)
        kind = np.uint64(pieces[index]) >> KIND << KIND
        if kind == U0 and long_piece(text, first, last, long_pieces) != NO_TOKEN:
            pieces[index] = first | LONG


@inlined
def find_words(text, count, machine, work):
    """Look the pieces of a round up. Returns what `look_up` does, without dropped pieces. Marks pending pieces that are `LONG`."""
    pieces, slots, pending = work.pieces, work.slots, work.pending
    if len(machine.drops):
        mark_dropped(text, pieces, count, machine)
    find_slots(text, pieces, count, machine, slots)
    written, waiting = look_up(text, pieces, slots, count, machine, work.scratch, pending)
    if len(machine.drops):
        waiting = without_dropped(pieces, pending, waiting)
    if len(machine.long_pieces.nodes) > 1:
        mark_long(text, pieces, pending, waiting, machine.long_pieces)
    return written, waiting


@inlined
def begin_call(starts, more, output, state):
    """Write the frame before the first text, unless the last call began this text, and note whether the last text goes on."""
    if len(starts) > 1 and not state[OPEN]:
        state[COUNT] = frame(output.prefix, state[COUNT], output)
    state[OPEN] = more


@inlined
def put_other(kind, special_ids, special, row, output, at):
    """Write the id of a special token, or the frames at the end of a text.

    Returns:
        The index after the last id written; the next row; and the index of the next special token.
    """
    if kind == SPECIAL:
        output.ids[at] = special_ids[special]
        return at + U1, row, special + U1
    at = frame(output.suffix, at, output)
    output.ends[row] = at
    row += U1
    if row < np.uint64(len(output.ends)):
        at = frame(output.prefix, at, output)
    return at, row, special


@part
def emit(text, pieces, scratch, written, pending, waiting, row, machine, output, work):
    """Write ids to the output, and the frames and ends of texts. Returns the row after the last that ended."""
    tokens, special_ids, ids, at = work.tokens, work.special_ids, output.ids, work.state[COUNT]
    begin = room = special = U0
    for item in range(waiting):
        gap, index = pending[item] & LOW_HALF, pending[item] >> HALF
        kind = np.uint64(pieces[index]) >> KIND << KIND
        first, last, length = bounds_of(pieces, index)
        at = copy(scratch, begin, gap, ids, at)
        begin = gap
        if length <= LONGEST:
            at = put_tokens(tokens, room, room + length, ids, at)
            room += length
        elif kind == U0:
            at = encode_long(text, first, last, machine, ids, at)
        elif kind == LONG:
            ids[at] = long_piece(text, first, last, machine.long_pieces)
            at += U1
        else:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
    work.state[COUNT] = copy(scratch, begin, written, ids, at)
    return row


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Encode texts.

    Args:
        text: uint8[n], UTF-8 of all texts.
        starts: int64[rows + 1], where each text begins in `text`, and where the last one ends.
        more: uint64, 1 if the last text continues in the next call, else 0.
        machine: `fst.machines.bpe.arguments.Arguments`.
        output: `fst.tables.kernel_call.IdsOutput`, or `SpansOutput` for spans; filled.
        work: `fst.machines.bpe.arguments.Work`. Its ``state`` is all zero before the first call.

    Returns:
        The position where reading stopped: the end; or, with `more`, the start of the first piece that more text may change.
    """
    state, pieces, scratch, pending = work.state, work.pieces, work.scratch, work.pending
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pieces(text, starts, row, at, more, machine, work)
        written, waiting = find_words(text, count, machine, work)
        transduce(text, pieces, pending, waiting, machine, work.active, work.longer, work.tokens)
        place, first = state[COUNT], ended
        ended = emit(text, pieces, scratch, written, pending, waiting, ended, machine, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pieces, count, machine, output, place, first, state)
    return at
