"""The kernel of byte-level BPE by a queue of merges, for tables without an automaton. `fst.machines.bpe.merge_list.merged` specifies the
ids of a pre-token.

The loops over a round are those of `fst.runtime.machines.bpe.kernels.encode`, but a queue replaces the automaton. The table of words finds
pre-tokens that are one token; the tokens of other pre-tokens are merged, one pre-token after another. An *atom* is a token before all
merges. The queue contains the pairs of adjacent tokens that can merge, ordered by rank; equal ranks are ordered from left to right. A merge
adds at most two new pairs to the queue. So a pre-token of n bytes takes O(n log n) steps. For few atoms, a search of all ranks before each
merge is faster than the queue.

Kernels check nothing, and have the requirements of `fst.runtime.machines.bpe.kernels.encode`, and in addition:

- ``output.ids`` has `fst.machines.bpe.merge_list.SCRATCH` elements for each byte of text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.merge_list import MADE
from fst.machines.bpe.pairs import NO_RANK
from fst.machines.bpe.ranks import rank_of
from fst.pretokens.characters import FUSES, UNKNOWN
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U3
from fst.runtime.kernels.intrinsics import trailing_zeros
from fst.runtime.kernels.output import copy, copy_few
from fst.runtime.pretokens.kernels.characters import ABSENT, code_of, falls_back, next_character
from fst.runtime.pretokens.kernels.find import KIND, LONG, find_pretokens
from fst.runtime.pretokens.kernels.look_up import ALL, bounds_of, find_words, long_pretoken, pending_of, tuned_of
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import IDS_ALONE

FEW = np.uint64(32)  # maximum number of atoms for which a search of all ranks is faster than the queue


@inlined
def pack_item(rank, place):
    """Pack an item of the queue: the rank of a pair, and its position. The lowest item merges first."""
    return np.uint64(rank) << HALF | place


@inlined
def item_of(item):
    """Return the rank of an item of the queue, and its position."""
    return np.int32(item >> HALF), item & LOW_HALF


@inlined
def item_at(numbers, queue, index):
    """Read an item of the queue."""
    at = queue + (index << U1)
    return pack_item(numbers[at], np.uint64(numbers[at + U1]))


@inlined
def put_item(numbers, queue, index, item):
    """Write an item to an index of the queue."""
    at = queue + (index << U1)
    rank, place = item_of(item)
    numbers[at], numbers[at + U1] = rank, np.int32(place)


@part
def push(numbers, queue, count, item):
    """Add an item to the queue, a binary heap of `count` items; return the new number of items."""
    hole = count
    while hole and item < item_at(numbers, queue, hole - U1 >> U1):
        above = hole - U1 >> U1
        put_item(numbers, queue, hole, item_at(numbers, queue, above))
        hole = above
    put_item(numbers, queue, hole, item)
    return count + U1


@part
def pop(numbers, queue, count):
    """Remove the lowest item from the queue; return the new number of items."""
    count -= U1
    item, hole, child = item_at(numbers, queue, count), U0, U1
    while child < count:
        child += np.uint64(child + U1 < count and item_at(numbers, queue, child + U1) < item_at(numbers, queue, child))
        below = item_at(numbers, queue, child)
        if item < below:
            child = count
        else:
            put_item(numbers, queue, hole, below)
            hole, child = child, (child << U1) + U1
    put_item(numbers, queue, hole, item)
    return count


@inlined
def note_rank(numbers, at, size, place, pairs):
    """Store and return the rank of the pair at a position of the pre-token; `NO_RANK` if the pair cannot merge."""
    following = np.uint64(numbers[at + size + place])
    rank = rank_of(numbers[at + place], numbers[at + following], pairs) if following < size else NO_RANK
    numbers[at + size * U3 + place] = rank
    return rank


@inlined
def link(numbers, at, size, place, token):
    """Replace a pair by a token; return the position of the pair's second token, which leaves the list of tokens."""
    nexts, befores = at + size, at + (size << U1)
    gone = np.uint64(numbers[nexts + place])
    following = np.uint64(numbers[nexts + gone])
    numbers[at + place], numbers[nexts + place] = token, following
    if following < size:
        numbers[befores + following] = place
    return gone


@inlined
def offer(numbers, at, size, place, pairs, count):
    """Add the pair at a position of the pre-token to the queue if the pair can merge; return the new number of items."""
    rank = note_rank(numbers, at, size, place, pairs)
    return push(numbers, at + (size << U2), count, pack_item(rank, place)) if rank != NO_RANK else count


@part
def join(numbers, at, size, place, token, pairs, count):
    """Merge a pair into a token, and add to the queue the pairs that contain this token; return the new number of items."""
    gone = link(numbers, at, size, place, token)
    numbers[at + size * U3 + gone] = NO_RANK
    count = offer(numbers, at, size, place, pairs, count)
    if place:
        count = offer(numbers, at, size, np.uint64(numbers[at + (size << U1) + place]), pairs, count)
    return count


@part
def put_characters(text, start, length, table, numbers, at):
    """Write the atoms of a pre-token, from its characters (`fst.machines.bpe.merge_list.atoms_of_characters`); return their number."""
    alphabet, atoms, size, place, waits = table.alphabet, table.atoms, U0, start, False
    unknown, fuses = alphabet.rules[UNKNOWN], alphabet.rules[FUSES]
    while place < start + length:
        token, after = next_character(text, start, place, start + length, alphabet)
        if token != ABSENT:
            numbers[at + size] = unknown
            size += np.uint64(waits)
            numbers[at + size] = token
            size, waits = size + U1, False
        elif falls_back(text, place, after, alphabet.rules, atoms):
            for byte in range(place, after):
                numbers[at + size] = atoms[text[byte]]
                size += U1
        elif unknown != ABSENT:
            numbers[at + size] = unknown
            size += np.uint64(waits and not fuses)
            waits = True
        place = after
    numbers[at + size] = unknown
    return size + np.uint64(waits)


@part
def put_bytes(text, start, length, table, numbers, at):
    """Write the atoms of a pre-token, from its bytes (`fst.machines.bpe.merge_list.atoms_of`); return their number."""
    atoms, fused, last, size = table.atoms, table.fused[0], ABSENT, U0
    for index in range(length):
        atom = atoms[code_of(text, start, start + np.uint64(index), start + length)]
        if atom != ABSENT and not (atom == last and atom == fused):
            numbers[at + size] = atom
            size += U1
        last = atom
    return size


@inlined
def put_atoms(text, start, length, table, numbers, at):
    """Write the atoms of a pre-token, and return the number of atoms."""
    if len(table.alphabet.rules):
        return put_characters(text, start, length, table, numbers, at)
    return put_bytes(text, start, length, table, numbers, at)


@inlined
def link_atoms(numbers, at, size):
    """Link each atom to the next and to the previous atom, see `merge`."""
    for index in range(size):
        place = np.uint64(index)
        numbers[at + size + place] = place + U1
        numbers[at + (size << U1) + place] = place - np.uint64(place > U0)


@inlined
def begin_merging(text, start, length, table, numbers, at):
    """Write the atoms of a pre-token, and link them. Return the number of atoms."""
    size = put_atoms(text, start, length, table, numbers, at)
    link_atoms(numbers, at, size)
    return size


@inlined
def collect(numbers, at, size):
    """Move the remaining tokens of a pre-token next to each other; return the output index after the last token."""
    found, place = at, U0
    while place < size:
        numbers[found] = numbers[at + place]
        place = np.uint64(numbers[at + size + place])
        found += U1
    return found


@inlined
def noted(left, right, numbers, ranks, place, pairs):
    """Store the rank of the pair at a position; return the bit of the position if the pair can merge, otherwise 0."""
    rank = rank_of(left, right, pairs)
    numbers[ranks + place] = rank
    return np.uint64(rank != NO_RANK) << place


@inlined
def lowest_of(numbers, ranks, waiting):
    """The lowest item of the positions with a bit in `waiting`, which is not 0."""
    lowest = ALL
    while waiting:
        place = trailing_zeros(waiting)
        lowest = min(lowest, pack_item(numbers[ranks + place], place))
        waiting &= waiting - U1
    return lowest


@inlined
def collect_few(numbers, at, alive):
    """Move the tokens at positions with a bit in `alive` next to each other; return the output index after the last token."""
    found = at
    while alive:
        numbers[found] = numbers[at + trailing_zeros(alive)]
        found += U1
        alive &= alive - U1
    return found


@part
def merge_few(numbers, at, size, pairs):
    """Merge the pairs of at most `FEW` atoms. In place of links and of the queue, each position with a token has a bit in `alive`, and the
    same bit from the other side in `mirrored`; each position whose pair can merge has a bit in `waiting`, and the ranks of all these
    positions are searched before each merge. `numbers` contains n tokens from `at` on, and then the n ranks of their pairs.

    Returns:
        The index after the last id.
    """
    ranks, alive, waiting = at + size, (U1 << size) - U1, U0
    mirrored = alive << FEW - size
    for index in range(U1, size):
        place = np.uint64(index) - U1
        waiting |= noted(numbers[at + place], numbers[at + place + U1], numbers, ranks, place, pairs)
    while waiting:
        lowest = lowest_of(numbers, ranks, waiting)
        rank, place = item_of(lowest)
        token = pairs.merges[rank, MADE]
        gone = place + U1 + trailing_zeros(alive >> place + U1)
        numbers[at + place] = token
        alive ^= U1 << gone
        mirrored ^= U1 << FEW - U1 - gone
        waiting &= ~(U1 << place | U1 << gone)
        after = alive >> gone + U1
        if after:
            waiting |= noted(token, numbers[at + gone + U1 + trailing_zeros(after)], numbers, ranks, place, pairs)
        if place:
            before = place - U1 - trailing_zeros(mirrored >> FEW - place)
            waiting = waiting & ~(U1 << before) | noted(numbers[at + before], token, numbers, ranks, before, pairs)
    return collect_few(numbers, at, alive)


@part
def merge(text, start, end, table, numbers, at):
    """Encode a pre-token of n atoms; few atoms are merged without links and queue.

    `numbers`, the array of the output's ids, also contains the working data, from `at` on: n tokens; n positions of the next token (n after
    the last token); n positions of the previous token; n ranks of the pair with the next token, or `NO_RANK`; and the queue, of at most 2n
    items. An item of the queue is out of date if its rank differs from the rank stored for its position. A token that was merged into the
    previous token stays in the array, but no other token is linked to it.

    Returns:
        The index after the last id.
    """
    pairs, size = table.pairs, put_atoms(text, start, end - start, table, numbers, at)
    if size <= FEW:
        return merge_few(numbers, at, size, pairs)
    link_atoms(numbers, at, size)
    ranks, queue, count = at + size * U3, at + (size << U2), U0
    for index in range(size):
        count = offer(numbers, at, size, np.uint64(index), pairs, count)
    while count:
        item = item_at(numbers, queue, U0)
        count = pop(numbers, queue, count)
        rank, place = item_of(item)
        if numbers[ranks + place] == rank:
            count = join(numbers, at, size, place, pairs.merges[rank, MADE], pairs, count)
    return collect(numbers, at, size)


@part
def replace_subwords(ids, place, end, ids_of_subwords):
    """Replace the numbers of subwords from an output index on by ids, after their spans are written, see `fst.machines.bpe.subwords`."""
    for at in range(place, end):
        ids[at] = ids_of_subwords[np.uint64(ids[at])]


@part
def emit(text, pretokens, scratch, written, pending, waiting, row, table, output, work):
    """Write ids to the output, with the special ids and the ends of texts; return the row after the last complete row."""
    special_ids, ids, at = work.special_ids, output.ids, work.state.count
    start = special = U0
    for item in range(waiting):
        gap, index = pending_of(pending[item])
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last, _ = bounds_of(pretokens, index)
        at = copy(scratch, start, gap, ids, at)
        start = gap + U1
        begin, end = tuned_of(pending[item])
        if begin < end:
            at = copy_few(table.shared.tuned, begin, end, ids, at)
        elif kind == U0:
            at = merge(text, first, last, table, ids, at)
        elif kind == LONG:
            ids[at] = long_pretoken(text, first, last, table.shared.long_pretokens)
            at += U1
        else:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
    work.state.count = copy(scratch, start, written, ids, at)
    return row


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.bpe.arguments.MergeArguments`.
    """
    state, pretokens, scratch, pending, shared = work.state, work.pretokens, work.scratch, work.pending, table.shared
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, work)
        written, waiting = find_words(text, count, shared, work)
        place, first = state.count, ended
        ended = emit(text, pretokens, scratch, written, pending, waiting, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, shared, output, place, first, state)
        if len(table.ids_of_subwords):
            replace_subwords(output.ids, place, state.count, table.ids_of_subwords)
    return at
