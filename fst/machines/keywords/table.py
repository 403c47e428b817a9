"""The machine of keyword search: an automaton over UTF-8 bytes that reports the positions of keywords.

The automaton reads a text by the rules of `fst.machines.keywords.text`; without rules, it reads the bytes of the text.

For the leftmost kinds the automaton is MaxMatch (Song et al., 2021, *Fast WordPiece Tokenization*, Section 3.6): the tokens are the
keywords and all single bytes; matches of single bytes are not reported. For the standard kind it is the automaton of Aho and Corasick
(1975), restarted after each match. For the overlapping kind see `fst.machines.keywords.overlapping`.

The layout is *linked*: a state has its own transitions and a failure link. The notation is as in `fst.automata.trie`: u, v are states,
f(v) is the failure link of v, and |v| is its depth, the length in bytes of its string. These |v| bytes may still belong to a match; earlier
bytes may not.

An entry, see `ENTRY`, contains the next state and the *output*: the matches reported by the transition. A state v's own slot has the label
`OWN`; its entry contains f(v) and the output of the link to f(v). Unused slots have the label `FREE`.

An output is a list of matches, stored as the row of its last match; 0 if the list is empty. A match is four numbers: the keyword; its start
and its end, counted from the first of the |v| bytes; and the previous match, or 0. So outputs may share their first matches: the output of
δ(u, c) begins with the output of u.

**What kernels may assume** once a table is proven: states have all slots of a row, links lead to states of less depth, a transition adds at
most 1 to the depth, and a state represents the bytes just read (`fst.machines.keywords.strings`). The matches of an output do not overlap,
and are in order. Matches are within the |v| bytes and the byte just read, and end before the bytes that the next state represents. So the
matches of a text are inside the text, do not overlap, and are in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import BYTE_ROW, BYTES, ROOT, Array, RowFormat
from fst.core.fields import Fields, Scalar
from fst.core.json_fields import TEXT, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.errors import TableError
from fst.machines.keywords.strings import States, Strings, strings_of
from fst.machines.keywords.text import KeywordText
from fst.tables.header import Sections
from fst.tables.kernel_call import State
from fst.tables.proof import need, need_none, prove_states, prove_transitions
from fst.tables.strings import texts_of
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

KINDS = LONGEST, FIRST, STANDARD, OVERLAPPING = "leftmost-longest", "leftmost-first", "standard", "overlapping"
OWN, FREE = BYTES, BYTES + 1
ENTRY = RowFormat(label_bits=9, target_bits=28, value_bits=27, dtype=np.uint64, labels=BYTES, own=OWN, free=FREE << 55)
KEYWORD, START, END, BEFORE = COLUMNS = range(4)  # the columns of `matches`
MAX_KEYWORD = (1 << 31) - 1  # maximum number of bytes of a keyword
WALKS, SEGMENT = 4, 1 << 14  # number of walks that a kernel interleaves, and maximum number of bytes of each walk
FEW = 1 << 8  # minimum number of bytes per walk, because interleaving shorter walks is slower
REGION = 3 * SEGMENT + 1  # capacity for the events of a walk, which are fewer than two look-ups per byte, and the ends of texts


@dataclass(frozen=True)
class KeywordAutomaton:
    """The properties of the automaton.

    Attributes:
        kind: the kind of machine.
        match_kind: the rule that selects the reported matches from all occurrences.
        states: the number of states.
    """

    kind: str = stored_as(TEXT)
    match_kind: str = stored_as(one_of(*KINDS))
    states: int = stored_as(whole(1, ENTRY.max_target))


@dataclass(frozen=True)
class KeywordMetadata(Sections):
    """The metadata of a table of keywords."""

    automaton: KeywordAutomaton
    text: KeywordText


class Arguments(NamedTuple):
    """The arrays of the table that the kernels read.

    Attributes:
        entries: uint64[slots].
        roots: uint64[256], the entries of the root's transitions; 0 for a byte without a transition.
        depths: uint32[slots].
        matches: uint32[4 * n].
    """

    entries: Array
    roots: Array
    depths: Array
    matches: Array


class Notes(Fields):
    """The values that the kernel keeps between its steps."""

    place: Scalar  # position of the next match in the output
    first: Scalar  # position in the output of the first match of the current row
    row: Scalar  # index of this row
    before: Scalar  # number of characters of the row that were read before this call
    turns: Scalar  # number of remaining rounds in which walks are interleaved


class Work(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state: `kept`, `count`, `is_open`, `before`, `kept_characters`, `in_word` and `known` are used.
        symbols: empty; the kernel keeps no symbols between calls.
        events: uint64[4 * REGION + 1], the events of each walk, and one unused element, see `fst.runtime.machines.keywords.kernels.walk`.
        states, counts: uint64[4], the last state of each walk, and the index after the last event of each walk.
    """

    state: State
    symbols: Array
    notes: Notes
    events: Array
    states: Array
    counts: Array


class Match(NamedTuple):
    """A match of a keyword in UTF-8. `start` is the index of its first byte; `end` is the index after its last byte."""

    keyword: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class KeywordTable(Table):
    """The compiled keywords.

    Attributes:
        entries: uint64[slots].
        depths: uint32[slots], |v| at the slot of a state v; 0 at other slots.
        matches: uint32[n, 4], the matches; the first row is not used.
        keyword_bytes: uint8[n], the keywords in UTF-8, concatenated. An empty keyword occurs at every character of a text.
        keyword_ends: int64[keywords], the end of each keyword in `keyword_bytes`.
        keyword_lengths: uint32[keywords], the byte length of each keyword in the form that the automaton reads.
    """

    kind: ClassVar[str] = "keywords"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.keywords.kernels.search"
    public_class: ClassVar[str] = "fst.runtime.machines.keywords.searcher.Searcher"
    picture: ClassVar[str] = "fst.machines.keywords.picture.picture_of"
    has_tokens: ClassVar[bool] = False
    match_kinds: ClassVar[Sequence[str]] = (LONGEST, FIRST, STANDARD)

    entries: Array = member("<u8")
    depths: Array = member("<u4")
    matches: Array = member("<u4", axes=2)
    keyword_bytes: Array = member("|u1")
    keyword_ends: Array = member("<i8")
    keyword_lengths: Array = member("<u4")

    @Lazy
    def metadata(self) -> KeywordMetadata:
        """The metadata of the table."""
        return KeywordMetadata.from_json(self.header)

    @property
    def summary(self) -> Mapping[str, Any]:
        """The number of keywords, and the options of `fst.compile.keywords`."""
        automaton, text = self.metadata.automaton, self.metadata.text
        return {
            "kind": automaton.kind,
            "keywords": len(self.keyword_ends),
            "match_kind": automaton.match_kind,
            "ignore_case": text.folds is not None,
            "whole_words": text.words is not None,
            "normalizer": text.normalizer is not None,
            "allow_empty": len(self.empty) > 0,
            "states": automaton.states,
        }

    @property
    def ids_per_unit(self) -> int:
        """Return the expansion bound of a text. This is also a bound on the number of matches, because matches do not overlap and are not
        empty.
        """
        return self.metadata.text.expansion_bound

    @Lazy
    def lengths(self) -> Array:
        """`keyword_lengths` as int64[keywords]."""
        return self.keyword_lengths.astype(np.int64)

    @Lazy
    def empty(self) -> Sequence[int]:
        """The empty keywords that are reported: for the overlapping kind, all empty keywords; otherwise the first empty keyword."""
        found: list[int] = np.flatnonzero(np.diff(self.keyword_ends, prepend=0) == 0).tolist()
        return found if self.metadata.automaton.match_kind == OVERLAPPING else found[:1]

    @Lazy
    def keywords(self) -> tuple[str, ...]:
        """The keywords, in the order of their numbers."""
        return texts_of(self.keyword_bytes, self.keyword_ends)

    @Lazy
    def bytes_read(self) -> Array:
        """bool[256], for each byte, whether any state has a transition on it."""
        found = np.zeros(FREE + 1, np.bool_)
        found[ENTRY.labels_of(self.entries)] = True
        return found[:BYTES]

    def run(self, text: str) -> list[int]:
        """The number of the keyword of each match, by the slow walk."""
        return [match.keyword for match in self.walk(text.encode())]

    def walk(self, data: bytes) -> Iterator[Match]:
        """The matches in UTF-8 bytes, except empty matches, by the slow walk."""
        text = data.decode()
        spelled, places = self.metadata.text.spelled(text)
        characters = [*accumulate((byte & 0xC0 != 0x80 for byte in spelled), initial=0)]
        ends = [*accumulate((len(char.encode()) for char in text), initial=0)]
        for keyword, start, end in self._search(spelled):
            first, last = places[characters[start]][0], places[characters[end] - 1][1]
            yield Match(keyword, ends[first], ends[last])

    def _search(self, data: bytes) -> Iterator[Match]:
        """The matches in the bytes that the automaton reads."""
        state = ROOT
        for place, byte in enumerate(data):
            begin = place - int(self.depths[state])
            while not (entry := ENTRY.step(self.entries, state, byte)) and state != ROOT:
                link = ENTRY.unpack(self.entries[state])
                yield from self.matches_of(link.value, begin)
                state = link.target
                begin = place - int(self.depths[state])
            if entry:
                yield from self.matches_of(entry.value, begin)
                state = entry.target
        while state != ROOT:
            link = ENTRY.unpack(self.entries[state])
            yield from self.matches_of(link.value, len(data) - int(self.depths[state]))
            state = link.target

    def matches_of(self, number: int, begin: int) -> list[Match]:
        """The matches of an output; `begin` is the position of the first byte that the state represents."""
        matches = list[Match]()
        while number:
            keyword, start, end, number = self.matches[number].tolist()
            matches.append(Match(keyword, begin + start, begin + end))
        return matches[::-1]

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        entries, depths = borrowable(self.entries, np.uint64), borrowable(self.depths, np.uint32)
        roots = entries[ROOT + ENTRY.first : ROOT + BYTE_ROW]
        roots = np.where(ENTRY.labels_of(roots) == np.arange(BYTES), roots, np.uint64(0))
        return Arguments(entries, roots, depths, borrowable(self.matches, np.uint32).ravel())

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        return Work(
            state=State(),
            symbols=np.empty(0, np.uint8),
            notes=Notes(),
            events=np.empty(WALKS * REGION + 1, np.uint64),
            states=np.empty(WALKS, np.uint64),
            counts=np.empty(WALKS, np.uint64),
        )

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        _ = self.metadata
        self._prove_keywords()
        self._prove_slots(each)
        self._prove_matches()
        self._prove_strings()

    def _prove_keywords(self) -> None:
        """Prove that keywords are UTF-8, and that `keyword_lengths` is 0 exactly for the empty keywords."""
        match_kind = self.metadata.automaton.match_kind
        need(match_kind in self.match_kinds, f"match_kind is {match_kind!r} in a table for {', '.join(self.match_kinds)}")
        self.metadata.text.prove()
        sizes = np.diff(self.keyword_ends, prepend=0)
        need_none((sizes < 0) | (sizes > MAX_KEYWORD), lambda keyword: f"keyword {keyword} has {sizes[keyword]} bytes")
        need(len(self.keyword_lengths) == len(sizes), f"there are {len(self.keyword_lengths)} lengths of {len(sizes)} keywords")
        wrong = (sizes > 0) != (self.keyword_lengths > 0)
        need_none(wrong, lambda keyword: f"keyword {keyword} has {sizes[keyword]} bytes, and the length {self.keyword_lengths[keyword]}")
        total = int(self.keyword_ends[-1]) if len(self.keyword_ends) else 0
        need(total == len(self.keyword_bytes), f"the last keyword ends at byte {total} of {len(self.keyword_bytes)}")
        try:
            str(self.keyword_bytes.data, "utf-8")
        except UnicodeDecodeError as error:
            raise TableError(f"keyword_bytes is not UTF-8 at byte {error.start}") from None
        begins = np.append(self.keyword_bytes, np.uint8(0))[self.keyword_ends]
        need_none(begins & 0xC0 == 0x80, lambda keyword: f"keyword {keyword} ends inside a character")

    def _prove_slots(self, each: Each) -> None:
        """Prove that links and transitions lead to states, and that depths bound the lengths of states' strings."""
        entries, depths, count = self.entries, self.depths, self.metadata.automaton.states
        need(len(depths) == len(entries), f"there are {len(depths)} depths for {len(entries)} slots")
        states = prove_states(ENTRY, entries, BYTE_ROW, "entries", each)
        need(len(states) == count, f"there are {len(states)} states, not {count}")
        bare = depths > 0
        bare[states] = False
        need_none(bare, lambda slot: f"slot {slot} is not a state, and has a depth")
        labels = entries >> ENTRY.label_shift
        need_none(labels > FREE, lambda slot: f"slot {slot} has the label {labels[slot]}")
        links = ENTRY.targets_of(entries[states])
        need(links[ROOT] == ROOT and depths[ROOT] == 0, "the root has a link, or a depth")
        known = prove_transitions(ENTRY, entries, states, depths[states], "entries", each)
        after = known.take(links, mode="clip").astype(np.int64)
        need_none((after == 0)[1:], lambda at: f"the link of state {states[1 + at]} leads to no state")
        need_none((after > depths[states])[1:], lambda at: f"the link of state {states[1 + at]} does not lead to less depth")

    def _prove_strings(self) -> tuple[States, Strings]:
        """Prove that the string of each state is a suffix of the bytes that were read."""
        labels = ENTRY.labels_of(self.entries).astype(np.int16)
        slots, edges = np.flatnonzero(labels == OWN), np.flatnonzero(labels < BYTES)
        states = States.of(slots, edges, labels, ENTRY.targets_of(self.entries), self.depths)
        return states, strings_of(states)

    def _prove_matches(self) -> None:
        """Prove that the matches of an output are in order, do not overlap, and end before the bytes that the next state represents."""
        need(self.matches.shape[1] == len(COLUMNS) and len(self.matches), f"matches has the shape {self.matches.shape}")
        need(not self.matches[0].any(), "row 0 of matches is not empty; expected zeros")
        keywords, starts, ends, before = self.matches.astype(np.int64).T
        count, known = len(keywords), len(self.keyword_ends)
        need_none(keywords[1:] >= known, lambda at: f"match {at + 1} is of keyword {keywords[at + 1]}, and there are {known}")
        need_none(self.lengths[keywords[1:]] == 0, lambda at: f"match {at + 1} is of an empty keyword")
        need_none(starts[1:] + self.lengths[keywords[1:]] != ends[1:], lambda at: f"match {at + 1} is not as long as its keyword")
        need_none(before[1:] > np.arange(count - 1), lambda at: f"match {at + 1} comes after match {before[at + 1]}")
        need_none((starts < ends[before])[1:], lambda at: f"match {at + 1} does not follow match {before[at + 1]}")
        outputs, labels = ENTRY.values_of(self.entries), ENTRY.labels_of(self.entries)
        held = np.flatnonzero((labels <= OWN) & (outputs > 0))
        need_none(outputs[held] >= count, lambda at: f"slot {held[at]} has the output {outputs[held[at]]}; there are {count} matches")
        is_own, depths = labels[held] == OWN, self.depths.astype(np.int64)
        bytes_read = np.where(is_own, depths[held], depths[held - 1 - labels[held] * ~is_own] + 1)
        given_up = bytes_read - depths[ENTRY.targets_of(self.entries[held])]
        need_none(ends[outputs[held]] > given_up, lambda at: f"slot {held[at]} has a match outside the bytes that it gives up")


def header(kind: str, match_kind: str, states: int, text: KeywordText) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return KeywordMetadata(KeywordAutomaton(kind, match_kind, states), text).to_json()
