"""Kernels' parts that find the best path through a piece; `fst.unigram.best_path` specifies the result. The compiler needs them, too.

They require what `fst.unigram.prove` shows, and a piece that is UTF-8.
"""

from __future__ import annotations

import numpy as np

from fst import unigram
from fst.jit import inlined, part

U0, U1, U2, U3 = map(np.uint64, range(4))
LABEL, TARGET = np.uint64((1 << unigram.LABEL_BITS) - 1), np.uint64(unigram.MAX_SLOTS - 1)
TARGET_SHIFT, VALUE_SHIFT = np.uint64(unigram.TARGET_SHIFT), np.uint64(unigram.VALUE_SHIFT)
ROOT, LEAF = np.uint64(unigram.ROOT), np.uint64(unigram.LEAF)
TWO_BYTES, THREE_BYTES, FOUR_BYTES = np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)
UNSET = np.int32(-128)  # in place of a node: none ends here yet


@inlined
def character_size(byte):
    """How many bytes a character has, by its first one."""
    return U1 + np.uint64(byte >= TWO_BYTES) + np.uint64(byte >= THREE_BYTES) + np.uint64(byte >= FOUR_BYTES)


@part
def find_best(text, begin, end, trie, scores, unknown, before, limit, sums, nodes, at):
    """Find the best node that ends at each place of a piece.

    Args:
        text, begin, end: the piece.
        trie: see `fst.unigram`.
        scores, unknown, before, limit: the score of each token, that of a character that is no token, the sum before the piece, and the
            limit of sums. All have the type of the sums.
        sums: float64[2 ** n] or float32, more than a token has bytes, filled: the sums of the best paths to the last places, at the lower
            bits of each place.
        nodes, at: int32, filled from `at` on for each byte: the id of the token that ends with it, or minus the size of an unknown
            character that does; or `UNSET`.

    Returns:
        The sum of the best path.
    """
    mask = np.uint64(len(sums)) - U1
    unset(nodes, at, at + (end - begin))
    sums[begin & mask] = before
    go_on(text, begin, begin, end, end, trie, scores, unknown, limit, sums, nodes, at)
    return sums[end & mask]


@inlined
def unset(nodes, first, last):
    """Clear the nodes of some places."""
    for index in range(first, last):
        nodes[np.uint64(index)] = UNSET


@part
def go_on(text, begin, place, stop, end, trie, scores, unknown, limit, sums, nodes, at):
    """Offer the nodes that begin from a place of a piece on, where all before have been offered.

    Args:
        text, begin, end, trie, scores, unknown, limit, sums, nodes, at: as in `find_best`.
        place, stop: where the first of these nodes begins, and where no more do.

    Returns:
        The first place from `stop` on where a character begins.
    """
    mask = np.uint64(len(sums)) - U1
    while place < stop:
        if abs(sums[place & mask]) > limit:
            rebase(place, begin, end, mask, sums, nodes, at)
        so_far = sums[place & mask]
        after = place + character_size(np.uint64(text[place]))
        state, reached, is_token, is_open = ROOT, place, False, True
        while is_open:
            byte = np.uint64(text[reached])
            entry = trie[state + U1 + byte]
            is_open = entry & LABEL == byte
            if is_open:
                reached += U1
                value = entry >> VALUE_SHIFT
                if value:
                    offer(scores[value - U1] + so_far, np.int32(value - U1), reached, mask, sums, nodes, at - begin)
                    is_token |= reached == after
                state = entry >> TARGET_SHIFT & TARGET
                is_open = state != LEAF and reached < end
        if not is_token:
            offer(unknown + so_far, -np.int32(after - place), after, mask, sums, nodes, at - begin)
        place = after
    return place


@part
def rebase(place, begin, end, mask, sums, nodes, at):
    """Subtract the sum at a place from all that are known there."""
    base = sums[place & mask]
    sums[place & mask] = 0
    for after in range(place + U1, min(place + mask, end) + U1):
        if nodes[at + (after - begin) - U1] != UNSET:
            sums[after & mask] -= base


@inlined
def offer(total, node, end, mask, sums, nodes, shift):
    """Take a node that ends at a place if it is the first, or better than the best so far; `shift` leads from places to nodes."""
    if nodes[shift + end - U1] == UNSET or total > sums[end & mask]:
        sums[end & mask] = total
        nodes[shift + end - U1] = node


@part
def common_place(nodes, at, first, last, lengths):
    """The last place that all paths to some places have in common.

    Args:
        nodes, at: as in `find_best`; all nodes that begin before `first` have been offered.
        first, last: the places, as numbers of bytes from the beginning of the piece; paths lead to those that have a node.
        lengths: the number of bytes of each token.
    """
    place = first
    for end in range(first + U1, last + U1):
        other = np.uint64(end) if nodes[at + np.uint64(end) - U1] != UNSET else place
        while place != other:
            if place > other:
                place -= node_size(nodes[at + place - U1], lengths)
            else:
                other -= node_size(nodes[at + other - U1], lengths)
    return place


@inlined
def node_size(node, lengths):
    """How many bytes a node has."""
    return np.uint64(lengths[np.uint64(node)]) if node >= 0 else np.uint64(-node)


@part
def line_up(nodes, at, size, lengths):
    """Move the nodes of the best path to the end of the places that `find_best` has filled. Returns where they begin."""
    left = out = size
    while left:
        node = nodes[at + left - U1]
        out -= U1
        nodes[at + out] = node
        left -= node_size(node, lengths)
    return at + out


@part
def token_of(text, begin, end, trie):
    """One more than the id of the token that a string is; 0 if it is none."""
    state, at, value = ROOT, begin, U0
    while at < end:
        byte = np.uint64(text[at])
        entry = trie[state + U1 + byte]
        at += U1
        if entry & LABEL != byte or (at < end and entry >> TARGET_SHIFT & TARGET == LEAF):
            return U0
        state, value = entry >> TARGET_SHIFT & TARGET, entry >> VALUE_SHIFT
    return value
