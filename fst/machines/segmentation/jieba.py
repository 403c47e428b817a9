"""The machine of jieba, which divides Chinese text into the most probable words, and other text into simple tokens.

jieba 0.42.1 first cuts a text into *blocks* of Chinese characters, ASCII letters and digits, and a few signs, see `KINDS`. A path is a
sequence of words that covers a block. The score of a path is the sum of ``log(frequency) - log(total)`` over its words; a character that
begins no word is a word of frequency 1. Sums are rounded, and paths may tie, so the order of operations is part of the definition. Scores
are computed from right to left: the score of a position is the maximum of ``(log(frequency) - log(total)) + score of the word's end`` over
all words that begin there; in a tie, the longer word wins. So a kernel that sums from left to right cannot run this machine.

A table has one of three modes:

- "default": the words of the best path. Adjacent one-character words are joined if they are ASCII letters or digits. With a model, adjacent
  one-character words are instead replaced by the words that the model finds, see `fst.machines.segmentation.jieba_model`. Outside of
  blocks, each character is a token, and CR LF is one token.
- "search": like "default", but each word comes after the dictionary's words inside it: first the words of two characters, then the words of
  three characters.
- "all": all words of two or more characters at each position, and the single characters that are in none of these words. Outside of blocks,
  each whitespace character is a token, and so is each text between two whitespace characters, even if it is empty.

The id of a token is the number of its word in the dictionary; -1 if the dictionary does not contain the token.

A table may also contain parts of speech, see `fst.machines.segmentation.jieba_tags`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.json_fields import FLAG, TEXT, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.errors import not_one_of
from fst.machines.segmentation.jieba_model import HAN, end_of_signs, word_ends
from fst.machines.segmentation.jieba_model import prove as prove_model
from fst.machines.segmentation.jieba_tags import NO_TAG, Tagged, Tagging, TagModel, tagged
from fst.machines.segmentation.jieba_tags import OTHER as OTHER_TAG
from fst.machines.segmentation.jieba_tags import prove as prove_tags
from fst.machines.segmentation.unit_trie import ENTRY, FREE, KIND_SHIFT, UnitTrieTable, units_of
from fst.tables.header import Sections
from fst.tables.kernel_call import State
from fst.tables.proof import need, need_none
from fst.tables.strings import StringColumn, prove_strings
from fst.tables.table import Each, member
from fst.text.reading_arguments import borrowable

MODES = DEFAULT, SEARCH, ALL = "default", "search", "all"
KINDS = OTHER, SPACE, LETTER, CHINESE = range(4)  # kinds of units; blocks consist of `LETTER` (ASCII letters, digits) and `CHINESE`
SLOT_BITS, LENGTH_BITS = 23, 9  # number of bits of a slot and of a word's length, which a kernel packs into 32 bits
MAX_SLOT, MAX_LENGTH = (1 << SLOT_BITS) - 1, (1 << LENGTH_BITS) - 1
MAX_WORDS = (1 << 31) - 1
IDS_OUTSIDE = 3  # maximum number of ids per unit outside of blocks: a space makes three tokens, two of which are empty
NO_WORD = -1
CR, LF = ord("\r"), ord("\n")
BREAKS = (ord(" "), CR, LF)  # characters at which long texts are cut into parts
MAX_BYTES = 4  # maximum number of bytes of a character in UTF-8
NOT_TAGGED = "%-"  # signs that are in blocks, but not in the blocks of ``jieba.posseg``
HIGH_SURROGATES, SURROGATES = range(0xD800, 0xDC00), range(0xD800, 0xE000)


@dataclass(frozen=True)
class JiebaSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        mode: one of `MODES`.
        words: the number of words.
        longest: the number of UTF-16 units of the longest word.
        hmm: whether the table has a model for unknown words.
    """

    kind: str = stored_as(TEXT)
    mode: str = stored_as(one_of(*MODES))
    words: int = stored_as(whole(1, MAX_WORDS))
    longest: int = stored_as(whole(1, MAX_LENGTH))
    hmm: bool = stored_as(FLAG)


@dataclass(frozen=True)
class JiebaMetadata(Sections):
    """The metadata of a table of jieba's dictionary."""

    settings: JiebaSettings


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.segmentation.kernels.jieba` reads.

    Attributes:
        units, entries, scores, numbers, chances, forced: the arrays of the table.
        mode: uint8[1], the index in `MODES`.
        emits: float64[4 * characters], the array `emits` of the table, row by row.
    """

    units: Array
    entries: Array
    scores: Array
    numbers: Array
    mode: Array
    emits: Array
    chances: Array
    forced: Array


class Work(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state: `count`, `is_open` and `before` are used.
        symbols: empty; the kernel keeps no state between calls.
        scores: float64[n], the scores of the last positions; n is a power of two greater than the length of the longest word.
        labels: uint32[n], the labels of the units at these positions.
    """

    state: State
    symbols: Array
    scores: Array
    labels: Array


class Token(NamedTuple):
    """A token: the number of its word, or -1; the index of its first unit; and the index after its last unit."""

    word: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class JiebaTable(UnitTrieTable):
    """The compiled dictionary of jieba. The value of a word is the index of its score, and the kinds of units are `KINDS`.

    Attributes:
        scores: float64[n], the distinct scores; the first belongs to a character that begins no word.
        numbers: int32[slots], the number of the word that ends at each slot; -1 if no word ends there.
        emits, chances: float64[characters, states] and float64[n], the model, see `fst.machines.segmentation.jieba_model`; both arrays are
            empty if the table has no model.
        forced: int32[n], ascending, the slots of the last units of words that are *forced apart*, see
            `fst.machines.segmentation.jieba_model`.
        tag_bytes, tag_ends: the different tags in UTF-8, concatenated and ascending, and the end of each, as in `word_bytes`, `word_ends`;
            empty if the table has no parts of speech.
        tags: int16[words], the tag of each word, see `fst.machines.segmentation.jieba_tags.prove`.
        tag_states, tag_steps, tag_ranges, tag_emitting, tag_emits, tag_listed: the arrays of a
            `fst.machines.segmentation.jieba_tags.TagModel`; empty if the table has no parts of speech, or no model.
    """

    kind: ClassVar[str] = "jieba"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-16"
    kernel: ClassVar[str] = "fst.runtime.machines.segmentation.kernels.jieba"
    public_class: ClassVar[str] = "fst.runtime.machines.segmentation.lattice.JiebaSegmenter"
    picture: ClassVar[str] = "fst.machines.segmentation.picture.jieba"
    has_tokens: ClassVar[bool] = False

    scores: Array = member("<f8")
    numbers: Array = member("<i4")
    emits: Array = member("<f8", axes=2)
    chances: Array = member("<f8")
    forced: Array = member("<i4")
    tag_bytes: Array = member("|u1")
    tag_ends: Array = member("<i8")
    tags: Array = member("<i2")
    tag_states: Array = member("<i2", axes=2)
    tag_steps: Array = member("<f8", axes=2)
    tag_ranges: Array = member("<i4")
    tag_emitting: Array = member("<i2")
    tag_emits: Array = member("<f8")
    tag_listed: Array = member("|u1")

    @Lazy
    def metadata(self) -> JiebaMetadata:
        """The metadata of the table."""
        return JiebaMetadata.from_json(self.header)

    @property
    def mode(self) -> str:
        """The mode, one of `MODES`."""
        return self.metadata.settings.mode

    def with_mode(self, mode: str) -> JiebaTable:
        """Return the table with a different mode. The two tables share their arrays."""
        if mode not in MODES:
            raise ValueError(not_one_of("mode", mode, MODES))
        return replace(self, header={**self.header, "mode": mode})

    @Lazy
    def untagged(self) -> JiebaTable:
        """The table whose tokens are the words of the best path in the blocks of ``jieba.posseg``: without a model, and without letters."""
        kinds = self.units >> np.uint32(KIND_SHIFT)
        kinds[kinds == LETTER] = CHINESE
        kinds[[ord(sign) for sign in NOT_TAGGED]] = OTHER
        units = (self.units & np.uint32(FREE)) | (kinds << np.uint32(KIND_SHIFT))
        emits, chances, forced = self.emits[:0], self.chances[:0], self.forced[:0]
        header = {**self.header, "mode": DEFAULT, "hmm": False}
        return replace(self, header=header, units=units, emits=emits, chances=chances, forced=forced)

    @Lazy
    def tagging(self) -> Tagging:
        """The parts of this table by which the tokens of `untagged` get parts of speech."""
        names, tags, model = [*StringColumn(self.tag_bytes, self.tag_ends)], self.tags, self._tag_model

        def tag_of(number: int) -> str:
            tag = NO_TAG if number == NO_WORD else int(tags[number])
            return OTHER_TAG if tag == NO_TAG else names[tag]

        short = np.flatnonzero(np.diff(self.word_ends, prepend=0) <= MAX_BYTES).tolist()
        of_characters = {self.words[number]: tag_of(number) for number in short if len(self.words[number]) == 1}
        are_in_blocks = bytes(((self.untagged.units >> np.uint32(KIND_SHIFT)) >= LETTER).astype(np.uint8).data)
        return Tagging(are_in_blocks, of_characters, tag_of, self._is_word, names, model if len(model.states) else None)

    @property
    def _tag_model(self) -> TagModel:
        return TagModel(*(getattr(self, f"tag_{name}") for name in TagModel._fields))

    def _is_word(self, text: str) -> bool:
        units = units_of(text)
        return int(self.numbers[self.slot_between(units, 0, len(units))]) != NO_WORD

    def tagged(self, text: str) -> list[Tagged]:
        """The tokens of a text with their parts of speech, by the slow walk."""
        data = text.encode("utf-16-le")
        tokens = ((data[2 * start : 2 * end].decode("utf-16-le"), word) for word, start, end in self.untagged.walk(text))
        return [*tagged(self.tagging, tokens)]

    @property
    def streams(self) -> bool:
        """Whether texts can be read in chunks; False in the mode "all", because the last token may then end before an earlier token."""
        return self.mode != ALL

    @property
    def cuts(self) -> str:
        """The ASCII characters after which any text may be cut; "" in the mode "all"."""
        return "" if self.mode == ALL else " \n"

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per unit of text.

        In the mode "all", the tokens that begin at a position are words on one path of the trie, and one other token. In the mode "search",
        a word of n units contains at most 2n - 3 words of two and three units.
        """
        return max(IDS_OUTSIDE, 1 + self._most_words) if self.mode == ALL else 2 if self.mode == SEARCH else 1

    @Lazy
    def _most_words(self) -> int:
        """The maximum number of words that begin at a position."""
        edges = self.edges()
        return int(edges.sums((edges.values > 0).astype(np.int64)).max())

    def run(self, text: str) -> list[int]:
        """The id of each token, by the slow walk."""
        return [token.word for token in self.walk(text)]

    def walk(self, text: str) -> Iterator[Token]:
        """The tokens of a text, by the slow walk. Positions count UTF-16 units."""
        units = units_of(text)
        in_block = [self.kind_of(unit) >= LETTER for unit in units]
        borders = [place for place in range(1, len(units)) if in_block[place] != in_block[place - 1]]
        cut_block: Mapping[str, Callable[[list[int], int, int], Iterator[Token]]]
        cut_block = {DEFAULT: self._words, SEARCH: self._words_for_search, ALL: self._all_words}
        for start, end in pairwise([0, *borders, len(units)]):
            if start < end:
                yield from cut_block[self.mode](units, start, end) if in_block[start] else self._outside(units, start, end)

    def _words(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        """The tokens of a block: the words of the best path, after adjacent letters are joined, or after the model replaces one-character
        words.
        """
        word_at = self._best(units, start, end)
        if len(self.chances):
            yield from self._words_and_unknown(units, start, end, word_at)
            return
        joined = start
        at = start
        while at < end:
            word, stop = word_at[at]
            if stop > at + 1 or self.kind_of(units[at]) != LETTER:
                if joined < at:
                    yield self._token(units, joined, at)
                yield Token(word, at, stop)
                joined = stop
            at = stop
        if joined < end:
            yield self._token(units, joined, end)

    def _best(self, units: list[int], start: int, end: int) -> dict[int, tuple[int, int]]:
        """The number and the end of the best word at each position of a block."""
        scores, word_at = {end: 0.0}, {}
        for at in range(end - 1, start - 1, -1):
            words = [(self.numbers[slot], stop, value) for value, slot, stop in self.values(units[:end], at)]
            found = [(self.scores[value] + scores[stop], stop, word) for word, stop, value in words or [(NO_WORD, at + 1, 0)]]
            scores[at], stop, word = max(found)
            word_at[at] = word, stop
        return word_at

    def _token(self, units: list[int], start: int, end: int) -> Token:
        """Make a part of a text one token."""
        return Token(int(self.numbers[self.slot_between(units, start, end)]), start, end)

    def _words_and_unknown(self, units: list[int], start: int, end: int, word_at: Mapping[int, tuple[int, int]]) -> Iterator[Token]:
        """The words of the best path; runs of one-character words are unknown text."""
        at = unknown = start
        while at < end:
            word, stop = word_at[at]
            if stop > at + 1:
                yield from self._unknown(units, unknown, at)
                yield Token(word, at, stop)
                unknown = stop
            at = stop
        yield from self._unknown(units, unknown, end)

    def _unknown(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        """The tokens of a sequence of one-character words."""
        if end - start < 2 or self._token(units, start, end).word != NO_WORD:
            yield from self._apart(units, start, end)
            return
        for is_han, places in groupby(range(start, end), lambda at: units[at] in HAN):
            first, *_ = run = [*places]
            begin = first
            for stop in self._han_ends(units, run) if is_han else self._sign_ends(units, run):
                is_forced = is_han and self.slot_between(units, begin, first + stop) in self.forced
                yield from self._apart(units, begin, first + stop) if is_forced else [self._token(units, begin, first + stop)]
                begin = first + stop

    def _apart(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        """Make each character in a part of a block a separate token."""
        return (self._token(units, at, at + 1) for at in range(start, end))

    def _han_ends(self, units: list[int], run: Sequence[int]) -> Iterator[int]:
        return word_ends([units[at] for at in run], self.emits, self.chances)

    def _sign_ends(self, units: list[int], run: Sequence[int]) -> Iterator[int]:
        own, at = [units[place] for place in run], 0
        while at < len(own):
            at = end_of_signs(own, [self.kind_of(unit) == LETTER for unit in own], at)
            yield at

    def _words_for_search(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        for token in self._words(units, start, end):
            for size in range(2, min(4, token.end - token.start)):
                parts = (self._token(units, at, at + size) for at in range(token.start, token.end - size + 1))
                yield from (part for part in parts if part.word != NO_WORD)
            yield token

    def _all_words(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        """The tokens of the mode "all", as in jieba's ``__cut_all``: letters outside of words are joined up to the next character that is
        no letter.
        """
        last, letters = start - 1, None
        for at in range(start, end):
            if letters and self.kind_of(units[at]) != LETTER:
                yield self._token(units, *letters)
                letters = None
            stops = [(int(self.numbers[slot]), stop) for _, slot, stop in self.values(units[:end], at)] or [(NO_WORD, at + 1)]
            if len(stops) == 1 and at > last:
                word, stop = stops[0]
                last = stop - 1
                if self.kind_of(units[at]) == LETTER:
                    letters = (letters[0] if letters else at), stop
                if not letters:
                    yield Token(word, at, stop)
            else:
                longer = [Token(word, at, stop) for word, stop in stops if stop > at + 1]
                yield from longer
                last = longer[-1].end - 1 if longer else last
        if letters:
            yield self._token(units, *letters)

    def _outside(self, units: list[int], start: int, end: int) -> Iterator[Token]:
        """The tokens outside of blocks: each character; in the mode "all", each whitespace character, and each text between two."""
        at = begun = start
        while at < end:
            stop = at + 1 + ((units[at] == CR and units[at + 1 : at + 2] == [LF]) or (units[at] in HIGH_SURROGATES and at + 1 < end))
            is_space = self.kind_of(units[at]) == SPACE
            if self.mode != ALL or is_space:
                if self.mode == ALL:
                    yield Token(NO_WORD, begun, at)
                yield Token(NO_WORD, at, stop)
                begun = stop
            at = stop
        if self.mode == ALL:
            yield Token(NO_WORD, begun, end)

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads."""
        units, entries = borrowable(self.units, np.uint32), borrowable(self.entries, np.uint64)
        scores, numbers = borrowable(self.scores, np.float64), borrowable(self.numbers, np.int32)
        emits, chances = borrowable(self.emits, np.float64).ravel(), borrowable(self.chances, np.float64)
        mode = np.array([MODES.index(self.mode)], np.uint8)
        return Arguments(units, entries, scores, numbers, mode, emits, chances, borrowable(self.forced, np.int32))

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        capacity = 1 << self.metadata.settings.longest.bit_length()
        return Work(State(), np.empty(0, np.uint16), np.empty(capacity, np.float64), np.empty(capacity, np.uint32))

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        settings = self.metadata.settings
        need(len(self.scores) > 0 and len(self.entries) <= MAX_SLOT + 1, f"there are {len(self.scores)} scores, {len(self.entries)} slots")
        prove_strings(self.word_bytes, self.word_ends, settings.words, "words")
        self.prove_trie(settings.longest, len(self.scores) - 1)
        need_none(~np.isfinite(self.scores), lambda at: f"score {at} is {self.scores[at]}")
        need(len(self.numbers) == len(self.entries), f"there are {len(self.numbers)} numbers for {len(self.entries)} slots")
        is_taken = ENTRY.labels_of(self.entries) != FREE
        has_word = is_taken & (ENTRY.values_of(self.entries) > 0)
        wrong = np.where(has_word, (self.numbers < 0) | (self.numbers >= settings.words), self.numbers != NO_WORD)
        need_none(wrong, lambda slot: f"slot {slot} has the word {self.numbers[slot]}; there are {settings.words}")
        need(settings.hmm == (len(self.chances) > 0), f"hmm is {settings.hmm}; there are {len(self.chances)} chances")
        prove_model(self.emits, self.chances, self.forced, is_taken)
        prove_tags((self.tag_bytes, self.tag_ends), self.tags, settings.words, self._tag_model)
        self._prove_kinds()

    def _prove_kinds(self) -> None:
        """Prove that blocks do not begin or end inside a character, and that whitespace is outside of blocks."""
        kinds = self.units >> np.uint32(KIND_SHIFT)
        need_none(kinds >= len(KINDS), lambda unit: f"unit {unit} is of kind {kinds[unit]}; there are {len(KINDS)}")
        need_none(kinds[[*BREAKS]] >= LETTER, lambda at: f"unit {BREAKS[at]} is a space or a line break, and inside of blocks")
        halves = kinds[SURROGATES.start : SURROGATES.stop]
        need_none(halves != OTHER, lambda at: f"unit {SURROGATES[at]} is half a character, and of kind {halves[at]}, not {OTHER}")


def header(words: int, longest: int, *, hmm: bool) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return JiebaMetadata(JiebaSettings(JiebaTable.kind, DEFAULT, words, longest, hmm)).to_json()
