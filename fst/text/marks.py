"""Marks, which replace added tokens and codes in rewritten texts."""

from __future__ import annotations

from fst.tables.header import AddedTokens
from fst.text.normalizer import normalized_tokens, raw_tokens

MARK, MARK_BYTES, MARK_BITS = 0xFF, 5, 6


def marks(added: AddedTokens) -> dict[bytes, int]:
    """A mapping of marks to ids: the mark of each added token or code in a rewritten text, and its id."""
    tokens = (*raw_tokens(added).values(), *normalized_tokens(added).values())
    codes = (*added.leading.ids.values(), added.leading.unknown) if added.leading else ()
    return {mark(row): number for row, number in enumerate((*(token.id for token in tokens), *codes))}


def mark(number: int) -> bytes:
    """The mark of the token or code with a number.

    >>> mark(65).hex()
    'ff80808181'
    """
    shifts = range(MARK_BITS * (MARK_BYTES - 2), -1, -MARK_BITS)
    return bytes([MARK, *(0x80 | number >> shift & (1 << MARK_BITS) - 1 for shift in shifts)])
