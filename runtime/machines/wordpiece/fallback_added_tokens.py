"""Contextual added tokens, which depend on normalised text or on their neighbours; see `fst.compile.text.added_tokens`.

The main kernel finds most of them itself, word by word: tokens in normalised text in which no word ends, and which take no white space
around them. It notes a text for the fallback if another token may stand in it, if symbols alone do not tell whether a token counts, or if
a word is too long. The kernels of the fallback read this text again, and follow the reference step by step. They find the leftmost token,
and there the longest, first in the raw text, and then in the normalised text between these tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import trie
from fst.automata.rows import CODE_POINTS, MULTIPLIERS, ONE, WHITE_SPACE, are_left, are_parts, field_kind, field_output
from fst.core.jit import Deferred
from fst.machines.wordpiece.arguments import (
    BEGINNING,
    BEGINS,
    BLANK_CLASS,
    BORDER,
    BORDERS,
    CLEAR,
    ENDS,
    FILLER,
    GRAMS,
    HAS_BORDERS,
    IN_WORD,
    INSIDE,
    OWN,
    SHORTEST,
    AddedTokens,
    Arguments,
    blank,
)
from fst.machines.wordpiece.table import Tables
from fst.runtime.fallback import Read
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.machines.wordpiece.fallback import Suspects
from fst.runtime.machines.wordpiece.fallback_arguments import (
    BEGINS_RAW,
    BEGINS_WORD,
    ENDS_WORD,
    FLAGS,
    MIXED,
    NO_SOURCE,
    SPACED,
    WHITE,
    WORD_PART,
    Pattern,
    Symbols,
)
from fst.runtime.rows.texts import Ints, Units
from fst.tables.header import Context, ContextualToken
from fst.text.composition import Placing
from fst.text.reading_arguments import Reader

IN_GRAM = 8  # maximum of symbols in a gram, see `fst.machines.wordpiece.arguments.AddedTokens`
MASK = (1 << 64) - 1
UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


count_symbols, read_raw, find_normalized = (
    Deferred("fst.runtime.machines.wordpiece.kernels.fallback", name) for name in ("count_symbols", "read_raw", "find_normalized")
)


class Strips(NamedTuple):
    """The ends of a stretch between added tokens from which the normalizer strips white space.

    Attributes:
        left, right: whether it strips this end.
        raw: whether it strips before it drops characters. White space beyond a character that is dropped later then stays.
    """

    left: bool
    right: bool
    raw: bool

    @classmethod
    def of(cls, parts: Sequence[Mapping[str, Any]]) -> Strips:
        """The ends that the components of a normalizer together strip."""
        types = [part.get("type") for part in parts]  # `get`, since a hostile table may lack it
        strips = [part for part in parts if part.get("type") == "Strip"]
        left, right = (any(part.get(side) for part in strips) for side in ("strip_left", "strip_right"))
        return cls(left, right, raw=bool(strips) and "BertNormalizer" not in types[: types.index("Strip")])


class ContextualTokens:
    """The fallback for tables with contextual added tokens.

    Args:
        tables: the tokenizer's tables.
        reader: the reader of these tables.
        placing: finds spans step by step; None if the spans from reading are right.
    """

    is_noted = True

    def __init__(self, tables: Tables, reader: Reader, placing: Placing | None = None) -> None:
        self._tables, self._reader, self._placing = tables, reader, placing
        self._suspects = Suspects(placing.suspects if placing else ())
        metadata, a = tables.metadata, tables.classes[0::2]
        added, context = metadata.added_tokens, metadata.added_tokens.context
        self._end, self._blank = np.uint64(len(a)), np.uint64(blank(a))
        self._parts = int(np.count_nonzero(are_parts(a)))
        ones = np.flatnonzero(field_kind(a) == ONE)[::-1]  # reversed: of several classes with one id the first counts; no pattern has it
        self._class_of_id = dict(zip(field_output(a[ones]).tolist(), ones.tolist(), strict=True))
        self._kinds = _kinds(context)
        mixed = np.array(context.mixed if context else [], np.uint64).reshape(-1, 2)
        self._mixed = np.sort(mixed[:, 0] << np.uint64(8) | mixed[:, 1])
        self._kinds[mixed[:, 0].astype(np.int64)] |= MIXED
        self._raw = pattern([])
        self._patterns = dict(zip(added.contextual, self._symbols_of(list(added.contextual)), strict=True))
        late = {content: (*self._class_and_flags(token), token.normalized) for content, token in added.contextual.items()}
        raw = [(_codes(content), self._class_of_id[number], 0) for content, number in added.specials.items()]
        raw += [(_codes(content), number, flags) for content, (number, flags, normalized) in late.items() if not normalized]
        self._raw = pattern(raw)
        self._kinds[[string[0] for string, _, _ in raw]] |= BEGINS_RAW
        normalized = [(self._patterns[content], number, flags) for content, (number, flags, normalized) in late.items() if normalized]
        self._normalized = pattern(normalized)
        self._strips = Strips.of(metadata.normalizer.parts or ())
        self._begins = np.zeros(len(a) + 1, np.uint8)
        self._begins[[pattern[0] for pattern, _, _ in normalized]] = 1

    def _class_and_flags(self, token: ContextualToken) -> tuple[int, int]:
        return self._class_of_id[token.id], sum(flag for name, flag in FLAGS.items() if getattr(token, name))

    def _symbols_of(self, texts: Sequence[str]) -> Iterator[tuple[int, ...]]:
        """The symbols of each text."""
        numbers = self._raw_symbols(*_laid_out(texts)).classes.astype(np.int64)
        ends = np.flatnonzero(numbers == self._end)
        return (tuple(numbers[begin + 1 : end].tolist()) for begin, end in pairwise([-1, *ends.tolist()]))

    def arguments(self, of: Arguments) -> Arguments:
        """The kernel arguments, completed so that kernels find inside tokens, and note texts that may hold another contextual one."""
        inside = {content: pattern for content, pattern in self._patterns.items() if max(pattern) <= self._parts}
        params, grams, sides = of.added.params.copy(), np.zeros(3 << 10, np.uint64), self._sides()
        lengths = [min(len(pattern), IN_GRAM) for pattern in inside.values()]
        params[INSIDE] = sum({1 << length for length in lengths})
        for pattern in inside.values():
            _note(grams, pattern[:IN_GRAM], OWN)
            _note(grams, pattern[: min(lengths)], BEGINNING)
        bordered = {pattern for content, pattern in self._patterns.items() if content not in inside}
        borders = {pattern: next(place for place, number in enumerate(pattern) if number > self._parts) for pattern in bordered}
        around = {pattern[place - 1 :][:IN_GRAM] for pattern, place in borders.items() if place}
        for pattern, place in borders.items():
            _note(grams, pattern[:IN_GRAM], OWN)
            sides[pattern[place]] |= ENDS if place else BEGINS
        for gram in around:
            _note(grams, gram, BORDER)
        params[GRAMS] = sum({1 << min(len(pattern), IN_GRAM) for pattern in bordered})
        params[BORDERS] = sum({1 << len(gram) for gram in around})
        params[HAS_BORDERS] = len(bordered) > 0
        params[FILLER] = self._blank
        if inside:
            params[SHORTEST] = min(lengths)
        # Equal patterns go in order of their kind, since the first counts: one for the fallback first, then one that counts anywhere.
        kinds = {content: self._kind(token, content in inside) for content, token in self._tables.metadata.added_tokens.contextual.items()}
        in_order = sorted(kinds, key=kinds.__getitem__)
        tokens = trie(((self._patterns[content], kinds[content]) for content in in_order), overlapping=True)
        of_words = of.params.copy()
        if bordered:  # no blank may be skipped: a token may begin with it
            of_words[BLANK_CLASS] = 0
        return of._replace(params=of_words, added=AddedTokens(params, grams, sides, tokens))

    def _kind(self, token: ContextualToken, is_inside: bool) -> int:
        """The value of a token in `fst.machines.wordpiece.arguments.AddedTokens.trie`."""
        # The fallback must read each text that may hold a bordered token, or one in raw text, even where it overlaps an inside token. In
        # raw text, normalisation may drop the character between a token and the next letter.
        if not is_inside or not token.normalized:
            return 0
        number = 0 if token.lstrip or token.rstrip else self._class_of_id[token.id]
        return number << 1 | int(token.single_word)

    def _sides(self) -> NDArray[np.uint8]:
        """uint8[classes + 1], `IN_WORD` and `CLEAR` of each class that has one of them for all characters from which it comes."""
        if self._tables.metadata.added_tokens.context is None:
            return np.zeros(self._end + 1, np.uint8)
        codes = np.delete(np.arange(CODE_POINTS, dtype=np.uint32), slice(0xD800, 0xE000))
        symbols = self._raw_symbols(codes, np.arange(len(codes) + 1))
        of_character = symbols.sources != NO_SOURCE
        numbers, kinds = symbols.classes[of_character], self._kinds[codes[symbols.sources[of_character]]]
        sides = kinds & (BEGINS_WORD | ENDS_WORD | SPACED)
        always, never = np.ones((2, self._end + 1), bool)
        always[numbers[(sides != BEGINS_WORD | ENDS_WORD) | (kinds & MIXED > 0)]] = False
        never[numbers[(sides & SPACED == 0) & (sides > 0) | (kinds & MIXED > 0)]] = False
        specials = self._tables.specials[:, 3]
        always[specials[specials >= 0]] = False
        always &= ~never  # both hold for a class that no character becomes
        found: NDArray[np.uint8] = (IN_WORD * always + CLEAR * never).astype(np.uint8)
        return found

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The texts that a kernel has noted, and with `placing` those for which it finds wrong spans."""
        return noted | self._suspects.are_in(text, starts) if self._placing else noted

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts, including those of added tokens."""
        codes, starts = _laid_out(texts)
        symbols = self._raw_symbols(codes, starts)
        if self._placing:
            self._place(texts, symbols, self._placing)
        if not len(self._normalized.tokens):
            return symbols.classes, symbols.spans
        if self._strips.left or self._strips.right:
            symbols = self._stripped(codes, starts, symbols)
        count = len(symbols.classes)
        classes, spans = np.empty(count, np.uint16), np.empty(count, np.uint64)
        known = self._begins, self._kinds, self._mixed, self._blank
        count = find_normalized.call(codes, count, symbols, self._normalized, *known, _memo(), classes, spans)
        return classes[:count], spans[:count]

    def _raw_symbols(self, codes: NDArray[np.uint32], starts: Ints) -> Symbols:
        """The symbols of texts, with the added tokens that are found in raw text."""
        room = int(count_symbols.call(codes, self._reader)) + len(starts) - 1
        symbols = Symbols.empty(room)
        count = read_raw.call(codes, starts, self._reader, self._raw, self._kinds, self._end, _memo(), symbols)
        return symbols.at(slice(count))

    def _stripped(self, codes: NDArray[np.uint32], starts: Ints, symbols: Symbols) -> Symbols:
        """Remove the blanks that the normalizer strips, so that no token covers them."""
        is_edge = symbols.sources == NO_SOURCE
        if self._strips.raw:
            of_characters, slots = self._raw_edges(codes, starts, symbols, is_edge)
            taken_off = self._taken_off(*of_characters)[slots] & ~is_edge
        else:
            taken_off = self._taken_off(symbols.classes == self._blank, is_edge)
        return symbols.at(~taken_off)

    def _taken_off(self, is_white: NDArray[np.bool_], is_edge: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which items are white space that the normalizer strips: only white space lies between them and an edge, on a stripped side."""
        left, right = _beside_edge(is_white, is_edge), _beside_edge(is_white[::-1], is_edge[::-1])[::-1]
        return self._strips.left & left | self._strips.right & right

    def _raw_edges(
        self, codes: NDArray[np.uint32], starts: Ints, symbols: Symbols, is_edge: NDArray[np.bool_]
    ) -> tuple[tuple[NDArray[np.bool_], NDArray[np.bool_]], Ints]:
        """By slot, whether it is white space and whether it is an edge; and the slot of each symbol.

        There is a slot for each character, and one for the end of each text. Added tokens and ends of texts are edges.
        """
        is_end = symbols.classes == self._end
        row = np.cumsum(is_end) - is_end
        before = starts[row] + row  # slots before the text of each symbol
        depth = np.zeros(len(codes) + len(starts), np.int64)
        np.add.at(depth, (before + (symbols.spans & LOW_HALF).astype(np.int64))[is_edge], 1)
        np.add.at(depth, (before + (symbols.spans >> HALF).astype(np.int64))[is_edge], -1)
        white = np.zeros(len(depth) - 1, bool)
        white[np.arange(len(codes)) + np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = self._kinds[codes] & WHITE > 0
        return (white, np.cumsum(depth)[:-1] > 0), np.where(is_edge, 0, symbols.sources.astype(np.int64) + row)

    def _place(self, texts: Sequence[str], symbols: Symbols, placing: Placing) -> None:
        """Correct the spans of the symbols between added tokens."""
        is_left = np.append(are_left(self._tables.classes[0::2]), False)
        row = first = start = 0
        for edge in np.flatnonzero(symbols.sources == NO_SOURCE).tolist():
            begin, end = int(symbols.spans[edge] & LOW_HALF), int(symbols.spans[edge] >> HALF)
            left = first + np.flatnonzero(is_left[symbols.classes[first:edge]])
            places = list(islice(placing.places(texts[row][start:begin]), len(left) + 1))
            if len(places) == len(left):  # always, except in a hostile table
                begins, ends = (start + np.array(places, np.uint64).reshape(-1, 2)).astype(np.uint64).T
                symbols.spans[left] = begins | ends << HALF
            is_last = symbols.classes[edge] == self._end
            row, first, start = row + is_last, edge + 1, 0 if is_last else end


def _laid_out(texts: Sequence[str]) -> tuple[NDArray[np.uint32], Ints]:
    """The code points of all texts, where each text begins, and where the last one ends."""
    codes = np.frombuffer("".join(texts).encode(UTF_32), np.uint32)
    return codes, np.cumsum([0, *map(len, texts)], dtype=np.int64)


def _beside_edge(is_white: NDArray[np.bool_], is_edge: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which items are white space with nothing but white space between them and the edge before, or the beginning."""
    place = np.arange(len(is_white))
    other, edge = (np.maximum.accumulate(np.where(these, place, -1)) for these in (~is_white & ~is_edge, is_edge))
    return is_white & ~is_edge & (other <= edge)


def _codes(text: str) -> list[int]:
    return list(map(ord, text))


def pattern(tokens: Sequence[tuple[Sequence[int], int, int]]) -> Pattern:
    """The pattern of tokens, each given as a string, a class and flags."""
    strings = ((string, row) for row, (string, _, _) in enumerate(tokens))
    return Pattern(trie(strings), np.array([token[1:] for token in tokens], np.int32).reshape(-1, 2))


def _memo() -> NDArray[np.uint64]:
    return np.zeros(3, np.uint64)


def _note(grams: NDArray[np.uint64], symbols: Sequence[int], kind: int) -> None:
    """Add a gram to the set of a kind; `fst.runtime.machines.wordpiece.kernels.added_tokens.is_gram` computes the same hash."""
    four = min(len(symbols), 4)
    ends = symbols[:four], symbols[-four:]
    first, last = (sum(number << 64 - 16 * (four - place) for place, number in enumerate(part)) for part in ends)
    hashed = (first ^ last << 8) * MULTIPLIERS[0] & MASK
    grams[kind | hashed >> 54] |= np.uint64(1 << (hashed >> 48 & 63) | 1 << (hashed >> 42 & 63))


def _kinds(context: Context | None) -> NDArray[np.uint8]:
    """uint8[0x110000], the kinds of each code point, see `fst.runtime.machines.wordpiece.fallback_arguments`."""
    kinds = np.zeros(CODE_POINTS, np.uint8)
    kinds[list(map(ord, WHITE_SPACE))] = WHITE
    for name, kind in (("word", WORD_PART), ("begins_word", BEGINS_WORD), ("ends_word", ENDS_WORD), ("spaced", SPACED)):
        runs = np.array(getattr(context, name) if context else [], np.int64)
        edges = runs + np.arange(len(runs)) % 2
        inside = np.bincount(edges, np.tile([1, -1], len(edges) // 2), CODE_POINTS + 1)
        kinds[np.cumsum(inside)[:CODE_POINTS] > 0] |= kind
    return kinds
