"""Find the longest match at a position of running text; `fst.machines.lookup.text_walk` specifies it."""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.machines.lookup.kernels.conditions import holds
from fst.runtime.machines.lookup.kernels.symbols import is_letter, symbol_at
from fst.runtime.machines.lookup.kernels.walk import (
    CURSOR,
    EPSILON,
    FRAME_SHIFT,
    HAS_EPSILON,
    LAST,
    READ,
    SLICE,
    STATE,
    TARGET,
    VALUE,
    VALUE_SHIFT,
    push,
    slice_of,
)

MAX_STEPS = np.uint64(layout.STEPS * 64)
TOO_MANY = np.uint64(2**64 - 1)  # instead of the end of a match: the row must be left to the slow walk
FRAME = np.uint64(3)  # the field of a slice with the frame


@part
def section_of(state, frame, table, work):
    """Return 1 + the greatest section of the finals of a state whose conditions hold; 0 if there is none."""
    own = table.entries[state]
    final = own & TARGET
    last, found = final + (own >> VALUE_SHIFT & VALUE), U0
    while final < last:
        section = U1 + np.uint64(table.final_sections[final])
        if section > found:
            condition = np.uint64(table.final_conditions[final]) if table.features[0] else U0
            if condition == U0 or holds(condition, frame, table, work.registers):
                found = section
        final += U1
    return found


@part
def longest(text, begin, stop, table, work):
    """Find the longest match.

    Returns:
        The end of the match, `begin` if there is none, or `TOO_MANY`; its section; and the end of what any path reads.
    """
    entries, arcs, stack = table.entries, table.arcs, work.stack
    state, pauses, at, frame, depth = table.begin[U0], table.begin[U1], begin, U0, U0
    end_of_match, best, reach, steps = begin, U0, begin, MAX_STEPS
    for feature in range(table.features[0]):
        work.registers[feature] = 0
    while True:
        if (depth + U2 + U1) * SLICE > np.uint64(len(stack)) or (frame + U2) * table.features[0] > np.uint64(len(work.registers)):
            return TOO_MANY, U0, reach
        reach = max(reach, at)
        if at > begin and at >= end_of_match:
            section = section_of(state, frame, table, work)
            if section > U1 or (section and not is_letter(text, at, stop, table)):
                best = max(best, section) if at == end_of_match else section
                end_of_match = at
        if at < stop:
            found, lower, after = symbol_at(text, at, stop, table)
            for label in (found, lower):
                if label:
                    cursor, end = slice_of(entries, state, label)
                    if cursor < end:
                        depth = push(stack, depth, cursor, end, after, U0, frame)
        if pauses:
            cursor, end = slice_of(entries, state, EPSILON)
            depth = push(stack, depth, cursor, end, at, U0, frame)
        while True:
            if depth == U0:
                return end_of_match, (best - U1 if best else U0), reach
            if steps == U0:
                return TOO_MANY, U0, reach
            steps -= U1
            place = (depth - U1) * SLICE
            chosen, at, frame = stack[place + CURSOR], stack[place + READ], stack[place + FRAME] >> FRAME_SHIFT
            stack[place + CURSOR] = chosen + U1
            if chosen + U1 == stack[place + LAST]:
                depth -= U1
            if table.features[0] and table.arc_conditions[chosen]:
                if not holds(np.uint64(table.arc_conditions[chosen]), frame, table, work.registers):
                    continue
                frame += U1
            break
        state, pauses = arcs[chosen] & STATE, arcs[chosen] >> HAS_EPSILON & U1
