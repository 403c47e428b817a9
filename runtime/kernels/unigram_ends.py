"""The best paths through the pending pieces of a round of Unigram, by the automaton of `fst.token_ends`.

`find_lists` reads all pieces together, one byte at a time, so that their memory accesses overlap. It finds for each byte the list of the
tokens that end there. `find_path` then goes through the lists of a piece, and finds what `fst.unigram_paths.find_best` does: of each list
the first item with the greatest sum, since the longest tokens begin first. Blocks of four items are compared without a branch, which
could not be foretold.
"""

from __future__ import annotations

import numpy as np

from fst import token_ends
from fst.jit import inlined, part
from fst.machines.unigram_arguments import GOES_ON
from fst.runtime.kernels.bpe import sort_pieces
from fst.runtime.kernels.intrinsics import prefetch
from fst.runtime.kernels.numbers import HALF, LOW_HALF, U0, U1, U2, U3
from fst.unigram_paths import LABEL, ROOT, TARGET, TARGET_SHIFT, VALUE_SHIFT

BLOCK = np.uint64(token_ends.BLOCK)
NODE = np.uint64((GOES_ON << 32) - 1)  # without the bit that tells that a list goes on
CONTINUES, CHARACTER = np.uint8(0x80), np.uint8(0xC0)  # the bits of a byte that is not the first of its character


@inlined
def step(steps, state, byte):
    """The entry of a state's transition on a byte."""
    entry = steps[state + U1 + byte]
    other = steps[(steps[state] >> TARGET_SHIFT & TARGET) + U1 + byte]
    other = other if other & LABEL == byte else steps[ROOT + U1 + byte]
    return entry if entry & LABEL == byte else other


@part
def find_lists(text, pieces, pending, waiting, ends, active, longer, lists):
    """Write the list at each byte of the pending pieces. The arguments are as in `fst.runtime.kernels.bpe.transduce`.

    A state is at most as many bytes as have been read. So where a segment of a piece begins, the first lists are short of tokens; but the
    segment before reaches as far, and writes its own lists there later.
    """
    steps, gains, nodes, last = ends.steps, ends.gains, ends.nodes, np.uint64(len(text)) - U1
    most = sort_pieces(pieces, pending, waiting, active, longer, ends.widest[0], ends.stride[0])
    for index in range(most):
        done = np.uint64(index)
        for item in range(U0, longer[done + U1] << U1, U2):
            state, at, place = active[item], (active[item + U1] & LOW_HALF) + done, (active[item + U1] >> HALF) + done
            entry = step(steps, state, np.uint64(text[at]))
            state, number = entry >> TARGET_SHIFT & TARGET, entry >> VALUE_SHIFT
            active[item], lists[place] = state, number
            prefetch(steps, state)
            prefetch(steps, state + U1 + np.uint64(text[min(at + U1, last)]))
            prefetch(gains, number * BLOCK)
            prefetch(nodes, number * BLOCK)
    for length in range(most + U1):
        longer[length] = U0


@inlined
def better(first, total, second, other):
    """Of two items and their sums the second if it is better, else the first; and its sum."""
    is_better = other > total
    return first + np.uint64(is_better) * (second - first), other if is_better else total


@inlined
def best_of(at, place, mask, gains, nodes, sums):
    """The best item of a block, and its sum."""
    total_0 = gains[at] + sums[(place - (nodes[at] >> HALF)) & mask]
    total_1 = gains[at + U1] + sums[(place - (nodes[at + U1] >> HALF)) & mask]
    total_2 = gains[at + U2] + sums[(place - (nodes[at + U2] >> HALF)) & mask]
    total_3 = gains[at + U3] + sums[(place - (nodes[at + U3] >> HALF)) & mask]
    first, total = better(at, total_0, at + U1, total_1)
    second, other = better(at + U2, total_2, at + U3, total_3)
    return better(first, total, second, other)


@part
def find_path(text, begin, end, before, ends, sums, lists, room):
    """Find the best path through a piece.

    Args:
        text, begin, end: the piece.
        before: the sum before it.
        ends: `fst.machines.unigram_arguments.Ends`.
        sums: as in `fst.unigram_paths.find_best`.
        lists: uint64[n], from `room` on the list at each byte; replaced by the best node that ends there, as in ``ends.nodes``.

    Returns:
        The sum of the path.
    """
    gains, nodes, unknown, mask = ends.gains, ends.nodes, ends.unknown[0], np.uint64(len(sums)) - U1
    sums[begin & mask] = total = before
    for index in range(end - begin):
        place = begin + np.uint64(index) + U1
        at = lists[room + np.uint64(index)] * BLOCK
        if at == U0:
            first = place - U1
            while text[first] & CHARACTER == CONTINUES:
                first -= U1
            total = unknown + sums[first & mask]
            lists[room + np.uint64(index)] = LOW_HALF + U1 - (place - first) | (place - first) << HALF
        else:
            item, total = best_of(at, place, mask, gains, nodes, sums)
            while nodes[at + U3] > NODE:
                at += BLOCK
                further, other = best_of(at, place, mask, gains, nodes, sums)
                item, total = better(item, total, further, other)
            lists[room + np.uint64(index)] = nodes[item] & NODE
        sums[place & mask] = total
    return total


@part
def line_up(lists, room, size, ids, at):
    """Write the nodes of the best path to the end of ``ids[at : at + size]``, as `fst.unigram_paths.line_up` does. Returns their begin."""
    left = out = size
    while left:
        node = lists[room + left - U1]
        out -= U1
        ids[at + out] = np.int32(node & LOW_HALF)
        left -= node >> HALF
    return at + out
