"""The trie of token bytes, in depth-first order."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel

DEPTH_SHIFT = np.uint32(8)


@inlined
def common_size(data, begin, length, size):
    """The number of bytes that a string of `size` bytes has in common with the string of `length` bytes before it."""
    common = 0
    while common < length and common < size and data[begin - length + common] == data[begin + common]:
        common += 1
    return common


@kernel
def count_nodes(data, ends):
    """The number of nodes that `build_trie` fills: new memory takes longer than a second look at the strings."""
    count, begin, length = 0, 0, 0
    for end in ends:
        size = end - begin
        count += size - common_size(data, begin, length, size)
        begin, length = end, size
    return count


@kernel
def build_trie(data, ends, ids, labels, skips, tokens, none, longest_below, groups_below, byte_groups, open_nodes):
    """Fill the nodes of the trie of sorted, distinct, non-empty strings; see `fst.machines.guide.vocabulary.Trie`.

    Args:
        data: uint8[n], the strings, concatenated.
        ends: int64[strings], the end of each string in `data`.
        ids: uint32[strings], the id of each string.
        labels, skips, tokens, longest_below: uint32[nodes], the fields of the nodes, to be filled.
        none: the value in `tokens` of nodes without a token.
        groups_below: uint64[nodes], another field of the nodes, to be filled.
        byte_groups: uint64[256], the group of each byte.
        open_nodes: int64[longest], the node at each depth on the path of the latest string.
    """
    count, begin, length = 0, 0, 0
    for string in range(len(ends)):
        size = ends[string] - begin
        common = common_size(data, begin, length, size)
        for depth in range(common, length):
            skips[open_nodes[depth]] = count
        for depth in range(common, size):
            labels[count], tokens[count] = np.uint32(depth) << DEPTH_SHIFT | np.uint32(data[begin + depth]), none
            longest_below[count], groups_below[count] = 0, 0
            open_nodes[depth] = count
            count += 1
        groups, depth, is_changed = np.uint64(0), size - 1, True
        while depth >= 0 and is_changed:  # where a node has the length and the groups already, so have the nodes above it
            node = open_nodes[depth]
            is_changed = depth >= common or longest_below[node] < size or (groups_below[node] | groups) != groups_below[node]
            longest_below[node] = max(longest_below[node], size)
            groups_below[node] |= groups
            groups |= byte_groups[data[begin + depth]]
            depth -= 1
        tokens[count - 1] = ids[string]
        begin, length = ends[string], size
    for depth in range(length):
        skips[open_nodes[depth]] = count
