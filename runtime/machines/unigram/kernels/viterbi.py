"""The best paths through the pending pieces of a round of Unigram, by the automaton of `fst.machines.unigram.aho_corasick`.

`find_nodes` reads all pieces together, one byte at a time. So memory accesses overlap; and so do additions, since each waits only for
earlier sums of its piece. For each byte, it finds the list of the tokens that end there, and the best of these tokens, as
`fst.machines.unigram.viterbi_kernels.find_best` does: the first item of the list with the greatest sum, since the longest tokens begin
first. Blocks of four items are compared without branches, which would be mispredicted.

The sums of each piece begin with 0, which is nearly always the true sum before the piece. For other pieces, `find_path` reads the lists
again.

Each pending piece has a *slice* of the arrays that pieces share: a place before its first byte, and a place after each byte.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.unigram import aho_corasick
from fst.machines.unigram.arguments import GOES_ON
from fst.machines.unigram.viterbi_kernels import LABEL_SHIFT, LEAF, ROOT, TARGET, VALUE, VALUE_SHIFT, character_size
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U3
from fst.runtime.kernels.intrinsics import prefetch
from fst.runtime.pretokens.kernels.segments import sort_pieces
from fst.runtime.text.kernels.stretches import start_before

BLOCK = np.uint64(aho_corasick.BLOCK)
NODE, SIZE = np.uint64((GOES_ON << 32) - 1), np.uint64(GOES_ON - 1)  # all bits of a node and of its size except `GOES_ON`


@inlined
def step(steps, state, byte):
    """The entry of a state's transition on a byte."""
    entry = steps[state + U1 + byte]
    other = steps[(steps[state] & TARGET) + U1 + byte]
    other = other if other >> LABEL_SHIFT == byte else steps[ROOT + U1 + byte]
    return entry if entry >> LABEL_SHIFT == byte else other


@part
def find_nodes(text, pieces, pending, waiting, ends, with_sums, work):
    """Write the list at each place of the pending pieces. If `with_sums`, also write the best node that ends there, and its sum.

    A segment of a piece is read from the root, so its first lists lack tokens that begin before the segment. But the previous segment
    extends over these places, and overwrites their lists later. The nodes and sums of a piece with several segments are not used.

    Args:
        text, pieces, pending, waiting, work: as in `fst.runtime.machines.bpe.kernels.encode.transduce`.
        ends: `fst.machines.unigram.arguments.Ends`.
        with_sums: whether any piece may need best nodes and sums.
    """
    steps, gains, nodes, active, longer, lists = ends.steps, ends.gains, ends.nodes, work.active, work.longer, work.tokens
    last = np.uint64(len(text)) - U1
    most = sort_pieces(pieces, pending, waiting, active, longer, ends.widest[0], ends.stride[0], U1)
    for index in range(most):
        done = np.uint64(index)
        for item in range(U0, longer[done + U1] << U1, U2):
            state, at, place = active[item], (active[item + U1] & LOW_HALF) + done, (active[item + U1] >> HALF) + done
            if done and with_sums:
                put_best(text, at, place, ends, work)
            elif with_sums:
                work.best_sums[place] = 0
            entry = step(steps, state, np.uint64(text[at]))
            state, number = entry & TARGET, entry >> VALUE_SHIFT & VALUE
            active[item], lists[place + U1] = state, number
            prefetch(steps, state)
            prefetch(steps, state + U1 + np.uint64(text[min(at + U1, last)]))
            prefetch(gains, number * BLOCK)
            prefetch(nodes, number * BLOCK)
        for item in range(longer[done + U2] << U1 if done + U1 < most else U0, longer[done + U1] << U1 if with_sums else U0, U2):
            put_best(text, (active[item + U1] & LOW_HALF) + done + U1, (active[item + U1] >> HALF) + done + U1, ends, work)
    for length in range(most + U1):
        longer[length] = U0


@inlined
def better(first, total, second, other):
    """The better of two items, and its sum; the first item wins a tie."""
    is_better = other > total
    return first + np.uint64(is_better) * (second - first), other if is_better else total


@inlined
def best_of(at, place, gains, nodes, sums):
    """The best item of a block, and its sum."""
    total_0 = gains[at] + sums[place - (nodes[at] >> HALF)]
    total_1 = gains[at + U1] + sums[place - (nodes[at + U1] >> HALF)]
    total_2 = gains[at + U2] + sums[place - (nodes[at + U2] >> HALF)]
    total_3 = gains[at + U3] + sums[place - (nodes[at + U3] >> HALF & SIZE)]
    first, total = better(at, total_0, at + U1, total_1)
    second, other = better(at + U2, total_2, at + U3, total_3)
    return better(first, total, second, other)


@inlined
def put_best(text, at, place, ends, work):
    """Write the best node that ends at a place, as in ``ends.nodes``, and its sum. `at` is the position in the text."""
    gains, nodes, sums = ends.gains, ends.nodes, work.best_sums
    block = work.tokens[place] * BLOCK
    if block == U0:
        first = start_before(text, at)
        sums[place] = ends.unknown[0] + sums[place - (at - first)]
        work.best[place] = LOW_HALF + U1 - (at - first) | (at - first) << HALF
    else:
        item, total = best_of(block, place, gains, nodes, sums)
        while nodes[block + U3] > NODE:
            block += BLOCK
            further, other = best_of(block, place, gains, nodes, sums)
            item, total = better(item, total, further, other)
        sums[place] = total
        work.best[place] = nodes[item] & NODE


@part
def find_path(text, begin, end, before, ends, work, base):
    """Find the best nodes of a piece, and their sums.

    Args:
        text, begin, end: the piece.
        before: the sum before the piece.
        ends: `fst.machines.unigram.arguments.Ends`.
        work: `tokens` has the list at each place, from `base` on; `best` and `best_sums` are filled from `base` on.
    """
    work.best_sums[base] = before
    for at in range(begin + U1, end + U1):
        put_best(text, np.uint64(at), base + (np.uint64(at) - begin), ends, work)


@part
def line_up(best, base, size, ids, at):
    """Write the nodes of the best path, in order, to the end of ``ids[at : at + size]``. Returns the index of the first node."""
    left = out = size
    while left:
        node = best[base + left]
        out -= U1
        ids[at + out] = np.int32(node & LOW_HALF)
        left -= node >> HALF
    return at + out


@part
def nodes_from(text, at, end, trie, nodes, sizes):
    """List the nodes that begin at a position: tokens, the shortest first; then an unknown character if no token is this character.

    Args:
        text: uint8[n].
        at, end: the position, and the end of the piece.
        trie: see `fst.machines.unigram.viterbi`.
        nodes, sizes: int32[n] and uint32[n], with n above the number of bytes of any token; filled: each node, see
            `fst.machines.unigram.viterbi_kernels.node_size`, and its number of bytes.

    Returns:
        The number of nodes, and the position of the next character.
    """
    after = at + character_size(np.uint64(text[at]))
    state, reached, count, is_token, is_open = ROOT, at, U0, False, True
    while is_open:
        byte = np.uint64(text[reached])
        entry = trie[state + U1 + byte]
        is_open = entry >> LABEL_SHIFT == byte
        if is_open:
            reached += U1
            value = entry >> VALUE_SHIFT & VALUE
            if value:
                nodes[count], sizes[count] = np.int32(value - U1), reached - at
                count += U1
                is_token |= reached == after
            state = entry & TARGET
            is_open = state != LEAF and reached < end
    if not is_token:
        nodes[count], sizes[count] = -np.int32(after - at), after - at
        count += U1
    return count, after
