"""Write the spans of ids, if spans are requested. The tokens of a pre-token cover its bytes without gaps and overlaps."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.pretokens import digit_cuts
from fst.pretokens.characters import FUSES
from fst.runtime.kernels.code_points import characters_before, count_from, count_to
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.pretokens.kernels.characters import ABSENT, code_of, next_character
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, LONG, PLACE, ROW_END, SPECIAL

LONE = np.uint8(digit_cuts.LONE)
LETTERS_FROM, LETTERS_TO = np.uint8(0x21), np.uint8(0x7E)  # in UTF-8, GPT-2's letters for these bytes have 1 byte, others 2


@inlined
def put_span(first, last, word, output, place):
    """Write the span of an id."""
    output.offsets[place << U1], output.offsets[place << U1 | U1] = first, last
    output.words[place] = word


@inlined
def is_missing(text, start, at, end, missing):
    """Whether the byte at a position of the pre-token from `start` to `end` has no token at this position."""
    return missing[code_of(text, start, at, end)] > 0


@part
def end_of_run(text, start, at, end, missing, alphabet):
    """Find the end of a run of missing bytes, or of unknown characters, in a pre-token."""
    if not len(alphabet.rules):
        after = at + U1
        while after < end and is_missing(text, start, after, end, missing):
            after += U1
        return after
    _, after = next_character(text, start, at, end, alphabet)
    known = not alphabet.rules[FUSES]
    while after < end and not known:
        found, following = next_character(text, start, after, end, alphabet)
        known = found != ABSENT
        after = after if known else following
    return after


@inlined
def end_of(text, start, at, end, token, table):
    """Find the end of a token in a pre-token. A token of length 0 represents a run of missing bytes or of unknown characters.

    Inlined, because a call would pass all arrays of the machine, and take as long as the rest of `locate`.
    """
    after = at + np.uint64(table.lengths[token])
    return after if after > at else end_of_run(text, start, at, end, table.missing, table.alphabet)


@inlined
def begins_word(text, start, at, kinds):
    """Whether a word begins at the position `at` inside a pre-token, see `fst.pretokens.digit_cuts`."""
    if not len(kinds) or at == start:
        return False
    left, right = kinds[text[at - U1]], kinds[text[at]]
    return left != right or right == LONE


@inlined
def letter_size(byte):
    """Return the number of bytes in UTF-8 of GPT-2's letter for a byte."""
    return U1 if LETTERS_FROM <= byte <= LETTERS_TO else U2


@inlined
def next_known(text, start, at, end, missing):
    """Find the next byte of a pre-token that is not missing; return its position, or `end` if there is none."""
    while at < end and is_missing(text, start, at, end, missing):
        at += U1
    return at


@part
def has_missing(text, start, end, missing):
    """Whether any byte of a pre-token is missing."""
    found = False
    for index in range(start, end):
        found |= is_missing(text, start, np.uint64(index), end, missing)
    return found


@part
def locate_known(text, start, end, table, characters, word, output, place):
    """Write the spans of the ids of a pre-token with missing bytes. As in ``tokenizers``, each token begins at the letter where the
    previous token ends, as if no byte were missing.

    Args:
        text, start, end: the pre-token.
        characters: the number of characters of the text before the pre-token.
        table, word, output, place: as in `locate`.

    Returns:
        The index after the last id.
    """
    missing, lengths = table.missing, table.lengths
    at, left, characters = start, letter_size(text[start]), characters + U1  # `at`: current letter; `left`: its number of unused bytes
    read = next_known(text, start, start, end, missing)
    while read < end:
        size = U0
        for _ in range(lengths[output.ids[place]]):
            size += letter_size(text[read])
            read = next_known(text, start, read + U1, end, missing)
        if not left:
            at += U1
            left, characters = letter_size(text[at]), characters + np.uint64(text[at] & LEAD_MASK != CONTINUES)
        first = characters - U1
        while left < size:
            size -= left
            at += U1
            left, characters = letter_size(text[at]), characters + np.uint64(text[at] & LEAD_MASK != CONTINUES)
        left -= size
        put_span(first, characters, word, output, place)
        place += U1
    return place


@part
def locate(text, pretokens, count, table, output, place, row, state):
    """Write the spans of the ids of pre-tokens.

    Args:
        text, pretokens, count: the pre-tokens, see `fst.runtime.pretokens.kernels.find`.
        table: `fst.pretokens.arguments.Arguments`.
        output: `fst.tables.kernel_call.SpansOutput`, which contains all ids and the spans of special ids, and to which all other spans are
            written.
        place: the output index of the first id of the pre-tokens.
        row: the row of the first pre-token.
        state: ``state.before`` and ``state.word`` are the numbers of characters and of words in the current text before the pre-tokens.
            ``state.in_word`` is 1 inside a word that ``state.word`` does not count yet.
    """
    characters, word, in_word, joins = state.before, state.word, state.in_word, table.scalars.joins_words
    missing, kinds, drops = table.missing, table.byte_kinds, table.scalars.drops_bytes > U0
    block, bits, behind = count_from(text, np.uint64(pretokens[0]) & PLACE, characters)
    for index in range(count):
        item, end = np.uint64(pretokens[index]), np.uint64(pretokens[np.uint64(index) + U1]) & PLACE
        at = start = item & PLACE
        kind = item >> KIND << KIND
        if kind == ROW_END:
            row += U1
            place += np.uint64(len(output.suffix)) + (np.uint64(len(output.prefix)) if row < np.uint64(len(output.ends)) else U0)
            characters = word = in_word = U0
            block, bits, behind = count_from(text, end, U0)
            continue
        word += in_word if kind == SPECIAL else U0
        in_word = joins if kind in (U0, LONG) else U0
        if drops and kind == U0 and has_missing(text, start, end, missing):
            place = locate_known(text, start, end, table, characters, word, output, place)
            block, bits, behind = count_to(text, end, block, bits, behind)
            characters = characters_before(end, block, bits, behind)
            at = end
        while at < end:
            after = end if kind else end_of(text, start, at, end, np.uint64(output.ids[place]), table)
            first = characters - (bits >> at - block & U1)
            block, bits, behind = count_to(text, after, block, bits, behind)
            characters = characters_before(after, block, bits, behind)
            word += np.uint64(kind == U0 and begins_word(text, start, at, kinds))
            at = after
            if kind != DROPPED:
                put_span(first, characters, word, output, place)
                place += U1
        word += np.uint64(kind != DROPPED and not in_word)
    state.before, state.word, state.in_word = characters, word, in_word
