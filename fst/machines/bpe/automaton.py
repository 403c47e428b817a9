"""Byte-pair encoding by an automaton. After every byte, the state determines the last token so far; these last tokens determine all tokens.

`fst.compile.machines.bpe.canonical_tokens` and `fst.compile.machines.bpe.item_sets` describe how a merge list becomes this automaton, and
why it is exact. Notation:

- x: the bytes of a pre-token; |x|: their number.
- last(x): the last token of the encoding of x.
- s: a state; F(s): last(x) for every x that leads to s.
- r: the root, the state in which a pre-token begins.

**Encoding.** No merge crosses the cut before last(x). So the tokens of x are the tokens of the bytes before last(x), followed by last(x). A
walk over a pre-token from left to right finds a state for each byte. A walk from right to left finds the tokens, with one look-up for each
token.

**Rows.** Entries are uint32, ``target 24 | label 8``, see `ENTRY`; with 64 bits, walks took 2 to 14 % longer. A state is the slot of its
*finish entry*, which has the label `FINISH` and the target F(s). If the slot for the transition of s on byte b has a label other than b,
the root's transition on b is the transition of s. The root's row has every label. `FINISH` matches no byte, because bytes of UTF-8 are
below 0xF8.

**What kernels may assume** once `prove` has passed, for pre-tokens of bytes below 0xF8: no look-up leaves the arrays; a token has at least
one byte, and does not begin before the pre-token. The proof: the table contains a *depth* for each state, a lower bound on the number of
bytes on each path from the root to the state. The root has depth 0, and a transition adds at most 1 to the depth, so the bound holds by
induction. The number of bytes of F(s) is at most the depth of s.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import BYTE_ROW, MAX_OUTPUT, ROOT, Array, RowFormat
from fst.pretokens.decoding import MAX_SIZE
from fst.tables.proof import Each, Transitions, need, need_none, prove_states, prove_transitions

MAX_ID, MAX_LENGTH = MAX_OUTPUT, MAX_SIZE  # the highest id of a token, and the maximum number of bytes of a token
UTF8_BYTES = (*range(0xC0), *range(0xC2, 0xF5))  # the bytes that a text can contain
LABELS, FINISH, FREE = 0xF8, 0xFF, (1 << 32) - 1
ENTRY = RowFormat(label_bits=8, target_bits=24, value_bits=0, dtype=np.uint32, labels=LABELS, own=FINISH, free=FREE)


def step(entries: Array, state: int, byte: int) -> int:
    """The state to which a byte leads from a given state."""
    entry = ENTRY.step(entries, state, byte) or ENTRY.unpack(entries[ROOT + ENTRY.first + byte])
    return entry.target


def walk(entries: Array, lengths: Array, pretoken: bytes) -> list[int]:
    """Return the token ids of a pre-token, by the slow walk.

    Args:
        entries: uint32[slots].
        lengths: uint16[ids], the number of bytes of each id's token; 0 for an id without a token.
        pretoken: the bytes of the pre-token, all below 0xF8.
    """
    state, last = ROOT, []
    for byte in pretoken:
        state = step(entries, state, byte)
        last.append(ENTRY.unpack(entries[state]).target)
    ids: list[int] = []
    end = len(pretoken)
    while end:
        ids.append(last[end - 1])
        end -= int(lengths[ids[-1]])
    return ids[::-1]


def prove(entries: Array, lengths: Array, depths: Array, each: Each = map) -> None:
    """Prove that no walk leaves the arrays, and that every walk from right to left ends exactly at the start of the pre-token.

    Args:
        entries, lengths: see `walk`.
        depths: uint16[states], the depth of each state, in the order of their slots.
        each: `map`, or the `map` of an executor.
    """
    states = prove_states(ENTRY, entries, BYTE_ROW, "entries", each)
    need(len(depths) == len(states), f"there are {len(states)} states, and {len(depths)} depths")
    need(depths[0] == 0, f"the root has depth {depths[0]}")
    labels = ENTRY.labels_of(entries[ENTRY.first : ENTRY.first + LABELS])
    need_none(labels != np.arange(LABELS), lambda byte: f"the root has no transition for byte {byte:#x}")
    ids = ENTRY.targets_of(entries[states])
    need_none(ids >= len(lengths), lambda state: f"state {states[state]} has the token {ids[state]}; there are {len(lengths)} lengths")
    sizes = lengths[ids[1:]]
    need_none(sizes == 0, lambda state: f"state {states[1 + state]} has the token {ids[1 + state]}, which has no bytes")
    need_none(sizes > depths[1:], lambda state: f"state {states[1 + state]} has a token longer than its depth, {depths[1 + state]} bytes")

    def prove_targets(some: Transitions) -> None:
        some.need_none(some.after == 1, lambda at: f"the transition at slot {some.first + at} of entries leads to the root")

    prove_transitions(ENTRY, entries, states, depths, "entries", each, prove_targets)
