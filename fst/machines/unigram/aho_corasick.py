"""An Aho-Corasick automaton over the trie of tokens, which finds the tokens of Unigram that end at each byte of a pre-token.

The source is Aho and Corasick, *Efficient string matching: an aid to bibliographic search*, 1975. Walks over the trie from each position of
a pre-token would read each byte an unpredictable number of times. The automaton reads each byte once. Notation:

- s: a state, a byte string that is a prefix of a token; |s|: the number of its bytes, its *depth*.
- δ(s, b): the longest suffix of sb that is a state, or the root (the empty string).
- D(s): the *default* of s: the root, or a suffix of s that has transitions in common with s. The row of s leaves these transitions out.

**Rows.** ``steps`` has entries in the format of the trie, see `fst.machines.unigram.viterbi`. The head of a state has the depth as its
value and D(s) as its target. If the row of s has no transition on a byte, the transition of D(s) applies; if the row of D(s) has none
either, the transition of the root applies. The root's row has every label below `LABELS`. A token that is not a prefix of
another token is not a state. So the transition on the last byte of such a token leads to the longest suffix of the token that is a state.
The value of a transition is the number of the list of tokens that end there.

**Lists.** ``lists`` has blocks of `BLOCK` items. List n begins with block n. A list contains the ids of the tokens that end at a byte, the
longest token first; then, optionally, -n for a character of n bytes that is not a token; then `NONE` up to the end of the block. If the
last item of a block has the bit `GOES_ON`, the list continues in the next block. List 0, `LOST`, is empty. It is used inside a character,
and at the end of a character if no token ends there.

**Example.** With the tokens a, ab, b, bc, abd and bcd, the states are the root, a, ab, b and bc. The text "abcd":

    byte   state after the byte                                        list
    a      a                                                           a
    b      ab                                                          ab, b
    c      bc: no token begins with abc                                bc, -1
    d      the root: bcd is not a prefix of another token              bcd, -1

**What kernels may assume** once `prove` has passed, for pre-tokens of bytes below 0xF8: no look-up leaves the arrays; each item of a list
is shorter than the previous item; and the first item has at most as many bytes as have been read. The proof uses the depths in the table:
the root has depth 0, a transition leads at most one level deeper, and a default is not deeper than its state. So no depth is
greater than the number of bytes read. The number of bytes of a list's first item is at most 1 more than the depth of any state with a
transition to this list.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import BYTE_ROW, ROOT, Array
from fst.machines.unigram.viterbi import ENTRY, LABELS, MAX_CHARACTER, prove_depths
from fst.tables.proof import Each, Transitions, need, need_none, prove_states, prove_transitions

BLOCK = 4
NONE = -128
GOES_ON = 1 << 30
LOST = 0
NO_BLOCK = np.uint16((1 << 16) - 1)  # instead of the size of a block's first item, if the block does not exist


def step(steps: Array, state: int, byte: int) -> tuple[int, int]:
    """The state after a byte, and the number of the list that contains the tokens that end with this byte."""
    rows = state, ENTRY.unpack(steps[state]).target
    found = next(filter(None, (ENTRY.step(steps, row, byte) for row in rows)), None)
    _, target, number = found or ENTRY.unpack(steps[ROOT + ENTRY.first + byte])
    return target, number


def listed(lists: Array, number: int) -> list[int]:
    """The items of a list."""
    items, at, is_open = list[int](), BLOCK * number, True
    while is_open:
        items += [int(item) for item in lists[at : at + BLOCK] if item != NONE]
        is_open = bool(items) and items[-1] > 0 and bool(items[-1] & GOES_ON)
        at += BLOCK
    return [item & ~GOES_ON if item > 0 else item for item in items]


def sizes_of(lists: Array, lengths: Array) -> Array:
    """uint16[items], the number of bytes of each item of the lists; 0 for `NONE`.

    Args:
        lists: see the module docstring.
        lengths: uint16[n], the number of bytes of each token, by its id.
    """
    sizes: Array = lengths.take(lists & ~GOES_ON, mode="clip")
    others = np.flatnonzero(lists < 0)
    sizes[others] = np.where(lists[others] == NONE, 0, -lists[others])
    return sizes


def prove(steps: Array, lists: Array, sizes: Array, tokens: int, longest: int, each: Each = map) -> None:
    """Prove the properties that kernels may assume, see the module docstring.

    Args:
        steps, lists: uint64[slots] and int32[items], see the module docstring.
        sizes: uint16[items], the result of `sizes_of`.
        tokens: the number of tokens of the model.
        longest: the maximum number of bytes of a token.
        each: `map`, or the `map` of an executor.
    """
    _prove_lists(lists, sizes, tokens)
    heads = prove_states(ENTRY, steps, BYTE_ROW, "steps", each)
    labels = ENTRY.labels_of(steps[ENTRY.first : ENTRY.first + LABELS])
    need_none(labels != np.arange(LABELS), lambda byte: f"the root of steps has no transition for byte {byte:#x}")
    own = steps[heads]
    depths = prove_depths(own, heads, longest, "steps")
    reach = np.append(sizes[::BLOCK], NO_BLOCK)

    def prove_lists(some: Transitions) -> None:
        wrong = reach.take(ENTRY.values_of(some.entries), mode="clip") > some.before
        some.need_none(wrong, lambda at: f"slot {some.first + at} of steps has an unknown list, or one with a too long token")

    known = prove_transitions(ENTRY, steps, heads, depths, "steps", each, prove_lists)
    defaults = known.take(ENTRY.targets_of(own), mode="clip")
    wrong = (defaults == 0) | (defaults > depths + 1)
    need_none(wrong, lambda state: f"the default of state {heads[state]} of steps is deeper, or no state")


def _prove_lists(lists: Array, sizes: Array, tokens: int) -> None:
    """Prove that lists contain valid tokens, in descending order of size, and that each list ends."""
    need(len(lists) and len(lists) % BLOCK == 0, f"lists has {len(lists)} items, not {BLOCK} for each block")
    wrong = (lists & ~GOES_ON >= tokens) | ((lists < -MAX_CHARACTER) & (lists != NONE))
    need_none(wrong, lambda item: f"item {item} of lists is {lists[item]}; there are {tokens} tokens")
    need_none((sizes == 0) != (lists == NONE), lambda item: f"item {item} of lists is {lists[item]}, a token without bytes")
    rows, goes_on = sizes.reshape(-1, BLOCK), (lists >= GOES_ON).reshape(-1, BLOCK)
    need(not rows[LOST].any(), "the first block of lists has items")
    need_none(rows[1:, 0] == 0, lambda block: f"block {block + 1} of lists has no items")
    need(not goes_on[:, :-1].any() and not goes_on[-1, -1], "a list continues before the end of its block, or after the last block")
    wrong = (sizes[1:] >= sizes[:-1]) & (sizes[1:] > 0)
    wrong[BLOCK - 1 :: BLOCK] = False  # the next item is in a different block, possibly of a different list
    need_none(wrong, lambda item: f"block {item // BLOCK} of lists has a token that is not shorter than the token before it")
    ends = np.flatnonzero(goes_on[:, -1])
    need_none(rows[ends + 1, 0] >= rows[ends, -1], lambda at: f"block {ends[at] + 1} of lists continues with a token that is not shorter")
