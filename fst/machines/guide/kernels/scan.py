"""The product of an automaton with the trie of a vocabulary: one scan gives the mask of a state.

The nodes of the trie are in depth-first order, so the states on the path of a node are those that were stored last at each depth. A node
whose byte leads nowhere is left out with its subtree.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part

BYTE, DEPTH_SHIFT = np.uint32(0xFF), np.uint64(8)
WORD_SHIFT, BIT, ONE = np.uint32(5), np.uint32(31), np.uint32(1)


@part
def scan(automaton, trie, state, stack, row):
    """Set the bits of the tokens that a state reads completely.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        trie: a `fst.machines.guide.vocabulary.Trie`.
        state: the state.
        stack: int32[longest + 1], the state at each depth.
        row: uint32[words + 1], the mask, whose bits are 0; the last word gets the bits of nodes without tokens.
    """
    targets, classes = automaton.targets, automaton.classes
    labels, skips, tokens = trie.labels, trie.skips, trie.tokens
    stack[0] = state
    node, end = np.uint64(0), np.uint64(len(labels))
    while node < end:
        label = labels[node]
        depth = np.uint64(label) >> DEPTH_SHIFT
        target = targets[np.uint64(stack[depth]), np.uint64(classes[label & BYTE])]
        if target < 0:
            node = np.uint64(skips[node])
        else:
            stack[depth + np.uint64(1)] = target
            token = tokens[node]
            row[token >> WORD_SHIFT] |= ONE << (token & BIT)
            node += np.uint64(1)
    for twin in range(len(trie.twins)):
        token, other = trie.twins[twin, 0], trie.twins[twin, 1]
        row[token >> WORD_SHIFT] |= (row[other >> WORD_SHIFT] >> (other & BIT) & ONE) << (token & BIT)


@kernel
def scan_row(automaton, trie, state, stack, row):
    """Fill the mask of a state; arguments as in `scan`, but the mask may contain anything."""
    row[:] = np.uint32(0)
    scan(automaton, trie, state, stack, row)
