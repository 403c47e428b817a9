"""The composition fallback: reads texts whose normalisation composes characters or orders marks in several steps, see
`fst.text.composition`.

Nearly all texts need neither. The others are found by their units. The kernels that rewrite texts before BPE and Unigram then rewrite them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.double_array import character_sizes
from fst.automata.rows import CODE_POINTS, are_fences, are_left
from fst.core.lazy import Lazy
from fst.errors import TableError
from fst.machines.wordpiece.table import Tables
from fst.runtime.fallback import Read
from fst.runtime.front_end import NOWHERE, Room
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.machines.wordpiece.fallback import Suspects
from fst.runtime.machines.wordpiece.fallback_added_tokens import count_symbols, pattern, read_raw
from fst.runtime.machines.wordpiece.fallback_arguments import Symbols
from fst.runtime.rows.texts import UNIT_TYPES, Ints, Units, units
from fst.runtime.text.normalizer import TextRewriter
from fst.tables.header import AddedTokens
from fst.text.arguments import MARK, MARK_BYTES, prove_rewriting
from fst.text.composition import HANGUL, SYLLABLES, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS, Composition, Images, Placing
from fst.text.normalizer import Rewriting
from fst.text.reading_arguments import Reader
from fst.text.whitespace import NO_BLANKS

NO_PATTERN = pattern([])
NO_TOKENS = AddedTokens({}, {}, None, (), ())
Spans = NDArray[np.uint64]  # of characters or symbols, ``first | one past the last << 32``


class Rows(NamedTuple):
    """Rows of characters.

    Attributes:
        codes: uint32[n], the code points.
        starts: int64[rows + 1], where each row begins in `codes`, and where the last one ends.
        spans: uint64[n], the span of each character in its row before it was rewritten.
    """

    codes: NDArray[np.uint32]
    starts: Ints
    spans: Spans

    def rows(self) -> Ints:
        """The row of each character."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class Step:
    """Rewrites rows of text.

    Args:
        composition: the composition to apply; None: only mark tokens.
        added: the tokens to mark.
    """

    def __init__(self, composition: Composition | None, added: AddedTokens = NO_TOKENS) -> None:
        by = Rewriting(composition and _with_all_suspects(composition), Images([]), NO_BLANKS)
        try:
            Rewriting.from_stored(by.stored())
        except ValueError as error:
            raise TableError(f"composition: {error}") from None
        prove_rewriting(by, added)
        self._rewriter = TextRewriter(None, by, added, None)

    def rewrite(self, text: str, ends: Ints) -> tuple[Rows, Ints]:
        """Rewrite the rows of a text.

        Returns:
            The rows, with a NUL in place of each marked token; and the indices of these NULs.
        """
        sizes = np.append(0, np.cumsum(character_sizes(_codes(text).astype(np.int64))))
        data, state = units(text, UNIT_TYPES["utf-8"]), np.zeros(16, np.uint64)
        found = self._rewriter.rewrite(data, sizes[np.append(0, ends)], state, Room(), is_inside=False, with_spans=True)
        written = found.text[: found.starts[-1]]
        marks = np.flatnonzero(written == MARK)
        places = np.cumsum(written & 0xC0 != 0x80) - 1
        is_number = np.zeros(len(written), np.bool_)
        is_number[(marks[:, None] + np.arange(1, MARK_BYTES)).ravel()] = True
        codes = _codes(str(np.where(written == MARK, 0, written)[~is_number].tobytes(), "utf-8"))
        return Rows(codes, found.firsts, found.places[: len(codes)]), places[marks]


class CompositionFallback:
    """Reads the texts for which a kernel would find wrong symbols, since it composes nothing, or wrong spans.

    Args:
        tables: the tokenizer's tables.
        reader: the reader of these tables.
        composition: composes texts; None if nothing composes.
        placing: finds spans step by step; None if the spans from reading and composing are right.
    """

    is_noted = False

    def __init__(self, tables: Tables, reader: Reader, composition: Composition | None, placing: Placing | None = None) -> None:
        self._tables, self._reader = tables, reader
        self._composition, self._placing = composition, placing
        records = tables.classes[0::2]
        self._end, self._fences, self._is_left = np.uint64(len(records)), np.append(are_fences(records), False), are_left(records)
        composing = [(code, code) for code in composition.suspects] if composition else []
        self._composing = Suspects(composing)
        self._suspects = Suspects([*composing, *(placing.suspects if placing else ())])

    @Lazy
    def _marking(self) -> Step:
        return Step(None, self._tables.metadata.added_tokens)

    @Lazy
    def _composing_step(self) -> Step:
        return Step(self._composition)

    @Lazy
    def _placing_steps(self) -> list[Step]:
        return [Step(step) for step in self._placing.steps] if self._placing else []

    @Lazy
    def _lengths(self) -> Ints:
        """The number of symbols that each character becomes after the last step."""
        lengths = np.ones(CODE_POINTS, np.int64)
        for first, last, *image in self._placing.last.runs if self._placing else ():
            lengths[first : last + 1] = len(image)
        return lengths

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[np.bool_]:  # noqa: ARG002 - of a protocol
        """The texts with suspects, and perhaps a few without."""
        return self._suspects.are_in(text, starts)

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts.

        Special tokens are cut out of the raw text first. The stretches between them are composed; a special token that only appears there
        by composition does not count.
        """
        # A text that is only read for its spans is not composed, so that its ids do not depend on whether spans are asked for.
        data = [units(text) for text in texts]
        composed = self._composing.are_in(np.concatenate(data), np.cumsum([0, *map(len, data)]))
        rows: list[Read] = [()] * len(texts)  # type: ignore[list-item]
        for composes in (False, True):
            chosen = np.flatnonzero(composed == composes)
            if len(chosen):
                numbers, spans = self._read([texts[row] for row in chosen.tolist()], composes)
                ends = np.flatnonzero(numbers == self._end)[:-1] + 1
                for row, own, own_spans in zip(chosen.tolist(), np.split(numbers, ends), np.split(spans, ends), strict=True):
                    rows[row] = own, own_spans
        return np.concatenate([numbers for numbers, _ in rows]), np.concatenate([spans for _, spans in rows])

    def _read(self, texts: Sequence[str], composes: bool) -> Read:
        """The symbols of texts. `composes` tells whether to compose all of them, or none."""
        text, row_ends = "".join(texts), np.cumsum([*map(len, texts)])
        marked, marks = _itself(Rows(_codes(text), np.append(0, row_ends), NOWHERE)), np.empty(0, np.int64)
        if any(content in text for content in self._tables.metadata.added_tokens.specials):
            marked, marks = self._marking.rewrite(text, row_ends)
        is_text = np.ones(len(marked.codes), np.bool_)
        is_text[marks] = False
        before = np.append(0, np.cumsum(is_text))
        order = np.argsort(np.append(2 * marks + 1, 2 * marked.starts[1:]), kind="stable")
        ends = np.append(before[marks], before[marked.starts[1:]])[order]
        edges = np.append(self._specials(texts, marked, marks), np.full(len(texts), self._end))[order]
        edge_spans = np.append(marked.spans[marks], np.zeros(len(texts), np.uint64))[order]
        raw = Rows(marked.codes[is_text], np.append(0, ends), marked.spans[is_text])
        symbols, stretch = self._symbols(self._composing_step.rewrite(_text(raw.codes), ends)[0] if composes else _itself(raw))
        is_edge = symbols.classes == self._end
        spans = symbols.spans
        spans[is_edge] = 0
        if self._placing:
            self._place(raw, symbols, stretch, is_edge)
        spans[~is_edge] = _within(raw, spans[~is_edge], stretch[~is_edge])
        symbols.classes[is_edge], spans[is_edge] = edges, edge_spans
        is_kept = _without_pairs(symbols.classes, self._fences)
        return symbols.classes[is_kept], spans[is_kept]

    def _specials(self, texts: Sequence[str], marked: Rows, marks: Ints) -> list[int]:
        """The class of the special token at each mark."""
        rows = np.searchsorted(marked.starts, marks, "right") - 1
        found = []
        for row, first in zip(rows.tolist(), (marked.spans[marks] & LOW_HALF).tolist(), strict=True):
            special = self._tables.special_at(texts[row], first)
            assert special
            found.append(special[1])
        return found

    def _symbols(self, rows: Rows) -> tuple[Symbols, Ints]:
        """The symbols of rows, with the class for the end of a text after each; their spans in rows before rewriting; and their rows."""
        symbols = Symbols.empty(int(count_symbols.call(rows.codes, self._reader)) + len(rows.starts) - 1)
        memo, nothing = np.zeros(3, np.uint64), np.zeros(CODE_POINTS, np.uint8)
        count = read_raw.call(rows.codes, rows.starts, self._reader, NO_PATTERN, nothing, self._end, memo, symbols)
        symbols = symbols.at(slice(count))
        is_edge = symbols.classes == self._end
        row = np.cumsum(is_edge) - is_edge
        symbols.spans[~is_edge] = _within(rows, symbols.spans[~is_edge], row[~is_edge])
        return symbols, row

    def _place(self, raw: Rows, symbols: Symbols, stretch: Ints, is_edge: NDArray[np.bool_]) -> None:
        """Correct the spans of symbols in words step by step. Rows with another number of symbols, from hostile tables, are left alone."""
        rows = _itself(raw)
        for step in self._placing_steps:
            after, _ = step.rewrite(_text(rows.codes), rows.starts[1:])
            rows = Rows(after.codes, after.starts, _within(rows, after.spans, after.rows()))
        lengths, row = self._lengths[rows.codes], rows.rows()
        spans, row = np.repeat(rows.spans, lengths), np.repeat(row, lengths)
        left = np.flatnonzero(~is_edge)
        left = left[self._is_left[symbols.classes[left]]]
        count = len(rows.starts) - 1
        agrees = np.bincount(row, minlength=count) == np.bincount(stretch[left], minlength=count)
        symbols.spans[left[agrees[stretch[left]]]] = spans[agrees[row]]


def _with_all_suspects(by: Composition) -> Composition:
    """The composition for rewriting: its suspects are all characters that it changes, or that may change the character before them."""
    syllables = range(HANGUL, HANGUL + SYLLABLES)
    jamo = (*range(VOWELS, VOWELS + VOWEL_COUNT), *range(TRAILING, TRAILING + TRAILING_COUNT))
    changed = {*by.orders, *by.decompositions, *(second for _, second in by.pairs), *(jamo if by.pairs else syllables)}
    return replace(by, suspects=frozenset(changed))


def _itself(raw: Rows) -> Rows:
    """Raw rows with the span of each character in its own row, before any rewriting."""
    places = (np.arange(len(raw.codes)) - raw.starts[raw.rows()]).astype(np.uint64)
    return raw._replace(spans=places | places + np.uint64(1) << HALF)


def _within(rows: Rows, spans: Spans, row: Ints) -> Spans:
    """Convert spans in rewritten rows to spans in raw rows."""
    begins = rows.starts[row]
    firsts, lasts = begins + (spans & LOW_HALF).astype(np.int64), begins + (spans >> HALF).astype(np.int64) - 1
    found: Spans = rows.spans[firsts] & LOW_HALF | rows.spans[lasts] >> HALF << HALF
    return found


def _without_pairs(classes: NDArray[np.uint16], fences: NDArray[np.bool_]) -> Ints:
    """The indices of the symbols that remain when pairs of adjacent equal fences cancel out."""
    kept = np.arange(len(classes))
    while True:
        own = classes[kept]
        begins = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        sizes = np.diff(np.append(begins, len(own)))
        ends, are_pairs = begins + sizes, fences[own[begins]] & (sizes > 1)
        if not are_pairs.any():
            return kept
        lasting = np.where(are_pairs, sizes % 2, sizes)
        is_kept = np.repeat(ends, sizes) - np.arange(len(own)) <= np.repeat(lasting, sizes)
        kept = kept[is_kept]


def _codes(text: str) -> NDArray[np.uint32]:
    """The code points of a text."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32)


def _text(codes: NDArray[np.uint32]) -> str:
    """The text of code points."""
    return codes.astype("<u4").tobytes().decode("utf-32-le")
