"""The machine of keyword search: an automaton over the bytes of UTF-8 that reports where keywords stand.

The automaton reads a text by the rules of `fst.machines.keywords.text`; without any, the bytes of the text.

For the leftmost kinds it is MaxMatch (Song et al. 2021, *Fast WordPiece Tokenization*, Section 3.6): the tokens are the keywords, and each
byte, which is not reported. For the standard kind it is the automaton of Aho and Corasick (1975), which begins again after each match. For
the overlapping kind see `fst.machines.keywords.overlapping`.

The layout is *linked*: a state has its own transitions and a failure link. Letters, as in `fst.automata.trie`: u, v are states, f(v) is
the failure link of v, and |v| its depth, the bytes of the string that leads to it. These bytes may still belong to a match, and none
before them does.

An entry, see `ENTRY`, has the next state and what is reported on the way there, the *output*. The label of a state v's own slot is `OWN`;
it has f(v) and what is reported on the way there. Slots that belong to no state have the label `FREE`.

An output is the number of the last of some matches, 0 for none. A match is four numbers: the keyword; where it begins and ends, counted
from the first of the |v| bytes; and the match before it, or 0. So outputs may share their first matches: those of δ(u, c) begin with those
of u.

**What kernels may assume** once a table is proven: states have all slots of a row, links lead to states of less depth, a transition adds at
most one to the depth, a state represents the bytes just read (`fst.machines.keywords.strings`), and the matches of an output follow each
other among those of the |v| bytes, and of the one just read, that the next state does not represent. So the matches of a text lie in it, do
not overlap, and are in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import BYTE_ROW, BYTES, ROOT, Array, Entry, RowFormat
from fst.core.json_fields import TEXT, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.errors import TableError
from fst.machines.keywords.strings import States, Strings, strings_of
from fst.machines.keywords.text import KeywordText
from fst.tables.header import Sections
from fst.tables.proof import need, need_none, prove_states, prove_transitions
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

KINDS = LONGEST, FIRST, STANDARD, OVERLAPPING = "leftmost-longest", "leftmost-first", "standard", "overlapping"
OWN, FREE = BYTES, BYTES + 1
ENTRY = RowFormat(label_bits=9, target_bits=28, value_bits=27, dtype=np.uint64, labels=BYTES, own=OWN, free=FREE << 55)
KEYWORD, START, END, BEFORE = COLUMNS = range(4)  # of the matches
MAX_KEYWORD = (1 << 31) - 1  # bytes
WALKS, SEGMENT = 4, 1 << 14  # the walks that a kernel runs in turns, and the maximum of bytes for each
FEW = 1 << 8  # bytes for each walk are too few to take turns
REGION = 3 * SEGMENT + 1  # events of a walk: less than two look-ups a byte, and the ends of texts
NOTES = 5
IN_WORD, KNOWN, STATES = 10, 11, 12  # indices into `Work.state` after those of all machines, and the number of all


@dataclass(frozen=True)
class KeywordAutomaton:
    """What the automaton is.

    Attributes:
        kind: the kind of machine.
        match_kind: which of several possible matches are reported.
        states: the number of states.
    """

    kind: str = stored_as(TEXT)
    match_kind: str = stored_as(one_of(*KINDS))
    states: int = stored_as(whole(1, ENTRY.max_target))


@dataclass(frozen=True)
class KeywordMetadata(Sections):
    """The metadata of a table of keywords."""

    SECTIONS = (KeywordAutomaton, KeywordText)

    automaton: KeywordAutomaton
    text: KeywordText


class Arguments(NamedTuple):
    """The arrays that the kernels read, those of the table.

    Attributes:
        entries: uint64[slots].
        roots: uint64[256], the entries of the root's transitions; 0 for a byte that has none.
        depths: uint32[slots].
        matches: uint32[4 * n].
    """

    entries: Array
    roots: Array
    depths: Array
    matches: Array


class Work(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state: uint64[12]; `COUNT`, `OPEN` and `BEFORE` are as in `fst.tables.kernel_call.Work`, and the rewriter's `KEPT` and
            `KEPT_CHARACTERS`. `IN_WORD`: 1 if the last character that was spelled is one of words. `KNOWN`: of the overlapping kind, the
            bytes that are given again, although the matches that end in them are reported.
        symbols: empty; the kernel keeps nothing from one call to the next.
        notes: uint64[5], what the kernel keeps in mind: the place of the next match, and that of the first one of the current row; this
            row; the characters of it that were read before this call; and how many times it will read in turns.
        events: uint64[4 * REGION + 1], for each walk its events, and a spare one, see `fst.runtime.machines.keywords.kernels.walk`.
        states, counts: uint64[4], for each walk where it ended: its state, and the index after its last event.
    """

    state: Array
    symbols: Array
    notes: Array
    events: Array
    states: Array
    counts: Array


class Match(NamedTuple):
    """A match of a keyword in UTF-8, from the first byte to one past the last."""

    keyword: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class KeywordTable(Table):
    """Keywords, compiled.

    Attributes:
        entries: uint64[slots].
        depths: uint32[slots], |v| at the slot of a state v; 0 at others.
        matches: uint32[n, 4], the matches; the first one is not used.
        keyword_bytes: uint8[n], the keywords in UTF-8, one after the other. A text has an empty one at every character.
        keyword_ends: int64[keywords], where each ends.
        keyword_lengths: uint32[keywords], the bytes of each as the automaton reads it.
    """

    kind: ClassVar[str] = "keywords"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.keywords.kernels.search"
    public_class: ClassVar[str] = "fst.runtime.machines.keywords.searcher.Searcher"
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
        """What the table says next to its arrays."""
        return KeywordMetadata.from_json(self.about)

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
            "normalizer": text.rewriting is not None,
            "allow_empty": len(self.empty) > 0,
            "states": automaton.states,
        }

    @property
    def ids_per_unit(self) -> int:
        """Matches do not overlap, and none is empty."""
        return self.metadata.text.growth

    @Lazy
    def lengths(self) -> Array:
        """int64[keywords], `keyword_lengths`."""
        return self.keyword_lengths.astype(np.int64)

    @Lazy
    def empty(self) -> Sequence[int]:
        """The empty keywords that matches name: the first one, or with overlapping matches all."""
        found: list[int] = np.flatnonzero(np.diff(self.keyword_ends, prepend=0) == 0).tolist()
        return found if self.metadata.automaton.match_kind == OVERLAPPING else found[:1]

    @Lazy
    def keywords(self) -> tuple[str, ...]:
        """The keywords."""
        data, ends = self.keyword_bytes.tobytes(), self.keyword_ends.tolist()
        return tuple(data[start:end].decode() for start, end in zip([0, *ends[:-1]], ends, strict=True))

    @Lazy
    def bytes_read(self) -> Array:
        """bool[256], whether a state has a transition on each byte."""
        found = np.zeros(FREE + 1, np.bool_)
        found[ENTRY.labels_of(self.entries)] = True
        return found[:BYTES]

    def run(self, text: str) -> list[int]:
        """The keyword of each match, in slow and plain Python."""
        return [match.keyword for match in self.walk(text.encode())]

    def walk(self, data: bytes) -> Iterator[Match]:
        """The matches in some UTF-8, but for empty ones, in slow and plain Python."""
        text = data.decode()
        spelled, places = self.metadata.text.spelled(text)
        characters = [*accumulate((byte & 0xC0 != 0x80 for byte in spelled), initial=0)]
        ends = [*accumulate((len(char.encode()) for char in text), initial=0)]
        for keyword, start, end in self._search(spelled):
            first, last = places[characters[start]][0], places[characters[end] - 1][1]
            yield Match(keyword, ends[first], ends[last])

    def _search(self, data: bytes) -> Iterator[Match]:
        """The matches in what the automaton reads."""
        state = ROOT
        for place, byte in enumerate(data):
            begin = place - int(self.depths[state])
            while not (entry := ENTRY.step(self.entries, state, byte)) and state != ROOT:
                link = ENTRY.unpack(self.entries[state])
                yield from self._matches_of(link, begin)
                state = link.target
                begin = place - int(self.depths[state])
            if entry:
                yield from self._matches_of(entry, begin)
                state = entry.target
        while state != ROOT:
            link = ENTRY.unpack(self.entries[state])
            yield from self._matches_of(link, len(data) - int(self.depths[state]))
            state = link.target

    def _matches_of(self, entry: Entry, begin: int) -> list[Match]:
        """The matches of an entry's output; `begin` is the place of the first byte that its state represents."""
        number, matches = entry.value, list[Match]()
        while number:
            keyword, start, end, number = self.matches[number].tolist()
            matches.append(Match(keyword, begin + start, begin + end))
        return matches[::-1]

    def arguments(self) -> Arguments:
        """The arrays of the kernel."""
        entries, depths = borrowable(self.entries, np.uint64), borrowable(self.depths, np.uint32)
        roots = entries[ROOT + ENTRY.first : ROOT + BYTE_ROW]
        roots = np.where(ENTRY.labels_of(roots) == np.arange(BYTES), roots, np.uint64(0))
        return Arguments(entries, roots, depths, borrowable(self.matches, np.uint32).ravel())

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        return Work(
            state=np.zeros(STATES, np.uint64),
            symbols=np.empty(0, np.uint8),
            notes=np.zeros(NOTES, np.uint64),
            events=np.empty(WALKS * REGION + 1, np.uint64),
            states=np.empty(WALKS, np.uint64),
            counts=np.empty(WALKS, np.uint64),
        )

    def prove(self, each: Each = map) -> None:
        """Prove what kernels may assume."""
        super().prove(each)
        _ = self.metadata
        self._prove_keywords()
        self._prove_slots(each)
        self._prove_matches()
        self._prove_strings()

    def _prove_keywords(self) -> None:
        """Prove that keywords are UTF-8, and that each has a length."""
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
        """Prove that links and transitions lead to states, and that depths bound what a state represents."""
        entries, depths, count = self.entries, self.depths, self.metadata.automaton.states
        need(len(depths) == len(entries), f"there are {len(depths)} depths for {len(entries)} slots")
        states = prove_states(ENTRY, entries, BYTE_ROW, "entries", each)
        need(len(states) == count, f"there are {len(states)} states, not {count}")
        bare = depths > 0
        bare[states] = False
        need_none(bare, lambda slot: f"slot {slot} is no state, and has a depth")
        labels = entries >> ENTRY.label_shift
        need_none(labels > FREE, lambda slot: f"slot {slot} has the label {labels[slot]}")
        links = ENTRY.targets_of(entries[states])
        need(links[ROOT] == ROOT and depths[ROOT] == 0, "the root has a link, or a depth")
        known = prove_transitions(ENTRY, entries, states, depths[states], "entries", each)
        after = known.take(links, mode="clip").astype(np.int64)
        need_none((after == 0)[1:], lambda at: f"the link of state {states[1 + at]} leads to no state")
        need_none((after > depths[states])[1:], lambda at: f"the link of state {states[1 + at]} does not lead to less depth")

    def _prove_strings(self) -> tuple[States, Strings]:
        """Prove that states represent what was read."""
        labels = ENTRY.labels_of(self.entries).astype(np.int16)
        slots, edges = np.flatnonzero(labels == OWN), np.flatnonzero(labels < BYTES)
        states = States.of(slots, edges, labels, ENTRY.targets_of(self.entries), self.depths)
        return states, strings_of(states)

    def _prove_matches(self) -> None:
        """Prove that the matches of each output follow each other within the bytes that are given up."""
        need(self.matches.shape[1] == len(COLUMNS) and len(self.matches), f"matches has the shape {self.matches.shape}")
        need(not self.matches[0].any(), "match 0 is none, and is not empty")
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


def about(kind: str, match_kind: str, states: int, text: KeywordText) -> Mapping[str, Any]:
    """The JSON of a table."""
    return KeywordMetadata(KeywordAutomaton(kind, match_kind, states), text).to_json()
