"""Unigram with segmentations drawn at random. `fst.sampling` says what that is, and specifies the result of a piece.

The pieces of a round are found as by `fst.runtime.kernels.unigram`. None is looked up in the table of words, since sampling may take any of
them apart. Instead, the nodes of words are kept with their weights: most words of a text occur again, and then need no search. This changes
no choice, since the weights of a word are multiplied without exponents only if they differ from those of `draw` by a power of two.

Kernels check nothing. They require what those of `fst.runtime.kernels.unigram` require.
"""

from __future__ import annotations

import numpy as np

from fst import sampling
from fst.jit import inlined, kernel, part
from fst.machines import sampling_arguments
from fst.machines.bpe_arguments import KEY_PARTS
from fst.machines.kernel_call import COUNT, FIRST_ROW, IDS_ALONE, PLACE_IN_ROW
from fst.runtime.kernels.bpe import WORD_BYTES, begin_call, mask_for, put_other
from fst.runtime.kernels.dropout import GAMMA, TO_SHARE, UNIT, key_of, mixed
from fst.runtime.kernels.intrinsics import hash_of, is_key
from fst.runtime.kernels.numbers import HALF, LOW_HALF, U0, U1, U2, U3, U8
from fst.runtime.kernels.pieces import DROPPED, KIND, PLACE, ROW_END, find_pieces, mark_dropped
from fst.runtime.kernels.unigram import locate, put_nodes
from fst.runtime.kernels.unigram_nodes import nodes_from
from fst.unigram_paths import node_size

STEP, LARGEST, LEAST, FAR, SIZE_SHIFT = sampling.STEP, sampling.LARGEST, sampling.LEAST, sampling.FAR, np.uint64(sampling.SIZE_SHIFT)
WORDS, NODES = np.uint64(sampling_arguments.WORDS), np.uint64(sampling_arguments.NODES)
UNSET = np.int32(-128)  # in place of a node: none ends here yet
SLOT_SHIFT, END, LOW_BYTE = np.uint64(65 - sampling_arguments.WORDS.bit_length()), np.uint64(40), np.uint64(0xFF)


@inlined
def final(number, exponent):
    """See `fst.sampling.final`."""
    if number >= LARGEST:
        return number * STEP, exponent + 1
    if number < LEAST:
        return number / STEP, exponent - 1
    return number, exponent


@part
def factor_of(steps):
    """What aligns a weight with one whose exponent is larger by some steps."""
    factor = 1.0 if steps < FAR else 0.0
    for _ in range(min(steps, FAR)):
        factor *= STEP
    return factor


@inlined
def share_of(stream, end, size):
    """The random share, from 0 to below 1, for a node of some bytes that ends at a place of the piece."""
    return np.float64(mixed(stream + (end | size << SIZE_SHIFT) * GAMMA) >> TO_SHARE) * UNIT


@inlined
def add(number, exponent, node, size, end, stream, work, nodes, at):
    """Add the weight of a node that ends at a place to the weight of the place, and perhaps make the node its choice.

    Args:
        number, exponent: the weight of the paths that the node ends.
        node, size: the node, and its bytes.
        end: the place.
        stream, work, nodes, at: as in `draw`.
    """
    weights, exponents, place = work.weights, work.exponents, end & (np.uint64(len(work.weights)) - U1)
    if nodes[at + end - U1] == UNSET:
        weights[place], exponents[place], nodes[at + end - U1] = number, exponent, node
        return
    before, ahead = weights[place], exponent - exponents[place]
    if ahead > 0:
        before *= factor_of(ahead)
        exponents[place] = exponent
    elif ahead < 0:
        number *= factor_of(-ahead)
    total = before + number
    weights[place] = total
    if share_of(stream, end, size) * total < number:
        nodes[at + end - U1] = node


@part
def draw(text, begin, end, machine, stream, work, nodes, at):
    """Draw a node that ends at each place of a piece.

    Args:
        text, begin, end: the piece.
        machine: `fst.machines.sampling_arguments.SamplingArguments`.
        stream: uint64, the state of the generator before the first number of the piece.
        work: of `weights` and `exponents`, scratch: the weights of the last places.
        nodes, at: int32, filled from `at` on for each byte: the node that ends with it, or `UNSET`.
    """
    numbers, exponents, mask = machine.numbers, machine.exponents, np.uint64(len(work.weights)) - U1
    unknown, is_wide = np.uint64(len(numbers)) - U1, len(exponents) > 0
    for index in range(end - begin):
        nodes[at + np.uint64(index)] = UNSET
    work.weights[0], work.exponents[0] = 1.0, 0
    reached = begin
    while reached < end:
        place = reached - begin
        number, exponent = final(work.weights[place & mask], work.exponents[place & mask])
        count, reached = nodes_from(text, reached, end, machine.own.trie, work.found, work.sizes)
        for index in range(count):
            node, size = work.found[index], np.uint64(work.sizes[index])
            token = np.uint64(node) if node >= 0 else unknown
            ahead = exponents[token] if is_wide else 0
            add(number * numbers[token], exponent + ahead, node, size, place + size, stream, work, nodes, at)


@part
def keep_word(text, begin, end, machine, work, slot):
    """Keep the nodes of a word at a slot, for later occurrences."""
    words, numbers, first = work.words, machine.numbers, slot * NODES
    unknown, reached, kept = np.uint64(len(numbers)) - U1, begin, U0
    while reached < end and kept <= NODES:
        place = reached - begin
        count, reached = nodes_from(text, reached, end, machine.own.trie, work.found, work.sizes)
        for index in range(min(count, NODES - kept)):
            node, after = work.found[index], place + np.uint64(work.sizes[index])
            work.nodes[first + kept + np.uint64(index)] = np.uint64(np.uint32(node)) | place << HALF | after << END
            work.node_weights[first + kept + np.uint64(index)] = numbers[np.uint64(node) if node >= 0 else unknown]
        kept += count
    for index in range(KEY_PARTS):
        key, word = U0, begin + (np.uint64(index) << U3)
        for byte in range(min(U8, end - min(word, end))):
            key |= np.uint64(text[word + np.uint64(byte)]) << (np.uint64(byte) << U3)
        words[(slot << U2) + np.uint64(index)] = key
    words[slot << U2 | U3] = (end - begin) << HALF | (kept if kept <= NODES else U0)


@part
def draw_word(work, slot, size, stream, nodes, at):
    """Draw a node that ends at each place of a word that is kept at a slot. Arguments and result are those of `draw`."""
    weights, first = work.weights, slot * NODES
    weights[0] = 1.0
    for index in range(size):
        weights[np.uint64(index) + U1] = 0.0
    for index in range(work.words[slot << U2 | U3] & LOW_HALF):
        item = work.nodes[first + np.uint64(index)]
        begin, end = item >> HALF & LOW_BYTE, item >> END
        number = weights[begin] * work.node_weights[first + np.uint64(index)]
        total = weights[end] + number
        weights[end] = total
        place = at + end - U1
        nodes[place] = np.int32(item & LOW_HALF) if share_of(stream, end, end - begin) * total < number else nodes[place]


@inlined
def draw_piece(text, begin, end, machine, stream, work, nodes, at):
    """Draw a node that ends at each place of a piece, as `draw` does, or by what is kept of it."""
    size = end - begin
    if size > WORD_BYTES or not machine.is_narrow[0]:
        draw(text, begin, end, machine, stream, work, nodes, at)
        return
    masks, mask = machine.own.beside.key_masks, mask_for(size)
    slot = hash_of(text, begin, masks, mask) >> SLOT_SHIFT
    if work.words[slot << U2 | U3] >> HALF != size or not is_key(text, begin, masks, mask, work.words, slot << U2):
        keep_word(text, begin, end, machine, work, slot)
    if work.words[slot << U2 | U3] & LOW_HALF:
        draw_word(work, slot, size, stream, nodes, at)
    else:
        draw(text, begin, end, machine, stream, work, nodes, at)


@inlined
def begin_words(machine, work):
    """Forget the words that are kept with the weights of another alpha."""
    if work.alpha[0] != machine.alpha[0]:
        for slot in range(WORDS):
            work.words[slot << U2 | U3] = 0
        work.alpha[0] = machine.alpha[0]


@part
def line_up(nodes, at, size, lengths):
    """Move the nodes that have been drawn to the end of the places from `at` on. Returns where they begin."""
    left = out = size
    while left:
        node = nodes[at + left - U1]
        out -= U1
        nodes[at + out] = node
        left -= node_size(node, lengths)
    return at + out


@part
def emit(text, pieces, count, row, machine, output, work):
    """Write the ids of all pieces to the output, and the frames and ends of texts. Returns the row after the last that ended."""
    state, special_ids, ids, own, seed = work.state, work.special_ids, output.ids, machine.own, machine.seed[0]
    at, place, special, key = state[COUNT], state[PLACE_IN_ROW], U0, key_of(seed, state[FIRST_ROW] + row)
    for index in range(count):
        kind = np.uint64(pieces[index]) >> KIND << KIND
        first, last = np.uint64(pieces[index]) & PLACE, np.uint64(pieces[np.uint64(index) + U1]) & PLACE
        work.pending[index] = np.uint64(index) << HALF
        if kind == U0:
            before = at
            draw_piece(text, first, last, machine, key + place * GAMMA, work, ids, at)
            at = put_nodes(text, first, last, line_up(ids, at, last - first, own.beside.lengths), own, output, at)
            work.counts[index] = at - before
            place += last - first
        elif kind != DROPPED:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
        if kind == ROW_END:
            place, key = U0, key_of(seed, state[FIRST_ROW] + row)
    state[COUNT], state[PLACE_IN_ROW] = at, place
    return row


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Encode texts. Arguments and result are those of `fst.runtime.kernels.bpe.encode_rows`, but for `machine` and `work`, which are
    `fst.machines.sampling_arguments.SamplingArguments` and `SamplingWork`; and ``work.state`` has the number of the first row.
    """
    state, pieces, beside = work.state, work.pieces, machine.own.beside
    begin_call(starts, more, output, state)
    begin_words(machine, work)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pieces(text, starts, row, at, more, beside, work)
        if len(beside.drops):
            mark_dropped(text, pieces, count, beside)
        place, first = state[COUNT], ended
        ended = emit(text, pieces, count, ended, machine, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pieces, count, count, machine.own, output, place, first, work)
    return at
