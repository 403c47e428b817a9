"""The lattice of MeCab's segmentation: a node for each word that may occur; a node has a link to the previous node on the path of least
cost to the node.

A node represents a word at a position of the text. Each position has a list of the nodes that end there. At a position where words begin,
`gather` reads this list and stores the best node of each right id in a *slot*: only this node can be on the best path. For each left id of
the words that begin at the position, the best slot is found once. So the work at a position is the number of different left ids times the
number of different right ids, for any number of words.

A key contains a cost and, in its lower bits, a node number, such that the least key has the least cost and, among nodes of equal cost, the
highest node number. Of two nodes, the node with the higher number begins later in the text or comes earlier in the dictionary, because
lists of words are in reverse order.

Memory is bounded, but texts are not. So `settle` finds, from time to time, the last *certain* node: the node through which the paths to all
nodes in lists lead. `settle` writes the words up to this node, and drops the nodes that are not on these paths. If more than half of
`fst.machines.segmentation.mecab.MOST_NODES` nodes remain, the kernel reports that it cannot segment the text.

A table contains `matrix`, the connection costs by left and right id, and `lists` of words. Costs are whole numbers.

Kernels check nothing, and require a table that has passed `Table.prove`, and an output array with a capacity of one id for each unit of
text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.segmentation import mecab
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.unicode import pairs
from fst.tables.kernel_call import IDS_ALONE

MASK_ID, ID_BITS, COST_SHIFT = np.uint64(mecab.MAX_ID), np.uint64(mecab.ID_BITS), np.uint64(mecab.COST_SHIFT)
MASK_COST, LOWEST_COST = np.uint64((1 << mecab.COST_BITS) - 1), np.int64(mecab.LOWEST_COST)
NODE_SHIFT = np.uint64(mecab.NODE_SHIFT)
PREVIOUS, NEXT, START, END, WORD, RIGHT, MOVED = (np.uint64(field) for field in mecab.NODE_FIELDS)
LAST_SHIFT = np.uint64(mecab.LAST_SHIFT)
KEY_SHIFT, LAST_NODE, MOST_KEY = np.int64(mecab.KEY_SHIFT), np.uint64((1 << mecab.KEY_SHIFT) - 1), np.int64((1 << 63) - 1)
NONE, CERTAIN = U0, U1  # numbers of nodes: 0 for no node, and the number of the certain node


@inlined
def field(nodes, node, name):
    """Read a field of a node."""
    return np.uint64(nodes[node << NODE_SHIFT | name])


@inlined
def begin(right, at, work):
    """Make the first certain node, which ends at the given position; return the number of nodes."""
    nodes = work.nodes
    base = CERTAIN << NODE_SHIFT
    nodes[base | PREVIOUS] = nodes[base | NEXT] = NONE
    nodes[base | START] = nodes[base | END] = at
    nodes[base | RIGHT] = right
    work.totals[CERTAIN] = 0
    work.heads[at & np.uint64(len(work.heads) - 1)] = CERTAIN
    return CERTAIN + U1


@inlined
def gather(head, work):
    """Fill the slots: for each right id in a list of nodes, the key of the best node. Return the number of filled slots."""
    nodes, totals, stamps, keys, rights = work.nodes, work.totals, work.right_stamps, work.slot_keys, work.slot_rights
    work.clock[0] += U1
    clock, count, node = work.clock[0], U0, np.uint64(head)
    while node != NONE:
        right, key = field(nodes, node, RIGHT), totals[node] << KEY_SHIFT | np.int64(LAST_NODE - node)
        if stamps[right] != clock:
            stamps[right], work.right_slots[right] = clock, count
            keys[count], rights[count] = key, right
            count += U1
        else:
            slot = np.uint64(work.right_slots[right])
            keys[slot] = min(keys[slot], key)
        node = field(nodes, node, NEXT)
    return count


@inlined
def best_for(left, slots, table, work):
    """Find the best path to a word with a left id, among the paths in the slots; return the key with the cost and the last node of the
    path.
    """
    if work.left_stamps[left] != work.clock[0]:
        row, keys, rights = left * table.scalars.rights, work.slot_keys, work.slot_rights
        best = MOST_KEY
        for index in range(slots):
            slot = np.uint64(index)
            key = keys[slot] + (np.int64(table.matrix[row + np.uint64(rights[slot])]) << KEY_SHIFT)
            best = key if key < best else best
        work.left_stamps[left], work.left_keys[left] = work.clock[0], best
    return work.left_keys[left]


@inlined
def node_of(key):
    """Extract the node number from a key."""
    return LAST_NODE - (np.uint64(key) & LAST_NODE)


@inlined
def add_words(place, at, stop, slots, count, table, work):
    """Add nodes for the words of a list, which all have the same begin and end.

    Args:
        place: the index of the list's first word.
        slots, count: the number of slots, and the number of nodes.

    Returns:
        The number of nodes.
    """
    nodes, totals, end = work.nodes, work.totals, stop & np.uint64(len(work.heads) - 1)
    head = np.uint64(work.heads[end])
    is_last = U0
    while is_last == U0:
        word = table.lists[place]
        key = best_for(word & MASK_ID, slots, table, work)
        totals[count] = (key >> KEY_SHIFT) + (np.int64(word >> COST_SHIFT & MASK_COST) + LOWEST_COST)
        base = count << NODE_SHIFT
        nodes[base | PREVIOUS], nodes[base | NEXT], nodes[base | START], nodes[base | END] = node_of(key), head, at, stop
        nodes[base | WORD], nodes[base | RIGHT] = place, word >> ID_BITS & MASK_ID
        head = count
        count += U1
        place += U1
        is_last = word >> LAST_SHIFT
    work.heads[end] = head
    return count


@part
def write(text, node, table, output, work, place, counted, characters):
    """Write the words on the path from the certain node to `node`.

    Args:
        place: the output index of the first word.
        counted, characters: a position before the words, and the number of characters of the row before this position.

    Returns:
        The output index after the last word; and `counted` and `characters` for the end of the last word.
    """
    nodes = work.nodes
    count, back = U0, node
    while back > CERTAIN:
        count += U1
        back = field(nodes, back, PREVIOUS)
    at, back = place + count, node
    while at > place:
        at -= U1
        output.ids[at] = table.numbers[field(nodes, back, WORD)]
        if len(output) > IDS_ALONE and len(output.offsets):
            output.offsets[at << U1], output.offsets[at << U1 | U1] = field(nodes, back, START), field(nodes, back, END)
        back = field(nodes, back, PREVIOUS)
    if len(output) > IDS_ALONE and len(output.offsets):
        while at < place + count:
            start, end = np.uint64(output.offsets[at << U1]), np.uint64(output.offsets[at << U1 | U1])
            first = characters + (start - counted) - pairs(text, counted, start)
            characters, counted = first + (end - start) - pairs(text, start, end), end
            output.offsets[at << U1], output.offsets[at << U1 | U1], output.words[at] = first, characters, 0
            at += U1
    return place + count, counted, characters


@inlined
def mark_live(work):
    """Mark the nodes of all lists; return their number."""
    live = U0
    for index in range(len(work.heads)):
        node = np.uint64(work.heads[np.uint64(index)])
        while node != NONE:
            work.nodes[node << NODE_SHIFT | MOVED] = 1
            live += U1
            node = field(work.nodes, node, NEXT)
    return live


@inlined
def unmark(count, work):
    """Remove the marks from all nodes."""
    for index in range(count):
        work.nodes[np.uint64(index) << NODE_SHIFT | MOVED] = 0


@inlined
def last_certain(count, work):
    """Find the last node that is on the paths to all nodes in lists."""
    nodes = work.nodes
    unmark(count, work)
    live, node = mark_live(work), count
    while node > CERTAIN and live > U0:
        node -= U1
        if field(nodes, node, MOVED):
            if live == U1:
                return node
            previous = field(nodes, node, PREVIOUS)
            if field(nodes, previous, MOVED):
                live -= U1
            nodes[previous << NODE_SHIFT | MOVED] = 1
    return CERTAIN


@inlined
def keep(certain, count, work):
    """Drop all nodes except a certain node and the nodes on the paths from this node to nodes in lists; return the number of nodes.

    The cost of the certain node is subtracted from all costs.
    """
    nodes, totals = work.nodes, work.totals
    unmark(count, work)
    mark_live(work)
    nodes[certain << NODE_SHIFT | MOVED] = 1
    node = count
    while node > certain + U1:
        node -= U1
        if field(nodes, node, MOVED):
            nodes[field(nodes, node, PREVIOUS) << NODE_SHIFT | MOVED] = 1
    nodes[certain << NODE_SHIFT | PREVIOUS] = NONE
    nodes[NONE << NODE_SHIFT | MOVED] = NONE
    after, least = CERTAIN, totals[certain]
    for index in range(certain, count):
        node = np.uint64(index)
        if field(nodes, node, MOVED):
            base, new = node << NODE_SHIFT, after << NODE_SHIFT
            nodes[base | MOVED] = after
            nodes[new | PREVIOUS] = nodes[np.uint64(nodes[base | PREVIOUS]) << NODE_SHIFT | MOVED]
            nodes[new | NEXT], nodes[new | START], nodes[new | END] = nodes[base | NEXT], nodes[base | START], nodes[base | END]
            nodes[new | WORD], nodes[new | RIGHT], totals[after] = nodes[base | WORD], nodes[base | RIGHT], totals[node] - least
            after += U1
    return after


@part
def settle(text, count, table, output, work, place, counted, characters):
    """Write the words up to the last certain node, and drop the nodes that cannot be on the best path.

    Args:
        place, counted, characters: as in `write`.

    Returns:
        The number of nodes that remain, and the results of `write`.
    """
    nodes, heads = work.nodes, work.heads
    certain = last_certain(count, work)
    place, counted, characters = write(text, certain, table, output, work, place, counted, characters)
    count = keep(certain, count, work)
    for index in range(CERTAIN, count):
        base = np.uint64(index) << NODE_SHIFT
        nodes[base | NEXT] = nodes[np.uint64(nodes[base | NEXT]) << NODE_SHIFT | MOVED]
    for index in range(len(heads)):
        heads[np.uint64(index)] = nodes[np.uint64(heads[np.uint64(index)]) << NODE_SHIFT | MOVED]
    return count, place, counted, characters
