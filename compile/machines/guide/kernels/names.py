"""The trie of the listed names of an object: every other name leaves it.

Example: the names ``a`` and ``ac`` between the states 0, the root, and 9, after the closing quotation mark; every name that leaves the trie
goes on in state 8::

    state   first and last byte → next state
    0       " → 9; space to !, # to [, ] to `, b to DEL → 8; a → 1
    1       space to !, # to [, ] to b, d to DEL → 8; c → 2
    2       space to !, # to [, ] to DEL → 8
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part

SPACE, QUOTE, BACKSLASH, DELETE = 0x20, 0x22, 0x5C, 0x7F
BYTE = np.uint32(0xFF)


@inlined
def add_arc(state, first, last, following, arcs, count):
    """Store an arc, unless its range is empty; return the number of arcs."""
    if first > last:
        return count
    arcs[count, 0], arcs[count, 1], arcs[count, 2], arcs[count, 3] = state, first, last, following
    return count + 1


@part
def add_plain(state, first, last, following, arcs, count):
    """Store the arcs of the characters of a range that need no escape; return the number of arcs."""
    for other in (QUOTE, BACKSLASH):
        if first <= other <= last:
            count = add_arc(state, first, other - 1, following, arcs, count)
            first = other + 1
    return add_arc(state, first, last, following, arcs, count)


@kernel
def leave_names(labels, skips, tokens, none, root, end, other, inner, arcs):
    """Store the arcs of the trie of names.

    Args:
        labels, skips, tokens, none: the trie, see `fst.machines.guide.vocabulary.nodes_of`, of names of characters of ASCII that need no
            escape in JSON, each after a quotation mark.
        root: the state of the first node.
        end: the state after the closing quotation mark of another name.
        other: the state after a character that leaves the trie.
        inner: the state of the second node; those of the following nodes are the next numbers.
        arcs: output, int32[6 * nodes, 4]: at most four ranges around quotation mark and backslash, and two for each child.

    Returns:
        The number of arcs.
    """
    count = np.int64(0)
    for node in range(len(labels)):
        state = inner + node - 1 if node else root
        if tokens[node] == none:
            count = add_arc(state, QUOTE, QUOTE, end, arcs, count)
        first, child = SPACE, np.int64(node + 1)
        while child < skips[node]:
            byte = np.int64(labels[child] & BYTE)
            count = add_plain(state, first, byte - 1, other, arcs, count)
            count = add_arc(state, byte, byte, inner + child - 1, arcs, count)
            first, child = byte + 1, np.int64(skips[child])
        count = add_plain(state, first, DELETE, other, arcs, count)
    return count
