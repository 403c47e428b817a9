"""Search a text for the strings of a trie in linear time, because each walk over the trie resumes where the last walk stopped; see
`fst.automata.matcher`.
"""

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
    """Clear the memo of `match_at`, for a search that begins at `at`."""
    memo[START] = memo[READ] = at
    memo[NODE] = U0


@part
def match_at(items, pair, at, end, more, trie, memo):
    """Walk over the trie from a position of the text, and return the last node, which determines the strings that begin at the position.

    Items that an earlier walk has read are not read again. So callers must pass ascending positions, and must skip positions inside a found
    string unless the trie is `overlapping`; after `reset`, a caller may pass any position.

    Args:
        items, pair: a text in UTF-16 (`pair` is `UTF_16`), or a sequence of other items (`pair` is `ITEMS`).
        at, end: the position, and the end of the text.
        more: whether the text continues after `end`.
        trie: `fst.automata.matcher.Matcher`.
        memo: uint64[3], the state of the latest walk. `START`: the position where the walk begins; `READ`: the position up to which the
            walk has read; `NODE`: the last node of the walk.

    Returns:
        The node, or 0 if no string begins at the position; and whether text after `end` could complete a string, or a longer string, that
        begins at the position.
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
