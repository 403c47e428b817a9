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

from fst.core.jit import kernel, part

SPACE, QUOTE, BACKSLASH, DELETE = 0x20, 0x22, 0x5C, 0x7F
NODES, ARCS = 0, 1  # indices into `counts`


@part
def add_arc(state, first, last, following, arcs, counts):
    """Store an arc, unless its range is empty."""
    if first <= last:
        count = counts[ARCS]
        arcs[count, 0], arcs[count, 1], arcs[count, 2], arcs[count, 3] = state, first, last, following
        counts[ARCS] = count + 1


@part
def add_plain(state, first, last, following, arcs, counts):
    """Store the arcs of the characters of a range that need no escape."""
    for other in (QUOTE, BACKSLASH):
        if first <= other <= last:
            add_arc(state, first, other - 1, following, arcs, counts)
            first = other + 1
    add_arc(state, first, last, following, arcs, counts)


@part
def add_name(data, start, end, path, shared, nodes, counts):
    """Add the nodes of a name below the last node that it shares with the name before it, and mark its own last node."""
    node = path[shared]
    for place in range(start + shared, end):
        child = np.int32(counts[NODES])
        counts[NODES] += 1
        nodes.bytes[child], nodes.first[child], nodes.following[child], nodes.ends[child] = data[place], -1, -1, 0
        if nodes.first[node] < 0:
            nodes.first[node] = child
        else:
            nodes.following[nodes.last[node]] = child
        nodes.last[node] = child
        node = child
        path[place - start + 1] = node
    nodes.ends[node] = 1


@kernel
def leave_names(data, ends, root, end, other, inner, path, nodes, arcs, counts):
    """Store the arcs of the trie of names.

    Args:
        data: uint8[n], the names, concatenated, in ascending order and each once: characters of ASCII that need no escape in JSON.
        ends: int64[names], the end of each name.
        root: the state before the first character.
        end: the state after the closing quotation mark of a name that is none of these.
        other: the state after a character that leaves the trie.
        inner: the number of the first of the other states.
        path: int32[longest name + 1], a working array.
        nodes: a `fst.compile.machines.guide.schema.string_parts.Nodes` with room for ``n + 1`` nodes.
        arcs: output, int32[6 * n + 6, 4]: at most four ranges around quotation mark and backslash, and two for each child.
        counts: output, int64[2], the number of states with the root, and of arcs.
    """
    counts[NODES], counts[ARCS] = 1, 0
    nodes.first[0], nodes.ends[0], path[0] = -1, 0, 0
    before, size = np.int64(0), np.int64(0)  # the name before: its start and its length
    start = np.int64(0)
    for name in range(len(ends)):
        shared = np.int64(0)
        while shared < size and start + shared < ends[name] and data[before + shared] == data[start + shared]:
            shared += 1
        add_name(data, start, ends[name], path, shared, nodes, counts)
        before, size, start = start, ends[name] - start, ends[name]
    for node in range(counts[NODES]):
        state = inner + node - 1 if node else root
        if not nodes.ends[node]:
            add_arc(state, QUOTE, QUOTE, end, arcs, counts)
        first, child = SPACE, np.int64(nodes.first[node])
        while child >= 0:
            byte = np.int64(nodes.bytes[child])
            add_plain(state, first, byte - 1, other, arcs, counts)
            add_arc(state, byte, byte, inner + child - 1, arcs, counts)
            first, child = byte + 1, np.int64(nodes.following[child])
        add_plain(state, first, DELETE, other, arcs, counts)
