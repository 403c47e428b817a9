"""A trie of words over UTF-16 units, which tables of lattices share.

Most characters of Chinese and Japanese are one unit, so that each takes one look-up; in UTF-8 it would be three, most of them far apart.

A unit has a *label*, the same for all states: 1 is the unit that the most edges have. The entry for a state b and a label c is at slot
b + c. From the lowest bit it holds ``label 17 | state 25 | value 22``: the label, by which a look-up knows that the entry belongs to this
state; where to go on, or `LEAF`; and the value of the word that ends here, 0 for none. Free slots have the label `FREE`. A unit that is in
no word has the label 0, which no entry has.

**What kernels may assume** once a trie is proven: all look-ups from a state lie in the array, no walk from the root reads more than
`longest` units, and no value is above the highest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fst.lazy import Lazy
from fst.machines.string_column import StringColumn
from fst.proof import need, need_none
from fst.rows import Array
from fst.table import Table, member
from fst.trie import Ints, spread

UNITS = 1 << 16
LABEL_BITS, STATE_BITS, VALUE_BITS = 17, 25, 22
STATE_SHIFT, VALUE_SHIFT = LABEL_BITS, LABEL_BITS + STATE_BITS
FREE = (1 << LABEL_BITS) - 1
LEAF = (1 << STATE_BITS) - 1
MAX_VALUE = (1 << VALUE_BITS) - 1
KIND_SHIFT = LABEL_BITS  # in `units`, where the rest of a number is the machine's
ROOT = 0


@dataclass(frozen=True, eq=False)
class UnitTrieTable(Table):
    """A table with a trie of words.

    Attributes:
        units: uint32[65536], for each unit ``label 17 | kind 15``. Kinds belong to the machine.
        entries: uint64[slots].
        word_bytes: uint8[n], the words in UTF-8, in the order of their ids, one after the other; word_ends: int64[ids], where each ends.
    """

    units: Array = member("<u4")
    entries: Array = member("<u8")
    word_bytes: Array = member("|u1")
    word_ends: Array = member("<i8")

    @Lazy
    def words(self) -> StringColumn:
        """The words, in the order of their ids."""
        return StringColumn(self.word_bytes, self.word_ends)

    @property
    @abstractmethod
    def streams(self) -> bool:
        """Whether texts can be read in pieces."""

    @property
    @abstractmethod
    def cuts(self) -> str:
        """The characters of ASCII after which any text may be cut."""

    def values(self, units: list[int], at: int) -> Iterator[tuple[int, int, int]]:
        """The words that begin at a place of a text, in slow and plain Python: for each its value, its slot, and where it ends."""
        state = ROOT
        while at < len(units) and state != LEAF:
            label = int(self.units[units[at]]) & FREE
            entry = int(self.entries[state + label])
            if entry & FREE != label:
                return
            at, slot = at + 1, state + label
            state, value = entry >> STATE_SHIFT & LEAF, entry >> VALUE_SHIFT
            if value:
                yield value, slot, at

    def kind_of(self, unit: int) -> int:
        """The kind of a unit."""
        return int(self.units[unit]) >> KIND_SHIFT

    def longest_walk(self, weights: Ints) -> tuple[int, int]:
        """The most units that a walk from the root reads, and the most that the weights of its slots sum up to."""
        labels, targets = self._labels, self._targets
        taken = np.flatnonzero(labels != FREE)
        sources = taken - labels[taken]
        order = np.argsort(sources, kind="stable")
        taken, sources = taken[order], sources[order]
        states, sums, longest, most = np.array([ROOT]), np.zeros(1, np.int64), 0, 0
        while True:
            first, end = np.searchsorted(sources, states), np.searchsorted(sources, states, "right")
            reached = taken[spread(first, end - first)]
            if not len(reached):
                return longest, most
            sums = np.repeat(sums, end - first) + weights[reached]
            longest, most = longest + 1, max(most, int(sums.max()))
            goes_on = targets[reached] != LEAF
            states, sums = targets[reached][goes_on], sums[goes_on]

    def prove_trie(self, longest: int, highest: int) -> None:
        """Prove what kernels may assume.

        Args:
            longest: the most units that a walk may read.
            highest: the highest value.
        """
        need(len(self.units) == UNITS, f"units has {len(self.units)} elements, not {UNITS}")
        labels, targets, size = self._labels, self._targets, len(self.entries)
        last_label = int((self.units & np.uint32(FREE)).max())
        need(last_label < FREE, f"a unit has the label {FREE}, which free slots have")
        need(size > last_label and labels[ROOT] == FREE, f"there are {size} slots, of which the first is none's")
        taken = labels != FREE
        need_none(labels == 0, lambda slot: f"slot {slot} has the label 0, which units of no word have")
        need_none(taken & (targets != LEAF) & (targets + last_label >= size), lambda slot: f"slot {slot} leads past the last slot")
        need_none(~taken & (self.entries != FREE), lambda slot: f"slot {slot} is free, and has the bits {int(self.entries[slot]):#x}")
        values = self.entries >> np.uint64(VALUE_SHIFT)
        need_none(values > highest, lambda slot: f"slot {slot} has the value {values[slot]}; the highest is {highest}")
        states, counts = np.unique(targets[taken & (targets != LEAF)], return_counts=True)
        need_none((counts > 1) | (states == ROOT), lambda at: f"state {states[at]} is entered in {counts[at]} ways: this is no trie")
        found, _ = self.longest_walk(np.zeros(size, np.int64))
        need(found == longest, f"a walk reads {found} units, not {longest}")

    @Lazy
    def _labels(self) -> Ints:
        return (self.entries & np.uint64(FREE)).astype(np.int64)

    @Lazy
    def _targets(self) -> Ints:
        return (self.entries >> np.uint64(STATE_SHIFT) & np.uint64(LEAF)).astype(np.int64)


def pack(labels: Array, states: Array, values: Array) -> Array:
    """Entries from their fields. The caller keeps these in range."""
    fields = (np.asarray(field, np.uint64) for field in (labels, states, values))
    packed: Array = next(fields) | next(fields) << np.uint64(STATE_SHIFT) | next(fields) << np.uint64(VALUE_SHIFT)
    return packed


def units_of(text: str) -> list[int]:
    """The UTF-16 units of a text."""
    units: list[int] = np.frombuffer(text.encode("utf-16-le"), "<u2").tolist()
    return units
