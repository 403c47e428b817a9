"""Fold the case of texts and mark word borders for keyword search. `fst.machines.keywords.text.KeywordText.spelled` specifies the result.

Kernels check nothing, and require UTF-8, `codes` from a table that has passed `Table.prove`, and output arrays with a capacity of four
bytes for each byte of text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.keywords import text as keyword_text
from fst.runtime.kernels.constants import U0, U1, U64
from fst.runtime.kernels.spans import pack_span, span_of
from fst.runtime.kernels.utf_8 import count_characters, put_code
from fst.runtime.text.kernels.composition import code_at, put_place, start_before

BORDER, CODE = np.uint8(keyword_text.BORDER), np.uint64(keyword_text.WORD - 1)
CASE, FIRST, LETTERS, CONTINUES = np.uint8(ord("a") - ord("A")), np.uint8(ord("A")), np.uint8(26), np.uint8(0x80)


@inlined
def put_block(text, at, into, filled):
    """Copy 64 bytes, and convert ASCII letters to lower case; return whether all bytes are ASCII."""
    wide = np.uint8(0)
    for index in range(U64):
        byte = text[at + np.uint64(index)]
        wide |= byte
        into[filled + np.uint64(index)] = byte + CASE * np.uint8(np.uint8(byte - FIRST) < LETTERS)
    return wide < CONTINUES


@kernel
def fold(text, starts, codes, folded):
    """Fold the case of texts; each character becomes exactly one character.

    Args:
        text: uint8[n], UTF-8 of all texts.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        codes: uint32[0x110000], for each code point the folded character.
        folded: the output, `fst.text.arguments.Normalized`; the kernel writes its fields `text` and `starts`.
    """
    into, filled, at = folded.text, U0, np.uint64(starts[0])
    folded.starts[0] = 0
    for row in range(len(starts) - 1):
        end = np.uint64(starts[row + 1])
        while at < end:
            while at + U64 <= end and put_block(text, at, into, filled):
                at += U64
                filled += U64
            until = min(at + U64, end)
            while at < until:
                code, at = code_at(text, at)
                filled = put_code(np.uint64(codes[code]) & CODE, into, filled)
        folded.starts[row + 1] = filled


@kernel
def back(text, at, count):
    """Find the position `count` characters before `at`."""
    for _ in range(count):
        at = start_before(text, at)
    return at


@kernel
def cover(text, starts, origin, kept_characters, normalised):
    """Extend the span of each normalized character to the start of the next span; extend the last span to the end of its text.

    Args:
        text, starts, origin: as in `spell`.
        kept_characters: uint64, the number of characters of the first text that are stored from the last call; their spans do not change.
        normalised: `fst.text.arguments.Normalized`; the kernel changes its field `places`.
    """
    places, at = normalised.places, kept_characters
    for row in range(len(starts) - 1):
        end = np.uint64(normalised.firsts[row + 1])
        following = origin + count_characters(text, np.uint64(starts[row]), np.uint64(starts[row + 1]))
        for back_from in range(end - at):
            index = end - U1 - np.uint64(back_from)
            first, last = span_of(places[index])
            places[index] = pack_span(first, max(last, following))
            following = first
        at, origin = end, U0


@kernel
def spell(text, starts, origin, in_word, more, kept, kept_characters, codes, normalised, spelled):
    """Fold the case of texts, and insert the byte `BORDER` before and after each word.

    Args:
        text: uint8[n], UTF-8 of all texts, normalized.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        origin: uint64, the index of the first character of `text` in its complete text, which may have begun in an earlier call.
        in_word: uint64, 1 if the first text continues after a word character.
        more: uint64, 1 if the last text continues in the next call.
        kept, kept_characters: uint64, the number of bytes and of characters of the first text that `spelled` already contains.
        codes: uint32[0x110000], see `fst.machines.keywords.text.KeywordText.codes`.
        normalised: `fst.text.arguments.Normalized`, the spans of the characters; it contains no spans if texts are raw.
        spelled: the output, `fst.text.arguments.Normalized`; spans are written only if its array `places` is not empty.

    Returns:
        1 if the last character is a word character, and the last text continues in the next call.
    """
    into, places, filled, written = spelled.text, spelled.places, kept, kept_characters
    own, index = normalised.places, U0
    was_word, end = in_word, span_of(places[kept_characters - U1])[1] if kept and len(places) else origin
    spelled.starts[0] = spelled.firsts[0] = 0
    rows = len(starts) - 1
    for row in range(rows):
        at, stop = np.uint64(starts[row]), np.uint64(starts[row + 1])
        while at < stop:
            code, at = code_at(text, at)
            folded = np.uint64(codes[code])
            is_word = np.uint64(folded > CODE)
            first, last = span_of(own[index]) if len(own) else (origin, origin + U1)
            # Always write a border, and overwrite it if no word begins or ends here, because the processor would often mispredict a branch.
            into[filled] = BORDER
            put_place(first, max(first, end), places, written)
            filled, written = filled + (is_word ^ was_word), written + (is_word ^ was_word)
            filled, written = put_code(folded & CODE, into, filled), put_place(first, last, places, written)
            was_word, end, origin, index = is_word, last, origin + U1, index + U1
        if was_word and not (more and row + 1 == rows):
            into[filled] = BORDER
            filled, written = filled + U1, put_place(end, end, places, written)
        spelled.starts[row + 1], spelled.firsts[row + 1] = filled, written
        if row + 1 < rows:
            was_word = end = origin = U0
    return was_word
