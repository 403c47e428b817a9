"""Search for a pre-token with the automaton of a splitter, see `fst.text.splitter.Splitter`.

A search may read far past the end of its match, for example a search for ``a+b`` in a long run of ``a``. The next search would read the
same text again. So a search that reads far past its match stores its states in a memo, because a later search with the same state at the
same position finds no longer match either.

A search reads the memo only after `FEW` bytes, so that short searches are not slower. The memo is a hash table without chains, so a new
entry overwrites an old entry in the same slot. An overwritten entry costs only time. A search never uses a wrong entry, because each entry
contains its position and its state. Near the end of a match, states are stored about every 16 bytes, and far from this end every 16,384
bytes, so that few entries of a long search are overwritten. A later search has to read on to the next stored position.

Kernels clear the memo at the start of each call, because its positions refer to the texts of one call.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import HASH_MULTIPLIER, LOW_7, U0, U1, U3, U4, U7, U15
from fst.runtime.kernels.unicode import CONTINUATION, character_at
from fst.text.splitter import FAILED, FAILED_BITS, HAS_FAILED, START, STRETCH

SEARCHES = np.uint64(START)
# A search reads the memo after `FEW` bytes, and writes the memo if it reads more than `FAIRLY_FEW` bytes past its match.
FEW, FAIRLY_FEW = np.uint64(32), np.uint64(64)
NEAR, FAR = np.uint64(4), np.uint64(14)  # states are stored at multiples of 1 << NEAR bytes near a match, else at multiples of 1 << FAR
SLOT_SHIFT = np.uint64(64 - FAILED_BITS)


@inlined
def class_at(text, at, table):
    """Look up the class of the character at a position; return also the position of the next character."""
    code, length = np.uint64(text[at]), U1
    if code >= CONTINUATION:
        code, length = character_at(text, at, U4)
        length = length if length else U3  # 3 bytes for a surrogate, which is always `fst.text.normalizer.EDGE`
    return np.uint64(table.blocks[np.uint64(table.pages[code >> U7]) << U7 | code & LOW_7]), at + length


@inlined
def slot_of(failure):
    """Compute the index of a failure in the memo. A failure is the position and the state of a search that finds no longer match."""
    return np.uint64(FAILED) + (failure * HASH_MULTIPLIER >> SLOT_SHIFT)


@part
def search_on(text, at, end, state, stop, table, memo):
    """Continue a search until it ends, until the memo contains the search's state as a failure, or until `stop`.

    Returns:
        The position where the search stopped; the end of the match; and the state of the search, 0 if no longer match is possible.
    """
    moves, columns = table.moves, table.scalars.columns
    while state and at < stop:
        symbol, after = class_at(text, at, table)
        move = np.uint64(moves[state * columns + symbol])
        end = at if move & U1 else end
        state = move >> U1
        failure = after << U15 | state
        if (at ^ after) >> NEAR and memo[slot_of(failure)] == failure:
            state = U0
        at = after
    return at, end, state


@part
def remember(text, start, end, reached, table, memo):
    """Store the states of a search that began at `start`, found a match up to `end`, and read on to `reached` without a longer match."""
    moves, columns = table.moves, table.scalars.columns
    memo[HAS_FAILED] = U1
    at, state = start, SEARCHES
    while at < reached:
        symbol, after = class_at(text, at, table)
        state = np.uint64(moves[state * columns + symbol]) >> U1
        crossed = at ^ after
        if state and after > end and (crossed >> FAR or (crossed >> NEAR and (after - end) >> FAR == U0)):
            failure = after << U15 | state
            memo[slot_of(failure)] = failure
        at = after


@part
def search(text, start, stop, at_end, table, memo):
    """Search for the pre-token that begins at `start`, and read at most up to `stop`. `at_end`: whether the text ends at `stop`.

    Returns:
        The end of the longest pre-token up to `stop`; and whether text after `stop` could make the pre-token longer.
    """
    moves, columns = table.moves, table.scalars.columns
    at, end, state, near = start, start, SEARCHES, min(stop, start + FEW)
    while state and at < near:
        symbol, after = class_at(text, at, table)
        move = np.uint64(moves[state * columns + symbol])
        end = at if move & U1 else end
        state, at = move >> U1, after
    if state and at < stop:
        at, end, state = search_on(text, at, end, state, stop, table, memo)
    if state and at_end:
        end = at if moves[state * columns + columns - U1] & 1 else end
        state = U0
    if state == U0 and at > end + FAIRLY_FEW:
        remember(text, start, end, at, table, memo)
    if state == U0 and end == start:
        _, end = class_at(text, start, table)
    return end, state > U0


@part
def forget(memo):
    """Clear the memo before the texts of a new call."""
    memo[STRETCH] = U0
    if memo[HAS_FAILED]:
        memo[HAS_FAILED:] = U0
