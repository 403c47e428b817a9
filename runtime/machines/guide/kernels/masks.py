"""Copy the masks of states, and follow tokens.

Preconditions: a table that `fst.machines.guide.table.GuideTable.prove` accepts. States and ids are checked here, because callers give
them.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.guide.arguments import ENDED, FIRST, NO_STATE, WRONG

BIT, WORD_SHIFT, ONE = np.uint32(31), np.uint32(5), np.uint32(1)
BITS, DONE = np.uint64(32), -1


@inlined
def flips_of(mask, masks):
    """The index of the first flip of a mask, and one past the last flip."""
    return masks.flip_ends[mask - 1] if mask else np.int64(0), masks.flip_ends[mask]


@kernel
def copy_masks(states, masks, out):
    """Copy the masks of states.

    Args:
        states: int64[n].
        masks: a `fst.machines.guide.arguments.Masks`.
        out: uint32[n, at least the words of a mask]; all words are written.

    Returns:
        `DONE`, or the place of the first number in `states` that is not a state.
    """
    words, width, first = np.uint64(masks.rows.shape[1]), np.uint64(out.shape[1]), np.uint64(0)
    for place in range(len(states)):
        state, row = states[place], np.uint64(place)
        if state < NO_STATE or state >= len(masks.mask_of):
            return place
        mask = np.int64(masks.mask_of[state]) if state >= 0 else np.int64(-1)
        base = np.uint64(masks.bases[mask]) if state >= 0 else np.uint64(0)
        copied = words if base else first
        for word in range(first, copied):
            out[row, word] = masks.rows[base, word]
        for word in range(copied, width):
            out[row, word] = np.uint32(0)
        if mask >= 0:
            start, end = flips_of(mask, masks)
            for flip in masks.flips[start:end]:
                out[row, flip >> WORD_SHIFT] ^= ONE << (flip & BIT)
    return DONE


@kernel
def expand(rows, out):
    """Write the bits of masks as bytes.

    Args:
        rows: uint32[n, words].
        out: uint8[n, m]; bits past the last word are 0.
    """
    width = np.uint64(out.shape[1])
    size, first, bits = min(width, np.uint64(rows.shape[1]) * BITS), np.uint64(0), np.uint64(31)
    for row in range(np.uint64(len(rows))):
        for number in range(first, size):
            out[row, number] = rows[row, number >> np.uint64(5)] >> np.uint32(number & bits) & ONE
        for number in range(size, width):
            out[row, number] = np.uint8(0)


@inlined
def is_allowed(state, number, masks):
    """Whether the mask of a state has the bit of an id."""
    mask = np.int64(masks.mask_of[state])
    start, end = flips_of(mask, masks)
    found = masks.rows[masks.bases[mask], number >> 5] >> np.uint32(number & 31) & ONE
    while start < end:
        middle = (start + end) >> 1
        if masks.flips[middle] < number:
            start = middle + 1
        else:
            end = middle
    is_flipped = start < masks.flip_ends[mask] and masks.flips[start] == number
    return bool(found) != is_flipped


@kernel
def follow(automaton, tokens, masks, state, ids):
    """Follow tokens from a state.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        tokens: a `fst.machines.guide.arguments.Tokens`.
        masks: a `fst.machines.guide.arguments.Masks`, which must allow each token, too.
        state: a state, or `NO_STATE`.
        ids: int64[n].

    Returns:
        The state after the tokens; `NO_STATE` if one of the tokens is not allowed; `WRONG` if the mask allows a token, but the automaton
        does not.
    """
    states, end_id = np.int64(len(automaton.finals)), tokens.end_id[0]
    unread = np.int64(WRONG)
    for number in ids:
        if state == NO_STATE or number < 0 or number >= len(tokens.token_ends):
            return np.int64(NO_STATE)
        if not is_allowed(state, number, masks):
            return np.int64(NO_STATE)
        is_first, is_ended = state == states + FIRST, state == states + ENDED
        source = np.int64(0) if is_first else state
        if number == end_id:
            if not is_ended and not automaton.finals[source]:
                return unread
            state = states + ENDED
            continue
        start, end = tokens.token_ends[number - 1] if number else np.int64(0), tokens.token_ends[number]
        if is_ended or start == end:
            return unread
        data = tokens.token_bytes
        if is_first and len(tokens.first_ends):
            start, end = tokens.first_ends[number - 1] if number else np.int64(0), tokens.first_ends[number]
            data = tokens.first_bytes
        if start == end and tokens.keeps_first[0]:
            continue
        for place in range(start, end):
            source = np.int64(automaton.targets[source, automaton.classes[data[place]]])
            if source < 0:
                return unread
        state = source
    return np.int64(state)
