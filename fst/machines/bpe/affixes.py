"""Affixes: a prefix or suffix in the name of a token determines where in a pre-token the token may occur.

With an ``end_of_word_suffix``, the name of a token at the end of a pre-token has the suffix. So a byte at the end of a pre-token has a
different token than the same byte at another position. With a ``continuing_subword_prefix``, the name of a token that does not begin a
pre-token has the prefix; a merge removes the prefix of its right part. Without affixes, names do not depend on the position, and a token
may occur anywhere.
The code of a byte (`fst.pretokens.characters`) contains the byte's position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.characters import ABSENT, CODES, CONTINUES, ENDS


class Part(NamedTuple):
    """The meaning of a token's name: the bytes of the token, whether it begins a pre-token, and whether it ends one.

    Without a prefix, `is_first` is always true; without a suffix, `is_last` is always true.
    """

    body: bytes
    is_first: bool
    is_last: bool


class Affixes(NamedTuple):
    """The prefix and the suffix of a vocabulary, as bytes; empty if the vocabulary has none."""

    prefix: bytes = b""
    suffix: bytes = b""

    def __bool__(self) -> bool:
        """Whether the vocabulary has a prefix or a suffix."""
        return bool(self.prefix or self.suffix)

    def name(self, part: Part) -> bytes:
        """The name of the token with a given meaning."""
        return (b"" if part.is_first else self.prefix) + part.body + (self.suffix if part.is_last else b"")

    def part(self, name: bytes) -> Part:
        r"""The meaning of a token's name.

        Examples:
            >>> clip = Affixes(suffix=b"</w>")
            >>> clip.part(b"cat</w>"), clip.part(b"cat")
            (Part(body=b'cat', is_first=True, is_last=True), Part(body=b'cat', is_first=True, is_last=False))
        """
        is_last = not self.suffix or (name.endswith(self.suffix) and len(name) > len(self.suffix))
        body = name[: len(name) - len(self.suffix)] if is_last else name
        is_first = not (self.prefix and body.startswith(self.prefix) and len(body) > len(self.prefix))
        return Part(body if is_first else body[len(self.prefix) :], is_first, is_last)

    def joined(self, left: Part, right: Part) -> Part | None:
        """The part that a merge makes of two neighbours; None if the two cannot be neighbours."""
        if (self.suffix and left.is_last) or (self.prefix and right.is_first):
            return None
        return Part(left.body + right.body, left.is_first, right.is_last)

    def places(self, byte: int) -> Iterable[Part]:
        """The possible parts of one byte, one for each position in a pre-token at which the byte has a different name."""
        return self.everywhere(bytes([byte]))

    def everywhere(self, body: bytes) -> Sequence[Part]:
        """The possible parts of a byte string, one for each position in a pre-token at which the string has a different name."""
        firsts, lasts = ([True, False] if affix else [True] for affix in self)
        return [Part(body, is_first, is_last) for is_first in firsts for is_last in lasts]

    def atoms(self, tokens: Mapping[bytes, int]) -> NDArray[np.int32]:
        """int32[CODES], the token of each byte by the byte's code, or `ABSENT`.

        Args:
            tokens: a mapping of the name of each token to the token's number.
        """
        atoms = np.full(CODES, ABSENT, np.int32)
        for code in range(CODES):
            part = Part(bytes([code & 0xFF]), not (self.prefix and code & CONTINUES), not (self.suffix and not code & ENDS))
            atoms[code] = tokens.get(self.name(part), ABSENT)
        return atoms


NO_AFFIXES = Affixes()


def codes_of(pretoken: bytes) -> list[int]:
    """The codes of the bytes of a pre-token."""
    last = len(pretoken) - 1
    return [byte | (place > 0) * CONTINUES | (place == last) * ENDS for place, byte in enumerate(pretoken)]


def codes_of_parts(
    bodies: NDArray[np.uint8], lengths: NDArray[np.int64], is_first: NDArray[np.bool_], is_last: NDArray[np.bool_]
) -> NDArray[np.uint16]:
    """uint16[n], the codes of the bytes of several parts, concatenated.

    Args:
        bodies: uint8[n], the bytes of all parts.
        lengths: int64[parts], the number of bytes of each part.
        is_first, is_last: bool[parts], as in `Part`.
    """
    codes = bodies.astype(np.uint16) | np.uint16(CONTINUES)
    ends, some = np.cumsum(lengths), lengths > 0
    codes[(ends - lengths)[is_first & some]] &= np.uint16(CODES - 1 - CONTINUES)
    codes[ends[is_last & some] - 1] |= np.uint16(ENDS)
    return codes
