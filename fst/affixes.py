"""Tokens that say where they stand in a piece, by a prefix or a suffix of their names.

With an ``end_of_word_suffix`` the last byte of a piece is another token than the same byte elsewhere, and has the suffix in its name. With
a ``continuing_subword_prefix`` all bytes but the first have the prefix. A merge strips the prefix of its right part. So a token at the end
of a piece has the suffix, and one that continues a piece the prefix. Without them, names say nothing, and a token may stand anywhere.

The *code* of a byte of a piece is the byte, with `CONTINUES` if it is not the first, and `ENDS` if it is the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CONTINUES, ENDS, CODES = 1 << 8, 1 << 9, 1 << 10
ABSENT = -1


class Part(NamedTuple):
    """What a name says: the bytes of the text that a token stands for, and whether they are the first and the last of a piece.

    Without a prefix, `is_first` is always true, and without a suffix `is_last`: nothing is said.
    """

    body: bytes
    is_first: bool
    is_last: bool


class Affixes(NamedTuple):
    """A prefix and a suffix, as bytes; empty if there is none."""

    prefix: bytes = b""
    suffix: bytes = b""

    def __bool__(self) -> bool:
        """Whether names say where tokens stand."""
        return bool(self.prefix or self.suffix)

    def name(self, part: Part) -> bytes:
        """The name of a part."""
        return (b"" if part.is_first else self.prefix) + part.body + (self.suffix if part.is_last else b"")

    def part(self, name: bytes) -> Part:
        r"""What a name says.

        Example:
            >>> clip = Affixes(suffix=b"</w>")
            >>> clip.part(b"cat</w>"), clip.part(b"cat")
            (Part(body=b'cat', is_first=True, is_last=True), Part(body=b'cat', is_first=True, is_last=False))
        """
        is_last = not self.suffix or (name.endswith(self.suffix) and len(name) > len(self.suffix))
        body = name[: len(name) - len(self.suffix)] if is_last else name
        is_first = not (self.prefix and body.startswith(self.prefix) and len(body) > len(self.prefix))
        return Part(body if is_first else body[len(self.prefix) :], is_first, is_last)

    def joined(self, left: Part, right: Part) -> Part | None:
        """What two parts, one after the other, are together; None if they cannot stand so."""
        if (self.suffix and left.is_last) or (self.prefix and right.is_first):
            return None
        return Part(left.body + right.body, left.is_first, right.is_last)

    def places(self, byte: int) -> Iterable[Part]:
        """A byte wherever it can stand."""
        firsts, lasts = ([True, False] if affix else [True] for affix in self)
        return [Part(bytes([byte]), is_first, is_last) for is_first in firsts for is_last in lasts]

    def atoms(self, tokens: Mapping[bytes, int]) -> NDArray[np.int32]:
        """int32[CODES], the number of the token of each byte by its code, or `ABSENT`."""
        atoms = np.full(CODES, ABSENT, np.int32)
        for code in range(CODES):
            part = Part(bytes([code & 0xFF]), not (self.prefix and code & CONTINUES), not (self.suffix and not code & ENDS))
            atoms[code] = tokens.get(self.name(part), ABSENT)
        return atoms


NO_AFFIXES = Affixes()


def codes_of(piece: bytes) -> list[int]:
    """The codes of the bytes of a piece."""
    last = len(piece) - 1
    return [byte | (place > 0) * CONTINUES | (place == last) * ENDS for place, byte in enumerate(piece)]


def codes_of_parts(
    bodies: NDArray[np.uint8], lengths: NDArray[np.int64], is_first: NDArray[np.bool_], is_last: NDArray[np.bool_]
) -> NDArray[np.uint16]:
    """uint16[n], the codes of the bytes of parts, one after the other."""
    codes = bodies.astype(np.uint16) | np.uint16(CONTINUES)
    ends, some = np.cumsum(lengths), lengths > 0
    codes[(ends - lengths)[is_first & some]] &= np.uint16(CODES - 1 - CONTINUES)
    codes[ends[is_last & some] - 1] |= np.uint16(ENDS)
    return codes
