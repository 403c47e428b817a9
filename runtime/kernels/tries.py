"""Walks over tries in time linear in the text: each walk resumes where the last one stopped reading, see `fst.automata.matcher`."""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import ENDING, IS_INNER, LEAST, LENGTH, REST, SKIP, VALUE
from fst.automata.matcher import NO_NODE as ABSENT
from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import HALF, HASH_MULTIPLIER, ROOT, U0, U1, U21
from fst.runtime.kernels.unicode import label_at

NO_NODE = np.uint32(ABSENT)
START, READ, NODE = 0, 1, 2  # indices into the memo of `match_at`


@inlined
def child_of(node, label, edges):
    """The child of a node by a label; 0 if there is none, since the root is no node's child."""
    last = np.uint64(len(edges)) - U1
    slot = (node << U21 ^ label) * HASH_MULTIPLIER >> HALF & last
    while edges[slot, 0] != NO_NODE and (np.uint64(edges[slot, 0]) != node or np.uint64(edges[slot, 1]) != label):
        slot = slot + U1 & last
    return U0 if edges[slot, 0] == NO_NODE else np.uint64(edges[slot, 2])


@kernel
def link_nodes(parents, labels, depths, order, overlapping, edges, nodes):
    """Compute the fields of a `fst.automata.matcher.Trie` from its edges and `ENDING`.

    Args:
        parents, labels, depths: uint32[nodes]: for each node its parent, the label of the edge to it, and the items on its path.
        order: int64[nodes], the nodes sorted by depth, the root first.
        overlapping: whether a walk may start inside a string that an earlier walk has found.
        edges: as in `fst.automata.matcher.Trie`.
        nodes: as in `fst.automata.matcher.Trie`, with `ENDING` and `IS_INNER` given; the other fields are filled.
    """
    nodes[0, VALUE] = nodes[0, LEAST] = -1
    for node in order[1:]:
        parent, label, depth, ending = np.uint64(parents[node]), np.uint64(labels[node]), np.uint64(depths[node]), nodes[node, ENDING]
        length, value, least = nodes[parent, LENGTH], nodes[parent, VALUE], nodes[parent, LEAST]
        if ending >= 0:
            length, value, least = depth, ending, ending if least < 0 else min(least, ending)
        skip, rest = depth, U0
        if parent != ROOT and (ending < 0 or overlapping):
            skip, rest = np.uint64(nodes[parent, SKIP]), np.uint64(nodes[parent, REST])
            # From `skip` on, the parent's path equals the path of `rest`. Extend it by the label, or else skip further; but stop at a
            # position where a string begins.
            while rest or skip == np.uint64(depths[parent]):
                child = child_of(rest, label, edges)
                if child or not rest:
                    skip, rest = skip if child else depth, child
                    break
                if nodes[rest, LENGTH]:
                    rest = U0
                    break
                skip, rest = skip + np.uint64(nodes[rest, SKIP]), np.uint64(nodes[rest, REST])
        nodes[node, SKIP], nodes[node, REST], nodes[node, LENGTH], nodes[node, VALUE], nodes[node, LEAST] = skip, rest, length, value, least


@inlined
def reset(at, memo):
    """Make `match_at` forget what it has read, and start anew at `at`."""
    memo[START] = memo[READ] = at
    memo[NODE] = U0


@part
def match_at(items, pair, at, end, more, trie, memo):
    """Walk from a position. The node where the walk ends determines the strings that begin at the position.

    Items that an earlier walk has read are not read again. Callers must ask for positions in ascending order until they reset `memo`, and
    skip positions inside a found string unless the trie is `overlapping`.

    Args:
        items, pair: a text, as UTF-16 or as other items, see `label_at`.
        at, end: the position, and where the text ends.
        more: whether the text continues after `end`.
        trie: `fst.automata.matcher.Trie`.
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
