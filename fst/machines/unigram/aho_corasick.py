"""Which tokens of Unigram end at each byte of a piece: an automaton of Aho and Corasick over the trie of tokens.

*Efficient string matching: an aid to bibliographic search*, 1975. A walk over the trie from each place of a piece reads every byte several
times, and no branch can tell how many. The automaton reads each byte once. Letters:

- s: a state, a string of bytes that begins a token; |s|: their number, its *depth*.
- δ(s, b): the longest suffix of sb that is a state; the root, the empty string, if there is none.
- D(s): the *default* of s, a suffix of s that has a row of its own for what it shares with s, or the root.

**Rows.** ``steps`` are entries as those of the trie, ``value 28 | target 28 | label 8``, see `fst.machines.unigram.viterbi`. A state is
the slot of its head, whose value is its depth and whose target is D(s). The transition of s on byte b is at slot s + 1 + b with the label
b. If that slot has another label, s has no transition of its own and takes D(s)'s; if that has none, the root's, whose row has every label
below `LABELS`.
A token that begins no other is no state: the transition on its last byte leads to its longest suffix that is one. The value of a
transition is the number of the list of tokens that end there.

**Lists.** ``lists`` has blocks of `BLOCK` items. List n begins with block n: the tokens that end there by their ids, the longest first; at
the end perhaps -n for a character of n bytes that is no token; then `NONE` for the rest of a block. If the last item of a block has the bit
`GOES_ON`, the next block goes on with the list. List 0, `LOST`, is empty: nothing ends inside a character, and after a character of
which no token ends, it is the only node.

**What kernels may assume** once `prove` has passed, for pieces of bytes below 0xF8: no look-up leaves the arrays; the items of a list
are of fewer and fewer bytes; and the first has no more than have been read. The proof: the table claims the depth of each state, the root's
is 0, a transition leads at most one deeper than its state, and a default is no deeper. So no depth is greater than the number of bytes
that have been read. The first item of a list has at most one byte more than the depth of a state that leads there.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fst.automata.rows import Array
from fst.machines.unigram.viterbi import (
    HEAD,
    LABEL_BITS,
    LABELS,
    MAX_CHARACTER,
    MAX_SLOTS,
    NO_STATE,
    ROOT,
    ROW,
    TARGET_SHIFT,
    VALUE_SHIFT,
    labels_of,
)
from fst.tables.proof import CHUNK, Each, by_chunks, need, need_none

BLOCK = 4
NONE = -128
GOES_ON = 1 << 30
LOST = 0


def step(steps: Array, state: int, byte: int) -> tuple[int, int]:
    """The state after a byte, and the list of tokens that end there."""
    for row in (state, int(steps[state]) >> TARGET_SHIFT & MAX_SLOTS - 1, ROOT):
        entry = int(steps[row + 1 + byte])
        if entry & (1 << LABEL_BITS) - 1 == byte:
            break
    return entry >> TARGET_SHIFT & MAX_SLOTS - 1, entry >> VALUE_SHIFT


def listed(lists: Array, number: int) -> list[int]:
    """The items of a list."""
    items, at, is_open = list[int](), BLOCK * number, True
    while is_open:
        items += [int(item) for item in lists[at : at + BLOCK] if item != NONE]
        is_open = bool(items) and items[-1] > 0 and bool(items[-1] & GOES_ON)
        at += BLOCK
    return [item & ~GOES_ON if item > 0 else item for item in items]


def sizes_of(lists: Array, lengths: Array) -> Array:
    """uint16, the number of bytes of each item; 0 for `NONE`.

    Args:
        lists: see above.
        lengths: uint16[n], the number of bytes of each token, by its id.
    """
    sizes: Array = lengths.take(lists & ~GOES_ON, mode="clip")
    others = np.flatnonzero(lists < 0)
    sizes[others] = np.where(lists[others] == NONE, 0, -lists[others])
    return sizes


def prove(steps: Array, lists: Array, sizes: Array, tokens: int, longest: int, each: Each = map) -> None:
    """Prove what kernels may assume.

    Args:
        steps, lists: uint64[slots] and int32[items], see above.
        sizes: uint16[items], the result of `sizes_of`.
        tokens: the number of tokens of the model.
        longest: the most bytes of a token.
        each: `map`, or the `map` of an executor.

    Raises:
        TableError: the arrays do not satisfy this; the message names the fault.
    """
    _prove_lists(lists, sizes, tokens)
    size = len(steps)
    need(ROW <= size <= MAX_SLOTS, f"steps has {size} slots; a row takes {ROW}, and states can name {MAX_SLOTS}")
    labels = labels_of(steps)
    heads = np.flatnonzero(labels == HEAD)
    need(len(heads) and heads[0] == ROOT, "the first slot of steps is not a state; it must be the root")
    need(heads[-1] + ROW <= size, f"the row of state {heads[-1]} of steps ends at slot {heads[-1] + ROW} of {size}")
    need_none(labels[1 : 1 + LABELS] != np.arange(LABELS), lambda byte: f"the root of steps has no transition for byte {byte:#x}")
    entries = steps[heads]
    depths = entries >> np.uint64(VALUE_SHIFT)
    need(depths[ROOT] == 0, f"the root of steps has depth {depths[ROOT]}")
    need_none(depths >= longest, lambda state: f"state {heads[state]} of steps has depth {depths[state]}; tokens have {longest} bytes")
    depth_of = np.full(size, NO_STATE, np.uint16)
    depth_of[heads] = depths
    defaults = depth_of.take(_targets(entries), mode="clip")
    need_none(defaults > depths, lambda state: f"the default of state {heads[state]} of steps is deeper, or no state")
    reach = np.append(sizes[::BLOCK], np.uint16(NO_STATE))  # the last stands for all blocks that there are not
    by_chunks(each, partial(_prove_transitions, steps, labels, depth_of, reach), size)


def _prove_lists(lists: Array, sizes: Array, tokens: int) -> None:
    """Prove that lists name tokens, and that they descend to their ends."""
    need(len(lists) and len(lists) % BLOCK == 0, f"lists has {len(lists)} items, not {BLOCK} for each block")
    wrong = (lists & ~GOES_ON >= tokens) | ((lists < -MAX_CHARACTER) & (lists != NONE))
    need_none(wrong, lambda item: f"item {item} of lists is {lists[item]}; there are {tokens} tokens")
    need_none((sizes == 0) != (lists == NONE), lambda item: f"item {item} of lists is {lists[item]}, a token without bytes")
    rows, goes_on = sizes.reshape(-1, BLOCK), (lists >= GOES_ON).reshape(-1, BLOCK)
    need(not rows[LOST].any(), "the first block of lists has items")
    need_none(rows[1:, 0] == 0, lambda block: f"block {block + 1} of lists has no items")
    need(not goes_on[:, :-1].any() and not goes_on[-1, -1], "a list goes on before the end of its block, or behind the last block")
    wrong = (sizes[1:] >= sizes[:-1]) & (sizes[1:] > 0)
    wrong[BLOCK - 1 :: BLOCK] = False  # the next item is in another block, perhaps of another list
    need_none(wrong, lambda item: f"block {item // BLOCK} of lists has a token that is not shorter than the one before")
    ends = np.flatnonzero(goes_on[:, -1])
    need_none(rows[ends + 1, 0] >= rows[ends, -1], lambda at: f"block {ends[at] + 1} of lists goes on with a token that is not shorter")


def _targets(entries: Array) -> Array:
    """The targets of entries."""
    return (entries >> np.uint64(TARGET_SHIFT) & np.uint64(MAX_SLOTS - 1)).view(np.int64)


def _prove_transitions(steps: Array, labels: Array, depth_of: Array, reach: Array, first: int) -> None:
    """Prove the transitions of a chunk: each belongs to a state, leads at most one deeper, and has a list that reaches no further back.

    All slots are computed alike, which takes less time than to leave some out.
    """
    entries, own = steps[first : first + CHUNK], labels[first : first + CHUNK]
    sources = np.arange(first - 1, first - 1 + len(own)) - own
    most = depth_of.take(sources, mode="clip") + np.uint16(1)  # it wraps `NO_STATE` around to 0
    wrong = (depth_of.take(_targets(entries), mode="clip") > most) | (most == 0)
    wrong |= reach.take((entries >> np.uint64(VALUE_SHIFT)).view(np.int64), mode="clip") > most
    wrong &= own < LABELS
    fault = "belongs to no state, leads more than one deeper, or has a list that is none or reaches too far back"
    need_none(wrong, lambda at: f"slot {first + at} of steps {fault}")
