"""The kernel of Unigram with random segmentations. `fst.machines.unigram.sampling` defines sampling, and specifies the ids of a pre-token.

The pre-tokens of a round are found as in `fst.runtime.machines.unigram.kernels.encode`. No pre-token is looked up in the table of words,
since sampling may split any pre-token. `find_nodes` lists the nodes that end at each position of a pre-token. `draw_listed` reads these
lists from the end of the pre-token, and draws a node only at positions on the path. For pre-tokens that are too long for `find_nodes`, or
whose weights need exponents, `draw` looks up nodes in the trie, and draws a node at every position.

Kernels check nothing, and have the requirements of `fst.runtime.machines.unigram.kernels.encode`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.unigram import aho_corasick, sampling
from fst.machines.unigram.viterbi_kernels import node_size
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.kernels.random import GAMMA, TO_SHARE, UNIT, key_of, mixed
from fst.runtime.machines.unigram.kernels.encode import locate, put_nodes
from fst.runtime.machines.unigram.kernels.segments import read_together
from fst.runtime.machines.unigram.kernels.viterbi import BLOCK, SIZE, find_nodes, has_more, item_of, nodes_from
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, ROW_END, find_pretokens, mark_dropped
from fst.runtime.pretokens.kernels.look_up import bounds_of, pack_pending
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.text.kernels.composition import start_before
from fst.tables.kernel_call import IDS_ALONE

STEP, LARGEST, LEAST, FAR, SIZE_SHIFT = sampling.STEP, sampling.LARGEST, sampling.LEAST, sampling.FAR, np.uint64(sampling.SIZE_SHIFT)
UNSET = np.int32(-128)  # the value at a position where no node ends yet
NONE = np.int32(aho_corasick.NONE)


@inlined
def final(number, exponent):
    """Adjust a weight so that its number lies between `LEAST` and `LARGEST`, see `fst.machines.unigram.sampling.final`."""
    if number >= LARGEST:
        return number * STEP, exponent + 1
    if number < LEAST:
        return number / STEP, exponent - 1
    return number, exponent


@part
def factor_of(steps):
    """Compute the factor for a weight's number if the weight's exponent is increased by `steps`."""
    factor = 1.0 if steps < FAR else 0.0
    for _ in range(min(steps, FAR)):
        factor *= STEP
    return factor


@inlined
def share_of(stream, end, size):
    """Return the random number in [0, 1) for a node of `size` bytes that ends at the position `end` of a pre-token."""
    return np.float64(mixed(stream + (end | size << SIZE_SHIFT) * GAMMA) >> TO_SHARE) * UNIT


@inlined
def add(number, exponent, node, size, end, stream, work, nodes, at):
    """Add the weight of a node to the weight of the position where it ends, and draw whether the node becomes the choice of this position.

    Args:
        number, exponent: the total weight of the paths that end with the node.
        node, size: the node, and the number of its bytes.
        end: the position where the node ends.
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
def draw(text, start, end, table, stream, work, nodes, at):
    """Draw one of the nodes that end at each position of a pre-token.

    Args:
        text, start, end: the pre-token.
        table: `fst.machines.unigram.arguments.SamplingArguments`.
        stream: uint64, the state of the random generator before the first number of the pre-token.
        work: the working arrays. `weights` and `exponents` are ring buffers for the weights of the latest positions.
        nodes, at: int32, the output from `at` on: for each byte, the node that ends with this byte, or `UNSET`.
    """
    numbers, exponents, mask = table.numbers, table.exponents, np.uint64(len(work.weights)) - U1
    unknown, is_wide = np.uint64(len(numbers)) - U2, len(exponents) > 0
    for index in range(end - start):
        nodes[at + np.uint64(index)] = UNSET
    work.weights[0], work.exponents[0] = 1.0, 0
    reached = start
    while reached < end:
        place = reached - start
        number, exponent = final(work.weights[place & mask], work.exponents[place & mask])
        count, reached = nodes_from(text, reached, end, table.own.trie, work.found, work.sizes)
        for index in range(count):
            node, size = work.found[index], np.uint64(work.sizes[index])
            token = np.uint64(node) if node >= 0 else unknown
            ahead = exponents[token] if is_wide else 0
            add(number * numbers[token], exponent + ahead, node, size, place + size, stream, work, nodes, at)


@inlined
def weight_at(item, place, nodes, numbers, weights):
    """Compute the total weight of the paths that end with a listed node at a position; 0 for the item `NONE`."""
    (node, size), others = item_of(nodes[item]), np.uint64(len(numbers)) - U2
    number = numbers[np.uint64(node) if node >= 0 else others + np.uint64(node == NONE)]
    return number * weights[place - (size & SIZE)]


@part
def weigh(text, start, size, base, lists, nodes, numbers, weights):
    """Write the total weight of the paths to each position of a pre-token. Weights at positions inside a character are never read.

    Args:
        text, start, size: the pre-token.
        base: the start of the pre-token's slice in two arrays: `lists`, which contains the list of nodes at each position, and `weights`,
            the output.
        nodes: see `fst.machines.unigram.arguments.Ends`.
        numbers: as in `fst.machines.unigram.arguments.SamplingArguments`.
    """
    unknown = numbers[np.uint64(len(numbers)) - U2]
    weights[base] = 1.0
    for index in range(U1, size + U1):
        place = base + np.uint64(index)
        block = lists[place] * BLOCK
        if block == U0:
            at = start + np.uint64(index)
            weights[place] = weights[place - (at - start_before(text, at))] * unknown
            continue
        total, is_open = 0.0, True
        weights[place] = 0.0  # an item `NONE` has no bytes, and so reads this weight
        while is_open:
            for item in range(block, block + BLOCK):
                total += weight_at(np.uint64(item), place, nodes, numbers, weights)
            is_open = has_more(block, nodes)
            block += BLOCK
        weights[place] = total


@inlined
def goes_on(item, nodes):
    """Whether an item belongs to the same list as the item before it."""
    return has_more(item - BLOCK, nodes) if item % BLOCK == U0 else item_of(nodes[item])[0] != NONE


@inlined
def choice_at(block, left, place, nodes, numbers, weights, stream):
    """Draw an item of the list of nodes at a position.

    Args:
        block: the first item of the list.
        left, place: the position in the pre-token, and the index of the position's weight in `weights`.
        nodes, numbers, weights: as in `weigh`.
        stream: as in `draw`.
    """
    item, other, total = block, block + U1, weight_at(block, place, nodes, numbers, weights)
    while goes_on(other, nodes):
        number = weight_at(other, place, nodes, numbers, weights)
        total += number
        is_chosen = share_of(stream, left, item_of(nodes[other])[1] & SIZE) * total < number
        item = other if is_chosen else item
        other += U1
    return item


@part
def draw_listed(text, start, size, base, table, stream, work, drawn, at):
    """Draw a path through a pre-token that `find_nodes` has read, and write the node that ends at each position on the path.

    Args:
        text, table, stream, at: as in `draw`; `drawn` corresponds to the argument `nodes` of `draw`.
        start, size: the begin and the size of the pre-token, at most ``table.most_bytes[0]`` bytes.
        base: the start of the pre-token's slice of ``work.tokens`` and ``work.best_sums``.
    """
    lists, nodes, numbers, weights = work.own.shared.tokens, table.own.ends.nodes, table.numbers, work.own.best_sums
    weigh(text, start, size, base, lists, nodes, numbers, weights)
    left = size
    while left:
        block, length = lists[base + left] * BLOCK, U0
        if block == U0:
            length = start + left - start_before(text, start + left)
            drawn[at + left - U1] = -np.int32(length)
        else:
            drawn[at + left - U1], length = item_of(nodes[choice_at(block, left, base + left, nodes, numbers, weights, stream)])
            length &= SIZE
        left -= length


@part
def line_up(nodes, at, size, lengths):
    """Move the nodes of the drawn path to the end of ``nodes[at : at + size]``; return the index of the first node."""
    left = out = size
    while left:
        node = nodes[at + left - U1]
        out -= U1
        nodes[at + out] = node
        left -= node_size(node, lengths)
    return at + out


@part
def emit(text, pretokens, count, row, table, output, work):
    """Write the ids of all pre-tokens to the output, with the special ids and the ends of texts; return the row after the last complete
    row.
    """
    state, special_ids, ids, own, seed = work.own.shared.state, work.own.shared.special_ids, output.ids, table.own, table.seed[0]
    at, place, special, base, key = state.count, state.place_in_row, U0, U0, key_of(seed, state.first_row + row)
    for index in range(count):
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last, length = bounds_of(pretokens, np.uint64(index))
        if kind == U0:
            before, stream = at, key + place * GAMMA
            listed = read_together(length, own.ends.widest[0], own.ends.stride[0])
            if U0 < listed <= table.most_bytes[0]:
                draw_listed(text, first, length, base, table, stream, work, ids, at)
            else:
                draw(text, first, last, table, stream, work, ids, at)
            base += listed + np.uint64(listed > U0)
            at = put_nodes(text, first, last, line_up(ids, at, length, own.shared.lengths), own, output, at)
            work.own.counts[index] = at - before
            place += length
        elif kind != DROPPED:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
        if kind == ROW_END:
            place, key = U0, key_of(seed, state.first_row + row)
    state.count, state.place_in_row = at, place
    return row


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table` and `work`,
    which are `fst.machines.unigram.arguments.SamplingArguments` and `SamplingWork`; and ``work.state`` contains the number of the first
    row.
    """
    state, pretokens, pending, shared = work.own.shared.state, work.own.shared.pretokens, work.own.shared.pending, table.own.shared
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, work.own.shared)
        if len(shared.drops):
            mark_dropped(text, pretokens, count, shared)
        for index in range(count):  # sampling may split any pre-token, so all pre-tokens are pending
            pending[index] = pack_pending(U0, np.uint64(index), U0)
        find_nodes(text, pretokens, pending, count, table.own.ends, False, work.own)
        place, first = state.count, ended
        ended = emit(text, pretokens, count, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, count, table.own, output, place, first, work.own)
    return at
