"""A trie of strings over UTF-16 units, which is part of all segmentation tables.

Most Chinese and Japanese characters are one unit, so each takes one look-up. In UTF-8, each of these characters would take three look-ups,
mostly far apart in memory.

Each unit has a *label*, which is the same in all states. The unit with the most edges has the label 1. A unit that is in no word has the
label 0, which no entry has. An entry, see `ENTRY`, contains the next state, or `LEAF`; and the value of the word that ends there, or 0 if
no word ends there. A free slot has the label `FREE`. The slot of a state itself is always free, and a machine may store data in its other
bits.

**What kernels may assume** once a trie is proven: all look-ups from a state are in the array, no walk from the root reads more than
`longest` units, and no value is greater than `highest`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fst.automata.rows import ROOT, Array, RowFormat
from fst.automata.trie import NULL, Ints
from fst.core.lazy import Lazy
from fst.tables.proof import need, need_none
from fst.tables.strings import StringColumn
from fst.tables.table import Table, member

UNITS = 1 << 16
LABEL_BITS, TARGET_BITS, VALUE_BITS = 17, 25, 22
FREE = (1 << LABEL_BITS) - 1
ENTRY = RowFormat(
    label_bits=LABEL_BITS,
    target_bits=TARGET_BITS,
    value_bits=VALUE_BITS,
    dtype=np.uint64,
    labels=FREE,
    own=FREE,
    free=FREE << TARGET_BITS + VALUE_BITS,
    first=0,
)
LEAF, MAX_VALUE = ENTRY.max_target, ENTRY.max_value
KIND_SHIFT = LABEL_BITS  # the lowest bit of the kind in an element of `units`; each machine defines its kinds


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a trie, in the order of their slots.

    Attributes:
        slots, labels, targets, values: int64[edges], the slot of each edge, and the fields of its entry.
        above: int64[edges], the parent edge of each edge; for edges of the root, the number of edges.
        edge_to: int64[slots + 1], the edge that leads to each state; the number of edges for the root; `NULL` for a slot without a state.
    """

    slots: Ints
    labels: Ints
    targets: Ints
    values: Ints
    above: Ints
    edge_to: Ints

    def __len__(self) -> int:
        return len(self.slots)

    def sums(self, weights: Ints) -> Ints:
        """For each edge, the sum of the weights of all edges from the root up to this edge. `weights` has one element per edge."""
        found, above = np.append(weights, 0), np.append(self.above, len(self))
        while np.any(above < len(self)):
            found += found[above]
            above = above[above]
        return found[:-1]

    @Lazy
    def depths(self) -> Ints:
        """int64[edges], the number of units from the root to the end of each edge."""
        return self.sums(np.ones(len(self), np.int64))

    def last_of(self, some: Array) -> Ints:
        """For each edge, the last edge on its path from the root for which `some` is true; the number of edges if there is none."""
        found = np.append(np.where(some, np.arange(len(self)), self.above), len(self))
        while not np.array_equal(found, further := found[found]):
            found = further
        return found[:-1]


@dataclass(frozen=True, eq=False)
class UnitTable(Table):
    """A table with a trie of strings.

    Attributes:
        units: uint32[65536], for each unit, fields with these numbers of bits, from the lowest bit: ``label 17 | kind 15``. Each machine
            defines its kinds.
        entries: uint64[slots], the trie.
    """

    units: Array = member("<u4")
    entries: Array = member("<u8")

    def values(self, units: list[int], at: int) -> Iterator[tuple[int, int, int]]:
        """The value, the slot and the end of each word that begins at a position of a text. This method is part of the slow walk."""
        state = ROOT
        while at < len(units) and state != LEAF:
            label = int(self.units[units[at]]) & FREE
            entry = ENTRY.step(self.entries, state, label)
            if not entry:
                return
            at, slot = at + 1, state + label
            _, state, value = entry
            if value:
                yield value, slot, at

    def slot_between(self, units: list[int], start: int, end: int) -> int:
        """The slot of the last unit of a part of a text, for the slow walk; `ROOT` if the trie does not contain the part."""
        state, slot = ROOT, ROOT
        for unit in units[start:end]:
            label = int(self.units[unit]) & FREE
            entry = ENTRY.step(self.entries, state, label) if state != LEAF else None
            if not entry:
                return ROOT
            slot, state = state + label, entry.target
        return slot

    def kind_of(self, unit: int) -> int:
        """The kind of a unit."""
        return int(self.units[unit]) >> KIND_SHIFT

    def prove_trie(self, longest: int, highest: int, *, keeps: bool = False) -> Edges:
        """Prove the properties that kernels may assume, see the module docstring.

        Args:
            longest: the maximum number of units that a walk may read.
            highest: the maximum value of a word.
            keeps: whether the machine stores data in the slots of states; if so, the machine proves this data separately.

        Returns:
            The edges.
        """
        need(len(self.units) == UNITS, f"units has {len(self.units)} elements, not {UNITS}")
        entries, labels, size = self.entries, ENTRY.labels_of(self.entries), len(self.entries)
        last_label = int((self.units & np.uint32(FREE)).max())
        need(last_label < FREE, f"a unit has the label {FREE}, which free slots have")
        need(size > last_label and labels[ROOT] == FREE, f"there are {size} slots, and slot 0 is not free")
        taken, targets = labels != FREE, ENTRY.targets_of(self.entries)
        need_none(labels == 0, lambda slot: f"slot {slot} has the label 0, which units of no word have")
        leads = taken & (targets != LEAF)
        need_none(leads & (targets + last_label >= size), lambda slot: f"slot {slot} leads past the last slot")
        is_bare = ~taken
        if keeps:
            is_bare[targets[leads]] = False
        need_none(is_bare & (entries != ENTRY.free), lambda slot: f"slot {slot} is free, and has the bits {int(entries[slot]):#x}")
        values = ENTRY.values_of(self.entries)
        need_none(taken & (values > highest), lambda slot: f"slot {slot} has the value {values[slot]}; the highest is {highest}")
        states, counts = np.unique(targets[leads], return_counts=True)
        need_none((counts > 1) | (states == ROOT), lambda at: f"state {states[at]} has {counts[at]} incoming edges; this is not a trie")
        edges = self.edges()
        above = np.append(edges.above, len(edges))
        need_none(above == NULL, lambda edge: f"slot {edges.slots[edge]} belongs to no state")
        for _ in range(longest.bit_length()):
            above = above[above]
        need_none(above < len(edges), lambda edge: f"slot {edges.slots[edge]} is not within {longest} units of the root")
        found = int(edges.depths.max(initial=0))
        need(found == longest, f"the longest walk reads {found} units; expected {longest}")
        return edges

    def edges(self) -> Edges:
        """The edges of the trie. If a slot belongs to no state, `above` is `NULL` for its edge."""
        labels = ENTRY.labels_of(self.entries)
        slots = np.flatnonzero(labels != FREE)
        labels, entries = labels[slots], self.entries[slots]
        targets = ENTRY.targets_of(entries)
        edge_to = np.full(len(self.entries) + 1, NULL)
        goes_on = np.flatnonzero(targets != LEAF)
        edge_to[targets[goes_on]] = goes_on
        edge_to[ROOT] = len(slots)
        above = edge_to[np.maximum(slots - labels, NULL)]  # the last element of `edge_to` belongs to no state
        return Edges(slots, labels, targets, ENTRY.values_of(entries), above, edge_to)


@dataclass(frozen=True, eq=False)
class UnitTrieTable(UnitTable):
    """A table with a trie of words.

    Attributes:
        word_bytes: uint8[n], the words in UTF-8, in the order of their ids, concatenated.
        word_ends: int64[ids], the end of each word in `word_bytes`.
    """

    word_bytes: Array = member("|u1")
    word_ends: Array = member("<i8")

    @Lazy
    def words(self) -> Sequence[str]:
        """The words, in the order of their ids."""
        return StringColumn(self.word_bytes, self.word_ends)

    @property
    @abstractmethod
    def streams(self) -> bool:
        """Whether texts can be read in chunks."""

    @property
    @abstractmethod
    def cuts(self) -> str:
        """The ASCII characters after which any text may be cut."""


def units_of(text: str) -> list[int]:
    """The UTF-16 units of a text."""
    units: list[int] = np.frombuffer(text.encode("utf-16-le"), "<u2").tolist()
    return units
