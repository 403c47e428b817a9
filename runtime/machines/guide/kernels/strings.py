"""The tokens of a vocabulary as parts of strings of JSON."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.guide.item_arguments import ESCAPED, OUTSIDE, PLAIN, QUOTED

QUOTE, BACKSLASH, SPACE, UNIT = 0x22, 0x5C, 0x20, 0x75
LETTERS = tuple(b'"\\/bfnrt')  # of escapes
INCOMPLETE, WRONG = -1, -2  # results of `unescaped` and `escaped`, instead of the place after a character


@inlined
def is_hex(byte):
    """Whether a byte is a hexadecimal digit."""
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x46 or 0x61 <= byte <= 0x66


@part
def unescaped(data, place, end):
    """The place after a character of several bytes in UTF-8; `INCOMPLETE` or `WRONG`."""
    lead = data[place]
    low, high, more = 0x80, 0xBF, 0
    if 0xC2 <= lead <= 0xDF:
        more = 1
    elif 0xE0 <= lead <= 0xEF:
        more = 2
        low, high = 0xA0 if lead == 0xE0 else 0x80, 0x9F if lead == 0xED else 0xBF
    elif 0xF0 <= lead <= 0xF4:
        more = 3
        low, high = 0x90 if lead == 0xF0 else 0x80, 0x8F if lead == 0xF4 else 0xBF
    else:
        return np.int64(WRONG)
    for following in range(place + 1, place + 1 + more):
        if following == end:
            return np.int64(INCOMPLETE)
        if data[following] < low or data[following] > high:
            return np.int64(WRONG)
        low, high = 0x80, 0xBF
    return np.int64(place + 1 + more)


@part
def unit(data, place, end, first, last):
    """The place after four hexadecimal digits, the first two of which are from `first` to `last`; `INCOMPLETE` or `WRONG`."""
    value = 0
    for digit in range(4):
        if place + digit >= end:
            return np.int64(INCOMPLETE)
        byte = np.int64(data[place + digit])
        if not is_hex(byte):
            return np.int64(WRONG)
        value = value << 4 | (byte & 0xF) + (9 if byte > 0x39 else 0)
        rest = 4 * (1 - digit)  # bits of the first two digits that are still to be read
        if rest >= 0 and (value << rest | ((1 << rest) - 1) < first or value << rest > last):
            return np.int64(WRONG)
    return np.int64(place + 4)


@part
def escaped(data, place, end):
    """The place after an escaped character, which begins with a backslash; `INCOMPLETE` or `WRONG`. Two escapes of surrogates are one
    character.
    """
    if place + 1 == end:
        return np.int64(INCOMPLETE)
    letter = data[place + 1]
    if letter != UNIT:
        return np.int64(place + 2 if letter in LETTERS else WRONG)
    after = unit(data, place + 2, end, 0, 0xD7)
    if after == WRONG:
        after = unit(data, place + 2, end, 0xE0, 0xFF)
    if after != WRONG:
        return after
    after = unit(data, place + 2, end, 0xD8, 0xDB)
    if after < 0:
        return after
    if after == end:
        return np.int64(INCOMPLETE)
    if data[after] != BACKSLASH:
        return np.int64(WRONG)
    if after + 1 == end:
        return np.int64(INCOMPLETE)
    return unit(data, after + 2, end, 0xDC, 0xDF) if data[after + 1] == UNIT else np.int64(WRONG)


@kernel
def classify(data, ends, kinds, chars, quotes):
    """Read each token from a place before a character of a string of JSON.

    Args:
        data: uint8[n], the bytes of all tokens.
        ends: int64[tokens], the end of each token.
        kinds: output, uint8[tokens]: `PLAIN`: unescaped characters, `ESCAPED`: characters, at least one of them escaped; `QUOTED`: a
            quotation mark that ends the string, perhaps after characters, and perhaps with more after it; `OUTSIDE`: no token, or another
            one.
        chars: output, int64[tokens], the number of characters, with an incomplete one at the end; of `QUOTED`, before the mark.
        quotes: output, int64[tokens], the place of the quotation mark in the token.
    """
    start = np.int64(0)
    for token in range(len(ends)):
        end, place, count, kind = ends[token], start, 0, PLAIN if ends[token] > start else OUTSIDE
        while place < end and kind != QUOTED and kind != OUTSIDE:
            byte = data[place]
            if byte == QUOTE:
                kind, quotes[token] = QUOTED, place - start
                break
            after = np.int64(place + 1)
            if byte == BACKSLASH:
                kind, after = ESCAPED, escaped(data, place, end)
            elif byte >= 0x80:
                after = unescaped(data, place, end)
            elif byte < SPACE:
                after = np.int64(WRONG)
            if after == WRONG:
                kind = OUTSIDE
            count += 1
            place = end if after < 0 else after
        kinds[token], chars[token] = kind, count
        start = end
