"""For each state of an automaton over bytes: its shortest text, and whether a last-token automaton can cut this text."""

from __future__ import annotations

from fst.core.jit import kernel

CONTINUES, LEAD_BITS = 0x80, 0xC0


@kernel
def find_witnesses(finals, sources, labels, starts, order, next_bytes):
    """Find the first byte of the shortest text from each state.

    Args:
        finals: uint8[states].
        sources, labels: int32[n], uint8[n], the transitions, sorted by target; starts: int64[states + 1], the first transition to each
            state.
        order: output, int32[states], the states by the length of their shortest texts.
        next_bytes: output, uint8[states].

    Returns: The number of states from which a final state can be reached.
    """
    count = 0
    for state in range(len(finals)):
        if finals[state]:
            order[count] = state
            count += 1
    read = 0
    while read < count:
        state = order[read]
        read += 1
        for place in range(starts[state], starts[state + 1]):
            source = sources[place]
            if finals[source] == 0:
                finals[source] = 2
                next_bytes[source] = labels[place]
                order[count] = source
                count += 1
    for state in range(len(finals)):
        finals[state] &= 1
    return count


@kernel
def find_live(machine, order):
    """Fill `next_classes`, `next_states` and `live` of a machine; `order` contains its states by the lengths of their shortest texts."""
    limit = machine.scalars.limit
    for state in order:
        number = -1
        after = state
        if machine.finals[state] == 0:
            char = 0
            while True:
                byte = machine.next_bytes[after]
                found = machine.characters[char, byte]
                if found == 0 or machine.targets[after, byte] < 0 or (char and byte & LEAD_BITS != CONTINUES):
                    break
                after, char = machine.targets[after, byte], found
                if found < 0:
                    number = -1 - found
                    break
                if machine.finals[after]:
                    break
        machine.next_classes[state], machine.next_states[state] = number, after
        for cut in range(len(machine.ends)):
            left = 0
            if machine.finals[state]:
                left = machine.ends[cut]
            elif number >= 0 and machine.risky[number] == 0:
                begun, inside = machine.cuts[cut, 1, number], machine.cuts[cut, 0, number]
                if begun >= 0 and machine.live[after, begun] and (limit == 0 or machine.live[after, begun] <= limit):
                    left = 1
                elif inside >= 0 and machine.live[after, inside]:
                    left = 1 + machine.live[after, inside]
            machine.live[state, cut] = left
