"""Kernels of the compiler, for two results: the tokens that are the best path through their own bytes, so that an equal pre-token needs no
search; and the rows and the lists of the automaton of `fst.machines.unigram.aho_corasick`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.trie import NULL, ROOT
from fst.core.jit import kernel, part
from fst.machines.unigram.aho_corasick import BLOCK, GOES_ON, LOST, NONE
from fst.machines.unigram.viterbi import LABELS
from fst.machines.unigram.viterbi_kernels import U0, U1, character_size, find_best, shift_of, size_at, token_of


@part
def best_other(symbols, begin, end, trie, scores, unknown, sums):
    """The best score of two or more tokens through a token's bytes; minus infinity without a path. `sums`: as in `find_best`."""
    best, place, mask = -np.inf, begin + character_size(symbols[begin]), np.uint64(len(sums)) - U1
    while place < end:
        after = place + character_size(symbols[place])
        value = token_of(symbols, place, end, trie)
        if value:
            best = max(best, sums[place & mask] + scores[value - U1])
        elif after == end:
            best = max(best, sums[place & mask] + unknown)
        place = after
    return best


@kernel
def find_whole(symbols, starts, lengths, ids, trie, scores, unknown, sums, sizes, found, gaps):
    """Find the tokens that are the best path through their own bytes.

    Args:
        symbols: uint8[n], bytes.
        starts, lengths, ids: int64[tokens], the position of each token in `symbols`, its length, and its id.
        trie, scores, unknown, sums: as in `fst.machines.unigram.viterbi_kernels.find_best`.
        sizes: uint8[2 * bytes of the longest token], scratch.
        found: output, uint8[tokens]: 1 if the token is the best path through its own bytes.
        gaps: output, float64[tokens]: the score of each token minus the best score of all other paths through the token's bytes.
    """
    for token in range(len(starts)):
        begin, size = np.uint64(starts[token]), np.uint64(lengths[token])
        find_best(symbols, begin, begin + size, trie, scores, unknown, 0.0, np.inf, sums, sizes, U0)
        found[token] = size_at(sizes, U0, size - U1, shift_of(sums)) == size
        gaps[token] = scores[ids[token]] - best_other(symbols, begin, begin + size, trie, scores, unknown, sums)


@part
def copy_row(source, node, used, starts, row_labels, targets, seen):
    """Append to the row of `node` the transitions of `source` on bytes that are not yet in the row. Return the end of the row."""
    for at in range(starts[source], starts[source + 1]):
        byte = row_labels[at]
        if seen[byte] != node:
            seen[byte] = node
            row_labels[used], targets[used] = byte, targets[at]
            used += 1
    return used


@part
def put_root(firsts, labels, row_labels, targets):
    """Write the row of the root, which has all bytes in ascending order. Return the end of the row."""
    for byte in range(LABELS):
        row_labels[byte], targets[byte] = byte, ROOT
    for edge in range(firsts[ROOT], firsts[ROOT + 1]):
        targets[labels[edge]] = edge + 1
    return LABELS


@part
def put_row(node, beyond, used, firsts, labels, is_busy, starts, row_labels, targets, defaults, seen):
    """Append the row of a node. `beyond` is the node of the longest proper suffix of `node` that is not a leaf. Return the end of the
    row.
    """
    for edge in range(firsts[node], firsts[node + 1]):
        byte = labels[edge]
        row_labels[used], targets[used], seen[byte] = byte, edge + 1, node
        used += 1
    if beyond == ROOT or used == starts[node]:
        return used
    if is_busy[beyond] and not is_busy[node]:
        defaults[node] = beyond
        return used
    used = copy_row(beyond, node, used, starts, row_labels, targets, seen)
    if not is_busy[node]:
        defaults[node] = defaults[beyond]
    elif defaults[beyond] != ROOT:
        used = copy_row(defaults[beyond], node, used, starts, row_labels, targets, seen)
    return used


@part
def put_list(token, tail, depth, rest, count, blocks):
    """Append the list of the tokens that are suffixes of a token.

    Args:
        token: the id of the token.
        tail, depth: the number of bytes of the token's last character, and of the whole token.
        rest: the number of the list at the longest proper suffix of the token; this list contains the other tokens that end at the same
            position.
        count: the number of blocks so far.
        blocks: int32[n], `NONE` after the last block.

    Returns:
        The new number of blocks; 0 if `blocks` is too small.
    """
    at = BLOCK * count
    blocks[at] = token
    at += 1
    if rest == LOST and depth > tail:
        blocks[at] = -tail
        at += 1
    source = BLOCK * rest
    while blocks[source] != NONE:
        if at + BLOCK >= len(blocks):
            return 0
        blocks[at] = blocks[source] & ~GOES_ON if blocks[source] >= 0 else blocks[source]
        at += 1
        if (source + 1) % BLOCK == 0 and not (blocks[source] >= 0 and blocks[source] & GOES_ON):
            break
        source += 1
    for last in range(BLOCK * count + BLOCK - 1, at - 1, BLOCK):
        blocks[last] |= GOES_ON
    return (at + BLOCK - 1) // BLOCK


@kernel
def fold(firsts, labels, is_busy, tokens, depths, tails, links, starts, row_labels, targets, defaults, goes_on, lists, blocks, seen):
    """Replace the failure links of a trie by transitions in rows, level by level.

    Args:
        firsts, labels: int64[nodes + 1] and int64[edges]. The edges of a node are ``firsts[node]`` to ``firsts[node + 1] - 1``. Edge e
            leads to node e + 1 on the byte ``labels[e]``.
        is_busy: bool[nodes], whether a node may be a default.
        tokens: int64[nodes], the id of the token that ends at each node, or `NULL`.
        depths: int64[nodes], the number of bytes of each node.
        tails: int64[nodes], the number of bytes of the last character of each node; 0 if the character is incomplete.
        links: the links of `fst.automata.links.Suffixes`.
        starts: output, int64[nodes + 1], initially 0: the start of each node's row in `row_labels` and `targets`.
        row_labels, targets: output, int64[n]: the transitions of each node that differ from the transitions of its default and of the root.
            Targets are nodes.
        defaults: output, int64[nodes], initially 0, see `fst.machines.unigram.aho_corasick`.
        goes_on: output, int64[nodes], initially 0: for a leaf, the node of the leaf's longest suffix that is not a leaf; for other nodes,
            the node itself.
        lists: output, int64[nodes], initially 0: the number of each node's list.
        blocks: output, int32[n], initially `NONE`: the lists.
        seen: int64[256], scratch, initially `NULL`.

    Returns:
        The number of transitions and the number of blocks; both 0 if an array is too small.
    """
    used, count = put_root(firsts, labels, row_labels, targets), 1
    starts[ROOT + 1] = used
    for node in range(1, len(tokens)):
        if used + len(seen) > len(targets) or BLOCK * (count + 1) > len(blocks):
            return 0, 0
        beyond = goes_on[links[node]]
        goes_on[node] = node if firsts[node] < firsts[node + 1] else beyond
        used = put_row(node, beyond, used, firsts, labels, is_busy, starts, row_labels, targets, defaults, seen)
        starts[node + 1] = used
        rest = lists[links[node]] if depths[links[node]] >= tails[node] else LOST
        lists[node] = rest if tails[node] else LOST
        if tokens[node] != NULL:
            lists[node] = count
            count = put_list(tokens[node], tails[node], depths[node], rest, count, blocks)
            if not count:
                return 0, 0
    return used, count
