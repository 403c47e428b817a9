"""The common part of BPE and Unigram tables: a text is cut into pre-tokens, and each pre-token is converted to tokens separately.

A text becomes ids in three steps, each with its own arrays:

1. Special tokens are cut out of the raw text. At each position, the longest token that begins there is taken.
2. The splitter cuts each *stretch*, the text between two special tokens, into pre-tokens, see `fst.text.splitter`. ``pages`` and ``blocks``
   map a code point to its class, ``blocks[pages[code_point >> 7] << 7 | code_point & 127]``, and ``moves`` is the automaton over classes.
   ``symbols`` and ``decisions`` decide nearly all positions without the automaton, see `fst.compile.pretokens.boundaries`; the kernel
   relies on these two arrays, and runs the automaton only at undecided positions. Some pre-tokens are dropped, such as whitespace:
   ``drops`` contains 1 for the classes of their first characters.
3. The bytes of each pre-token become tokens. ``words`` and ``displacements`` are a perfect hash table of the pre-tokens that are one token.
   For all other pre-tokens, each machine has its own arrays.

A word of up to `WORD_BYTES` bytes is a key of three 64-bit numbers: its bytes in memory order, then zeros. A slot of ``words`` contains a
key and ``length << 32 | id``. The length is needed to distinguish words that differ only in zero bytes at the end. The hash, buckets and
displacements are defined as in `fst.tables.words`. If the table was tuned to texts, frequent pre-tokens of several tokens are words, too;
in place of an id, they have a number, see `fst.pretokens.tuned_words`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata.rows import CODE_POINTS, PAGE_BITS, Array
from fst.core.lazy import Lazy
from fst.pretokens.arguments import KEY_PARTS
from fst.pretokens.boundaries import AROUND, MAX_WINDOW, prove_products
from fst.pretokens.short_words import short_words
from fst.pretokens.tuned_words import prove_tuned
from fst.tables.proof import need, need_none
from fst.tables.strings import parts_of
from fst.tables.table import Table, member
from fst.text.arguments import expansion_bound
from fst.text.marks import marks
from fst.text.normalizer import NOTHING, without_context
from fst.text.splitter import Splitter, prove_moves

WORD_BYTES = 8 * KEY_PARTS


@dataclass(frozen=True, eq=False)
class PretokenTable(Table):
    """A table of a machine that splits a text into pre-tokens, and converts each pre-token to tokens.

    Attributes:
        header: the JSON form of `metadata`.
        pages: uint16[8704], the block of each 128 code points.
        blocks: uint8[128 * n], the class of each code point of a block.
        moves: uint16[states, classes + 1], see `fst.text.splitter.Splitter`.
        drops: uint8[classes], 1 if pre-tokens that begin with a character of the class are dropped, else 0.
        symbols: uint8[classes + 2], the symbol in windows of each class, of the end of a text, and of the position before a text.
        decisions: uint8[2^n], by window: `INSIDE` if no pre-token begins there, `BEGINS` if a pre-token begins there, `UNDECIDED` if the
            window does not decide.
        products: uint8[PRODUCTS_SIZE], products of sets of symbols that describe most decisions, see `fst.pretokens.boundaries`; empty if
            there are none.
        words: uint64[4 * slots], displacements: uint16[buckets]; the numbers of slots and of buckets are powers of two.
        tuned: int32[n], the ids of tuned words, see `fst.pretokens.tuned_words`; empty if the table is not tuned.
        token_bytes: uint8[n], the bytes of all tokens, concatenated: first the model's tokens, then all other names as UTF-8.
        token_ends: int64[tokens], the end of each token in `token_bytes`.
        token_ids: int32[tokens], the id of each token.
    """

    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"

    pages: Array = member("<u2")
    blocks: Array = member("|u1")
    moves: Array = member("<u2", axes=2)
    drops: Array = member("|u1")
    symbols: Array = member("|u1")
    decisions: Array = member("|u1")
    products: Array = member("|u1")
    words: Array = member("<u8")
    displacements: Array = member("<u2")
    tuned: Array = member("<i4", optional=True)
    token_bytes: Array = member("|u1")
    token_ends: Array = member("<i8")
    token_ids: Array = member("<i4")

    @property
    def joins_words(self) -> bool:
        """Whether all pre-tokens of a stretch belong to one word, because they were cut by the compiler and not by a pre-tokenizer."""
        return False

    @property
    def drops_bytes(self) -> bool:
        """Whether bytes without tokens are removed."""
        return False

    @property
    def byte_kinds(self) -> Array:
        """uint8[256], the kind of each byte for cuts between bytes, see `fst.pretokens.digit_cuts`; empty if there are no such cuts."""
        return np.empty(0, np.uint8)

    @property
    @abstractmethod
    def metadata(self) -> Any:
        """The metadata of the file: a `fst.tables.header.Sections` with the text and the added tokens."""

    @property
    @abstractmethod
    def tokens(self) -> tuple[str, ...]:
        """The tokens in users' form, in the order of ``token_ids``."""

    def names(self) -> tuple[Array, Array]:
        """The `tokens` as two arrays like ``token_bytes`` and ``token_ends``."""
        return self.token_bytes, self.token_ends

    @property
    @abstractmethod
    def lengths(self) -> Array:
        """uint16[highest id + 1], the number of bytes of each token of the model; 0 for all other ids, and for a token whose number of
        bytes varies.
        """

    @property
    def lengths_of_words(self) -> Array:
        """The elements of `lengths` for the ids, and other numbers of tokens, that ``words`` may contain."""
        return self.lengths

    @abstractmethod
    def fallbacks_of(self, bytes_: Iterable[int]) -> Sequence[int]:
        """The ids of the fallback tokens for bytes; bytes without a fallback token are left out."""

    @abstractmethod
    def run_pretoken(self, pretoken: bytes) -> Sequence[int]:
        """Return the token ids of a pre-token, by the slow walk."""

    @abstractmethod
    def fixed_ids(self, pretoken: bytes) -> Sequence[int] | None:
        """The token ids of a pre-token if they do not depend on the text before it, and the tokens have as many bytes as the pre-token;
        otherwise None.
        """

    @abstractmethod
    def _arguments(self, specials: Mapping[bytes, int]) -> Any:
        """The arguments of the table's kernel. `specials` maps special tokens, in UTF-8 or as marks, to ids."""

    @property
    def expansion_bound(self) -> int:
        """The maximum number of rewritten bytes per byte of text."""
        by = self.metadata.text.normalizer
        return expansion_bound(by) if by else 1

    @property
    def class_count(self) -> int:
        """The number of classes of characters."""
        return int(self.moves.shape[1]) - 1

    def content(self, token: int) -> bytes:
        """The bytes of a token, given by its number in ``token_ids``."""
        begin = int(self.token_ends[token - 1]) if token else 0
        return self.token_bytes[begin : int(self.token_ends[token])].tobytes()

    @Lazy
    def contents(self) -> tuple[bytes, ...]:
        """The bytes of each token, in the order of ``token_ids``."""
        return parts_of(self.token_bytes, self.token_ends)

    @Lazy
    def splitter(self) -> Splitter:
        """The splitter, for the slow walk."""
        codes = np.arange(CODE_POINTS)
        classes = self.blocks[self.pages[codes >> PAGE_BITS].astype(np.int64) << PAGE_BITS | codes & 127]
        return Splitter(classes, self.moves, dropped=frozenset(np.flatnonzero(self.drops).tolist()))

    def spelled_words(self) -> Set[bytes]:
        """The bytes of each word of the table of words."""
        slots = self.words.reshape(-1, KEY_PARTS + 1)
        keys, sizes = slots[:, :KEY_PARTS].astype("<u8").tobytes(), (slots[:, KEY_PARTS] >> np.uint64(32)).tolist()
        return {keys[WORD_BYTES * slot : WORD_BYTES * slot + size] for slot, size in enumerate(sizes) if size}

    def run(self, text: str) -> list[int]:
        """Return the token ids of a text without a template: the slow walk, which specifies the kernels."""
        ids: list[int] = []
        for part, special in self.parts(text):
            ids += self.run_pretoken(part.encode()) if special is None else [special]
        return ids

    def parts(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The parts of a text in order: pre-tokens, each with None, and added tokens, each with its id. Dropped pre-tokens are left out."""
        by = self.metadata.text.normalizer or NOTHING
        for stretch in by.stretches(text, self.metadata.added_tokens):
            if stretch.token is None:
                yield from self._pieces(stretch.text)
            else:
                yield stretch.text, stretch.token

    def _pieces(self, stretch: str) -> Iterator[tuple[str, None]]:
        """The pre-tokens of a stretch, without dropped pre-tokens."""
        return ((stretch[begin:end], None) for begin, end in self.splitter.pretokens(stretch))

    @Lazy
    def short_words(self) -> Array:
        """uint64[2**bits], see `fst.pretokens.short_words`."""
        return short_words(self.words)

    def arguments(self) -> Any:
        """The arguments of the table's kernel, for texts that were not rewritten."""
        known = without_context(self.metadata.added_tokens)
        return self._arguments({spelling.encode(): number for spelling, number in known.items()})

    def marked_arguments(self) -> Any:
        """The arguments of the table's kernel, for rewritten texts."""
        return self._arguments(marks(self.metadata.added_tokens))

    def _prove_classes(self) -> None:
        """Prove that code points map to valid classes, that moves lead to states, and that searches end."""
        pages, blocks, width = self.pages, self.blocks, 1 << PAGE_BITS
        columns = self.moves.shape[1]
        need(len(pages) == CODE_POINTS // width, f"there are {len(pages)} pages for {CODE_POINTS // width} blocks of code points")
        need(len(blocks) and len(blocks) % width == 0, f"blocks has {len(blocks)} elements, not {width} for each block")
        need_none(pages >= len(blocks) // width, lambda page: f"U+{page * width:04X} is on page {pages[page]}, which does not exist")
        need_none(blocks >= columns - 1, lambda at: f"element {at} of blocks is class {blocks[at]}; there are {columns - 1}")
        prove_moves(self.moves)
        need(len(self.drops) == columns - 1, f"drops has {len(self.drops)} elements for {columns - 1} classes")
        need_none(self.drops > 1, lambda number: f"drops is {self.drops[number]} for class {number}; expected 0 or 1")

    def _prove_windows(self) -> None:
        """Prove that every window has a decision."""
        symbols, size, bits = self.symbols, len(self.decisions), self.metadata.automaton.window_bits
        need(len(symbols) == self.moves.shape[1] - 1 + AROUND, f"there are {len(symbols)} symbols for {self.moves.shape[1] - 1} classes")
        need(int(symbols.max()) < 1 << bits, f"symbol {symbols.max()} has more than {bits} bits")
        used = np.flatnonzero(np.bincount(symbols[:-AROUND]))
        around = len(used), len(used) + 1
        need(used[-1] < len(used), f"symbol {used[-1]} is that of a class, and not each one below it")
        need(tuple(symbols[-AROUND:]) == around, f"the symbols around a text are {symbols[-AROUND:].tolist()}, not {[*around]}")
        is_of_symbols = size & size - 1 == 0 and (size.bit_length() - 1) % bits == 0
        need(is_of_symbols and 1 << 3 * bits <= size <= 1 << MAX_WINDOW, f"there are {size} decisions for symbols of {bits} bits")
        wrong = (self.decisions > 3) | (self.decisions == 2)
        need_none(wrong, lambda window: f"the decision for window {window} is {self.decisions[window]}; it is 0, 1 or 3")
        begin, inner = int(symbols[-1]), 1 << 2 * bits
        at_begin = self.decisions.reshape(-1, 1 << bits, inner)[:, begin].ravel()
        need_none(at_begin > 0, lambda at: f"window {(at // inner << bits | begin) * inner + at % inner} decides about the first character")
        prove_products(self.products, around[0])

    def _prove_words(self) -> None:
        """Prove that every hash leads to a slot, and that each word and its tokens have the same number of bytes."""
        words, buckets = self.words, len(self.displacements)
        slots = len(words) // 4
        is_power = slots > 1 and slots & slots - 1 == 0
        need(len(words) % 4 == 0 and is_power, f"words has {len(words)} elements, not 4 for each of 2, 4, 8 … slots")
        need(buckets > 1 and buckets & buckets - 1 == 0, f"there are {buckets} displacements, not 2, 4, 8 …")
        values = words[3::4]
        ids, sizes = (values & np.uint64((1 << 32) - 1)).astype(np.int64), (values >> np.uint64(32)).astype(np.int64)
        stated, lengths = self.metadata.model.tuning, self.lengths_of_words
        are_tuned = prove_tuned(self.tuned, ids, sizes, lengths, stated.words if stated else 0)
        wrong = (ids >= len(lengths)) | (lengths.take(ids, mode="clip") != sizes)
        wrong = (values > 0) & ((wrong & ~are_tuned) | (sizes > WORD_BYTES))
        need_none(wrong, lambda slot: f"slot {slot} of the table of words holds {int(values[slot]):#x}, not a token and its length")
