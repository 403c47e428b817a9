"""Trees of sorted strings whose equal subtrees are stored once.

Only the nodes on the path of the latest string are open. A node is closed after the last string below it. Its arcs are then known, and an
earlier node with the same arcs takes its place (Daciuk et al. 2000, "Incremental construction of minimal acyclic finite-state automata").
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.core.jit import kernel, part

NODES, ARCS = range(2)  # indices into `Nodes.counts`
FOLLOWING = -1  # the label of an arc to what follows a string
FULL = -1  # instead of a node: an array of `Nodes` is full
U1, SHIFT = np.uint64(1), np.uint64(32)


@part
def is_node(node, labels, targets, begin, end, nodes):
    """Whether the arcs of a node are ``labels[begin:end]`` and ``targets[begin:end]``."""
    first = nodes.ends[node - 1] if node else np.int64(0)
    if nodes.ends[node] - first != end - begin:
        return False
    for place in range(end - begin):
        if nodes.labels[first + place] != labels[begin + place] or nodes.targets[first + place] != targets[begin + place]:
            return False
    return True


@part
def node_of(labels, targets, begin, end, nodes):
    """The node whose arcs are ``labels[begin:end]`` and ``targets[begin:end]``, possibly a new one, or `FULL`."""
    counts, size = nodes.counts, end - begin
    hashed = np.uint64(size)
    for place in range(begin, end):
        hashed = mixed(hashed ^ (np.uint64(targets[place]) << SHIFT | np.uint64(labels[place] + 1)))
    hashed, last = folded(mixed(hashed)), np.uint64(len(nodes.slots) - 1)
    slot = hashed & last
    while nodes.slots[slot]:
        node = np.int64(nodes.slots[slot]) - 1
        if nodes.hashes[node] == hashed and is_node(node, labels, targets, begin, end, nodes):
            return node
        slot = slot + U1 & last
    node, first = counts[NODES], counts[ARCS]
    if node == len(nodes.ends) or first + size > len(nodes.labels):
        return np.int64(FULL)
    for place in range(size):
        nodes.labels[first + place] = labels[begin + place]
        nodes.targets[first + place] = targets[begin + place]
    nodes.hashes[node], nodes.ends[node], nodes.slots[slot] = hashed, first + size, node + 1
    counts[NODES], counts[ARCS] = node + 1, first + size
    return node


@kernel
def share(symbols, starts, trees, follow_start, follows, open_nodes, nodes, roots):
    """Store the nodes of all trees.

    Args:
        symbols: uint32[n], the symbols of all strings, below 2³¹, concatenated.
        starts: int64[strings + 1], the first symbol of each string. The strings of a tree are distinct and sorted.
        trees: int64[trees + 1], the first string of each tree.
        follow_start: int64[strings + 1], and follows: int32[m], the numbers of what follows each string.
        open_nodes: an `fst.compile.algebra.build.paths.Open`; ``labels`` and ``targets`` have room for ``strings + m`` arcs, and ``path``
            and ``bottom`` for one more number than the longest string has symbols.
        nodes: an `fst.compile.algebra.build.paths.Nodes`, without nodes. The arcs of a node are those to what follows, with the label
            `FOLLOWING`, and then one for each child, in the order of their labels.
        roots: output, int32[trees], the node of each root.

    Returns:
        Whether all nodes are stored; otherwise an array of `nodes` is too small.
    """
    path, bottom, labels, targets = open_nodes.path, open_nodes.bottom, open_nodes.labels, open_nodes.targets
    for tree in range(len(roots)):
        depth, top = 0, np.int64(0)
        bottom[0] = 0
        for string in range(trees[tree], trees[tree + 1] + 1):
            is_last = string == trees[tree + 1]
            begin = np.int64(0) if is_last else starts[string]
            length = np.int64(0) if is_last else starts[string + 1] - begin
            common = 0
            while common < depth and common < length and path[common] == symbols[begin + common]:
                common += 1
            while depth > common:
                node = node_of(labels, targets, bottom[depth], top, nodes)
                if node == FULL:
                    return False
                top = bottom[depth]
                depth -= 1
                labels[top], targets[top] = path[depth], node
                top += 1
            if is_last:
                break
            while depth < length:
                path[depth] = symbols[begin + depth]
                depth += 1
                bottom[depth] = top
            for place in range(follow_start[string], follow_start[string + 1]):
                labels[top], targets[top] = FOLLOWING, follows[place]
                top += 1
        node = node_of(labels, targets, np.int64(0), top, nodes)
        if node == FULL:
            return False
        roots[tree] = node
    return True
