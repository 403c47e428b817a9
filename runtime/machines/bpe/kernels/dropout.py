"""The kernel of byte-level BPE with dropout. `fst.machines.bpe.dropout` defines dropout, and specifies the ids of a pre-token.

The pre-tokens of a round are found as in `fst.runtime.machines.bpe.kernels.encode`. No pre-token is looked up in the table of words, since
dropout may split any pre-token.

The number of skips is computed bit by bit from the powers p, p², p⁴, p⁸ … of the dropout probability p. This takes only multiplications and
comparisons, so the number of skips is the same on every computer. Rounding changes the probability of at least s skips by less than
s · 2⁻⁵².

The queue of `fst.runtime.machines.bpe.kernels.merge_queue` contains the candidates: the adjacent pairs that can merge. To merge a
candidate, the kernel removes the skipped candidates before this candidate from the queue, and later adds them again. So a pre-token of n
bytes takes O(n log n / (1 - p)) steps on average.

Kernels check nothing, and have the requirements of `fst.runtime.machines.bpe.kernels.merge_queue`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.merge_list import MADE
from fst.machines.bpe.pairs import NO_RANK
from fst.runtime.kernels.constants import U0, U1, U2, U3
from fst.runtime.kernels.random import GAMMA, TO_SHARE, UNIT, key_of, mixed
from fst.runtime.machines.bpe.kernels.merge_queue import (
    begin_merging,
    collect,
    item_at,
    item_of,
    link,
    offer,
    pop,
    push,
    put_item,
    replace_subwords,
)
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, PLACE, ROW_END, find_pretokens, mark_dropped
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.pretokens.kernels.spans import locate
from fst.tables.kernel_call import IDS_ALONE


@part
def skips(number, powers, count):
    """Compute the number of skipped candidates from a random number; the result is `count` or more if all candidates are skipped.

    Args:
        number: uint64, the random number.
        powers: float64[n], the dropout probability to the powers 1, 2, 4, 8 …
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
def is_candidate(item, numbers, ranks):
    """Whether an item of the queue is a candidate; an outdated item is not."""
    rank, place = item_of(item)
    return numbers[ranks + place] == rank


@part
def take(numbers, ranks, queue, count, skipped):
    """Remove from the queue the candidate that follows the first `skipped` candidates, and all outdated items before this candidate.

    The skipped candidates are removed, stored in the elements after the queue, and then added again.

    Returns:
        The position of the candidate, and the new number of items in the queue.
    """
    end = waiting = count
    item = item_at(numbers, queue, U0)
    count = pop(numbers, queue, count)
    while skipped or not is_candidate(item, numbers, ranks):
        if is_candidate(item, numbers, ranks):
            waiting -= U1
            put_item(numbers, queue, waiting, item)
            skipped -= U1
        item = item_at(numbers, queue, U0)
        count = pop(numbers, queue, count)
    for index in range(waiting, end):
        count = push(numbers, queue, count, item_at(numbers, queue, np.uint64(index)))
    return item_of(item)[1], count


@inlined
def offer_again(numbers, at, size, place, pairs, count, candidates):
    """Add a pair with a new token to the queue, see `offer`; return the new numbers of items in the queue and of candidates."""
    rank = at + size * U3 + place
    candidates -= np.uint64(numbers[rank] != NO_RANK)
    count = offer(numbers, at, size, place, pairs, count)
    return count, candidates + np.uint64(numbers[rank] != NO_RANK)


@part
def join(numbers, at, size, place, table, count, candidates):
    """Merge a pair, and add to the queue the two pairs that contain the new token.

    Returns:
        The new number of items in the queue, and the new number of candidates.
    """
    ranks, pairs = at + size * U3, table.pairs
    gone = link(numbers, at, size, place, pairs.merges[numbers[ranks + place], MADE])
    candidates -= np.uint64(numbers[ranks + gone] != NO_RANK)
    numbers[ranks + gone] = NO_RANK
    count, candidates = offer_again(numbers, at, size, place, pairs, count, candidates)
    if place:
        before = np.uint64(numbers[at + (size << U1) + place])
        count, candidates = offer_again(numbers, at, size, before, pairs, count, candidates)
    return count, candidates


@part
def merge(text, start, end, table, stream, numbers, at):
    """Encode a pre-token. `numbers` and the result are as in `fst.runtime.machines.bpe.kernels.merge_queue.merge`.

    Args:
        table: `fst.machines.bpe.arguments.DropoutArguments`.
        stream: uint64, the state of the random generator before the first number of the pre-token.
    """
    merging = table.merging
    size = begin_merging(text, start, end - start, merging, numbers, at)
    ranks, queue, count = at + size * U3, at + (size << U2), U0
    for index in range(size):
        count = offer(numbers, at, size, np.uint64(index), merging.pairs, count)
    state, candidates = stream, count  # number of items in the queue, without outdated items
    while candidates:
        state += GAMMA
        skipped = skips(mixed(state), table.powers, candidates)
        if skipped < candidates:
            place, count = take(numbers, ranks, queue, count, skipped)
            count, candidates = join(numbers, at, size, place, merging, count, candidates)
        else:
            candidates = U0
    return collect(numbers, at, size)


@part
def emit(text, pretokens, count, row, table, output, work):
    """Write the ids of all pre-tokens to the output, with the special ids and the ends of texts; return the row after the last complete
    row.
    """
    state, special_ids, ids, seed = work.state, work.special_ids, output.ids, table.seed[0]
    at, place, special, key = state.count, state.place_in_row, U0, key_of(seed, state.first_row + row)
    for index in range(count):
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last = np.uint64(pretokens[index]) & PLACE, np.uint64(pretokens[np.uint64(index) + U1]) & PLACE
        if kind == U0:
            at = merge(text, first, last, table, key + place * GAMMA, ids, at)
            place += last - first
        elif kind != DROPPED:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
        if kind == ROW_END:
            place, key = U0, key_of(seed, state.first_row + row)
    state.count, state.place_in_row = at, place
    return row


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.bpe.arguments.DropoutArguments`; and ``work.state`` contains the number of the first row.
    """
    state, pretokens, shared = work.state, work.pretokens, table.merging.shared
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, work)
        if len(shared.drops):
            mark_dropped(text, pretokens, count, shared)
        place, first = state.count, ended
        ended = emit(text, pretokens, count, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, shared, output, place, first, state)
        if len(table.merging.ids_of_subwords):
            replace_subwords(output.ids, place, state.count, table.merging.ids_of_subwords)
    return at
