"""Merge lists over characters, as merge lists over bytes.

The symbols of `fst.compile.machines.bpe.canonical` are bytes. So merges of lower ranks than all others build each known character from its
bytes, from
left to right: é from C3 and A9; ▁ from E2 and 96, and the result and 81. They make *partial* tokens on the way, here E2 96. Characters
begin with bytes that continue none, so these merges happen inside characters alone, and a known character is a token before any other
merge takes it.

A partial token is left where a character continues otherwise than all known ones. This character represents its bytes, see `stand_ins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.bpe.canonical import Merges
from fst.machines.bpe.affixes import Affixes, Part
from fst.machines.bpe.automaton import UTF8_BYTES

Merge = tuple[bytes, bytes]


def over_bytes(merges: Merges) -> Merges:
    """The merge list over bytes. Its tokens are those of `merges`, then partial ones and bytes, with ids above all others."""
    built = [merge for name in merges.tokens for merge in _building(merges.affixes, name)]
    built.sort(key=lambda merge: len(merge[0]) + len(merge[1]))
    places = (merges.affixes.name(part) for byte in UTF8_BYTES for part in merges.affixes.places(byte))
    prefix = len(merges.affixes.prefix)
    names = (*places, *(name for left, right in built for name in (left, right, left + right[prefix:])))
    fresh = [name for name in dict.fromkeys(names) if name not in merges.tokens]
    first = max(merges.tokens.values(), default=-1) + 1
    tokens = {**merges.tokens, **{name: number for number, name in enumerate(fresh, first)}}
    return Merges(tokens, [*dict.fromkeys(built), *merges.pairs], merges.affixes)


def _building(affixes: Affixes, name: bytes) -> Iterator[Merge]:
    """The merges that build a token of one character, from left to right; none for another token."""
    body, is_first, is_last = affixes.part(name)
    if 1 < len(body) <= 4 and len(body.decode(errors="replace")) == 1:
        for size in range(2, len(body) + 1):
            left = Part(body[: size - 1], is_first, not affixes.suffix)
            right = Part(body[size - 1 : size], not affixes.prefix, is_last if size == len(body) else not affixes.suffix)
            yield affixes.name(left), affixes.name(right)


def stand_ins(tokens: Iterable[bytes], known: int) -> NDArray[np.int32]:
    """For each token its number; for a partial one, instead the number of its last byte.

    A walk backwards comes to a partial token only if its character is unknown. Before this byte it comes to the one before, and so on.

    Args:
        tokens: those of `over_bytes`, without affixes.
        known: how many of them are no partial ones.
    """
    names = [*tokens]
    number_of = {name: number for number, name in enumerate(names)}
    return np.array([*range(known), *(number_of[name[-1:]] for name in names[known:])], np.int32)
