"""Rows of transitions: the class `RowFormat`, and the row format of WordPiece. WordPiece's records of character classes have the same
fields.

An automaton is an array of entries. A state is the slot at which its row begins. Rows overlap: a slot that a row does not use may contain a
transition of another row. The label of the entry distinguishes the two cases.

Examples:
    >>> rows = RowFormat(label_bits=8, target_bits=24, value_bits=0, dtype=np.uint32, labels=0xF8, own=0xFF, free=0xFFFFFFFF)
    >>> entries = rows.pack([0xFF, ord("a"), ord("b")], [0, 7, 9])
    >>> rows.unpack(entries[1])
    Entry(label=97, target=7, value=0)
    >>> rows.targets_of(entries), rows.are_states(entries)
    (array([0, 7, 9]), array([ True, False, False]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]
BYTES = 256
BYTE_ROW = 1 + BYTES  # number of slots that look-ups in a row of bytes can reach, including the slot of the state


class Entry(NamedTuple):
    """The fields of an entry."""

    label: int
    target: int
    value: int


@dataclass(frozen=True)
class RowFormat:
    """The format of entries, ``target | value | label`` from the lowest bit.

    Attributes:
        label_bits, target_bits, value_bits: the sizes of the fields.
        dtype: the dtype of the entries, unsigned.
        labels: the number of labels that can be looked up: 0 to ``labels - 1``.
        own: the label of the slot of a state, whose entry contains the data of the state itself.
        free: the entry of an unused slot.
        first: the distance in slots from a state to its transition on label 0; 0 if no transition has label 0.
    """

    label_bits: int
    target_bits: int
    value_bits: int
    dtype: type[np.unsignedinteger[Any]]
    labels: int
    own: int
    free: int
    first: int = 1

    @property
    def value_shift(self) -> int:
        """The number of bits below the value."""
        return self.target_bits

    @property
    def label_shift(self) -> int:
        """The number of bits below the label."""
        return self.target_bits + self.value_bits

    @property
    def max_target(self) -> int:
        """The highest target, which is the highest possible slot of a state."""
        return (1 << self.target_bits) - 1

    @property
    def max_value(self) -> int:
        """The highest value."""
        return (1 << self.value_bits) - 1

    def pack(self, labels: Any, targets: Any, values: Any = 0) -> Array:
        """Pack fields into entries. The caller ensures that the fields are in range."""
        target, value, label = (np.asarray(field, self.dtype) for field in (targets, values, labels))
        packed: Array = target | value << self.value_shift | label << self.label_shift
        return packed

    def unpack(self, entry: Any) -> Entry:
        """The fields of an entry."""
        number = int(entry)
        return Entry(number >> self.label_shift, number & self.max_target, number >> self.value_shift & self.max_value)

    def labels_of(self, entries: Array) -> Ints:
        """The label of each entry."""
        return _signed(entries >> self.label_shift)

    def targets_of(self, entries: Array) -> Ints:
        """The target of each entry."""
        return _signed(entries & self.max_target)

    def values_of(self, entries: Array) -> Ints:
        """The value of each entry."""
        return _signed(entries >> self.value_shift & self.max_value)

    def are_states(self, entries: Array) -> NDArray[np.bool_]:
        """Whether each slot is a state, with the label `own`. Free slots may have this label, too, with all other bits set."""
        base = self.own << self.label_shift
        others = (1 << self.label_shift) - (self.free >> self.label_shift == self.own)
        found: NDArray[np.bool_] = entries - self.dtype(base) < others
        return found

    def step(self, entries: Array, state: int, label: int) -> Entry | None:
        """The transition of a state on a label, for slow walks; None if there is no transition."""
        entry = self.unpack(entries[state + self.first + label])
        return entry if entry.label == label else None


def _signed(numbers: Array) -> Ints:
    """Convert numbers below 2^63 to indices."""
    return numbers.view(np.int64) if numbers.dtype.itemsize == 8 else numbers.astype(np.int64)


# The entry of WordPiece, and record A of a class: ``next 24 | kind 2 | output 22 | label 16``. The value consists of output and kind.
KIND_BITS, OUTPUT_BITS, LABEL_BITS = 2, 22, 16
MAX_LABEL, MAX_OUTPUT = (1 << LABEL_BITS) - 1, (1 << OUTPUT_BITS) - 1
FINISH = MAX_LABEL  # the label of finish entries
HOLE = np.uint64(2**64 - 1)  # the entry of an unused slot; its label is FINISH, which no symbol has
ENTRY = RowFormat(
    label_bits=LABEL_BITS,
    target_bits=24,
    value_bits=KIND_BITS + OUTPUT_BITS,
    dtype=np.uint64,
    labels=FINISH,
    own=FINISH,
    free=int(HOLE),
    first=0,
)
MAX_NEXT, LABEL_SHIFT = ENTRY.max_target, ENTRY.label_shift
KIND_SHIFT, OUTPUT_SHIFT = ENTRY.value_shift, ENTRY.value_shift + KIND_BITS

# Kinds of an entry. The first three kinds: the output is empty, a token id, or an index into the pool. FAIL: the word so far has no
# segmentation.
NONE, ONE, MANY, FAIL = 0, 1, 2, 3
# Kinds of a class. NONE: a class with a label is part of a word; a class without a label is *whitespace* between words. ONE: a word by
# itself; its output is the word's id. OTHER: a class that is part of a word, without a label. LIST: any other sequence of symbols. Classes
# of the kinds OTHER and LIST are rare. Whitespace with an output is a *fence*: a fence ends a word, but two equal fences next to each other
# have no effect. So if each character of a kind is put between two equal fences, adjacent characters of this kind form one word of their
# own.
OTHER, LIST = 2, 3
WHITESPACE = np.uint64(0)  # record A of whitespace, which also represents the end of a text

# Flags in the output of a LIST class.
STARTS_SPECIAL = 1  # a special token may begin with the character
HAS_MARKS = 2  # the list contains marks: symbols of rank > 0, which canonical ordering may move
CONTINUES_RUN = 4  # the character does not end a run of marks, because its list is empty or contains only marks

ROOT = 0  # the state at the start of every word
LINK = 1  # in the layout "linked", the label of failure links; no class has this label
LAST_OUTPUT = 1 << 31  # a bit that is set in the last id of an output in the pool

WORD_SYMBOLS = 12  # the maximum length of a word in a table of words, see `fst.tables.words`
MULTIPLIERS = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd numbers from xxHash
MAX_WORD = (1 << 25) - 1  # the highest max_input_chars_per_word
PAGE_BITS = 7
CODE_POINTS = 0x110000
# Unicode's White_Space, where Rust trims and splits; Python's str.isspace() also includes U+001C to U+001F.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def field_output(entries: Array) -> Array:
    """The token id or pool index of each entry."""
    return ENTRY.values_of(entries) >> KIND_BITS


def field_kind(entries: Array) -> Array:
    """The kind of each entry."""
    return ENTRY.values_of(entries) & 3


def are_parts(records: Array) -> Array:
    """Whether each class, given by its record A, is part of a word; other classes end a word or are lists."""
    parts: Array = (ENTRY.labels_of(records) > 0) | (field_kind(records) == OTHER)
    return parts


def are_fences(records: Array) -> Array:
    """Whether each class, given by its record A, is a fence."""
    fences: Array = (field_output(records) > 0) & (records & ~np.uint64(MAX_OUTPUT << OUTPUT_SHIFT) == 0)
    return fences


def pack(next_state: Array | int, label: Array | int, output: Array | int, kind: Array | int) -> Array:
    """Pack four fields into entries. The caller ensures that the fields are in range."""
    return ENTRY.pack(label, next_state, np.asarray(output, np.uint64) << KIND_BITS | np.asarray(kind, np.uint64))
