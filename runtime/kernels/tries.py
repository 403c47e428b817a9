"""Walk over tries in linear time: each walk resumes where the last walk stopped reading, see `fst.automata.matcher`."""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.matcher import child_of
from fst.automata.matcher import IS_INNER, LENGTH, REST, SKIP
from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U0
from fst.runtime.kernels.unicode import label_at

START, READ, NODE = 0, 1, 2  # indices into the memo of `match_at`


@inlined
def reset(at, memo):
    """Clear the memo of `match_at`, so that it begins again at `at`."""
    memo[START] = memo[READ] = at
    memo[NODE] = U0


@part
def match_at(items, pair, at, end, more, trie, memo):
    """Walk from a position, and return the node where the walk ends. It determines the strings that begin at the position.

    Items that an earlier walk has read are not read again. Until they reset `memo`, callers must pass ascending positions, and must skip
    positions inside a found string unless the trie is `overlapping`.

    Args:
        items, pair: a text in UTF-16 or in other items, see `label_at`.
        at, end: the position, and the end of the text.
        more: whether the text continues after `end`.
        trie: `fst.automata.matcher.Matcher`.
        memo: uint64[3]. `START`: the first position that is still open. `READ`: the position up to which the walk from there has read.
            `NODE`: the node of this walk.

    Returns:
        The node, or 0 if no string begins there; and whether the text after `end` could complete a string there, or a longer one.
    """
    edges, nodes = trie.edges, trie.nodes
    start, read, node = memo[START], memo[READ], memo[NODE]
    while start < at and node:
        start, node = start + np.uint64(nodes[node, SKIP]), np.uint64(nodes[node, REST])
        read = read if node else start
    if start < at:
        start = read = at
    is_open = False
    while start == at or node:
        while read < end:
            label, after = label_at(items, read, pair)
            child = child_of(node, label, edges)
            if child == U0:
                break
            node, read = child, after
        is_open = more and read == end and nodes[node, IS_INNER] > 0
        if node == U0 or is_open or nodes[node, LENGTH]:
            break
        start, node = start + np.uint64(nodes[node, SKIP]), np.uint64(nodes[node, REST])
        read = read if node else start
    memo[START], memo[READ], memo[NODE] = start, read, node
    return (node, is_open) if start == at else (U0, False)
