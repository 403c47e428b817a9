"""Parts of late guides from what a builder has drawn.

    write out texts and copies as arcs → mark the states that the start reaches → mark the states that reach an end → number the states
        with both marks → sort their arcs and moves by their states

Preconditions: states are below the length of the flags; inner states belong to one text or copy.
"""

from __future__ import annotations

import numpy as np

from fst.compile.machines.guide.utf_8 import END, START
from fst.core.jit import inlined, kernel, part
from fst.machines.guide.parts import FINAL, SKIP

REACHED, ENDING = 1, 2  # marks
BEFORE, ARC_AFTER, MOVE_AFTER = 0, 3, 4  # columns of states


@part
def write_out(drawn, arcs):
    """Store all arcs, texts and copies as arcs; return the number of arcs."""
    count = np.int64(0)
    for arc in range(len(drawn.arcs)):
        for column in range(4):
            arcs[count, column] = drawn.arcs[arc, column]
        count += 1
    place = np.int64(0)
    for text in range(len(drawn.texts)):
        state, inner, end, length = drawn.texts[text, 0], drawn.texts[text, 1], drawn.texts[text, 2], drawn.texts[text, 3]
        for byte in range(length):
            following = end if byte == length - 1 else np.int32(inner + byte)
            arcs[count, 0], arcs[count, 3] = state, following
            arcs[count, 1], arcs[count, 2] = drawn.data[place], drawn.data[place]
            state = following
            count += 1
            place += 1
    place = np.int64(0)
    for copy in range(len(drawn.copies)):
        start, end, inner, size = drawn.copies[copy, 0], drawn.copies[copy, 1], drawn.copies[copy, 2], drawn.copies[copy, 3]
        for arc in range(place, place + size):
            for column in range(4):
                arcs[count, column] = drawn.copied[arc, column]
            for column in range(0, 4, 3):
                state = drawn.copied[arc, column]
                arcs[count, column] = start if state == START else end if state == END else np.int32(inner + state - 2)
            count += 1
        place += size
    return count


@inlined
def state_of(edge, is_after, count, arcs, moves):
    """The state before or after an edge: edges below `count` are arcs, the others are moves."""
    if edge < count:
        return arcs[edge, ARC_AFTER if is_after else BEFORE]
    return moves[edge - count, MOVE_AFTER if is_after else BEFORE]


@part
def mark(bit, seeds, is_backward, count, moves, work):
    """Add a mark to the first `seeds` states of ``work.queue``, and to all states that paths of edges lead to from there; with
    `is_backward`, to all states from which paths lead there.
    """
    edges = count + len(moves)
    for state in range(len(work.heads)):
        work.heads[state] = -1
    for edge in range(edges):
        state = state_of(edge, is_backward, count, work.arcs, moves)
        work.links[edge], work.heads[state] = work.heads[state], edge
    done = 0
    for place in range(seeds):
        work.marks[work.queue[place]] |= bit
    while done < seeds:
        edge = work.heads[work.queue[done]]
        done += 1
        while edge >= 0:
            state = state_of(edge, not is_backward, count, work.arcs, moves)
            if not work.marks[state] & bit:
                work.marks[state] |= bit
                work.queue[seeds] = state
                seeds += 1
            edge = work.links[edge]


@part
def number(start, count, moves, work):
    """Number the states with both marks; the others get -1. The start gets 0; or 1 if an edge leads to it, and 0 is a new start.
    Return the number of states, with the new start.
    """
    is_entered = 0
    for edge in range(count + len(moves)):
        before, after = state_of(edge, False, count, work.arcs, moves), state_of(edge, True, count, work.arcs, moves)
        if after == start and work.marks[before] == REACHED | ENDING:
            is_entered = 1
    states = np.int64(1 + is_entered)
    for state in range(len(work.marks)):
        work.numbers[state] = -1
        if work.marks[state] == REACHED | ENDING and state != start:
            work.numbers[state] = states
            states += 1
    work.numbers[start] = is_entered
    return states


@part
def sort(rows, count, after, states, work, made):
    """Store the rows whose two states are kept, with the new numbers of these, sorted by the state before; return the number of these
    rows. `after`: the column of the state after a row.
    """
    for state in range(states + 1):
        work.places[state] = 0
    for row in range(count):
        before, following = work.numbers[rows[row, BEFORE]], work.numbers[rows[row, after]]
        if before >= 0 and following >= 0:
            work.places[before + 1] += 1
    for state in range(states):
        work.places[state + 1] += work.places[state]
    kept = np.int64(work.places[states])
    for row in range(count):
        before, following = work.numbers[rows[row, BEFORE]], work.numbers[rows[row, after]]
        if before >= 0 and following >= 0:
            place = work.places[before]
            work.places[before] = place + 1
            for column in range(1, after):
                made[place, column] = rows[row, column]
            made[place, BEFORE], made[place, after] = before, following
    return kept


@kernel
def make_part(start, drawn, work, made):
    """Make the part of all texts between a state and the final states, see `fst.compile.machines.guide.part_builder.PartBuilder.part`.

    Args:
        start: the state.
        drawn: a `fst.compile.machines.guide.part_builder.Drawn`.
        work: a `fst.compile.machines.guide.part_builder.Work`.
        made: output, a `fst.compile.machines.guide.part_builder.Made`.

    Returns:
        The number of states; 0 if the part has no text.
    """
    count = write_out(drawn, work.arcs)
    work.queue[0] = start
    mark(REACHED, 1, False, count, drawn.moves, work)
    ends = 0
    for state in range(len(drawn.flags)):
        if drawn.flags[state] & FINAL:
            work.queue[ends] = state
            ends += 1
    mark(ENDING, ends, True, count, drawn.moves, work)
    if not work.marks[start] & ENDING:
        return np.int64(0)
    states = number(start, count, drawn.moves, work)
    made.sizes[0] = sort(work.arcs, count, ARC_AFTER, states, work, made.arcs)
    is_entered = work.numbers[start]
    if is_entered:
        made.moves[0, BEFORE], made.moves[0, 1], made.moves[0, 2], made.moves[0, 3], made.moves[0, MOVE_AFTER] = 0, SKIP, 0, 0, 1
    made.sizes[1] = is_entered + sort(drawn.moves, len(drawn.moves), MOVE_AFTER, states, work, made.moves[is_entered:])
    made.flags[0] = 0
    for state in range(len(drawn.flags)):
        if work.numbers[state] >= 0:
            made.flags[work.numbers[state]] = drawn.flags[state]
    return states
