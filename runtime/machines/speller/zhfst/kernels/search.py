"""The kernel of spellers with an error model: the strings of least weight into which the error model turns a word.

The search is best first (A*). A node is a position in the word, a state of the error model, a state of the lexicon, the registers of
features, and the string that was written. Its bound is the weight of the best path to it, plus the distances of both states to an end. A
complete string is a node, too, so strings are found in the order of their weights:

    word:         position ─┐ reads
    error model:          state ─ writes ─┐
    lexicon:                            state ─ reads ─→ node ─→ heap ─→ the node of the least bound ─→ …
                                                                               └ complete: found

`fst.machines.speller.zhfst.walk` is the specification. Weights are added in its order, as float32. Bounds are rounded, so the search
continues until a bound is clearly greater than the last weight that is needed.

Preconditions: the table is proven (`fst.machines.speller.zhfst.table`); each label of the word is a label of the error model; the word has
at most `MAX_WORD` labels. If an array of `work` is too small, ``work.state.is_full`` is 1, and the results are not valid.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, folded, intern, mixed, number_of
from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2
from fst.runtime.kernels.flags import is_applied

SCALE, MOST = np.float64(1 << 12), np.float64((1 << 32) - 1)  # bounds in the heap are whole numbers: 4,096 times a weight
SLACK, SPARE = np.float64(1 + 1e-5), np.float64(2)  # a bound may be too high by this factor, and by this number
EXPANDED, FOUND = 1, 2  # bits of `Work.is_done`
COMPLETE = np.uint64((1 << 64) - 1)  # in place of the states of a complete string
POSITION_SHIFT, REGISTERS_SHIFT = np.uint64(48), np.uint64(24)  # ``string 24 | registers 24 | position 16``, from the lowest bit
FIELD = np.uint64((1 << 24) - 1)
BLOCKED = np.uint64((1 << 64) - 1)  # in place of registers: an operation fails


@inlined
def scaled(weight):
    """A weight as a whole number for the heap."""
    return min(np.float64(weight) * SCALE, MOST)


@part
def rise(heap, place, item):
    """Put an item into a heap, at a place or above it."""
    while place > U0:
        parent = place - U1 >> U1
        if heap[parent] <= item:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


@part
def sink(heap, size, item):
    """Put an item into a heap in place of the least item."""
    place, child = U0, U1
    while child < size:
        if child + U1 < size and heap[child + U1] < heap[child]:
            child += U1
        if heap[child] >= item:
            break
        heap[place] = heap[child]
        place, child = child, U2 * child + U1
    heap[place] = item


@part
def push(first, second, weight, bound, work):
    """Push a node, given by its two words, unless it was reached before with at most the same weight."""
    state, last = work.state, np.uint64(len(work.node_slots) - 1)
    slot, node = folded(mixed(mixed(first) ^ second)) & last, state.nodes
    while work.node_slots[slot]:
        other = np.uint64(work.node_slots[slot] - 1)
        if work.nodes[other, U0] == first and work.nodes[other, U1] == second:
            node = other
            break
        slot = slot + U1 & last
    if node == state.nodes:
        if node == np.uint64(len(work.nodes)):
            state.is_full = U1
            return
        work.node_slots[slot] = node + U1
        work.nodes[node, U0], work.nodes[node, U1], work.is_done[node] = first, second, 0
        state.nodes = node + U1
    elif work.weights[node] <= weight:
        return
    if state.heap == np.uint64(len(work.heap)):
        state.is_full = U1
        return
    work.weights[node] = weight
    work.is_done[node] &= FOUND
    rise(work.heap, state.heap, np.uint64(scaled(bound)) << HALF | LOW_HALF - node)
    state.heap += U1


@inlined
def reach(model, lexicon, position, registers, string, weight, models, lexicons, work):
    """Push the node of two states."""
    bound = np.float64(weight) + np.float64(models.distances[model]) + np.float64(lexicons.distances[lexicon])
    push(model << HALF | lexicon, position << POSITION_SHIFT | registers << REGISTERS_SHIFT | string, weight, bound, work)


@part
def extended(string, label, lexicons, work):
    """The string with the characters of a label."""
    for place in range(np.uint64(lexicons.character_starts[label]), np.uint64(lexicons.character_starts[label + U1])):
        key = np.int64(string << HALF | np.uint64(lexicons.characters[place]))
        number = np.int64(number_of(key, work.string_keys, work.string_slots, work.string_counts))
        if number == FULL:
            work.state.is_full = U1
            return U0
        string = np.uint64(number)
    return string


@part
def registers_after(registers, label, lexicons, work):
    """The registers after a flag diacritic, or `BLOCKED`."""
    features = lexicons.features[U0]
    first = np.uint64(work.registers.starts[registers])
    for number in range(features):
        feature = np.uint64(number)
        work.row[feature] = work.registers.cells[first + feature]
    if not is_applied(np.uint64(lexicons.operations[label]), U0, work.row):
        return BLOCKED
    number = np.int64(intern(work.row, np.int64(0), np.int64(features), work.registers))
    if number == FULL:
        work.state.is_full = U1
        return BLOCKED
    return np.uint64(number)


@part
def follow_silent(model, lexicon, position, registers, string, weight, models, lexicons, work):
    """Follow the arcs of the lexicon that read nothing; return the first arc that reads a symbol."""
    at, end = np.uint64(lexicons.starts[lexicon]), np.uint64(lexicons.starts[lexicon + U1])
    while at < end and lexicons.labels[at] < len(lexicons.operations):
        label, after = np.uint64(lexicons.labels[at]), registers
        if label:
            after = registers_after(registers, label, lexicons, work)
        if after != BLOCKED:
            reach(model, np.uint64(lexicons.targets[at]), position, after, string, weight + lexicons.weights[at], models, lexicons, work)
        at += U1
    return at


@part
def first_reading(model, label, models):
    """The first arc of a state of the error model that reads at least a label."""
    at, last = np.uint64(models.starts[model]), np.uint64(models.starts[model + U1])
    while at < last:
        middle = at + last >> U1
        if models.reads[middle] < label:
            at = middle + U1
        else:
            last = middle
    return at


@part
def follow(label, model, lexicon, letters, position, registers, string, weight, models, lexicons, work):
    """Follow the arcs of the error model that read a label, together with the arcs of the lexicon that read what they write.

    Args:
        label: the label that is read; 0: nothing.
        letters: the first arc of the lexicon's state that reads a symbol.
        position: the position after the label.
    """
    at, end = first_reading(model, label, models), np.uint64(models.starts[model + U1])
    arc, last = letters, np.uint64(lexicons.starts[lexicon + U1])
    while at < end and models.reads[at] == label:
        written, after = models.writes[at], np.uint64(models.targets[at])
        if written == 0:
            reach(after, lexicon, position, registers, string, weight + models.weights[at], models, lexicons, work)
        while arc < last and lexicons.labels[arc] < written:
            arc += U1
        if arc == last and written != 0:
            return
        same = arc
        while same < last and lexicons.labels[same] == written:
            longer = extended(string, np.uint64(written), lexicons, work)
            after_weight = weight + (lexicons.weights[same] + models.weights[at])
            reach(after, np.uint64(lexicons.targets[same]), position, registers, longer, after_weight, models, lexicons, work)
            same += U1
        at += U1


@part
def expand(first, second, weight, word, models, lexicons, work):
    """Follow all arcs from a node, and push the complete string if both states are final."""
    model, lexicon = first >> HALF, first & LOW_HALF
    position, registers, string = second >> POSITION_SHIFT, second >> REGISTERS_SHIFT & FIELD, second & FIELD
    letters = follow_silent(model, lexicon, position, registers, string, weight, models, lexicons, work)
    follow(U0, model, lexicon, letters, position, registers, string, weight, models, lexicons, work)
    if position < np.uint64(len(word)):
        label = np.uint64(word[position])
        follow(label, model, lexicon, letters, position + U1, registers, string, weight, models, lexicons, work)
    elif lexicons.finals[lexicon] < np.inf and models.finals[model] < np.inf:
        whole = weight + lexicons.finals[lexicon] + models.finals[model]
        push(COMPLETE, string, whole, np.float64(whole), work)


@part
def add(weight, best, count):
    """Add a weight to the least weights, in ascending order; return their number."""
    if count == np.uint64(len(best)):
        if best[count - U1] <= weight:
            return count
        count -= U1
    place = count
    while place > U0 and best[place - U1] > weight:
        best[place] = best[place - U1]
        place -= U1
    best[place] = weight
    return count + U1


@kernel
def search(word, models, lexicons, best, work):
    """Find the strings of least weight for a word.

    Args:
        word: uint16[n], the label of each symbol of the word, as the error model reads it.
        models, lexicons: see `fst.machines.speller.zhfst.arguments`.
        best: float32[limit], is filled with the least weights.
        work: see `fst.machines.speller.zhfst.arguments.Work`; without nodes, strings and registers.

    Returns:
        the number of strings found, whose nodes are in `Work.found`: all strings with at most the last weight of `best`, and possibly more.
    """
    state, count = work.state, U0
    work.row[:] = 0
    start = np.uint64(intern(work.row, np.int64(0), np.int64(lexicons.features[U0]), work.registers))
    reach(U0, U0, U0, start, U0, np.float32(0), models, lexicons, work)
    while state.heap > U0 and state.is_full == U0:
        item = work.heap[U0]
        if count == np.uint64(len(best)) and np.float64(item >> HALF) > scaled(best[count - U1]) * SLACK + SPARE:
            break
        state.heap -= U1
        sink(work.heap, state.heap, work.heap[state.heap])
        node = LOW_HALF - (item & LOW_HALF)
        done, weight = work.is_done[node], work.weights[node]
        work.is_done[node] |= EXPANDED
        if work.nodes[node, U0] != COMPLETE:
            if done == 0:
                expand(work.nodes[node, U0], work.nodes[node, U1], weight, word, models, lexicons, work)
        elif done == 0:
            work.is_done[node] |= FOUND
            work.found[state.found] = node
            state.found += U1
            count = add(weight, best, count)
    return state.found
