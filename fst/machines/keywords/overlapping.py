"""The machine of keyword search with overlapping matches: the automaton of Aho and Corasick (1975) reports every keyword at every position.

States, transitions and links are as in `fst.machines.keywords.table`; a link leads to the longest proper suffix that is a state. Only the
outputs differ. The output of a transition is the row of the longest keyword that ends with the byte read, or
0 if no keyword ends there. Links have no outputs. The row of a keyword leads to the row of the next keyword with the same end: an equal
keyword, or the longest shorter keyword. So the size of a table grows with the number of keywords, but not with the number of keywords that
end at one position.

**What kernels may assume** once a table is proven, in addition to states and transitions: the number of rows in a chain of keyword rows is
the count in the first of these rows; a match has at most as many characters as the previous state's string and the byte just read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fst.automata.rows import BYTES, ROOT, Array
from fst.machines.keywords.strings import States, Strings
from fst.machines.keywords.table import ENTRY, OVERLAPPING, KeywordTable, Match
from fst.tables.proof import need, need_none
from fst.text.reading_arguments import borrowable

NEXT, COUNT = COLUMNS = range(2)  # columns of keyword rows


class Arguments(NamedTuple):
    """The arrays of the table that `fst.runtime.machines.keywords.kernels.overlapping` reads.

    Attributes:
        entries, depths: see `fst.machines.keywords.table.Arguments`.
        matches: uint32[2 * n], `matches` of the table, row after row.
        lengths: int64[keywords], the number of characters of each keyword, including borders.
    """

    entries: Array
    depths: Array
    matches: Array
    lengths: Array


@dataclass(frozen=True, eq=False)
class OverlappingTable(KeywordTable):
    """The keywords, compiled for a search that reports overlapping matches.

    Attributes:
        matches: uint32[1 + keywords, 2], row k + 1 for keyword k. Column `NEXT` contains the row of the next keyword with the same end, or
            0; column `COUNT` contains the number of keywords in the chain that begins with this row. Row 0 is not used.
        keyword_lengths: uint32[keywords], the number of characters of each keyword, including borders, in the form that the automaton
            reads.
    """

    kind: ClassVar[str] = "overlapping-keywords"
    kernel: ClassVar[str] = "fst.runtime.machines.keywords.kernels.overlapping"
    has_bounded_ids: ClassVar[bool] = False
    match_kinds: ClassVar[Sequence[str]] = (OVERLAPPING,)

    @property
    def ids_per_unit(self) -> int:
        """Return an estimate, one match per byte. A text can contain more matches."""
        return 1

    def _search(self, data: bytes) -> Iterator[Match]:
        """The matches in the bytes that the automaton reads, sorted by end; matches with equal ends are sorted by length, the longest
        first.
        """
        state, begins = ROOT, list[int]()
        for place, byte in enumerate(data):
            if byte & 0xC0 != 0x80:
                begins.append(place)
            while not (entry := ENTRY.step(self.entries, state, byte)) and state != ROOT:
                state = ENTRY.unpack(self.entries[state]).target
            _, state, row = entry or (byte, ROOT, 0)
            while row:
                yield Match(row - 1, begins[max(len(begins) - int(self.lengths[row - 1]), 0)], place + 1)
                row = int(self.matches[row, NEXT])

    def arguments(self) -> Any:
        """The arrays of the table, in the form that the kernel reads."""
        entries, depths = borrowable(self.entries, np.uint64), borrowable(self.depths, np.uint32)
        return Arguments(entries, depths, borrowable(self.matches, np.uint32).ravel(), borrowable(self.lengths, np.int64))

    def _prove_matches(self) -> None:
        """Prove that outputs are keyword rows, and that the count of each row is 1 more than the count of its next row."""
        known = len(self.keyword_ends)
        need(self.matches.shape == (known + 1, len(COLUMNS)), f"matches has the shape {self.matches.shape} for {known} keywords")
        need(not self.matches[0].any(), "row 0 of matches is not empty; expected zeros")
        following, counts = self.matches.astype(np.int64).T
        need_none(following > known, lambda row: f"match {row} leads to match {following[row]} of {known}")
        wrong = (counts != counts[following] + 1)[1:]
        need_none(wrong, lambda at: f"match {at + 1} does not count one more than match {following[at + 1]}")
        is_empty = np.append(False, self.lengths == 0)
        need_none(is_empty[following], lambda row: f"match {row} leads to match {following[row]}, of an empty keyword")
        outputs, labels = ENTRY.values_of(self.entries), ENTRY.labels_of(self.entries)
        need_none(outputs > known, lambda slot: f"slot {slot} has the output {outputs[slot]}; there are {known} matches")
        need_none(is_empty[outputs], lambda slot: f"slot {slot} has the output {outputs[slot]}, of an empty keyword")
        need_none((outputs > 0) & (labels >= BYTES), lambda slot: f"slot {slot} has an output, and is not a transition")
        lengths = np.append(0, self.lengths)
        longer = lengths[following] > lengths
        need_none(longer, lambda row: f"match {row} has {lengths[row]} characters, and leads to match {following[row]}, of more")

    def _prove_strings(self) -> tuple[States, Strings]:
        """In addition to the proof of `KeywordTable`, prove that no match begins before the string of its state."""
        states, strings = super()._prove_strings()
        begins = (np.arange(BYTES) & 0xC0 != 0x80).astype(np.int32)
        edges = np.flatnonzero(ENTRY.labels_of(self.entries) < BYTES)
        outputs = ENTRY.values_of(self.entries[edges])
        read = strings.sums(begins)[states.sources] + begins[states.bytes_read]
        lengths = np.append(0, self.lengths)[outputs]
        need_none(lengths > read, lambda at: f"slot {edges[at]} has a match of {lengths[at]} characters, and {read[at]} were read")
        return states, strings
