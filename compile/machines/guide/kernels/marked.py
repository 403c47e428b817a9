"""The automaton over bytes of canonical guides: the steps of a state become a trie of marked tokens, and equal subtrees are stored once.

The tokens of a state are read in the order of their bytes, so only the nodes on the path of the latest token are open. A node is closed
after the last token below it. Its arcs are then known, and an earlier node with the same arcs takes its place (Daciuk et al. 2000,
"Incremental construction of minimal acyclic finite-state automata").
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.core.jit import kernel, part
from fst.machines.guide.arguments import MARK

NODES, ARCS = range(2)  # indices into `Nodes.counts`
U1 = np.uint64(1)


@part
def add_arc(open_nodes, depth, label, target):
    """Add an arc to the open node at a depth."""
    count = open_nodes.counts[depth]
    open_nodes.labels[depth, count], open_nodes.targets[depth, count] = label, target
    open_nodes.counts[depth] = count + 1


@part
def is_node(node, open_nodes, depth, nodes):
    """Whether a node has the arcs of the open node at a depth."""
    begin = nodes.ends[node - 1] if node else np.int64(0)
    if nodes.ends[node] - begin != open_nodes.counts[depth]:
        return False
    for place in range(open_nodes.counts[depth]):
        label, target = open_nodes.labels[depth, place], open_nodes.targets[depth, place]
        if nodes.labels[begin + place] != label or nodes.targets[begin + place] != target:
            return False
    return True


@part
def close(open_nodes, depth, nodes):
    """The number of the node with the arcs of the open node at a depth; -1 if an array of `nodes` is too small."""
    count, counts = open_nodes.counts[depth], nodes.counts
    hashed = np.uint64(count)
    for place in range(count):
        hashed = mixed(hashed ^ (np.uint64(open_nodes.targets[depth, place]) << np.uint64(8) | np.uint64(open_nodes.labels[depth, place])))
    hashed, last = folded(hashed), np.uint64(len(nodes.slots) - 1)
    slot = hashed & last
    while nodes.slots[slot]:
        node = np.int64(nodes.slots[slot]) - 1
        if nodes.hashes[node] == hashed and is_node(node, open_nodes, depth, nodes):
            return node
        slot = slot + U1 & last
    node, end = counts[NODES], counts[ARCS] + count
    if node == len(nodes.ends) or end > len(nodes.labels):
        return np.int64(-1)
    for place in range(count):
        nodes.labels[counts[ARCS] + place] = open_nodes.labels[depth, place]
        nodes.targets[counts[ARCS] + place] = open_nodes.targets[depth, place]
    nodes.hashes[node], nodes.ends[node], nodes.slots[slot] = hashed, end, node + 1
    counts[NODES], counts[ARCS] = node + 1, end
    return node


@kernel
def add_steps(data, ends, tokens, targets, first_node, open_nodes, nodes, row):
    """Store the nodes of the steps of a state.

    Args:
        data: uint8[n], the marked bytes of all tokens, concatenated; ends: int64[ids], the end of each token.
        tokens: int64[m], the tokens, in the order of their bytes.
        targets: int64[m], the state after each token.
        first_node: the number of the state of the first node.
        open_nodes: an `fst.compile.machines.guide.marked.Open`.
        nodes: the `fst.compile.machines.guide.marked.Nodes`.
        row: int32[256], the transitions of the state, to be filled.

    Returns:
        Whether all nodes are stored; otherwise an array of `nodes` is too small.
    """
    before, length = np.int64(0), 0  # the beginning of the latest token in `data`, and the depth of its last open node
    open_nodes.counts[0] = 0
    for place in range(len(tokens)):
        token = tokens[place]
        begin = ends[token - 1] if token else np.int64(0)
        size = ends[token] - begin - 1  # bytes of the path; the last byte is a mark, which leads to the next state
        common = 0
        while common < length and common < size and data[before + common] == data[begin + common]:
            common += 1
        for depth in range(length, common, -1):
            node = close(open_nodes, depth, nodes)
            if node < 0:
                return False
            add_arc(open_nodes, depth - 1, data[before + depth - 1], first_node + node)
        for depth in range(common + 1, size + 1):
            open_nodes.counts[depth] = 0
        add_arc(open_nodes, size, MARK, targets[place])
        before, length = begin, size
    for depth in range(length, 0, -1):
        node = close(open_nodes, depth, nodes)
        if node < 0:
            return False
        add_arc(open_nodes, depth - 1, data[before + depth - 1], first_node + node)
    for place in range(open_nodes.counts[0]):
        row[open_nodes.labels[0, place]] = open_nodes.targets[0, place]
    return True
