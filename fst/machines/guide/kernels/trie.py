"""The trie of token bytes, in depth-first order."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel

DEPTH_SHIFT = np.uint32(8)


@kernel
def build_trie(data, ends, ids, labels, skips, tokens, longest_below, groups_below, byte_groups, open_nodes):
    """Fill the nodes of the trie of sorted, distinct, non-empty strings; see `fst.machines.guide.vocabulary.Trie`.

    Args:
        data: uint8[n], the strings, concatenated.
        ends: int64[strings], the end of each string in `data`.
        ids: uint32[strings], the id of each string.
        labels, skips, tokens, longest_below: uint32[n], the fields of the nodes, to be filled; `tokens` contains the value of nodes without
            a token.
        groups_below: uint64[n], another field of the nodes, to be filled.
        byte_groups: uint64[256], the group of each byte.
        open_nodes: int64[longest], the node at each depth on the path of the latest string.

    Returns:
        The number of nodes.
    """
    count, begin, length = 0, 0, 0
    for string in range(len(ends)):
        size, common = ends[string] - begin, 0
        while common < length and common < size and labels[open_nodes[common]] & np.uint32(0xFF) == data[begin + common]:
            common += 1
        for depth in range(common, length):
            skips[open_nodes[depth]] = count
        for depth in range(common, size):
            labels[count] = np.uint32(depth) << DEPTH_SHIFT | np.uint32(data[begin + depth])
            longest_below[count], groups_below[count] = 0, 0
            open_nodes[depth] = count
            count += 1
        groups = np.uint64(0)
        for depth in range(size - 1, -1, -1):
            node = open_nodes[depth]
            longest_below[node] = max(longest_below[node], size)
            groups_below[node] |= groups
            groups |= byte_groups[data[begin + depth]]
        tokens[count - 1] = ids[string]
        begin, length = ends[string], size
    for depth in range(length):
        skips[open_nodes[depth]] = count
    return count
