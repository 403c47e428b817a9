"""The machine of MaxMatch: a trie of words over UTF-16 units, and jumps for the states in which a walk over the trie ends.

The next token of MaxMatch is the longest word of a dictionary that begins at the end of the last token, or one character if no word begins
there. So a walk reads as far as the trie allows, returns the last word on its path, and continues at the end of this word. If the walk has
read units after this word, it does not read these units again, but *jumps*. For each state from which walks jump, a table contains the
tokens that follow from the units read so far, and the state to which the units after these tokens lead. A jump corresponds to a failure
link with its pops in Song et al., 2021, *Fast WordPiece Tokenization*, Section 3. So for any dictionary, a unit of text causes at most two
look-ups, of which one succeeds and one fails.

Backward MaxMatch reads a text from its end to its start. For this direction, the trie contains the units of each word in reverse order.

A rule maps a string to several tokens (Sassano 2014, *Deterministic Word Segmentation Using Maximum Matching with Fully Lexicalized
Rules*). The trie contains the string as a word; if a walk finds it, the tokens of the rule are returned.

The value of a word is its number + 1. The value 0 is for a character outside of all words. The values of rules follow the values of words.
The tokens of a jump or a rule are a list, linked from the last token to the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import ROOT, Array
from fst.automata.trie import NULL, Ints
from fst.core.json_fields import TEXT, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.machines.segmentation.unit_trie import ENTRY, FREE, LEAF, MAX_VALUE, UNITS, Edges, UnitTrieTable, units_of
from fst.tables.header import Sections
from fst.tables.kernel_call import State
from fst.tables.proof import need, need_none
from fst.tables.strings import prove_strings
from fst.tables.table import Each, member
from fst.text.reading_arguments import borrowable

DIRECTIONS = FORWARD, BACKWARD = "forward", "backward"
UNSEEN = -1  # the id of a character outside of all words
ALONE = 0  # the label in `Arguments.firsts` of a unit that is always a token; other units have a size instead
MAX_LENGTH = 1 << 16  # maximum number of units of a word
TOKENS, STATE, VALUE, SIZE = JUMP = range(4)  # columns of `jumps`
LISTED, END, NUMBER, BEFORE = TOKEN = range(4)  # columns of `lists`
SURROGATES = {FORWARD: slice(0xD800, 0xDC00), BACKWARD: slice(0xDC00, 0xE000)}  # direction → the surrogates that are read first in a pair


@dataclass(frozen=True)
class MaxMatchSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        direction: the direction of reading.
        words: the number of words.
        longest: the number of UTF-16 units of the longest word in the trie.
    """

    kind: str = stored_as(TEXT)
    direction: str = stored_as(one_of(*DIRECTIONS))
    words: int = stored_as(whole(1, MAX_VALUE))
    longest: int = stored_as(whole(1, MAX_LENGTH))


@dataclass(frozen=True)
class MaxMatchMetadata(Sections):
    """The metadata of a table of MaxMatch."""

    settings: MaxMatchSettings


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.segmentation.kernels.maxmatch` reads.

    Attributes:
        units, entries, rules: the arrays of the table.
        jumps, lists: uint32[4 * n], the arrays of the table, row by row.
        firsts: uint64[65536], for each unit, the result of a walk's first step. The next state and the value are in the same bits as in an
            entry of the trie. The label is the size of the token that the walk returns if it ends after this unit: 2 for the first
            surrogate of a character outside of all words, otherwise 1. The label is `ALONE` if the unit is always a token, and not a rule.
        words: uint64[1], the number of words.
        is_backward: bool[1].
    """

    units: Array
    entries: Array
    rules: Array
    jumps: Array
    lists: Array
    firsts: Array
    words: Array
    is_backward: Array


class Work(NamedTuple):
    """The working arrays of one thread. For `state`, see `fst.tables.kernel_call.Work`; `symbols` is empty."""

    state: State
    symbols: Array


class Token(NamedTuple):
    """A token: its id, or `UNSEEN`; its start; and the index after its last byte or unit."""

    id: int
    start: int
    end: int


class Lasts(NamedTuple):
    """For each edge of the trie, the token that a walk returns if it ends there.

    Attributes:
        values, sizes: int64[edges], the value and the size of the last word on the path to the edge; if there is none, of a character
            outside of all words.
        jumps: bool[edges], whether a walk that ends at each edge jumps, because it has read units after the token.
    """

    values: Ints
    sizes: Ints
    jumps: Array


@dataclass(frozen=True, eq=False)
class MaxMatchTable(UnitTrieTable):
    """A compiled dictionary. The slot of a state from which walks jump has the label `FREE` and the number of the jump.

    Attributes:
        rules: uint32[rules], the last token of each rule, an index into `lists`.
        jumps: uint32[n, 4], the jumps. Columns: the last token, an index into `lists`; the state where the walk continues, `ROOT` if no
            units remain; and the value and the size of the last token in this state, see `Lasts`. Row 0 is not used.
        lists: uint32[n, 4], tokens in lists. Columns: the value; the number of units from the start of the list to the end of the token;
            the number of the token in the list, from 1; the row of the previous token, or 0. Row 0 is not used.
    """

    kind: ClassVar[str] = "maxmatch"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.segmentation.kernels.maxmatch"
    public_class: ClassVar[str] = "fst.runtime.machines.segmentation.segmenter.Segmenter"
    picture: ClassVar[str] = "fst.machines.segmentation.picture.maxmatch"
    has_tokens: ClassVar[bool] = False

    rules: Array = member("<u4")
    jumps: Array = member("<u4", axes=2)
    lists: Array = member("<u4", axes=2)

    @Lazy
    def metadata(self) -> MaxMatchMetadata:
        """The metadata of the table."""
        return MaxMatchMetadata.from_json(self.header)

    @Lazy
    def words(self) -> tuple[str, ...]:
        """The words, in the order of their ids."""
        data, ends = self.word_bytes.tobytes(), self.word_ends.tolist()
        return tuple(str(data[start:end], "utf-8") for start, end in pairwise([0, *ends]))

    @property
    def direction(self) -> str:
        """The direction, one of `DIRECTIONS`."""
        return self.metadata.settings.direction

    @property
    def streams(self) -> bool:
        """Whether texts can be read in chunks."""
        return self.direction == FORWARD

    @Lazy
    def cuts(self) -> str:
        """The characters after which any text may be cut: ASCII characters that are in no word and no rule."""
        return "".join(map(chr, np.flatnonzero(self.units[:0x80] & FREE == 0).tolist()))

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per unit of text: 1, because no token is empty."""
        return 1

    def run(self, text: str) -> list[int]:
        """The id of each token, by the slow walk."""
        return [token.id for token in self.tokens(text.encode())]

    def tokens(self, data: bytes) -> list[Token]:
        """The tokens of a text in UTF-8, by the slow walk. Positions count bytes."""
        text, places = data.decode(), [0]
        for char in text:
            places += [places[-1] + len(char.encode())] * len(units_of(char))
        units = units_of(text)
        if self.streams:
            found = [*self._walk(units)]
        else:
            found = [Token(value, len(units) - end, len(units) - start) for value, start, end in self._walk(units[::-1])][::-1]
        return [Token(value - 1, places[start], places[end]) for value, start, end in found]

    def _walk(self, units: Sequence[int]) -> Iterator[Token]:
        """The tokens of some units, by the slow walk. The units are in the order of reading, and the tokens have values instead of ids."""
        start = at = value = end = 0  # the token is from `start` to `end`; the walk has read the units up to `at`
        state = ROOT
        while start < len(units):
            if state == ROOT:
                at, value, end = start, 0, start + 1 + bool(self.are_surrogates[units[start]])
            while at < len(units) and state != LEAF:
                entry = ENTRY.step(self.entries, state, int(self.units[units[at]]))
                if not entry:
                    break
                at, state = at + 1, entry.target
                value, end = (entry.value, at) if entry.value else (value, end)
            if at > end:
                last, state, value, size = self.jumps[ENTRY.unpack(self.entries[state]).target].tolist()
                yield from self.listed(last, start)
                start += int(self.lists[last, END])
                end = start + size
            else:
                rule = value - 1 - len(self.word_ends)
                yield from [Token(value, start, end)] if rule < 0 else self.listed(int(self.rules[rule]), start)
                start, state = end, ROOT

    def listed(self, last: int, start: int) -> list[Token]:
        """The tokens of a linked list, given its last token; the first token begins at `start`."""
        found = list[Token]()
        while last:
            value, end, _, before = self.lists[last].tolist()
            found.append(Token(value, start + int(self.lists[before, END]), start + end))
            last = before
        return found[::-1]

    @Lazy
    def are_surrogates(self) -> Array:
        """bool[65536], whether a unit is a surrogate that is read before the other surrogate of its pair."""
        found = np.zeros(UNITS, np.bool_)
        found[SURROGATES[self.direction]] = True
        return found

    @Lazy
    def firsts(self) -> Array:
        """See `Arguments.firsts`."""
        entries = self.entries[self.units]
        leads = (ENTRY.labels_of(entries) == self.units) & (self.units > 0)
        values, states = np.where(leads, ENTRY.values_of(entries), 0), np.where(leads, ENTRY.targets_of(entries), LEAF)
        sizes = 1 + (self.are_surrogates & (values == 0))
        is_alone = (states == LEAF) & (sizes == 1) & (values <= len(self.word_ends))
        return ENTRY.pack(np.where(is_alone, ALONE, sizes), states, values)

    def lasts(self, edges: Edges) -> Lasts:
        """For each edge of the trie, the token that a walk returns if it ends there."""
        firsts, words, depths = edges.last_of(edges.above == len(edges)), edges.last_of(edges.values > 0), edges.depths
        are_surrogates = np.zeros(FREE, np.bool_)
        are_surrogates[self.units[self.are_surrogates]] = True
        sizes = np.where(words < len(edges), np.append(depths, 0)[words], 1 + are_surrogates[edges.labels[firsts]])
        return Lasts(np.append(edges.values, 0)[words], sizes, (edges.targets != LEAF) & (depths > sizes))

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        return Arguments(
            units=borrowable(self.units, np.uint32),
            entries=borrowable(self.entries, np.uint64),
            rules=borrowable(self.rules, np.uint32),
            jumps=borrowable(self.jumps, np.uint32).ravel(),
            lists=borrowable(self.lists, np.uint32).ravel(),
            firsts=self.firsts,
            words=np.array([len(self.word_ends)], np.uint64),
            is_backward=np.array([not self.streams]),
        )

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        return Work(State(), np.empty(0, np.uint16))

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        settings = self.metadata.settings
        prove_strings(self.word_bytes, self.word_ends, settings.words, "words")
        edges = self.prove_trie(settings.longest, settings.words + len(self.rules), keeps=True)
        self._prove_units()
        bare = (edges.targets == LEAF) & (edges.values == 0)
        need_none(bare, lambda edge: f"slot {edges.slots[edge]} ends a path, and no word")
        self._prove_tokens()
        self._prove_rules(edges)
        self._prove_jumps(edges)

    def _prove_units(self) -> None:
        """Prove that no two units have the same label, so that a state determines the units that a walk has read."""
        need_none(self.units > FREE, lambda unit: f"unit {unit} has the bits {int(self.units[unit]):#x}")
        used, counts = np.unique(self.units[self.units > 0], return_counts=True)
        need_none(counts > 1, lambda at: f"{counts[at]} units have the label {used[at]}")

    def _prove_tokens(self) -> None:
        """Prove that the tokens of a list are consecutive and correctly numbered."""
        need(self.lists.shape[1] == len(TOKEN) and len(self.lists), f"lists has the shape {self.lists.shape}")
        need(not self.lists[0].any(), "row 0 of lists is not empty; expected zeros")
        values, ends, numbers, before = self.lists[1:].astype(np.int64).T
        words, first = self.metadata.settings.words, np.arange(1, len(self.lists))
        need_none(values > words, lambda at: f"token {at + 1} has the value {values[at]}; there are {words} words")
        need_none(before >= first, lambda at: f"token {at + 1} does not come after token {before[at]}")
        need_none(ends <= self.lists[before, END], lambda at: f"token {at + 1} does not end after token {before[at]}")
        need_none(numbers != self.lists[before, NUMBER].astype(np.int64) + 1, lambda at: f"token {at + 1} has the number {numbers[at]}")

    def _prove_rules(self, edges: Edges) -> None:
        """Prove that the total size of a rule's tokens is the size of its string."""
        words = self.metadata.settings.words
        need_none(self.rules >= len(self.lists), lambda rule: f"rule {rule} has the token {self.rules[rule]} of {len(self.lists)}")
        of_rules = np.flatnonzero(edges.values > words)
        sizes = self.lists[self.rules[edges.values[of_rules] - words - 1], END]
        found = edges.depths[of_rules]
        need_none(sizes != found, lambda at: f"slot {edges.slots[of_rules[at]]} ends a rule of {sizes[at]} units at {found[at]}")

    def _prove_jumps(self, edges: Edges) -> None:
        """Prove that walks jump exactly from the states in which they have read units after a token."""
        need(self.jumps.shape[1] == len(JUMP) and len(self.jumps), f"jumps has the shape {self.jumps.shape}")
        need(not self.jumps[0].any(), "row 0 of jumps is not empty; expected zeros")
        inner, lasts = edges.targets != LEAF, self.lasts(edges)
        states = edges.targets[inner]
        numbers = self.entries[states] - ENTRY.free
        need_none((numbers > 0) != lasts.jumps[inner], lambda at: f"state {states[at]} has the jump {numbers[at]}")
        need_none(numbers >= len(self.jumps), lambda at: f"state {states[at]} has the jump {numbers[at]} of {len(self.jumps)}")
        self._prove_targets(edges, lasts, *self.jumps[numbers[numbers > 0]].astype(np.int64).T)

    def _prove_targets(self, edges: Edges, lasts: Lasts, tokens: Ints, targets: Ints, values: Ints, sizes: Ints) -> None:
        """Prove that jumps lead to states, and skip exactly the units of their tokens. The arguments have one element for each edge that is
        set in `lasts.jumps`.
        """
        states, labels, depths = edges.targets[lasts.jumps], edges.labels[lasts.jumps], edges.depths[lasts.jumps]
        need_none(tokens >= len(self.lists), lambda at: f"state {states[at]} jumps with the token {tokens[at]} of {len(self.lists)}")
        need_none(tokens == 0, lambda at: f"state {states[at]} jumps without a token")
        reached = edges.edge_to[np.minimum(targets, len(self.entries))]
        need_none(reached == NULL, lambda at: f"state {states[at]} jumps to {targets[at]}, which is not a state")
        left = np.append(edges.depths, 0)[reached] + self.lists[tokens, END] - depths
        is_inside = (targets == ROOT) & self.are_surrogates[self.unit_of()[labels]]  # a token includes the other unit of this character
        need_none((left != 0) & ~(is_inside & (left == 1)), lambda at: f"state {states[at]} jumps over {left[at]} units too many")
        wrong = (np.append(lasts.values, 0)[reached] != values) | (np.append(lasts.sizes, 0)[reached] != sizes)
        need_none(wrong, lambda at: f"state {states[at]} jumps to a token that is not that of state {targets[at]}")

    def unit_of(self) -> Ints:
        """The unit of each label."""
        found = np.zeros(FREE, np.int64)
        found[self.units] = np.arange(UNITS)
        return found


def header(direction: str, words: int, longest: int) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return MaxMatchMetadata(MaxMatchSettings(MaxMatchTable.kind, direction, words, longest)).to_json()
