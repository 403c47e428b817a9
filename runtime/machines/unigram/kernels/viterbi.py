"""Kernels that find the best paths through a round's pending pre-tokens, by the automaton of `fst.machines.unigram.aho_corasick`.

`find_nodes` reads one byte of each pre-token in turn. So memory accesses overlap, and additions overlap, too, since a sum depends only on
earlier sums of the same pre-token. For each byte, it finds the list of the tokens that end with this byte, the longest first, and the best
token, which is the first token with the greatest sum, as in `fst.machines.unigram.viterbi_kernels.find_best`. Blocks of four items are
compared without branches, which would be mispredicted.

The sums of each pre-token begin with 0. If the true sum before the pre-token is not 0, the best path is still the same, unless rounding
decides between two paths. Then `is_certain` returns False, and `find_path` computes the sums again from the lists.

The pending pre-tokens share several arrays. In each array, a pre-token has a *slice*: one element for the position before its first byte,
and one element for the position after each byte.

**Example.** The tokens and scores are a −1, b −2, c −2, ab −2.5 and bc −2.75, and the pre-token is "abc":

    position     0     1        2                       3
    list               a        ab, b                   bc, c
    sums               0 − 1    0 − 2.5, −1 − 2         −1 − 2.75, −2.5 − 2
    best node          a        ab                      bc
    best sum     0     −1       −2.5                    −3.75

`line_up` reads the best nodes from the end: bc at position 3, then a at position 1. The path is certain for any margin below 0.75, the
difference of the sums at position 3. Position 2 is not on the path, so its sums do not matter.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.core.prefetch import prefetch
from fst.machines.unigram import aho_corasick
from fst.machines.unigram.arguments import GOES_ON
from fst.machines.unigram.viterbi_kernels import LABEL_SHIFT, LEAF, ROOT, TARGET, VALUE, VALUE_SHIFT, character_size
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U3
from fst.runtime.kernels.unicode import CONTINUATION
from fst.runtime.kernels.utf_8 import LOW_6
from fst.runtime.machines.unigram.kernels.segments import segment_of, sort_pretokens
from fst.runtime.text.kernels.composition import start_before

BLOCK = np.uint64(aho_corasick.BLOCK)
NODE, SIZE = np.uint64((GOES_ON << 32) - 1), np.uint64(GOES_ON - 1)  # masks for a node with its size, and for a size


@inlined
def item_of(item):
    """Return the node of an item of ``ends.nodes`` or ``work.best``, and the number of bytes of the node. Only the size of the last item of
    a block may have the bit `GOES_ON`, and must be masked by `SIZE`.
    """
    return np.int32(item & LOW_HALF), item >> HALF


@inlined
def pack_unknown(size):
    """Pack the node of an unknown character of `size` bytes, which is ``-size``."""
    return LOW_HALF + U1 - size | size << HALF


@inlined
def has_more(block, nodes):
    """Whether a list continues in the block after a block."""
    return nodes[block + U3] > NODE


@inlined
def step(steps, state, byte):
    """Look up the entry of a state's transition on a byte."""
    entry = steps[state + U1 + byte]
    other = steps[(steps[state] & TARGET) + U1 + byte]
    other = other if other >> LABEL_SHIFT == byte else steps[ROOT + U1 + byte]
    return entry if entry >> LABEL_SHIFT == byte else other


@part
def find_nodes(text, pretokens, pending, waiting, ends, with_sums, work):
    """Write the list of nodes that end at each position of the pending pre-tokens; with `with_sums`, also the best of these nodes, and the
    sum of this node.

    A long pre-token is read in segments; each segment is read from the root on. So the first lists of a segment lack tokens that begin
    before the segment. But the previous segment extends over these positions, and later overwrites their lists. The best nodes and sums of
    a pre-token with several segments are not used.

    Args:
        text, pretokens, pending, waiting: as in `fst.runtime.machines.bpe.kernels.encode.transduce`.
        ends: `fst.machines.unigram.arguments.Ends`.
        work: `fst.machines.unigram.arguments.UnigramWork`.
        with_sums: whether best nodes and sums may be needed.
    """
    steps, gains, nodes = ends.steps, ends.gains, ends.nodes
    active, longer, lists = work.shared.active, work.longer, work.shared.tokens
    last = np.uint64(len(text)) - U1
    most = sort_pretokens(pretokens, pending, waiting, active, longer, ends.widest[0], ends.stride[0])
    for index in range(most):
        done = np.uint64(index)
        for item in range(U0, longer[done + U1] << U1, U2):
            state, (at, place) = active[item], segment_of(active[item + U1], done)
            byte = np.uint64(text[at])
            if done and with_sums and byte & ~LOW_6 != CONTINUATION:  # nodes end only at the ends of characters
                put_best(text, at, place, ends, work)
            elif not done and with_sums:
                work.best_sums[place] = 0
            entry = step(steps, state, byte)
            state, number = entry & TARGET, entry >> VALUE_SHIFT & VALUE
            active[item], lists[place + U1] = state, number
            prefetch(steps, state)
            prefetch(steps, state + U1 + np.uint64(text[min(at + U1, last)]))
            prefetch(gains, number * BLOCK)
            prefetch(nodes, number * BLOCK)
        for item in range(longer[done + U2] << U1 if done + U1 < most else U0, longer[done + U1] << U1 if with_sums else U0, U2):
            at, place = segment_of(active[item + U1], done + U1)
            put_best(text, at, place, ends, work)
    for length in range(most + U1):
        longer[length] = U0


@inlined
def sums_of(block, place, gains, nodes, sums):
    """Return the sums of the paths that end with the four items of a block."""
    return (
        gains[block] + sums[place - item_of(nodes[block])[1]],
        gains[block + U1] + sums[place - item_of(nodes[block + U1])[1]],
        gains[block + U2] + sums[place - item_of(nodes[block + U2])[1]],
        gains[block + U3] + sums[place - (item_of(nodes[block + U3])[1] & SIZE)],
    )


@inlined
def better(first, total, second, other):
    """Return the item with the greater sum, and this sum; if both sums are equal, the first item."""
    is_better = other > total  # a number instead of a branch, which would be mispredicted
    return first + np.uint64(is_better) * (second - first), other if is_better else total


@inlined
def best_of(at, place, gains, nodes, sums):
    """Find the item of a block with the greatest sum; return the item, and this sum."""
    total_0, total_1, total_2, total_3 = sums_of(at, place, gains, nodes, sums)
    first, total = better(at, total_0, at + U1, total_1)
    second, other = better(at + U2, total_2, at + U3, total_3)
    return better(first, total, second, other)


@inlined
def put_best(text, at, place, ends, work):
    """Write the best node that ends at the position `at` of the text, in the format of ``ends.nodes``, and the sum of this node, both at
    the index `place`.
    """
    gains, nodes, sums = ends.gains, ends.nodes, work.best_sums
    block = work.shared.tokens[place] * BLOCK
    if block == U0:
        first = start_before(text, at)
        sums[place] = ends.unknown[0] + sums[place - (at - first)]
        work.best[place] = pack_unknown(at - first)
    else:
        item, total = best_of(block, place, gains, nodes, sums)
        while has_more(block, nodes):
            block += BLOCK
            further, other = best_of(block, place, gains, nodes, sums)
            item, total = better(item, total, further, other)
        sums[place] = total
        work.best[place] = nodes[item] & NODE


@inlined
def find_path(text, start, end, before, ends, work, base):
    """Find the best node that ends at each position of a pre-token, and the sum of this node.

    Args:
        text, start, end: the text, and the bounds of the pre-token.
        before: the sum before the pre-token.
        ends: `fst.machines.unigram.arguments.Ends`.
        work: the working arrays, which are used from the index `base` on. `tokens` contains the list at each position; `best` and
            `best_sums` are outputs.
    """
    work.best_sums[base] = before
    at = start
    while at < end:
        at += character_size(np.uint64(text[at]))
        put_best(text, at, base + (at - start), ends, work)


@inlined
def count_above(block, place, least, gains, nodes, sums):
    """Count the items of a block with a sum above `least`."""
    total_0, total_1, total_2, total_3 = sums_of(block, place, gains, nodes, sums)
    return np.uint64(total_0 > least) + np.uint64(total_1 > least) + np.uint64(total_2 > least) + np.uint64(total_3 > least)


@part
def is_certain(best, base, size, margin, lists, gains, nodes, sums):
    """Whether the best path through a pre-token is the best path after any sum: at each position on the path, the sum of the best node
    exceeds all other sums by more than `margin`.

    A sum before the pre-token changes only the rounding of the sums. If `margin` is at least 4 times the largest error of one rounding,
    times the number of nodes of a path, then `margin` is greater than twice the rounding error at any position.

    Args:
        best, base, size: the best nodes, and the pre-token's slice of the arrays.
        margin: the margin.
        lists, gains, nodes, sums: as in `put_best`; the sums begin with 0.
    """
    left, certain = size, True
    while left:
        place = base + left
        block, least = lists[place] * BLOCK, sums[place] - margin
        count = count_above(block, place, least, gains, nodes, sums) if block else U1
        while has_more(block, nodes):
            block += BLOCK
            count += count_above(block, place, least, gains, nodes, sums)
        certain &= count == U1
        left -= item_of(best[place])[1]
    return certain


@part
def sum_after(before, ids, start, end, scores, unknown):
    """Compute the sum after the nodes ``ids[start:end]``."""
    for index in range(start, end):
        node = ids[np.uint64(index)]
        before += scores[np.uint64(node)] if node >= 0 else unknown[0]
    return before


@part
def line_up(best, base, length, unk_id, ids, at):
    """Write the nodes of the best path, in order, to the end of ``ids[at : at + length + 1]``.

    Four steps are taken at a time, and steps before the first node have no effect, because the processor cannot predict the number of
    nodes.

    Returns:
        The index of the first node; and whether each node is an id, and not that of the unknown token.
    """
    left, out, is_known, unknown, named = length, at + length, True, unk_id[0], np.uint32(unk_id[1])
    best[base] = U0  # an item of no bytes, so steps before the first node stay at the start
    while left:
        for _ in range(4):
            (number, size), is_node = item_of(best[base + left]), left > U0
            ids[out] = number
            out -= np.uint64(is_node)
            is_known &= (np.uint32(number) < named) & (number != unknown) | (not is_node)  # a negative number is above `named`
            left -= size
    return out + U1, is_known


@part
def nodes_from(text, at, end, trie, nodes, sizes):
    """List the nodes that begin at a position: tokens, the shortest first; then the next character as an unknown node, unless it is a
    token.

    Args:
        text: uint8[n].
        at, end: the position, and the end of the pre-token.
        trie: see `fst.machines.unigram.viterbi`.
        nodes, sizes: int32[n] and uint32[n], the output: each node, see `fst.machines.unigram.viterbi_kernels.node_size`, and the number of
            its bytes. n must be greater than the number of bytes of any token.

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
