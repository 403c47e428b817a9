"""Layers of the best path: make the next layer, find it among the kept layers, or else keep it. `fst.machines.best_path.table`
describes layers, and its slow walk is their specification.

    offer → relax → keep
    arcs    ε-arcs  look up, or store

A layer is a set of states with weights. Layers with equal sets are the same layer, whatever the order of the items. The sum of the items'
hashes finds a kept layer; `slots` serve to compare the sets and to order the backs.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.best_path import arguments
from fst.machines.best_path import table as format_
from fst.runtime.kernels.constants import HALF, HASH_MULTIPLIER, LOW_HALF, U0, U1, U2, U8

EPSILON, NOT_FINAL = np.uint64(format_.EPSILON), np.int64(format_.NOT_FINAL)
LAYERS, ITEMS, BACKS, CLOCK, START = arguments.LAYERS, arguments.ITEMS, arguments.BACKS, arguments.CLOCK, arguments.START
DEAD, FIRST = np.uint64(arguments.DEAD), np.uint64(arguments.FIRST)
NO_ROOM, WIDE = U0, np.uint64(2**64 - 1)  # entries of `moves` that are not stored
NO_ARC = LOW_HALF
LIMIT = np.int64(1 << 60)  # maximum difference between two weights in a layer
FEW = np.uint64(8)  # maximum number of arcs that are searched one by one
MIX = np.uint64(29)


@inlined
def pack_back(before, arc):
    """Pack the back of an item: the item before the last arc, and the last arc."""
    return before << HALF | arc


@inlined
def back_of(back):
    """Return the item before the last arc, and this arc, from the back of an item."""
    return back >> HALF, back & LOW_HALF


@inlined
def pack_move(layer, first):
    """Pack a move: a layer, and the index of its first back."""
    return layer << HALF | first


@inlined
def move_of(move):
    """Return the layer of a move, and the index of its first back."""
    return move >> HALF, move & LOW_HALF


@inlined
def first_arc(labels, start, end, label):
    """Find the first arc from `start` on whose label is at least this label."""
    while end - start > FEW:
        middle = start + (end - start) // U2
        if np.uint64(labels[middle]) < label:
            start = middle + U1
        else:
            end = middle
    while start < end and np.uint64(labels[start]) < label:
        start += U1
    return start


@inlined
def add_item(state, weight, back, first, count, work):
    """Add an item to the layer that is being made."""
    work.stamps[state] = work.counts[CLOCK]  # the state is in this layer; a new clock empties the layer without clearing an array
    work.slots[state] = count
    work.states[first + count], work.weights[first + count], work.fresh[count] = state, weight, back


@inlined
def wait(item, tail, work):
    """Put an item into the queue unless the queue contains it; return the number of items that were put into the queue so far."""
    if work.is_waiting[item]:
        return tail
    work.is_waiting[item] = 1
    work.queue[tail & np.uint64(len(work.queue) - 1)] = item
    return tail + U1


@part
def offer(weight, before, arc, end, label, first, count, tail, table, work):
    """Offer the paths that continue with the arcs of a row from `arc` on, up to the last arc with a label.

    Args:
        weight, before: the weight of the path to the item before the arcs, and the number of this item.
        first, count, tail: the index of the layer's first item, the number of its items, and the number of items in the queue so far.

    Returns:
        The new `count` and `tail`.
    """
    while arc < end and np.uint64(table.labels[arc]) == label:
        target, total, back = np.uint64(table.targets[arc]), weight + table.weights[arc], pack_back(before, arc)
        if work.stamps[target] != work.counts[CLOCK]:
            add_item(target, total, back, first, count, work)
            work.is_waiting[count] = 0
            tail = wait(count, tail, work)
            count += U1
        else:
            item = np.uint64(work.slots[target])
            known = work.weights[first + item]
            if total < known:
                work.weights[first + item], work.fresh[item] = total, back
                tail = wait(item, tail, work)
            elif total == known and arc < back_of(work.fresh[item])[1]:
                work.fresh[item] = back
        arc += U1
    return count, tail


@part
def relax(first, count, tail, table, work):
    """Follow ε-arcs from the items in the queue; return the number of items, and whether all weights are in range."""
    head, mask = U0, np.uint64(len(work.queue) - 1)
    while head < tail:
        item = np.uint64(work.queue[head & mask])
        head += U1
        work.is_waiting[item] = 0
        state, weight = np.uint64(work.states[first + item]), work.weights[first + item]
        if weight > LIMIT or weight < -LIMIT:
            return count, False
        start, end = np.uint64(table.row_start[state]), np.uint64(table.row_start[state + U1])
        if start < end and np.uint64(table.labels[end - U1]) == EPSILON:
            arc = first_arc(table.labels, start, end, EPSILON)
            count, tail = offer(weight, item, arc, end, EPSILON, first, count, tail, table, work)
    return count, True


@inlined
def hash_of(state, weight):
    """Return the hash of an item."""
    mixed = (state * HASH_MULTIPLIER ^ np.uint64(weight)) * HASH_MULTIPLIER
    return (mixed ^ mixed >> MIX) * HASH_MULTIPLIER


@inlined
def normalize(first, count, work):
    """Subtract the least weight of a layer from all weights; return the hash of the layer, and whether all weights are in range."""
    least, most, total = work.weights[first], work.weights[first], count
    for index in range(first, first + count):
        weight = work.weights[np.uint64(index)]
        least, most = min(least, weight), max(most, weight)
    for index in range(first, first + count):
        item = np.uint64(index)
        work.weights[item] -= least
        total += hash_of(np.uint64(work.states[item]), work.weights[item])
    return total, most - least <= LIMIT


@inlined
def is_same(layer, first, count, work):
    """Whether a kept layer has the same items as the layer that was made last."""
    start, end = np.uint64(work.begins[layer]), np.uint64(work.begins[layer + U1])
    if end - start != count:
        return False
    for index in range(start, end):
        item = np.uint64(index)
        state = np.uint64(work.states[item])
        if work.stamps[state] != work.counts[CLOCK] or work.weights[first + np.uint64(work.slots[state])] != work.weights[item]:
            return False
    return True


@inlined
def slot_for(total, first, count, work):
    """Find the slot of a layer in the hash table; the slot is free if the layer is not kept."""
    mask = np.uint64(len(work.table) - 1)
    slot = total & mask
    while work.table[slot]:
        layer = np.uint64(work.table[slot])
        if work.hashes[layer] == total and is_same(layer, first, count, work):
            return slot
        slot = slot + U1 & mask
    return slot


@inlined
def store_backs(layer, table, work):
    """Store the backs of a layer in the order of its items; return the index of the first back."""
    start, count, first = np.uint64(work.begins[layer]), np.uint64(work.begins[layer + U1] - work.begins[layer]), work.counts[BACKS]
    for index in range(count):
        state = np.uint64(work.states[start + np.uint64(index)])
        work.queue[np.uint64(work.slots[state])] = index  # the number in the kept layer of an item that was made
    for index in range(count):
        state = np.uint64(work.states[start + np.uint64(index)])
        before, arc = back_of(work.fresh[np.uint64(work.slots[state])])
        if arc != NO_ARC and np.uint64(table.labels[arc]) == EPSILON:
            before = np.uint64(work.queue[before])
        work.backs[first + np.uint64(index)] = pack_back(before, arc)
    work.counts[BACKS] = first + count
    return first


@inlined
def end_of(first, count, table, work):
    """Return 1 + the number of the item at which the best path ends in a layer; 0 if no path ends in the layer."""
    best, best_state, end = NOT_FINAL, U0, U0
    for index in range(count):
        item = first + np.uint64(index)
        state = np.uint64(work.states[item])
        final = table.finals[state]
        if final != NOT_FINAL:
            total = work.weights[item] + final
            if end == U0 or total < best or (total == best and state < best_state):
                best, best_state, end = total, state, np.uint64(index) + U1
    return end


@part
def keep(first, count, table, work):
    """Find the layer that was made last among the kept layers, or else keep it; return the move to this layer, or `WIDE`."""
    if count == U0:
        return pack_move(DEAD, U0)
    total, is_narrow = normalize(first, count, work)
    if not is_narrow:
        return WIDE
    slot = slot_for(total, first, count, work)
    layer = np.uint64(work.table[slot])
    if layer == U0:
        layer = work.counts[LAYERS]
        work.table[slot], work.hashes[layer] = layer, total
        work.begins[layer], work.begins[layer + U1] = first, first + count
        work.ends[layer] = end_of(first, count, table, work)
        work.counts[LAYERS], work.counts[ITEMS] = layer + U1, first + count
    return pack_move(layer, store_backs(layer, table, work))


@inlined
def has_room(table, work):
    """Whether one more layer can be kept."""
    counts, states = work.counts, np.uint64(len(table.finals))
    fits = counts[ITEMS] + states <= np.uint64(len(work.states)) and counts[BACKS] + states <= np.uint64(len(work.backs))
    return fits and counts[LAYERS] < np.uint64(len(work.ends))


@part
def clear(work):
    """Drop all layers."""
    counts = work.counts
    for index in range(counts[LAYERS] << U8):
        work.moves[np.uint64(index)] = U0
    for index in range(np.uint64(len(work.table))):
        work.table[np.uint64(index)] = 0
    counts[LAYERS], counts[ITEMS], counts[BACKS], counts[START] = FIRST, U0, U0, U0


@part
def begin_layer(state, table, work):
    """Make the layer of a state and its ε-arcs; return the move to this layer, `NO_ROOM` or `WIDE`. The state's back has no arc."""
    if not has_room(table, work):
        return NO_ROOM
    work.counts[CLOCK] += U1
    first = work.counts[ITEMS]
    add_item(state, np.int64(0), pack_back(U0, NO_ARC), first, U0, work)
    work.is_waiting[U0] = 0
    count, is_narrow = relax(first, U1, wait(U0, U0, work), table, work)
    return keep(first, count, table, work) if is_narrow else WIDE


@part
def next_layer(layer, byte, table, work):
    """Make the layer after a layer and a byte; return the move to the new layer, `NO_ROOM` or `WIDE`."""
    if not has_room(table, work):
        return NO_ROOM
    work.counts[CLOCK] += U1
    first, count, tail, start = work.counts[ITEMS], U0, U0, np.uint64(work.begins[layer])
    for index in range(start, np.uint64(work.begins[layer + U1])):
        item = np.uint64(index)
        state = np.uint64(work.states[item])
        end = np.uint64(table.row_start[state + U1])
        arc = first_arc(table.labels, np.uint64(table.row_start[state]), end, byte)
        count, tail = offer(work.weights[item], item - start, arc, end, byte, first, count, tail, table, work)
    count, is_narrow = relax(first, count, tail, table, work)
    move = keep(first, count, table, work) if is_narrow else WIDE
    if move != WIDE:
        work.moves[layer << U8 | byte] = move
    return move
