"""The proof of WordPiece's rows, and of the bound on the output: **a text has at most one id for each symbol and each special token.**

The finish entry of a state contains its depth: the number of symbols read and not yet covered by an output. The root has depth 0. An
explicit transition from s to t that emits k ids has k + depth(t) ≤ depth(s) + 1. A failure link reads no symbol, and has k + depth(t) ≤
depth(s) > depth(t). Finishing s emits at most depth(s) ids, and leads to a state of depth at most 1. By induction, the depth plus the
number of ids emitted since the start of a word never exceeds the number of symbols read. A word that fails has at least one symbol, and
all its ids are replaced by one id.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import (
    ENTRY,
    FAIL,
    FINISH,
    KIND_BITS,
    LABEL_SHIFT,
    LAST_OUTPUT,
    LINK,
    MANY,
    MAX_OUTPUT,
    NONE,
    ONE,
    ROOT,
    Array,
    pack,
)
from fst.tables.header import LINKED, Automaton
from fst.tables.proof import Each, Transitions, are_named, need, need_none, prove_states, prove_transitions


def prove_rows(entries: Array, pool: Array, named: Array, automaton: Automaton, each: Each) -> Array:
    """Prove every row. ``named`` contains whether each number is the id of a token.

    Returns:
        1 more than the depth of the state at each slot; 0 for slots that are not states, and for one additional slot.
    """
    columns, dead = automaton.columns, automaton.dead
    found = prove_states(ENTRY, entries, columns, "entries", each)
    need(dead < len(entries), f"the dead state is {dead}; there are {len(entries)} entries")
    need(len(found) == automaton.states, f"there are {len(found)} states; about says {automaton.states}")
    need(entries[ROOT] == pack(0, FINISH, 0, NONE), f"the finish entry of the root is {int(entries[ROOT]):#x}, not empty")
    first = entries[1:columns]
    need_none(ENTRY.labels_of(first) != np.arange(1, columns), lambda slot: f"the root has no transition for label {slot + 1}")
    need_none(ENTRY.values_of(first) != 0, lambda slot: f"the transition of the root for label {slot + 1} has an output")
    need(entries[dead] == pack(0, FINISH, 0, FAIL), f"state {dead} is the dead state, and does not fail")
    finish = entries[found]
    own, ids = ENTRY.targets_of(finish), ENTRY.values_of(finish)
    emits = _emits(pool, named, int(own.max()) + 2)
    owed = (emits.take(ids, mode="clip") <= own) | (ids == FAIL)
    need_none(~owed, lambda state: f"state {found[state]} emits unknown ids, or more than the {own[state]} symbols that it has read")

    def prove_outputs(some: Transitions) -> None:
        # a value past the end of `emits` reads the last element, `too_many`
        emitted = emits.take(ENTRY.values_of(some.entries), mode="clip")
        wrong = emitted + some.after > some.before + some.before.dtype.type(1)
        if automaton.layout == LINKED:
            # The root has a transition for every label, so the link of the root is never taken.
            are_links = some.entries >> LABEL_SHIFT == LINK
            links = np.flatnonzero(are_links & (np.arange(some.first, some.first + len(wrong)) != ROOT + LINK))
            before, after = some.before[links], some.after[links]
            wrong[links] |= (emitted[links] + after > before) | (after >= before)
        some.need_none(wrong, lambda at: f"the transition at slot {some.first + at} of entries emits unknown ids, or too many")

    return prove_transitions(ENTRY, entries, found, own, "entries", each, prove_outputs)


def _emits(pool: Array, named: Array, too_many: int) -> Array:
    """The number of ids for each possible value of an entry; `too_many` for values with more ids or unknown ids, and for invalid values.

    Also prove that every list of the pool ends, and that all ids in the list are ids of tokens.
    """
    need(len(pool) <= MAX_OUTPUT + 1, f"the pool has {len(pool)} elements; outputs reach {MAX_OUTPUT + 1}")
    last = np.flatnonzero(pool >= LAST_OUTPUT).astype(np.int32)
    need(not len(pool) or (len(last) and last[-1] == len(pool) - 1), "the last list of the pool has no end")
    ids = pool & np.uint32(LAST_OUTPUT - 1)
    need_none(~are_named(ids, named), lambda place: f"no token has the id {ids[place]} in the pool")
    pooled = np.repeat(last + 1, np.diff(last, prepend=np.int32(-1))) - np.arange(len(pool), dtype=np.int32)
    dtype: Any = np.min_scalar_type(2 * too_many)  # a dtype for the sum of a number of ids and a depth
    emits = np.full((max(len(pool), len(named)), 1 << KIND_BITS), too_many, dtype)
    emits[0, NONE] = 0
    emits[: len(named), ONE] = np.where(named, 1, too_many)
    emits[: len(pool), MANY] = np.minimum(pooled, too_many)
    return emits.ravel()
