"""Walks over tries in time linear in the text: each walk resumes where the last one stopped reading, see `fst.automata.matcher`."""

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
    """Make `match_at` forget the text it has read, and start again at `at`."""
    memo[START] = memo[READ] = at
    memo[NODE] = U0


@part
def match_at(items, pair, at, end, more, trie, memo):
    """Walk from a position. The node where the walk ends determines the strings that begin at the position.

    Items that an earlier walk has read are not read again. Callers must pass ascending positions until they reset `memo`, and skip
    positions inside a found string unless the trie is `overlapping`.

    Args:
        items, pair: a text, as UTF-16 or as other items, see `label_at`.
        at, end: the position, and where the text ends.
        more: whether the text continues after `end`.
        trie: `fst.automata.matcher.Matcher`.
        memo: uint64[3]. `START`: the first position that no walk has settled. `READ`: how far the walk from there has read. `NODE`: its
            node.

    Returns:
        The node, 0 if no string begins there; and whether the text after `end` could complete a string there, or a longer one.
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
