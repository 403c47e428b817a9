"""The 64-bit entry, which holds a transition and its output, and the limits that its fields set.

Bits of an entry, and of record A of a class, from the lowest::

    next 24 | kind 2 | output 22 | label 16
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NEXT_BITS, KIND_BITS, OUTPUT_BITS, LABEL_BITS = 24, 2, 22, 16
KIND_SHIFT = NEXT_BITS
OUTPUT_SHIFT = KIND_SHIFT + KIND_BITS
LABEL_SHIFT = OUTPUT_SHIFT + OUTPUT_BITS
MAX_NEXT, MAX_LABEL, MAX_OUTPUT = (1 << NEXT_BITS) - 1, (1 << LABEL_BITS) - 1, (1 << OUTPUT_BITS) - 1

# Kinds of an entry. Its output is empty; a token id; an index into the pool. FAIL: the word so far has no segmentation.
NONE, ONE, MANY, FAIL = 0, 1, 2, 3
# Kinds of a class. NONE is part of a word if it has a label, else a blank between words. ONE is a word by itself; its output is the id.
# OTHER is part of a word, without a label. LIST is any other sequence of symbols. Kinds from 2 on are rare.
# A blank with an output is a *fence*: it ends a word, but two equal fences side by side cancel out. Characters of one kind, each between
# two fences, thus make one word where they stand side by side, and end the words beside them.
OTHER, LIST = 2, 3
BLANK = np.uint64(0)  # record A of a blank, which also stands for the end of a text
# Flags in the output of a LIST class.
STARTS_SPECIAL = 1  # a special token may begin here
HAS_MARKS = 2  # the list holds marks: symbols of rank > 0, which canonical ordering may move
CONTINUES_RUN = 4  # a run of marks goes on through the character: all its symbols are marks, or it has none

ROOT = 0  # the state at the start of every word
LINK = 1  # in the layout "linked", the label of failure links; no class has it
LAST_OUTPUT = 1 << 31  # the bit that the last id of a pooled output has
FINISH = MAX_LABEL  # the label of finish entries
HOLE = np.uint64(2**64 - 1)  # a slot of a compact table that belongs to no row; its label is FINISH, so that it never matches

WORD_SYMBOLS = 12  # of the longest word in a table of words, see `fst.pretokens.words`
MULTIPLIERS = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd; of xxHash
MAX_WORD = (1 << 25) - 1  # the highest max_input_chars_per_word
PAGE_BITS = 7
CODE_POINTS = 0x110000
# Unicode's White_Space, at which Rust trims and splits; Python's str.isspace() also has U+001C to U+001F.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

Array = NDArray[Any]


def field_next(entries: Array) -> Array:
    """The next state (or, in a finish entry, the depth) of each entry."""
    return (entries & np.uint64(MAX_NEXT)).astype(np.int64)


def field_label(entries: Array) -> Array:
    """The label of each entry."""
    return (entries >> np.uint64(LABEL_SHIFT)).astype(np.int64)


def field_output(entries: Array) -> Array:
    """The token id or pool index of each entry."""
    return ((entries >> np.uint64(OUTPUT_SHIFT)) & np.uint64(MAX_OUTPUT)).astype(np.int64)


def field_kind(entries: Array) -> Array:
    """The kind of each entry."""
    return ((entries >> np.uint64(KIND_SHIFT)) & np.uint64(3)).astype(np.int64)


def are_parts(records: Array) -> Array:
    """Whether each class is a part of words, by record A; all others end a word, or are lists."""
    parts: Array = (field_label(records) > 0) | (field_kind(records) == OTHER)
    return parts


def are_fences(records: Array) -> Array:
    """Whether each class is a fence, by record A."""
    fences: Array = (field_output(records) > 0) & (records & ~np.uint64(MAX_OUTPUT << OUTPUT_SHIFT) == 0)
    return fences


def are_left(records: Array) -> Array:
    """Whether each class is a part of words or a word by itself, by record A; all others stand between words, or are lists."""
    left: Array = are_parts(records) | (field_kind(records) == ONE)
    return left


def pack(next_state: Array | int, label: Array | int, output: Array | int, kind: Array | int) -> Array:
    """Entries from their four fields. The caller keeps these in range."""
    packed = np.asarray(next_state, np.uint64)
    for value, shift in ((label, LABEL_SHIFT), (output, OUTPUT_SHIFT), (kind, KIND_SHIFT)):
        packed = packed | np.asarray(value, np.uint64) << np.uint64(shift)
    return packed
