"""The machine of Japanese BERT: MeCab cuts a text into words, and WordPiece, or a cut into characters, makes tokens of each word.

The rules are those of ``BertJapaneseTokenizer`` of ``transformers``. A text between two added tokens is normalized, and ends at its first
character U+0000, as in MeCab's C interface. Each *word* of the best path of `fst.machines.segmentation.mecab` is then treated alone:

1. With `lowercase`, it is converted to lower case as by ``str.lower``, unless it is one of `never_split`.
2. For the subwords "wordpiece", it is cut at the characters of ``str.isspace``. Each part becomes its longest tokens from left to right:
   the first token is a prefix of the part, and every other token is in the vocabulary with the prefix of continuing tokens. If a position
   has no token, or the part is longer than `max_input_chars_per_word`, the part becomes the unknown token.
3. For the subwords "character", each character becomes its token, or the unknown token.

The trie contains the tokens; the continuing tokens, without their prefix, follow the unit `CONTINUES`, with which no text begins a word.
The value of a token is 1 + its id.

The span of a token is that of its characters in the normalized text, and then the span of these characters in the raw text by the
alignment of the normalizer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.rows import CODE_POINTS, MAX_OUTPUT, ROOT, Array
from fst.core.fields import Fields, Scalar
from fst.core.json_fields import FLAG, TEXT, TEXTS, one_of, stored_as, whole
from fst.core.lazy import Lazy
from fst.machines.segmentation.mecab import MAX_GROUPING, MAX_LENGTH, MecabSettings, MecabTable, header
from fst.machines.segmentation.unit_trie import ENTRY, FREE, LEAF, MAX_VALUE, UnitTable, units_of
from fst.tables.header import AddedTokens, Sections, Settings, Templates, form_of
from fst.tables.kernel_call import State
from fst.tables.proof import Tokens, need, need_ids, need_none, prove_around
from fst.tables.strings import texts_of
from fst.tables.table import Each, member
from fst.text.arguments import expansion_bound, prove_normalizer
from fst.text.marks import marks
from fst.text.normalizer import Normalizer
from fst.text.reading_arguments import borrowable

CONTINUES = 0xD800  # the first unit of all continuing tokens in the trie
WORDPIECE, CHARACTER = "wordpiece", "character"
WHITESPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
MAX_CHARACTERS = 1 << 10  # maximum of `max_input_chars_per_word`
MAX_KEPT = 1 << 10  # maximum number of strings in `never_split`
SIGMA, FINAL_SIGMA = 0x3A3, 0x3C2  # the capital letter, and its lower case at the end of a word
CASED, IGNORABLE = 1, 2  # bits of `case`
NO_TOKEN = -1
END_OF_TEXT = "\0"


@dataclass(frozen=True)
class PieceMachine:
    """The sizes of the machine.

    Attributes:
        kind: the kind of machine.
        longest: the number of UTF-16 units of the longest string in the trie of tokens.
        longest_word: the number of UTF-16 units of the longest word of the dictionary.
        max_grouping_size: see `fst.machines.segmentation.mecab`.
    """

    kind: str = stored_as(TEXT)
    longest: int = stored_as(whole(1, 2 * MAX_CHARACTERS + 1))
    longest_word: int = stored_as(whole(1, MAX_LENGTH))
    max_grouping_size: int = stored_as(whole(1, MAX_GROUPING))


@dataclass(frozen=True)
class PieceModel:
    """The model.

    Attributes:
        unk_id, unk_token: the token for a part of a word without a segmentation.
        model_tokens: the number of tokens of the model; the other tokens of the table are added tokens.
        continuing_subword_prefix, max_input_chars_per_word: see `fst.tables.header.Model`.
        subword: "wordpiece" or "character", see the module docstring.
        lowercase: whether words are converted to lower case.
        never_split: the words that keep their case.
    """

    unk_id: int = stored_as(whole(0, MAX_OUTPUT))
    unk_token: str = stored_as(TEXT)
    model_tokens: int = stored_as(whole(1, 1 << 31))
    continuing_subword_prefix: str = stored_as(TEXT)
    max_input_chars_per_word: int = stored_as(whole(0, MAX_CHARACTERS))
    subword: str = stored_as(one_of(WORDPIECE, CHARACTER))
    lowercase: bool = stored_as(FLAG)
    never_split: Sequence[str] = stored_as(TEXTS)


@dataclass(frozen=True)
class PieceText:
    """The changes to a text before MeCab reads it.

    Attributes:
        normalizer: the normalizer, which also finds the added tokens.
        reference: the library that gives the same ids, and its version.
    """

    normalizer: Normalizer | None = stored_as(form_of(Normalizer), "rewriting")
    reference: str = stored_as(TEXT)


@dataclass(frozen=True)
class PieceMetadata(Sections):
    """The metadata of a table."""

    automaton: PieceMachine
    model: PieceModel
    text: PieceText
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings


class Scalars(Fields):
    """The scalars of `Arguments`."""

    continues: Scalar  # the state after `CONTINUES`, or `LEAF`
    unk_id: Scalar
    most: Scalar  # `max_input_chars_per_word`
    is_character: Scalar  # 1 for the subwords "character"


class Words(NamedTuple):
    """Texts that are cut into *segments*, the parts between added tokens; and the words of the segments.

    Attributes:
        units: uint16[n], the segments in UTF-16, up to their first U+0000, concatenated.
        bounds: int64[segments + 1], the start of each segment in `units`, and the end of the last.
        tokens: int32[segments], the id of the added token after each segment; `NO_TOKEN` after the last segment of a text.
        firsts: int64[segments], the position of each segment's first character in its text, where an added token is one character.
        ends: int64[segments], the end of each segment's words.
        offsets: int32[2 * words], the first character of each word in its segment, and one past the last character.
    """

    units: Array
    bounds: Array
    tokens: Array
    firsts: Array
    ends: Array
    offsets: Array


NO_WORDS = Words(*(np.empty(0, dtype) for dtype in (np.uint16, np.int64, np.int32, np.int64, np.int64, np.int32)))


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.segmentation.kernels.pieces` reads.

    Attributes:
        units, entries: the trie of tokens.
        lowers: uint32[n, 3], see `MecabPieceTable`.
        case: uint8[0x110000], or empty without `lowercase`.
        kept_units, kept_ends: uint16[n], int64[strings], the strings of `never_split` in UTF-16, concatenated, and their ends.
        whitespace: uint16[n], the units of `WHITESPACE`, ascending.
        words: the words of the texts of one call.
    """

    units: Array
    entries: Array
    lowers: Array
    case: Array
    kept_units: Array
    kept_ends: Array
    whitespace: Array
    scalars: Scalars
    words: Words


class Work(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state: only `count` is used.
        symbols: empty.
        part: uint16[n], a part of a word in UTF-16.
        origins: uint32[n], the position in the text of the character of each unit of `part`.
    """

    state: State
    symbols: Array
    part: Array
    origins: Array


class Token(NamedTuple):
    """A token of a text: its id, the first character and one past the last in the raw text, and the number of its word."""

    id: int
    start: int
    end: int
    word: int


@dataclass(frozen=True, eq=False)
class MecabPieceTable(UnitTable):
    """A vocabulary of subwords with a dictionary of MeCab.

    Attributes:
        word_units, word_entries: the fields `units` and `entries` of the dictionary's `fst.machines.segmentation.mecab.MecabTable`.
        lists, kinds, unknowns, matrix: the fields of this table with the same names.
        lowers: uint32[n, 3], ascending: a code point, and the one or two code points of its lower case, the second 0 if there is one;
            empty without `lowercase`.
        case: uint8[0x110000], the bits `CASED` and `IGNORABLE` of each code point, which determine the lower case of Σ; empty without
            `lowercase`.
        token_bytes: uint8[n], the UTF-8 bytes of all tokens, concatenated.
        token_ends: int64[tokens], the end of each token in `token_bytes`.
        token_ids: int32[tokens], the id of each token.
    """

    kind: ClassVar[str] = "mecab-wordpiece"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.segmentation.kernels.pieces"
    public_class: ClassVar[str] = "fst.runtime.machines.segmentation.pieces.MecabPieceTokenizer"
    picture: ClassVar[str] = "fst.machines.segmentation.picture.pieces"

    word_units: Array = member("<u4")
    word_entries: Array = member("<u8")
    lists: Array = member("<u8")
    kinds: Array = member("<u4")
    unknowns: Array = member("<i4")
    matrix: Array = member("<i2", axes=2)
    lowers: Array = member("<u4", axes=2)
    case: Array = member("|u1")
    token_bytes: Array = member("|u1")
    token_ends: Array = member("<i8")
    token_ids: Array = member("<i4")

    @Lazy
    def metadata(self) -> PieceMetadata:
        """The metadata of the table."""
        return PieceMetadata.from_json(self.header)

    @property
    def normalizer(self) -> Normalizer:
        """The normalizer."""
        by = self.metadata.text.normalizer
        assert by is not None
        return by

    @Lazy
    def dictionary(self) -> MecabTable:
        """The table of the dictionary. It has no strings, and all of its words have the id 0."""
        machine, none, one = self.metadata.automaton, np.zeros(0, np.uint8), np.zeros(1, np.int64)
        stated = MecabSettings(MecabTable.kind, 0, 1, machine.longest_word, machine.max_grouping_size, "")
        return MecabTable(
            header(stated),
            units=self.word_units,
            entries=self.word_entries,
            word_bytes=none,
            word_ends=one,
            lists=self.lists,
            numbers=np.zeros(len(self.lists), np.int32),
            kinds=self.kinds,
            unknowns=self.unknowns,
            matrix=self.matrix,
            feature_bytes=none,
            feature_ends=one,
        )

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of ids per byte of raw text. A byte of normalized text has at most one id."""
        return expansion_bound(self.normalizer)

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the order of ``token_ids``."""
        return texts_of(self.token_bytes, self.token_ends)

    def names(self) -> tuple[Array, Array]:
        """The `tokens` as two arrays like ``token_bytes`` and ``token_ends``."""
        return self.token_bytes, self.token_ends

    def run(self, text: str) -> list[int]:
        """The ids of a text by the slow walk, which is the specification of the kernel."""
        return [token.id for token in self.walk(text)]

    def walk(self, text: str) -> Iterator[Token]:
        """The tokens of a text with their spans and words, by the slow walk."""
        number = 0
        for stretch in self.normalizer.stretches(text, self.metadata.added_tokens):
            if stretch.token is not None:
                yield Token(stretch.token, *stretch.places[0], number)
                number += 1
                continue
            for begin, end in self.words_of(stretch.text):
                for found, first, last in self.pieces(stretch.text[begin:end]):
                    places = stretch.places[begin + first : begin + last]
                    yield Token(found, places[0][0], places[-1][1], number)
                number += 1

    def words_of(self, text: str) -> Iterator[tuple[int, int]]:
        """The first character of each word of a normalized text, and one past the last, by the slow walk."""
        text = text.split(END_OF_TEXT)[0]
        units = units_of(text)
        before = np.cumsum([0, *(unit & 0xFC00 != 0xDC00 for unit in units)])  # the number of characters before each unit
        for node in self.dictionary.walk(text)[:-1]:
            yield int(before[node.start]), int(before[node.end])

    def pieces(self, word: str) -> Iterator[tuple[int, int, int]]:
        """The id of each token of a word, its first character, and one past the last."""
        model = self.metadata.model
        chars = self.lowered(word)
        if model.subword == CHARACTER:
            for char, place in chars:
                yield self._known(char), place, place + 1
            return
        part: list[tuple[str, int]] = []
        for char, place in [*chars, (" ", len(word))]:
            if char not in WHITESPACE:
                part.append((char, place))
            elif part:
                yield from self._matched("".join(letter for letter, _ in part), [own for _, own in part])
                part = []

    def _known(self, char: str) -> int:
        """The id of a character."""
        units = units_of(char)
        found = [value for value, _, end in self.values(units, 0) if end == len(units)]
        return found[0] - 1 if found else self.metadata.model.unk_id

    def _matched(self, part: str, places: Sequence[int]) -> list[tuple[int, int, int]]:
        """The tokens of a part of a word. `places`: the position of each of its characters in the word."""
        model, ids, at = self.metadata.model, list[tuple[int, int, int]](), 0
        unknown = [(model.unk_id, places[0], places[-1] + 1)]
        if len(part) > model.max_input_chars_per_word:
            return unknown
        while at < len(part):
            before = [CONTINUES] if at else []
            found = [(value, end) for value, _, end in self.values([*before, *units_of(part[at:])], 0)]
            if not found:
                return unknown
            value, units = found[-1]
            end = at + len(np.array(units_of(part[at:])[: units - len(before)], "<u2").tobytes().decode("utf-16-le"))
            ids.append((value - 1, places[at], places[end - 1] + 1))
            at = end
        return ids

    def lowered(self, word: str) -> list[tuple[str, int]]:
        """The characters of a word in lower case, if the table converts it, each with its position in the word."""
        model = self.metadata.model
        if not model.lowercase or word in model.never_split:
            return [(char, place) for place, char in enumerate(word)]
        chars = list[tuple[str, int]]()
        for place, char in enumerate(word):
            codes = [FINAL_SIGMA] if self._is_final(word, place) else self._lower.get(ord(char), [ord(char)])
            chars += [(chr(code), place) for code in codes]
        return chars

    @Lazy
    def _lower(self) -> Mapping[int, list[int]]:
        return {code: [image for image in images if image] for code, *images in self.lowers.tolist()}

    def _is_final(self, word: str, place: int) -> bool:
        """Whether a character is a Σ after a cased letter, and not before one; characters with `IGNORABLE` between them are skipped."""
        if ord(word[place]) != SIGMA:
            return False
        around = [(self.case[ord(char)] for char in chars) for chars in (word[:place][::-1], word[place + 1 :])]
        before, after = (next((kind & CASED for kind in kinds if not kind & IGNORABLE), 0) for kinds in around)
        return bool(before) and not after

    def arguments(self) -> Arguments:
        """The arrays of the table, in the form that the kernel reads, without words."""
        model = self.metadata.model
        kept = [units_of(word) for word in model.never_split]
        return Arguments(
            units=borrowable(self.units, np.uint32),
            entries=borrowable(self.entries, np.uint64),
            lowers=borrowable(self.lowers, np.uint32),
            case=self.case,
            kept_units=np.array([unit for units in kept for unit in units], np.uint16),
            kept_ends=np.cumsum([len(units) for units in kept], dtype=np.int64),
            whitespace=np.array(units_of(WHITESPACE), np.uint16),
            scalars=Scalars(
                continues=self._continues,
                unk_id=model.unk_id,
                most=model.max_input_chars_per_word,
                is_character=model.subword == CHARACTER,
            ),
            words=NO_WORDS,
        )

    @property
    def _continues(self) -> int:
        """The state after `CONTINUES`."""
        label = int(self.units[CONTINUES]) & FREE
        entry = ENTRY.step(self.entries, ROOT, label)
        return entry.target if entry else LEAF

    def marks(self) -> Array:
        """int32[tokens], the id of each added token, by the number in its mark, see `fst.text.arguments`."""
        return np.array([*marks(self.metadata.added_tokens).values()], np.int32)

    def work(self) -> Work:
        """The kernel's working arrays for one thread."""
        capacity = 2 * (self.metadata.model.max_input_chars_per_word + 2)
        return Work(State(), np.empty(0, np.uint16), np.empty(capacity, np.uint16), np.empty(capacity, np.uint32))

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        metadata, model, added = self.metadata, self.metadata.model, self.metadata.added_tokens
        tokens = Tokens(self.token_bytes, self.token_ends, self.token_ids)
        named = tokens.named
        need(model.model_tokens <= len(self.token_ids), f"model_tokens is {model.model_tokens}; there are {len(self.token_ids)} tokens")
        need_ids([model.unk_id, *added.ids.values()], named, "unk_id or an added token")
        prove_around(added, metadata.templates, named)
        need(metadata.text.normalizer, "there is no normalizer")
        prove_normalizer(metadata.text.normalizer, added)
        values = self.prove_trie(metadata.automaton.longest, MAX_VALUE).values
        known = np.append(True, named)
        need_none(known.take(values, mode="clip") & (values < len(known)) == 0, lambda edge: f"edge {edge} has the id {values[edge] - 1}")
        need(len(model.never_split) <= MAX_KEPT, f"never_split has {len(model.never_split)} strings; at most {MAX_KEPT} are possible")
        self._prove_lower()
        self.dictionary.prove(each)

    def _prove_lower(self) -> None:
        """Prove that characters have a lower case, and that Σ finds the case of every character."""
        lowers, is_lower = self.lowers, self.metadata.model.lowercase
        need(lowers.shape[1] == 3, f"lowers has {lowers.shape[1]} columns; expected 3")
        need(bool(len(lowers)) == is_lower, "lowers does not fit the setting lowercase")
        need(len(self.case) == (CODE_POINTS if is_lower else 0), f"case has {len(self.case)} elements")
        codes = lowers[:, 0].astype(np.int64)
        need_none(np.diff(codes, prepend=-1) <= 0, lambda row: f"row {row} of lowers does not ascend")
        images = lowers[:, 1:].astype(np.int64)
        wrong = (images >= CODE_POINTS) | (images >> 11 == 0xD800 >> 11)
        need_none(wrong.any(axis=1) | (images[:, 0] == 0), lambda row: f"row {row} of lowers is not text")
        # a character in lower case has at most as many tokens as bytes
        need_none((images[:, 1] > 0) & (codes < 0x80), lambda row: f"row {row} of lowers makes two characters of one byte")

