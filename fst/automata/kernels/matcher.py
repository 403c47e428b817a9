"""Kernels over the nodes and edges of a `fst.automata.matcher.Matcher`: the child of a node, and the links between nodes."""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import ENDING, LEAST, LENGTH, PARENT_SHIFT, REST, SKIP, VALUE
from fst.automata.matcher import NO_NODE as ABSENT
from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined, kernel

NO_NODE = np.uint32(ABSENT)
ROOT, U0, U1 = np.uint64(0), np.uint64(0), np.uint64(1)
SHIFT, HALF, MULTIPLIER = np.uint64(PARENT_SHIFT), np.uint64(32), np.uint64(MULTIPLIERS[0])


@inlined
def child_of(node, label, edges):
    """The child of a node on a label; 0 if there is no child, since the root is not a child."""
    last = np.uint64(len(edges)) - U1
    slot = (node << SHIFT ^ label) * MULTIPLIER >> HALF & last
    while edges[slot, 0] != NO_NODE and (np.uint64(edges[slot, 0]) != node or np.uint64(edges[slot, 1]) != label):
        slot = slot + U1 & last
    return U0 if edges[slot, 0] == NO_NODE else np.uint64(edges[slot, 2])


@kernel
def link_nodes(parents, labels, depths, order, overlapping, edges, nodes):
    """Compute the fields of a `fst.automata.matcher.Matcher` from its edges and `ENDING`.

    Args:
        parents, labels, depths: uint32[nodes]: the parent of each node, the label of the edge to the node, and the number of items on its
            path.
        order: int64[nodes], the nodes sorted by depth, the root first.
        overlapping: whether a walk may start inside a string that an earlier walk has found.
        edges: the field of `fst.automata.matcher.Matcher`.
        nodes: the field of `fst.automata.matcher.Matcher`. The columns `ENDING` and `IS_INNER` are input; all other columns are filled.
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
            # The parent's path without its first `skip` items equals the path of the node `rest`. Extend the path of `rest` by the label if
            # possible; otherwise increase `skip`, but stop at a position where a string begins.
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
