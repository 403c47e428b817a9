"""How the kernels of WordPiece are handed a table: its arrays by name, and what follows from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.machines.reading import ReadingTable
from fst.machines.reading_arguments import Reader, borrowable, reader, with_end
from fst.matching import Trie, trie
from fst.rows import BLANK, ONE, WORD_SYMBOLS, Array, are_parts, field_kind, field_output

# Places in `Arguments.params` and in `AddedTokens.params`.
DEAD, UNK, LONGEST, PARTS, END_CLASS, BUCKET_SHIFT, SLOT_SHIFT, BLANK_CLASS = range(8)
GRAMS, BORDERS, HAS_BORDERS, INSIDE, SHORTEST, FILLER = range(6)
# Where the set of grams of a kind begins in `AddedTokens.grams`.
OWN, BEGINNING, BORDER = (kind << 10 for kind in range(3))
# Bits of `AddedTokens.sides`.
ENDS, BEGINS, IN_WORD, CLEAR = 1, 2, 4, 8

KEY_MASKS = np.array(
    [[(1 << 16 * min(max(length - 4 * word, 0), 4)) - 1 for word in range(3)] + [0] for length in range(WORD_SYMBOLS + 1)]
    + [[0, 0, 0, (1 << 64) - 1]],
    np.uint64,
).ravel()


class AddedTokens(NamedTuple):
    """Contextual added tokens, by their symbols.

    Attributes:
        params: uint64[6]. `GRAMS`, a bit for each width of the grams, 1 to 8 symbols, of tokens in which words end; `BORDERS`, a bit for
            each width of those at a border; `HAS_BORDERS`, whether there are such tokens; `INSIDE`, a bit for each width of the grams of
            tokens inside words; `SHORTEST`, the symbols of the shortest of these, at most 8, or more than any word has; `FILLER`, the class
            of a blank, which replaces the symbols of a token but the first.
        grams: uint64[3 * 1024], three sets, two bits of a hash in a word that it names: `OWN`, the first symbols of tokens, as many as each
            has, and 8 at most; `BEGINNING`, of those inside words as many as the shortest has; `BORDER`, those from before the first place
            at which a word ends in a token.
        sides: uint8[classes + 1]. `ENDS`: words end in a token at the class; `BEGINS`: they do so as one begins; `IN_WORD`: a token that
            only counts as a whole word does not count beside the class; `CLEAR`: it counts there.
        trie: the tokens. The value of one is 0 if texts that hold it are read again, 1 if only where it may be a whole word, and else, for
            a token inside words, ``class << 1``, | 1 if it only counts as a whole word.
    """

    params: Array
    grams: Array
    sides: Array
    trie: Trie


class Arguments(NamedTuple):
    """The arrays that `fst.runtime.kernels.wordpiece` reads.

    Attributes:
        reader: what turns text into symbols.
        params: uint64[8]. `DEAD`, the dead state; `UNK`, the id of the unknown token; `LONGEST`, the symbols in the longest word that is
            looked up; `PARTS`, the first class that is no part of a word; `END_CLASS`, the class of the end of a text; `BUCKET_SHIFT` and
            `SLOT_SHIFT` < 64, the shifts that make a hash a bucket and a slot; `BLANK_CLASS`, the class of blanks that are left out where
            they end nothing, or 0, which no symbol has.
        start_targets: uint64[classes + 1], the target of each class at the start of a word (record B).
        isolated_ids: uint64[classes + 1], ``1 << 32 | id`` of a class that is a word of its own, else 0.
        entries, pool, words, displacements: as in `fst.machines.wordpiece.Tables`.
        key_masks: uint64[4 * 14], the masks that make a key of the sixteen symbols from the start of a word on, one for each length; for
            lengths over 12, which no key has, the mask leaves the 13th symbol.
        token_lengths: uint32[2 * ids], the symbols of each token where a word begins with it, and where it continues one; only used where
            spans are asked for.
        added: contextual added tokens.
    """

    reader: Reader
    params: Array
    start_targets: Array
    isolated_ids: Array
    entries: Array
    pool: Array
    words: Array
    displacements: Array
    key_masks: Array
    token_lengths: Array
    added: AddedTokens


def arguments(
    table: ReadingTable, entries: Array, pool: Array, words: Array, displacements: Array, dead: int, unk: int, longest: int
) -> Arguments:
    """The arguments for ids alone, without contextual added tokens.

    Args:
        table: what reads text.
        entries, pool, words, displacements: of `fst.machines.wordpiece.Tables`.
        dead: the dead state.
        unk: the id of the unknown token.
        longest: the symbols of the longest word that is looked up.
    """
    a = table.classes[0::2]
    isolated_ids = np.where(field_kind(a) == ONE, np.uint64(1 << 32) | field_output(a).astype(np.uint64), np.uint64(0))
    parts = 1 + np.count_nonzero(are_parts(a))
    bucket_shift = 64 - (len(displacements) - 1).bit_length()
    slot_shift = bucket_shift - (len(words) // 4 - 1).bit_length()
    return Arguments(
        reader=reader(table),
        params=np.array([dead, unk, longest, parts, len(a), bucket_shift, slot_shift, blank(a)], np.uint64),
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
    """The lengths of tokens, which spans take; see `Arguments`.

    Args:
        token_bytes, token_ends, token_ids: of `fst.machines.wordpiece.Tables`.
        model_tokens: how many tokens the model has; the others are whole words, and never cut.
        indicator: the prefix of tokens that continue a word.

    Raises:
        UnsupportedError: tokens of different lengths have one id.
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


def blank(a: NDArray[np.uint64]) -> int:
    """The class of a blank that is no fence; 0, which no symbol has, if there is none."""
    return int(next(iter(1 + np.flatnonzero(a[1:] == BLANK)), 0))


def _no_added_tokens(classes: int) -> AddedTokens:
    params = np.zeros(6, np.uint64)
    params[SHORTEST] = (1 << 64) - 1
    return AddedTokens(params, np.zeros(1, np.uint64), np.zeros(classes + 1, np.uint8), trie([]))
