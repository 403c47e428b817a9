"""The kernel arguments of a WordPiece table: its arrays, and values computed from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import ONE, WHITESPACE, WORD_SYMBOLS, Array, are_parts, field_kind, field_output
from fst.core.fields import Fields, Scalar
from fst.errors import UnsupportedError
from fst.text.reading import ReadingTable
from fst.text.reading_arguments import Reader, borrowable, reader, with_end

# The start in `AddedTokens.grams` of the Bloom filter of each kind of grams.
OWN, BEGINNING, BORDER = (kind << 10 for kind in range(3))
# Bits of `AddedTokens.sides`.
ENDS, BEGINS, IN_WORD, CLEAR = 1, 2, 4, 8

KEY_MASKS = np.array(
    [[(1 << 16 * min(max(length - 4 * word, 0), 4)) - 1 for word in range(3)] + [0] for length in range(WORD_SYMBOLS + 1)]
    + [[0, 0, 0, (1 << 64) - 1]],
    np.uint64,
).ravel()


class TokenScalars(Fields):
    """The scalars of `AddedTokens`. In the elements `…_widths`, bit n is set if a gram of the named kind has n symbols."""

    gram_widths: Scalar  # of the `OWN` grams of bordered tokens
    border_widths: Scalar  # of the `BORDER` grams of bordered tokens
    has_borders: Scalar  # 1 if there are bordered tokens
    inside_widths: Scalar  # of the `OWN` grams of inside tokens
    shortest: Scalar  # number of symbols of the shortest inside token, at most 8; without inside tokens, above the length of any word
    filler: Scalar  # the class of a space, which replaces all symbols of an inside token except the first


class AddedTokens(NamedTuple):
    """Contextual added tokens as strings of symbols.

    There are two kinds of tokens. An *inside* token is within a word. A *bordered* token contains a border: a symbol that ends a word. A
    *gram* is a string of 1 to 8 symbols, with which a kernel excludes most positions.

    Attributes:
        grams: uint64[3 * 1024], three Bloom filters. The hash of a gram selects a 64-bit word and two bits in it. `OWN`: the first symbols
            of each token, at most 8. `BEGINNING`: the first `shortest` symbols of each inside token. `BORDER`: at most 8 symbols of each
            bordered token, starting with the symbol before its first border.
        sides: uint8[classes + 1], bits. `ENDS`: the class is the first border of a token; `BEGINS`: the class is the first border of a
            token, and also its first symbol. For tokens that are recognized only as whole words, `IN_WORD`: no such token is recognized
            next to the class; `CLEAR`: a symbol of the class next to such a token never prevents it.
        trie: the tokens. The value of a bordered token is 0 if every text with the token is a suspect, and 1 if a text is a suspect only
            where the token may be a whole word. The value of an inside token is ``class << 1``, or ``class << 1 | 1`` if the token is
            recognized only as a whole word.
    """

    scalars: TokenScalars
    grams: Array
    sides: Array
    trie: Matcher


class Scalars(Fields):
    """The scalars of `Arguments`."""

    dead: Scalar  # the dead state
    unk: Scalar  # the id of the unknown token
    longest: Scalar  # number of symbols of the longest word that is looked up; longer words are unknown
    parts: Scalar  # the first class that is not part of a word
    end_class: Scalar  # the class of the end of a text
    bucket_shift: Scalar  # the shift, below 64, that turns a hash into a bucket
    slot_shift: Scalar  # the shift, below 64, that turns a hash into a slot
    whitespace_class: Scalar  # the class of spaces that are skipped if they end no word; 0, which no symbol has, if no spaces are skipped
    is_linked: Scalar  # 1 if rows have failure links


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.machines.wordpiece.kernels.encode` reads.

    Attributes:
        reader: the arrays that turn text into symbols.
        start_targets: uint64[classes + 1], the target of each class at the start of a word (record B).
        isolated_ids: uint64[classes + 1], ``1 << 32 | id`` for a class that is a whole word, 0 for other classes.
        entries, pool, words, displacements: see `fst.machines.wordpiece.table.WordPieceTable`.
        key_masks: uint64[4 * 14], four masks for each length of a word, 0 to 12 symbols, and four for longer words. Applied to the sixteen
            symbols from the start of a word, these masks clear the symbols after the word. The last four masks are for lengths over 12,
            which no key has. They clear all symbols except 13 to 16, so that no slot matches.
        token_lengths: uint32[2 * ids], the number of symbols of each token at the start of a word, and inside a word; read only for spans.
        added: contextual added tokens.
    """

    reader: Reader
    scalars: Scalars
    start_targets: Array
    isolated_ids: Array
    entries: Array
    pool: Array
    words: Array
    displacements: Array
    key_masks: Array
    token_lengths: Array
    added: AddedTokens


class NormalizedArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.wordpiece.kernels.normalized` reads.

    Attributes:
        table: the table.
        tokens: uint16[tokens], the class of the token that each mark represents.
        places: uint64[n], the span of each character or mark in its raw text, ``first | one past the last << 32``; empty without spans.
    """

    table: Arguments
    tokens: Array
    places: Array


def arguments(
    table: ReadingTable, entries: Array, pool: Array, words: Array, displacements: Array, dead: int, unk: int, longest: int, is_linked: bool
) -> Arguments:
    """The arguments for kernels that compute only ids, not spans, and that find no contextual added tokens. `longest` is the number of
    symbols in the longest word that is looked up.
    """
    a = table.classes[0::2]
    isolated_ids = np.where(field_kind(a) == ONE, np.uint64(1 << 32) | field_output(a).astype(np.uint64), np.uint64(0))
    bucket_shift = 64 - (len(displacements) - 1).bit_length()
    return Arguments(
        reader=reader(table),
        scalars=Scalars(
            dead=dead,
            unk=unk,
            longest=longest,
            parts=1 + np.count_nonzero(are_parts(a)),
            end_class=len(a),
            bucket_shift=bucket_shift,
            slot_shift=bucket_shift - (len(words) // 4 - 1).bit_length(),
            whitespace_class=whitespace_class(a),
            is_linked=is_linked,
        ),
        start_targets=with_end(table.classes[1::2]),
        isolated_ids=with_end(isolated_ids, np.uint64(0)),
        entries=borrowable(entries, np.uint64),
        pool=borrowable(pool, np.uint32),
        words=borrowable(words, np.uint64),
        displacements=borrowable(displacements, np.uint16),
        key_masks=KEY_MASKS,
        token_lengths=np.empty(0, np.uint32),
        added=_no_added_tokens(len(a)),
    )


def token_lengths(token_bytes: Array, token_ends: Array, token_ids: Array, model_tokens: int, indicator: str) -> NDArray[np.uint32]:
    """`Arguments.token_lengths`: the lengths of tokens, with which words are divided into spans.

    Args:
        token_bytes, token_ends, token_ids: see `fst.machines.wordpiece.table.WordPieceTable`.
        model_tokens: the number of the model's own tokens. All other tokens are whole words, which are never divided.
        indicator: the prefix of tokens that continue a word.
    """
    characters = np.concatenate([[0], np.cumsum(token_bytes & 0xC0 != 0x80)])
    lengths, ids = np.diff(characters[token_ends], prepend=0)[:model_tokens], token_ids[:model_tokens]
    by_id = np.zeros((int(token_ids.max()) + 1, 2), np.uint32)
    by_id[ids, 0] = lengths
    by_id[:, 1] = np.maximum(by_id[:, 0], len(indicator)) - len(indicator)
    different = np.flatnonzero(by_id[ids, 0] != lengths)
    if len(different):
        end = int(token_ends[different[0]])
        token = token_bytes[int(token_ends[different[0] - 1]) if different[0] else 0 : end].tobytes().decode()
        raise UnsupportedError(f"offsets: token {token!r} shares its id with a token of another length")
    return by_id.ravel()


def whitespace_class(a: NDArray[np.uint64]) -> int:
    """The first class whose record is `WHITESPACE`; 0, which no symbol has, if there is no such class."""
    return int(next(iter(1 + np.flatnonzero(a[1:] == WHITESPACE)), 0))


def _no_added_tokens(classes: int) -> AddedTokens:
    none = TokenScalars(shortest=(1 << 64) - 1)
    return AddedTokens(none, np.zeros(1, np.uint64), np.zeros(classes + 1, np.uint8), trie([]))
