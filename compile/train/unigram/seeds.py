"""Kernels that find the seeds of Unigram: the substrings that are followed by at least two different letters or word ends, and their
occurrences.

In the sorted list of the suffixes of all words, suffixes with a common prefix are adjacent. The common prefixes form a tree, whose inner
nodes are the substrings. The seeds that begin at a place are on the path from the place's leaf to the root.
`fst.compile.train.unigram.lattices` sorts the suffixes by prefix doubling; these kernels contain the loops over letters and nodes.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel

ROOT = 0


@kernel
def pack_letters(letters, bits, width, keys):
    """Pack the first letters of each suffix into one number, so that numbers are ordered like the suffixes. After the end of a word,
    letters are 0. `letters`: int32[n], below ``1 << bits``; 0 after each word. `bits`, `width`: the number of bits of a letter, and the
    number of letters in a number; ``bits * width`` is at most 63. `keys`: int64[n], filled.
    """
    key, shift = 0, bits * (width - 1)
    for place in range(len(letters) - 1, -1, -1):
        key = np.int64(letters[place]) << shift | key >> bits if letters[place] else 0
        keys[place] = key


@kernel
def measure_prefixes(letters, order, most, shared):
    """Measure the length of the common prefix of each suffix and the previous suffix in sorted order. For two equal suffixes, the length is
    `most`.

    Args:
        letters: int32[n], 0 after each word.
        order: int64[suffixes], the places of the suffixes, sorted; no suffix begins with 0.
        most: the maximum length that is measured.
        shared: output, int32[suffixes], lengths in letters; 0 for the first suffix.
    """
    shared[0] = 0
    for index in range(1, len(order)):
        left, right, same = order[index - 1], order[index], 0
        while same < most and letters[left + same] == letters[right + same]:
            same = same + 1 if letters[left + same] else most
        shared[index] = same


@kernel
def grow_tree(shared, order, longest, first, depth, count, parent, deepest, stack):
    """Build the tree of common prefixes of at most `longest` letters. Node 0 is the root.

    Args:
        shared: int32[suffixes], from `measure_prefixes`; a value above `longest` means that the two suffixes are equal.
        order: int64[suffixes], the places of the suffixes, sorted.
        longest: the maximum depth of a node, in letters.
        first, depth, count, parent: output, int32[suffixes + 1], for each node: the index in `order` of its first suffix, the number of its
            letters, the number of its suffixes, and its parent.
        deepest: output, int32[letters]: at the place of each suffix, the deepest node above the suffix.
        stack: int32[longest + 2], scratch for the nodes above the current suffix.

    Returns:
        The number of nodes.
    """
    first[ROOT], depth[ROOT], parent[ROOT] = 0, 0, ROOT
    stack[0], top, nodes, begin = ROOT, 0, 1, 0
    for index in range(1, len(order) + 1):
        common = shared[index] if index < len(order) else 0
        if common > longest:
            continue
        if common > depth[stack[top]]:
            first[nodes], depth[nodes], parent[nodes] = begin, common, stack[top]
            top += 1
            stack[top] = nodes
            nodes += 1
        for place in range(begin, index):
            deepest[order[place]] = stack[top]
        begin = index
        while depth[stack[top]] > common:
            node = stack[top]
            count[node] = index - first[node]
            top -= 1
            if depth[stack[top]] < common:
                first[nodes], depth[nodes], parent[nodes] = first[node], common, stack[top]
                parent[node] = nodes
                top += 1
                stack[top] = nodes
                nodes += 1
    count[ROOT] = len(order)
    return nodes


@kernel
def count_arcs(starts, deepest, parent, seed_of, first):
    """Count the seeds that begin at each place: the letter at the place, and the seeds on the path from the place's deepest node to the
    root.

    Args:
        starts: int64[words + 1], the first place of each word; words are separated by one place, with letter 0.
        deepest, parent: from `grow_tree`.
        seed_of: int32[nodes], the seed of each node; 0: no seed.
        first: output, int64[places + 1], initially 0: the first arc of each place.
    """
    arcs = 0
    for word in range(len(starts) - 1):
        for place in range(starts[word], starts[word + 1] - 1):
            first[place] = arcs
            arcs += 1
            node = deepest[place]
            while node != ROOT:
                arcs += seed_of[node] > 0
                node = parent[node]
        first[starts[word + 1] - 1] = arcs
    first[len(first) - 1] = arcs


@kernel
def list_arcs(letters, letter_seeds, deepest, parent, depth, seed_of, first, seeds, sizes):
    """List the seeds that begin at each place, in ascending length.

    Args:
        letters: int32[n], 0 after each word.
        letter_seeds: int32[alphabet], the seed of each letter; 0 for letter 0.
        deepest, parent, depth: from `grow_tree`.
        seed_of: int32[nodes], the seed of each node; 0: no seed.
        first: from `count_arcs`.
        seeds, sizes: output, int32[arcs], uint16[arcs]: the seed of each arc, and its number of letters.
    """
    for place in range(len(letters)):
        at, node = first[place + 1] - 1, deepest[place]
        if at < first[place]:
            continue
        while node != ROOT:
            if seed_of[node] > 0:
                seeds[at], sizes[at] = seed_of[node], depth[node]
                at -= 1
            node = parent[node]
        seeds[at], sizes[at] = letter_seeds[letters[place]], 1


@kernel
def keep_arcs(first, seeds, sizes, lives):
    """Drop the arcs of seeds that are no longer pieces. For a letter that is no piece, an arc of the unknown piece is the last one."""
    arcs, begin = 0, np.int64(0)
    for place in range(len(first) - 1):
        end, is_unknown = first[place + 1], False
        first[place] = arcs
        for arc in range(begin, end):
            if lives[seeds[arc]]:
                seeds[arcs], sizes[arcs] = seeds[arc], sizes[arc]
                arcs += 1
            else:
                is_unknown |= sizes[arc] == 1
        if is_unknown:
            seeds[arcs], sizes[arcs] = 0, 1
            arcs += 1
        begin = end
    first[len(first) - 1] = arcs
    return arcs
