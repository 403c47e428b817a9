"""The arguments of kernels that split a text into pre-tokens and look them up: the arrays of a table, and the working arrays.

The module `arguments` of each machine defines the arrays that only this machine has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar
from fst.pretokens.boundaries import SYMBOLS, read_three
from fst.pretokens.characters import NOT_FUSED, Alphabet
from fst.pretokens.short_words import bits_of
from fst.tables.kernel_call import CHUNK, MARGIN, State
from fst.text.reading_arguments import borrowable
from fst.text.splitter import FAILED, FAILED_BITS

NOT_PLAIN = 0xFF  # instead of a symbol in `ascii_symbols`: the byte alone does not determine the symbol
FIRST, SECOND = 1, 2  # bits of `special_bytes`
FIRST_SHIFT = 6  # the first bit of `special_bytes` in `plain`, above the bits of a symbol
FIRST_SYMBOL = 8  # the index in `text_symbols` of the first character's symbol; at least `BEFORE_POSITION`; BEGIN precedes it
KEY_PARTS = 3  # the number of 64-bit numbers in a key
LONGEST = 1024  # maximum number of bytes of a pre-token that is processed together with other pre-tokens
# Capacity for the items, symbols and bytes of a round. A round ends after `CHUNK` items, symbols or bytes, and may read `CHUNK` bytes more.
PRETOKENS = 2 * (CHUNK + MARGIN)

KEY_MASKS = np.array(
    [[(1 << 8 * min(max(length - 8 * word, 0), 8)) - 1 for word in range(KEY_PARTS)] + [0] for length in range(8 * KEY_PARTS + 1)],
    np.uint64,
).ravel()


class Scalars(Fields):
    """The scalars of `Arguments`."""

    columns: Scalar  # number of columns of `moves`; the last column represents the end of a text
    window_bits: Scalar  # number of bits of a symbol in a window
    window_mask: Scalar  # the bit mask of a window
    first_window: Scalar  # the window before the first symbol of a text
    bucket_shift: Scalar  # the shift, below 64, that turns a hash into a bucket
    slot_shift: Scalar  # the shift, below 64, that turns a hash into a slot
    joins_words: Scalar  # 1 if all pre-tokens between two special tokens are one word
    drops_bytes: Scalar  # 1 if bytes without tokens are removed
    shortest_long: Scalar  # number of bytes of the shortest of `long_pretokens`
    reads_three: Scalar  # 1 if there are products, and they depend only on three symbols
    short_bits: Scalar  # log2 of the number of slots of `short_words`


class Arguments(NamedTuple):
    """The arrays for splitting a text into pre-tokens, for looking up pre-tokens, and for spans.

    Attributes:
        ascii_symbols: uint8[256], by byte: the symbol of an ASCII character in windows; `NOT_PLAIN` if a special token may begin there, and
            for all other bytes.
        special_bytes: uint8[256], by byte, bits: `FIRST` if a special token begins with the byte; `SECOND` if the byte is the second byte
            of a special token, or if a special token has only one byte.
        pages, blocks, symbols, decisions, words, displacements, tuned: see `fst.pretokens.table.PretokenTable`.
        moves: `moves` of `PretokenTable`, flattened row by row.
        plain: uint8[128], by ASCII character: its symbol, and its `special_bytes` in the bits from `FIRST_SHIFT` on.
        products: see `PretokenTable`.
        drops: see `PretokenTable`; empty if no pre-token is dropped.
        lengths: uint16[ids], the number of bytes that each id represents; 0 for a token that represents a run of bytes without tokens.
        missing: uint8[CODES], 1 for each code of a byte without a token (`fst.pretokens.characters`); empty if no token represents a run of
            such bytes, and no such byte is removed.
        byte_kinds: see `PretokenTable`.
        alphabet: the characters, if symbols are characters and some characters have neither a token nor fallbacks; otherwise `NO_ALPHABET`.
        short_words: see `fst.pretokens.short_words`.
        key_masks: uint64[4 * 25], four masks for each length of a word, 0 to 24 bytes. Applied to the 32 bytes from the start of a word,
            these masks clear the bytes after the word.
        specials: the special tokens in UTF-8; the value of each token is its id.
        long_pretokens: the pre-tokens that are one token and too long for the table of words; the value of a pre-token is its id.
    """

    scalars: Scalars
    ascii_symbols: Array
    special_bytes: Array
    pages: Array
    blocks: Array
    symbols: Array
    decisions: Array
    moves: Array
    plain: Array
    products: Array
    drops: Array
    lengths: Array
    missing: Array
    byte_kinds: Array
    alphabet: Alphabet
    words: Array
    displacements: Array
    tuned: Array
    short_words: Array
    key_masks: Array
    specials: Matcher
    long_pretokens: Matcher


class Work(NamedTuple):
    """The working arrays of one thread. The capacity of an array is `PRETOKENS`.

    Attributes:
        state: the state between calls; the caller sets `first_row`, and `fst.runtime.text.normalizer` sets `kept`.
        symbols: empty; the kernels keep no symbols between calls.
        text_symbols, places: uint8[capacity], uint32[capacity], the symbols of the characters of a round, from index `FIRST_SYMBOL` on, and
            the positions of these characters. After the characters of a stretch of text follow END, whose place is an item of `pretokens`,
            and several BEGIN.
        begins: uint32[capacity], the positions where pre-tokens begin or may begin, before undecided positions are searched, see
            `fst.runtime.pretokens.kernels.windows`.
        pretokens: uint32[capacity], the positions where pre-tokens begin, with their kind in the highest three bits, see
            `fst.runtime.pretokens.kernels.find`.
        slots: uint64[capacity], the slot of each pending pre-token in the table of words.
        pending: uint64[capacity], the pre-tokens that are not one token, see `fst.runtime.pretokens.kernels.look_up`.
        scratch: int32[capacity], the id of each pre-token, and an unused place for each pending pre-token.
        special_ids: int32[capacity], the ids of the special tokens of a round.
        active: uint64[2 * capacity], the pre-tokens that are read together, or their segments, see
            `fst.runtime.machines.bpe.kernels.encode.transduce` and `fst.runtime.machines.unigram.kernels.segments`.
        tokens: uint32[2 * capacity], the states or tokens at the bytes of these pre-tokens.
        memo: uint64[FAILED + (1 << FAILED_BITS)]. The first three numbers are as in `fst.runtime.kernels.tries.match_at`. `STRETCH`: the
            end of the stretch, the text between two special tokens, that contains a long pre-token; 0 if the end is unknown.
            `STRETCH_ENDS`: 1 if it is certain that the stretch ends there. `HAS_FAILED`: 1 if a search has failed. From `FAILED` on: a hash
            table without chains for the positions of failed searches, ``position << 15 | state``; 0 in a free slot.
        masks: uint64[1], the bit mask of the positions that products leave undecided, see `fst.runtime.kernels.intrinsics.decide`.
    """

    state: State
    symbols: Array
    text_symbols: Array
    places: Array
    begins: Array
    pretokens: Array
    slots: Array
    pending: Array
    scratch: Array
    special_ids: Array
    active: Array
    tokens: Array
    memo: Array
    masks: Array


def arguments(table: Any, specials: Mapping[bytes, int]) -> Arguments:
    """The arguments for a `fst.pretokens.table.PretokenTable`.

    Args:
        table: the table.
        specials: a mapping of special tokens to ids. The keys are UTF-8, or marks if the kernel reads rewritten texts.
    """
    bits, columns = table.metadata.automaton.window_bits, table.moves.shape[1]
    width = (len(table.decisions).bit_length() - 1) // bits
    begin = sum(int(table.symbols[-1]) << bits * place for place in range(width))
    bucket_shift = 64 - (len(table.displacements) - 1).bit_length()
    special_bytes = np.zeros(256, np.uint8)
    special_bytes[[content[0] for content in specials]] = FIRST
    special_bytes[[second for content in specials for second in content[1:2] or range(256)]] |= SECOND
    plain = table.symbols[table.blocks[int(table.pages[0]) << 7 :][:128]]
    ascii_symbols = np.full(256, NOT_PLAIN, np.uint8)
    ascii_symbols[:128] = plain
    ascii_symbols[special_bytes & FIRST > 0] = NOT_PLAIN
    return Arguments(
        scalars=Scalars(
            columns=columns,
            window_bits=bits,
            window_mask=len(table.decisions) - 1,
            first_window=begin,
            bucket_shift=bucket_shift,
            slot_shift=bucket_shift - (len(table.words) // 4 - 1).bit_length(),
            joins_words=table.joins_words,
            drops_bytes=table.drops_bytes,
            shortest_long=min(map(len, table.long_pretokens), default=0),
            reads_three=len(table.products) > 0 and read_three(table.products),
            short_bits=bits_of(table.short_words),
        ),
        ascii_symbols=ascii_symbols,
        special_bytes=special_bytes,
        pages=borrowable(table.pages, np.uint16),
        blocks=borrowable(table.blocks, np.uint8),
        symbols=borrowable(table.symbols, np.uint8),
        decisions=borrowable(table.decisions, np.uint8),
        moves=borrowable(table.moves, np.uint16).ravel(),
        plain=plain & (SYMBOLS - 1) | special_bytes[:128] << FIRST_SHIFT,
        products=borrowable(table.products, np.uint8),
        drops=table.drops.copy() if table.drops.any() else np.empty(0, np.uint8),
        lengths=borrowable(table.lengths, np.uint16),
        missing=np.empty(0, np.uint8) if table.fused == NOT_FUSED and not table.drops_bytes else table.missing,
        byte_kinds=table.byte_kinds,
        alphabet=table.alphabet_of_unknown,
        words=borrowable(table.words, np.uint64),
        displacements=borrowable(table.displacements, np.uint16),
        tuned=borrowable(table.tuned, np.int32),
        short_words=table.short_words,
        key_masks=KEY_MASKS,
        specials=trie(specials.items()),
        long_pretokens=trie(table.long_pretokens.items()),
    )


def work() -> Work:
    """Allocate the working arrays."""

    def array(dtype: type[np.generic], times: int = 1) -> NDArray[Any]:
        return np.empty(times * PRETOKENS, dtype)

    return Work(
        state=State(),
        symbols=np.empty(0, np.uint8),
        text_symbols=np.zeros(PRETOKENS, np.uint8),
        places=array(np.uint32),
        begins=array(np.uint32),
        pretokens=array(np.uint32),
        slots=array(np.uint64),
        pending=array(np.uint64),
        scratch=array(np.int32),
        special_ids=array(np.int32),
        active=array(np.uint64, 2),
        tokens=array(np.uint32, 2),
        memo=np.zeros(FAILED + (1 << FAILED_BITS), np.uint64),
        masks=np.zeros(1, np.uint64),
    )
