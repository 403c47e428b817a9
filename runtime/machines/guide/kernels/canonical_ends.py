"""The number of canonical tokens of the shortest text after a place. The tokens of each word are counted from the last one backwards.

Preconditions: those of `fst.machines.guide.kernels.canonical`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.guide.kernels.canonical import NOT_FOUND, advance, count_back, load_place, may_end, read_on


@part
def end_of_word(machine, work, depth):
    """The depth at which a word ends, if the shortest text follows `depth`, which is after the first byte of the word; `NOT_FOUND` if the
    word does not end in this text, or there is no room.
    """
    while work.chars[depth]:
        if not read_on(machine, work, depth):
            return np.int64(NOT_FOUND)
        depth += 1
    left = machine.live[work.states[depth], work.cuts[depth]] - 1
    if left < 0:
        return np.int64(NOT_FOUND)
    while left > 0:
        if not read_on(machine, work, depth):
            return np.int64(NOT_FOUND)
        depth += 1
        left -= work.chars[depth] == 0
    return np.int64(depth)


@part
def count_words(machine, work, depth):
    """The number of tokens of the shortest text after a depth where a word ends; `NOT_FOUND` if its words cannot be cut into tokens. Row 0
    and the rows after it are overwritten.
    """
    count = np.int64(0)
    while True:
        state, cut = work.states[depth], work.cuts[depth]
        if machine.finals[state]:
            return count if machine.ends[cut] else np.int64(NOT_FOUND)
        work.states[0], work.cuts[0], work.chars[0], work.norms[0] = state, cut, 0, work.norms[depth]
        if not advance(machine, work, 0, machine.next_bytes[state], 1):
            return np.int64(NOT_FOUND)
        depth = end_of_word(machine, work, 1)
        tokens = count_back(machine, work, depth, 0) if depth >= 0 else np.int64(NOT_FOUND)
        if tokens < 0:
            return tokens
        count += tokens


@part
def count_after(machine, work, depth):
    """The number of tokens after the place at depth 0, if the shortest text after `depth` keeps the cut at the place; else `NOT_FOUND`."""
    while True:
        if may_end(machine, work, depth):
            first = count_back(machine, work, depth, 0)
            if first >= 0:
                rest = count_words(machine, work, depth)
                return first + rest if rest >= 0 else rest
        if machine.finals[work.states[depth]] or not read_on(machine, work, depth):
            return np.int64(NOT_FOUND)
        depth += 1


@part
def count_new_word(machine, work):
    """The number of tokens after the place at depth 0, where a word begins whose first byte is already read to row 1; or `NOT_FOUND`."""
    depth = end_of_word(machine, work, 1)
    first = count_back(machine, work, depth, 0) if depth >= 0 else np.int64(NOT_FOUND)
    rest = count_words(machine, work, depth) if first >= 0 else first
    return first + rest if rest >= 0 else rest


@kernel
def count_tokens(machine, work, places, which, needed):
    """Count the tokens from places to the end of a text: the shortest text after the place, if it keeps the tokens so far; otherwise, of
    the shortest texts that begin with each byte and keep them, the one with the fewest tokens.

    Args:
        machine: a `fst.machines.guide.canonical.Machine`.
        work: a `fst.machines.guide.canonical_states.Work`.
        places: a `fst.machines.guide.canonical.Places`.
        which: int64[n], the places.
        needed: output, int64[n], the numbers of tokens; `NOT_FOUND` if none of these texts keeps the tokens so far.
    """
    for number in range(len(which)):
        load_place(work, places, which[number])
        found = count_after(machine, work, 0)
        if found < 0:
            for byte in range(256):
                for begins in range(2):
                    load_place(work, places, which[number])
                    if (begins and work.chars[0]) or not advance(machine, work, 0, byte, begins):
                        continue
                    count = count_new_word(machine, work) if begins else count_after(machine, work, 1)
                    if count >= 0 and (found < 0 or count < found):
                        found = count
        needed[number] = found
