"""Byte-pair encoding by an automaton: after every byte its state determines the last token so far, and the last tokens give all tokens.

`fst.compile.machines.bpe.canonical` and `fst.compile.machines.bpe.item_sets` say how a merge list becomes this automaton, and why it is
exact. Letters:

- x: the bytes of a piece; |x|: their number.
- last(x): the last token of the encoding of x.
- s: a state; F(s): last(x) for every x that leads to s.
- r: the root, the state in which a piece begins.

**Encoding.** No merge crosses the cut before last(x). So the tokens of x are the tokens of the bytes before last(x), followed by last(x): a
walk over a piece from left to right finds its states, and one from right to left its tokens, with one look-up for each token.

**Rows.** Entries are uint32, ``label << 24 | value``. A state is the slot of its *finish entry*, which has the label `FINISH` and the value
F(s). The transition of s on byte b is at slot s + 1 + b, with the label b and the next state as its value. Rows share slots: if the slot
has another label, s has no transition of its own and takes r's, whose row holds every label. A slot that belongs to no row is `FREE`: it
has the label `FINISH`, which matches no byte, since bytes of UTF-8 are below 0xF8.

**What kernels may assume** once `prove` has passed, for pieces of bytes below 0xF8: no look-up leaves the arrays; and every token has at
least one byte, and no more bytes than the piece has up to the token's end. The proof: the table claims for each state a *depth*, a lower
bound on the number of bytes that lead there. r has depth 0, and a transition leads at most one deeper, so the claim holds by induction.
F(s) has no more bytes than the depth of s.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fst.automata.rows import MAX_OUTPUT, Array
from fst.tables.proof import CHUNK, Each, by_chunks, need, need_none

MAX_ID, MAX_LENGTH = MAX_OUTPUT, (1 << 16) - 1  # the highest id, and the most bytes of a token
UTF8_BYTES = (*range(0xC0), *range(0xC2, 0xF5))  # the bytes that a text can hold
LABELS, FINISH, LABEL_SHIFT = 0xF8, 0xFF, 24
MAX_VALUE = (1 << LABEL_SHIFT) - 1
MAX_SLOTS = 1 << LABEL_SHIFT
FREE = np.uint32((1 << 32) - 1)
ROOT = 0  # the slot of r
ROW = 1 + 256  # slots that look-ups in a row can reach, whatever the byte
ONE_LABEL = np.uint32(1 << LABEL_SHIFT)  # added to an entry, it wraps the label FINISH around to 0


def step(entries: Array, state: int, byte: int) -> int:
    """The state after a byte."""
    entry = int(entries[state + 1 + byte])
    if entry >> LABEL_SHIFT != byte:
        entry = int(entries[ROOT + 1 + byte])
    return entry & MAX_VALUE


def walk(entries: Array, lengths: Array, piece: bytes) -> list[int]:
    """The token ids of a piece, in slow and plain Python.

    Args:
        entries: uint32[slots].
        lengths: uint16[ids], the number of bytes of each id's token; 0 for an id without a token.
        piece: its bytes, all below 0xF8.
    """
    state, last = ROOT, []
    for byte in piece:
        state = step(entries, state, byte)
        last.append(int(entries[state]) & MAX_VALUE)
    ids: list[int] = []
    end = len(piece)
    while end:
        ids.append(last[end - 1])
        end -= int(lengths[ids[-1]])
    return ids[::-1]


def prove(entries: Array, lengths: Array, depths: Array, each: Each = map) -> None:
    """Prove that no walk leaves the arrays, and that every walk back ends exactly where the piece begins.

    Args:
        entries, lengths: as `walk` takes them.
        depths: uint16[states], the depth of each state, in the order of their slots.
        each: `map`, or the `map` of an executor.

    Raises:
        TableError: the arrays do not satisfy this; the message names the fault.
    """
    size = len(entries)
    need(ROW <= size <= MAX_SLOTS, f"there are {size} entries; a row takes {ROW}, and states can name {MAX_SLOTS}")
    states, ids = map(np.concatenate, zip(*by_chunks(each, partial(_finish_entries, entries), size), strict=True))
    need(len(states) and states[0] == ROOT, "the first slot is not a state; it must be the root")
    need(states[-1] + ROW <= size, f"the row of state {states[-1]} ends at slot {states[-1] + ROW} of {size}")
    need(len(depths) == len(states), f"there are {len(states)} states, and {len(depths)} depths")
    need(depths[0] == 0, f"the root has depth {depths[0]}")
    labels = entries[1 : 1 + LABELS] >> np.uint32(LABEL_SHIFT)
    need_none(labels != np.arange(LABELS), lambda byte: f"the root has no transition for byte {byte:#x}")
    need_none(ids >= len(lengths), lambda state: f"state {states[state]} has the token {ids[state]}; there are {len(lengths)} lengths")
    sizes = lengths[ids[1:]]
    need_none(sizes == 0, lambda state: f"state {states[1 + state]} has the token {ids[1 + state]}, which has no bytes")
    need_none(sizes > depths[1:], lambda state: f"state {states[1 + state]} has a token longer than its depth, {depths[1 + state]} bytes")

    depth_of = np.zeros(size, np.min_scalar_type(int(depths.max())))  # 0 for the root, and for slots without a state
    depth_of[states] = depths
    by_chunks(each, partial(_prove_transitions, entries, depth_of), size)


def _finish_entries(entries: Array, first: int) -> tuple[Array, Array]:
    """The finish entries of a chunk: their slots, which are the states, and the ids in them."""
    values = entries[first : first + CHUNK] + ONE_LABEL  # at most MAX_ID only for the label FINISH
    found = np.flatnonzero(values <= MAX_ID)
    return first + found, values[found]


def _prove_transitions(entries: Array, depth_of: Array, first: int) -> None:
    """Prove the transitions of a chunk: each leads to a state at most one deeper than its own.

    An entry that belongs to no state is treated as one of the root's.
    """
    chunk = entries[first : first + CHUNK]
    labels = chunk >> np.uint32(LABEL_SHIFT)
    sources = np.arange(first - 1, first - 1 + len(chunk)) - labels
    before = depth_of.take(sources, mode="clip")
    after = depth_of.take((chunk & np.uint32(MAX_VALUE)).astype(np.int64), mode="clip")
    sound = (after - after.dtype.type(1) <= before) & (after > 0) | (labels >= LABELS)
    if not sound.all():
        slot = int(sound.argmin())
        fault = "more than one deeper than its own" if after[slot] else "that is none, or the root"
        need(False, f"the transition at slot {first + slot} leads to a state {fault}")
