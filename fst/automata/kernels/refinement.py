"""Minimization of deterministic automata: partition refinement after Valmari (2012), "Fast brief practical DFA minimization".

Two partitions refine each other: one of states, into blocks of possibly equivalent states, and one of arcs, into cords of arcs with the
same label and the same block of targets. Time O(arcs · log(arcs)).
"""

from __future__ import annotations

from fst.core.jit import inlined, kernel

# Counters of a partition: the number of sets, and the number of sets with marks.
SETS, TOUCHED = 0, 1


@kernel
def group(keys, starts, order):
    """Sort indices by key, stably, by counting.

    Args:
        keys: int32[n], from 0.
        starts: int64[keys + 2], initially 0; output: the first place of each key in `order`, and n at the end.
        order: output, int64[n].
    """
    for key in keys:
        starts[key + 2] += 1
    for key in range(2, len(starts)):
        starts[key] += starts[key - 1]
    for index in range(len(keys)):
        order[starts[keys[index] + 1]] = index
        starts[keys[index] + 1] += 1


@inlined
def mark(element, part):
    """Mark an element, which moves to the beginning of its set."""
    number = part.set_of[element]
    place, marked = part.place[element], part.first[number] + part.marked[number]
    if place < marked:
        return
    other = part.elements[marked]
    part.elements[place] = other
    part.place[other] = place
    part.elements[marked] = element
    part.place[element] = marked
    if part.marked[number] == 0:
        part.touched[part.counts[TOUCHED]] = number
        part.counts[TOUCHED] += 1
    part.marked[number] += 1


@inlined
def split(part):
    """Split each set into its marked and its other elements; the smaller part becomes the new set. Marks are removed."""
    while part.counts[TOUCHED]:
        part.counts[TOUCHED] -= 1
        number = part.touched[part.counts[TOUCHED]]
        middle = part.first[number] + part.marked[number]
        count = part.marked[number]
        part.marked[number] = 0
        if middle == part.end[number]:
            continue
        new = part.counts[SETS]
        part.counts[SETS] = new + 1
        part.marked[new] = 0
        if count <= part.end[number] - middle:
            part.first[new] = part.first[number]
            part.end[new] = middle
            part.first[number] = middle
        else:
            part.first[new] = middle
            part.end[new] = part.end[number]
            part.end[number] = middle
        for place in range(part.first[new], part.end[new]):
            part.set_of[part.elements[place]] = new


@kernel
def refine(blocks, cords, source, in_start, in_arc):
    """Refine the blocks of states until no cord splits one.

    Args:
        blocks: the `fst.automata.refinement.Partition` of states; initially by final weights.
        cords: the partition of arcs; initially by labels.
        source: int32[arcs].
        in_start, in_arc: the arcs that lead to each state.
    """
    block, cord = 1, 0
    while cord < cords.counts[SETS]:
        for place in range(cords.first[cord], cords.end[cord]):
            mark(source[cords.elements[place]], blocks)
        split(blocks)
        cord += 1
        while block < blocks.counts[SETS]:
            for place in range(blocks.first[block], blocks.end[block]):
                state = blocks.elements[place]
                for arc in range(in_start[state], in_start[state + 1]):
                    mark(in_arc[arc], cords)
            split(cords)
            block += 1
