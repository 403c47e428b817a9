"""Searches for one piece by the automaton of a splitter, see `fst.text.splitter.Splitter`.

A search may read far past the end of its match, as one for ``a+b`` does in a run of a, and the next search would read the same text again.
So a search that read far and failed leaves its states in a memo: another one that comes to the same place in the same state fails, too.

A search is `FEW` bytes old before it looks into the memo, so that the others cost nothing. The memo is a hash table without chains: what it
loses costs time alone, since each entry has its place and its state. Near the end of a match, failures are remembered every 16 bytes or so,
and further on every 16,384, so that few of them are lost however far a search reads. The next searches take some steps each to come to one.

Kernels clear the memo at the start of each call, since its positions are those of one text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import HASH_MULTIPLIER, LOW_7, U0, U1, U3, U4, U7, U15
from fst.runtime.kernels.unicode import CONTINUATION, character_at
from fst.text.splitter import COLUMNS, FAILED, FAILED_BITS, HAS_FAILED, START, STRETCH

SEARCHES = np.uint64(START)
FEW, FAIRLY_FEW = np.uint64(32), np.uint64(64)  # bytes that a search reads before it uses the memo, and in vain before it writes to it
NEAR, FAR = np.uint64(4), np.uint64(14)  # failures are remembered where a multiple of 1 << NEAR is crossed, and far away of 1 << FAR
SLOT_SHIFT = np.uint64(64 - FAILED_BITS)


@inlined
def class_at(text, at, table):
    """The class of the character at a position, and the position of the next one."""
    code, length = np.uint64(text[at]), U1
    if code >= CONTINUATION:
        code, length = character_at(text, at, U4)
        length = length if length else U3  # a surrogate: `fst.text.normalizer.EDGE`
    return np.uint64(table.blocks[np.uint64(table.pages[code >> U7]) << U7 | code & LOW_7]), at + length


@inlined
def slot_of(failure):
    """The index in a memo of the place and the state of a search that fails."""
    return np.uint64(FAILED) + (failure * HASH_MULTIPLIER >> SLOT_SHIFT)


@part
def search_on(text, at, end, state, stop, table, memo):
    """Go on with a search until it is over or is known to fail, or up to `stop`.

    Returns:
        Where it stopped, the end of its match, and its state there: 0 if it finds no later end.
    """
    moves, columns = table.moves, table.params[COLUMNS]
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
def remember(text, begin, end, reached, table, memo):
    """Remember the states of a search that began at `begin`, ended at `end` and read up to `reached` without success."""
    moves, columns = table.moves, table.params[COLUMNS]
    memo[HAS_FAILED] = U1
    at, state = begin, SEARCHES
    while at < reached:
        symbol, after = class_at(text, at, table)
        state = np.uint64(moves[state * columns + symbol]) >> U1
        crossed = at ^ after
        if state and after > end and (crossed >> FAR or (crossed >> NEAR and (after - end) >> FAR == U0)):
            failure = after << U15 | state
            memo[slot_of(failure)] = failure
        at = after


@part
def search(text, begin, stop, at_end, table, memo):
    """Search for the piece that begins at `begin`, reading up to `stop`. `at_end` tells whether the text ends at `stop`.

    Returns:
        Where the piece ends if it ends by `stop`; and whether the text after `stop` could make it longer.
    """
    moves, columns = table.moves, table.params[COLUMNS]
    at, end, state, near = begin, begin, SEARCHES, min(stop, begin + FEW)
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
        remember(text, begin, end, at, table, memo)
    if state == U0 and end == begin:
        _, end = class_at(text, begin, table)
    return end, state > U0


@part
def forget(memo):
    """Forget what searches remember: positions in the texts of one call."""
    memo[STRETCH] = U0
    if memo[HAS_FAILED]:
        memo[HAS_FAILED:] = U0
