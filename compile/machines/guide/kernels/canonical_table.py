"""The automaton over bytes of canonical guides: the steps of a state become a trie of marked tokens, and equal subtrees are stored once."""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL
from fst.compile.algebra.kernels.sharing import SHIFT, arc_of, enter
from fst.core.jit import kernel
from fst.machines.guide.arguments import MARK

TARGET = np.uint64((1 << 32) - 1)


@kernel
def add_steps(data, ends, tokens, targets, first_node, open_nodes, nodes, row):
    """Store the nodes of the steps of a state.

    Args:
        data: uint8[n], the marked bytes of all tokens, concatenated; ends: int64[ids], the end of each token.
        tokens: int64[m], the tokens, in the order of their bytes.
        targets: int64[m], the state after each token.
        first_node: the number that the first node gets as a state.
        open_nodes: an `fst.compile.algebra.build.paths.Open` with room for ``m + 1`` arcs.
        nodes: the `fst.automata.hashing.Pool` of nodes.
        row: output, int32[256], the transitions of the state.

    Returns:
        Whether all nodes are stored; otherwise an array of `nodes` is too small.
    """
    depth, top = np.int64(0), np.int64(0)
    for place in range(len(tokens)):
        token = tokens[place]
        begin = ends[token - 1] if token else np.int64(0)
        length = ends[token] - begin - 1  # the last byte is left out: it is a mark, which leads to the next state
        top = enter(data, begin, length, depth, top, first_node, open_nodes, nodes)
        if top == FULL:
            return False
        depth = length
        open_nodes.arcs[top] = arc_of(MARK, targets[place])
        top += 1
    top = enter(data, np.int64(0), np.int64(0), depth, top, first_node, open_nodes, nodes)
    if top == FULL:
        return False
    for place in range(top):
        row[open_nodes.arcs[place] >> SHIFT] = open_nodes.arcs[place] & TARGET
    return True
