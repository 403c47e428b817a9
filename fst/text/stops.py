"""Tables by which kernels find certain positions in a text, such as characters that may change; 64 positions are tested at a time.

A position is a *stop* if ``firsts[byte] & seconds[next byte]`` is not 0. Each of the 8 bits is a *channel*, a set of first bytes and a set
of bytes that may follow them. For example, these two channels make a stop of each "é" (C3 A9), "ê" (C3 AA) and "…" (E2 80 A6)::

    channel   first bytes   next bytes
    0         C3            A9, AA
    1         E2            80

The second channel also makes a stop of "—" (E2 80 94). If more than `CHANNELS` channels are needed, some channels are merged, so that
further positions become stops. Kernels therefore examine each stop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS

CHANNELS, MOST = 8, 16  # number of channels, and maximum number of channels among which the best pairs to merge are searched
SECONDS, SIZE = 256, 512  # the start of `seconds` in a table, and the size of the table
ASCII, CONTINUING, LEADING = (1 << 128) - 1, (1 << 64) - 1 << 128, (1 << 64) - 1 << 192  # sets of bytes, as bit masks
LEADS = ((6, 0x80, 0x800, 0xC0), (12, 0x800, 0x10000, 0xE0), (18, 0x10000, CODE_POINTS, 0xF0))  # shift, code points, and lowest first byte
FREQUENCY = 16  # the frequency of an ASCII character in texts, divided by the frequency of a pair of other bytes

Channel = tuple[int, int]  # the bytes of a channel, and the bytes that follow them, as bit masks


def stops(characters: NDArray[np.bool_], strings: Iterable[bytes]) -> NDArray[np.uint8]:
    """The table whose stops include each character of a set, and each string. `characters`: bool[0x110000], by code point: the set.
    `strings`: strings in UTF-8, not empty. Returns uint8[SIZE], `firsts`, and from `SECONDS` on `seconds`.
    """
    pairs = np.zeros((256, 256), np.bool_)  # whether a first byte and a next byte make a stop
    pairs[np.flatnonzero(characters[:128])] = True
    for bits, begin, end, lead in LEADS:
        codes = np.flatnonzero(characters[begin:end]) + begin
        pairs[lead | codes >> bits, 0x80 | codes >> bits - 6 & 0x3F] = True
    for string in strings:
        pairs[string[0], string[1] if len(string) > 1 else slice(None)] = True
    return stops_of_pairs(pairs)


def stops_of_pairs(pairs: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The table whose stops include each pair of a byte and the next byte for which the argument, bool[256, 256], is true."""
    return _table(_merged(_channels(pairs)))


def _channels(pairs: NDArray[np.bool_]) -> list[Channel]:
    """Channels, each for all first bytes that have the same next bytes; the channels with the most frequent bytes come first."""
    found: dict[int, int] = defaultdict(int)
    for first in np.flatnonzero(pairs.any(axis=1)).tolist():
        found[int.from_bytes(np.packbits(pairs[first], bitorder="little").tobytes(), "little")] |= 1 << first
    return sorted(((firsts, seconds) for seconds, firsts in found.items()), key=lambda channel: -_weight(channel[0], ASCII | CONTINUING))


def _merged(channels: list[Channel]) -> list[Channel]:
    """At most `CHANNELS` channels, merged so that few other pairs of bytes become stops."""
    while len(channels) > MOST:
        channels[-2:] = [_union(*channels[-2:])]
    while len(channels) > CHANNELS:
        best = min(combinations(channels, 2), key=lambda pair: _cost(*pair))
        channels = [channel for channel in channels if channel not in best] + [_union(*best)]
    return channels


def _union(one: Channel, other: Channel) -> Channel:
    """The smallest channel with all pairs of two channels."""
    return one[0] | other[0], one[1] | other[1]


def _cost(one: Channel, other: Channel) -> int:
    """The weight of the pairs of bytes that only the union of two channels contains."""
    return _weight(one[0], other[1] & ~one[1]) + _weight(other[0], one[1] & ~other[1])


def _weight(firsts: int, seconds: int) -> int:
    """The expected share of the pairs of two sets of bytes among all pairs in texts, in any unit. Only pairs that occur in UTF-8 count."""
    after_ascii, after_lead = seconds & (ASCII | LEADING), seconds & CONTINUING
    return FREQUENCY * (firsts & ASCII).bit_count() * after_ascii.bit_count() + (firsts & LEADING).bit_count() * after_lead.bit_count()


def _table(channels: Iterable[Channel]) -> NDArray[np.uint8]:
    """`firsts` and `seconds` of channels; bit i belongs to channel i."""
    table = np.zeros((2, 256), np.uint8)
    for number, sets in enumerate(channels):
        for row, bytes_ in zip(table, sets, strict=True):
            row |= np.unpackbits(np.frombuffer(bytes_.to_bytes(32, "little"), np.uint8), bitorder="little") << number
    return table.ravel()
