"""Trees of sorted strings whose equal subtrees are stored once.

Only the nodes on the path of the latest string are open. A node is closed after the last string below it. The arcs of a closed node are
known, and an earlier node with the same arcs replaces it (Daciuk et al. 2000, "Incremental construction of minimal acyclic finite-state
automata").

An arc is ``label << 32 | target``. The arcs of all open nodes are on a stack, with the arcs of deeper nodes on top. Example: the tree of
"ad", "b" and "bd", where 0 follows each string (arcs as label:target, `FOLLOWING` as -)::

    string   closed nodes                                       stack afterwards
    ad                                                          -:0
    b        ad: node 0 = [-:0]; a: node 1 = [d:0]              a:1 -:0
    bd                                                          a:1 -:0 -:0
    end      bd: node 0 again; b: node 2 = [-:0 d:0]            a:1 b:2
             the root: node 3 = [a:1 b:2]
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, intern
from fst.core.jit import inlined, kernel, part

FOLLOWING = (1 << 32) - 1  # the label of an arc to a continuation of a string
SHIFT = np.uint64(32)


@inlined
def arc_of(label, target):
    """An arc."""
    return np.uint64(label) << SHIFT | np.uint64(target)


@part
def enter(symbols, begin, length, depth, top, first_node, open_nodes, nodes):
    """Close the nodes that are not on the path of the next string, and open the nodes that are only on that path.

    Args:
        symbols: the symbols of strings; ``symbols[begin:begin + length]`` is the next one. The empty string closes all nodes but the root.
        depth: the length of the latest string; 0 before the first.
        top: the number of arcs on the stack.
        first_node: the number of node 0 in arcs.
        open_nodes: an `fst.compile.algebra.build.paths.Open`.
        nodes: the `fst.automata.hashing.Pool` of closed nodes.

    Returns:
        The new number of arcs on the stack, or `FULL`.
    """
    path, bottom, arcs = open_nodes.path, open_nodes.bottom, open_nodes.arcs
    common = 0
    while common < depth and common < length and path[common] == symbols[begin + common]:
        common += 1
    while depth > common:
        node = intern(arcs, bottom[depth], top, nodes)
        if node == FULL:
            return np.int64(FULL)
        top = bottom[depth]
        depth -= 1
        arcs[top] = arc_of(path[depth], first_node + node)
        top += 1
    while depth < length:
        path[depth] = symbols[begin + depth]
        depth += 1
        bottom[depth] = top
    return np.int64(top)


@kernel
def share(symbols, starts, trees, follow_start, follows, open_nodes, nodes, roots):
    """Store the nodes of all trees.

    Args:
        symbols: uint32[n], the symbols of all strings, below 2³¹, concatenated.
        starts: int64[strings + 1], the first symbol of each string. The strings of a tree are distinct and sorted.
        trees: int64[trees + 1], the first string of each tree.
        follow_start: int64[strings + 1], and follows: int32[m], the numbers of the continuations of each string.
        open_nodes: an `fst.compile.algebra.build.paths.Open` with room for ``strings + m`` arcs and for ``longest + 1`` numbers, where
            `longest` is the number of symbols of the longest string.
        nodes: an `fst.automata.hashing.Pool`. The arcs of a node lead first to the continuations, with the label `FOLLOWING`, and then to
            the children, in the order of their labels.
        roots: output, int32[trees], the node of each root.

    Returns:
        Whether all nodes are stored; otherwise an array of `nodes` is too small.
    """
    for tree in range(len(roots)):
        depth, top = np.int64(0), np.int64(0)
        for string in range(trees[tree], trees[tree + 1]):
            length = starts[string + 1] - starts[string]
            top = enter(symbols, starts[string], length, depth, top, 0, open_nodes, nodes)
            if top == FULL:
                return False
            depth = length
            for place in range(follow_start[string], follow_start[string + 1]):
                open_nodes.arcs[top] = arc_of(FOLLOWING, follows[place])
                top += 1
        top = enter(symbols, np.int64(0), np.int64(0), depth, top, 0, open_nodes, nodes)
        node = intern(open_nodes.arcs, 0, top, nodes) if top != FULL else top
        if node == FULL:
            return False
        roots[tree] = node
    return True
