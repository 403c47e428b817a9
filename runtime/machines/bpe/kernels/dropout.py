"""Byte-level BPE with dropout. `fst.machines.bpe.dropout` says what it is, and specifies the result of a piece.

The pieces of a round are found as by `fst.runtime.machines.bpe.kernels.encode`. None is looked up in the table of words, since dropout may
take any of them apart.

The number of skips is found bit by bit, from the powers p, p², p⁴, p⁸ …, by multiplications and comparisons alone, so that it is the same
everywhere. Rounding changes P(S ≥ s) by less than s · 2⁻⁵².

The candidate after so many others is found in a treap (Seidel and Aragon 1996, "Randomized search trees"), a search tree in the order of
ranks and places, whose nodes know the sizes of their subtrees. Its shape depends on pseudo-random priorities alone, so a search takes
O(log n) steps on average, whatever the text. A merge takes one such search, and changes at most five candidates. So a piece of n bytes
takes O(n log n) steps, whatever its bytes and p are.

Kernels check nothing. They require what those of `fst.runtime.machines.bpe.kernels.merge_queue` require.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.pairs import NO_RANK
from fst.runtime.kernels.constants import HALF, U0, U1, U2, U3, U5, U6, U7
from fst.runtime.kernels.random import GAMMA, TO_SHARE, UNIT, key_of, mixed
from fst.runtime.machines.bpe.kernels.merge_queue import begin_merging, collect, link, note_rank
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, PLACE, ROW_END, find_pieces, mark_dropped
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import COUNT, FIRST_ROW, IDS_ALONE, PLACE_IN_ROW


@part
def skips(number, powers, count):
    """How many of some candidates are skipped, by a random number; as many as there are, or more, if all of them are.

    Args:
        number: uint64, random.
        powers: float64[n], p to the powers 1, 2, 4, 8 …
        count: the number of candidates, at least 1.
    """
    share, bit, index = np.float64(number >> TO_SHARE) * UNIT, U1, U0
    while bit << U1 <= count:
        bit, index = bit << U1, index + U1
    found, power = U0, 1.0
    while bit:
        if share < power * powers[index]:
            found, power = found | bit, power * powers[index]
        bit, index = bit >> U1, index - U1
    return found


@inlined
def arrays_of(at, size):
    """Where the arrays of the treap are: ranks, lower and upper children, sizes; and the root. See `merge`."""
    return at + size * U3, at + (size << U2), at + size * U5, at + size * U6, at + size * U7 + U1


@inlined
def item_of(numbers, ranks, place):
    """A candidate as a number, ``rank << 32 | place``: candidates are ordered by it."""
    return np.uint64(numbers[ranks + place]) << HALF | place


@inlined
def is_above(place, other, stream):
    """Whether the candidate at a place has a higher priority than another one, so that it is above it in the treap."""
    return mixed(stream ^ place) > mixed(stream ^ other)


@part
def count_below(numbers, at, size, node, item):
    """How many candidates below a node, it included, come before an item."""
    ranks, lows, highs, sizes, _ = arrays_of(at, size)
    count = U0
    while node < size:
        if item_of(numbers, ranks, node) < item:
            count += np.uint64(numbers[sizes + np.uint64(numbers[lows + node])]) + U1
            node = np.uint64(numbers[highs + node])
        else:
            node = np.uint64(numbers[lows + node])
    return count


@part
def insert(numbers, at, size, place, stream):
    """Put the candidate at a place into the treap: above all nodes of lower priority, which are split into those before and after it."""
    ranks, lows, highs, sizes, hole = arrays_of(at, size)
    item, node = item_of(numbers, ranks, place), np.uint64(numbers[hole])
    while node < size and is_above(node, place, stream):
        numbers[sizes + node] += 1
        hole = (highs if item_of(numbers, ranks, node) < item else lows) + node
        node = np.uint64(numbers[hole])
    numbers[hole], numbers[sizes + place] = place, numbers[sizes + node] + 1
    before, low, high = count_below(numbers, at, size, node, item), lows + place, highs + place
    while node < size:
        if item_of(numbers, ranks, node) < item:
            under = np.uint64(numbers[sizes + np.uint64(numbers[lows + node])]) + U1
            numbers[low], numbers[sizes + node] = node, before
            before -= under
            low = highs + node
            node = np.uint64(numbers[low])
        else:
            numbers[high] = node
            numbers[sizes + node] -= np.int32(before)
            high = lows + node
            node = np.uint64(numbers[high])
    numbers[low] = numbers[high] = size


@part
def withdraw(numbers, at, size, place, stream):
    """Take the pair at a place out of the treap, if it is a candidate: its two subtrees become one."""
    ranks, lows, highs, sizes, hole = arrays_of(at, size)
    if numbers[ranks + place] == NO_RANK:
        return
    item, node = item_of(numbers, ranks, place), np.uint64(numbers[hole])
    while node != place:
        numbers[sizes + node] -= 1
        hole = (highs if item_of(numbers, ranks, node) < item else lows) + node
        node = np.uint64(numbers[hole])
    low, high = np.uint64(numbers[lows + place]), np.uint64(numbers[highs + place])
    while low < size and high < size:
        if is_above(low, high, stream):
            numbers[sizes + low] += numbers[sizes + high]
            numbers[hole], hole = low, highs + low
            low = np.uint64(numbers[hole])
        else:
            numbers[sizes + high] += numbers[sizes + low]
            numbers[hole], hole = high, lows + high
            high = np.uint64(numbers[hole])
    numbers[hole] = low if low < size else high
    numbers[ranks + place] = NO_RANK


@part
def candidate_after(numbers, at, size, count):
    """The place of the candidate that so many others come before."""
    _, lows, highs, sizes, root = arrays_of(at, size)
    node = np.uint64(numbers[root])
    below = np.uint64(numbers[sizes + np.uint64(numbers[lows + node])])
    while count != below:
        if count < below:
            node = np.uint64(numbers[lows + node])
        else:
            node = np.uint64(numbers[highs + node])
            count -= below + U1
        below = np.uint64(numbers[sizes + np.uint64(numbers[lows + node])])
    return node


@inlined
def offer(numbers, at, size, place, pairs, stream):
    """Make the pair at a place of the piece a candidate if it may merge."""
    if note_rank(numbers, at, size, place, pairs) != NO_RANK:
        insert(numbers, at, size, place, stream)


@part
def join(numbers, at, size, place, machine, stream):
    """Merge the pair at a place, and offer the pairs of the new token with its neighbours."""
    token, pairs = machine.made[numbers[at + size * U3 + place]], machine.pairs
    gone = link(numbers, at, size, place, token)
    withdraw(numbers, at, size, place, stream)
    withdraw(numbers, at, size, gone, stream)
    offer(numbers, at, size, place, pairs, stream)
    if place:
        before = np.uint64(numbers[at + (size << U1) + place])
        withdraw(numbers, at, size, before, stream)
        offer(numbers, at, size, before, pairs, stream)


@part
def merge(text, begin, end, machine, stream, numbers, at):
    """Encode a piece of n atoms.

    The ids themselves are the scratch, from `at` on: n tokens; for each the place of the next one, n after the last; the place of the one
    before; the rank of its pair with the next one, or `NO_RANK`; its lower and its upper child in the treap, n for none; n + 1 sizes of
    subtrees, of which the last is 0; and the root: 7n + 2 in all, of which `fst.tables.kernel_call.SLACK` has room for some if n is 1.

    Args:
        machine: `fst.machines.bpe.arguments.DropoutArguments`.
        stream: uint64, the state of the generator before the first number of the piece.

    Returns:
        The index after the last id.
    """
    merging = machine.merging
    size = begin_merging(text, begin, end - begin, merging, numbers, at)
    _, _, _, sizes, root = arrays_of(at, size)
    numbers[sizes + size], numbers[root] = 0, size
    for index in range(size):
        offer(numbers, at, size, np.uint64(index), merging.pairs, stream)
    state, count = stream, np.uint64(numbers[sizes + np.uint64(numbers[root])])
    while count:
        state += GAMMA
        skipped = skips(mixed(state), machine.powers, count)
        if skipped < count:
            join(numbers, at, size, candidate_after(numbers, at, size, skipped), merging, stream)
            count = np.uint64(numbers[sizes + np.uint64(numbers[root])])
        else:
            count = U0
    return collect(numbers, at, size)


@part
def emit(text, pieces, count, row, machine, output, work):
    """Write the ids of all pieces to the output, and the frames and ends of texts. Returns the row after the last that ended."""
    state, special_ids, ids, seed = work.state, work.special_ids, output.ids, machine.seed[0]
    at, place, special, key = state[COUNT], state[PLACE_IN_ROW], U0, key_of(seed, state[FIRST_ROW] + row)
    for index in range(count):
        kind = np.uint64(pieces[index]) >> KIND << KIND
        first, last = np.uint64(pieces[index]) & PLACE, np.uint64(pieces[np.uint64(index) + U1]) & PLACE
        if kind == U0:
            at = merge(text, first, last, machine, key + place * GAMMA, ids, at)
            place += last - first
        elif kind != DROPPED:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
        if kind == ROW_END:
            place, key = U0, key_of(seed, state[FIRST_ROW] + row)
    state[COUNT], state[PLACE_IN_ROW] = at, place
    return row


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Encode texts. Arguments and result are those of `fst.runtime.machines.bpe.kernels.encode.encode_rows`, but for `machine`, which is
    `fst.machines.bpe.arguments.DropoutArguments`; and ``work.state`` has the number of the first row.
    """
    state, pieces, shared = work.state, work.pieces, machine.merging.shared
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pieces(text, starts, row, at, more, shared, work)
        if len(shared.drops):
            mark_dropped(text, pieces, count, shared)
        place, first = state[COUNT], ended
        ended = emit(text, pieces, count, ended, machine, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pieces, count, shared, output, place, first, state)
    return at
