"""Recognise texts that normalization leaves unchanged, and texts to which normalization only adds a prefix. Unchanged texts are read in
place; texts with a prefix are copied.

The requirements of `fst.runtime.text.kernels.composition` apply.
"""

from __future__ import annotations

import numpy as np

from fst.automata import matcher
from fst.automata.matcher import LEAST, LENGTH
from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import U0, U1, U64
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.intrinsics import AT_ONCE, continuing, ones, trailing_zeros
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.text.kernels.composition import code_at, put_place, start_before
from fst.runtime.text.kernels.stops import is_stop, stops_from
from fst.runtime.text.kernels.whitespace import IS_ALWAYS, IS_FIRST, KEEPS_WHITE, SPACE_BYTE
from fst.text import arguments as of

CHANGES, WHITE = np.uint8(of.CHANGES), np.uint8(of.WHITE)
FIRST, SECOND = np.uint8(matcher.FIRST), np.uint8(matcher.SECOND)
IF_FOUND_ALONE, IF_FOUND_ANYWAY = np.uint64(of.IF_FOUND_ALONE), np.uint64(of.IF_FOUND_ANYWAY)
FOUND_ALONE, FOUND_ANYWAY = np.int32(of.FOUND_ALONE), np.int32(of.FOUND_ANYWAY)


@inlined
def may_begin(text, at, end, normalizer):
    """Whether an added token may begin at a position; a quick filter by the token's first two bytes."""
    return normalizer.bytes[text[at]] & FIRST and (at + U1 >= end or normalizer.bytes[text[at + U1]] & SECOND)


@inlined
def has_space_ends(text, start, end, kinds):
    """Whether a text begins or ends with whitespace."""
    return start < end and (kinds[code_at(text, start)[0]] | kinds[code_at(text, start_before(text, end))[0]]) & WHITE > 0


@inlined
def changes_at(text, at, end, most, normalizer, memo):
    """Whether a character changes, or a string begins at this character; the arguments are as in `stays`."""
    every = normalizer.every
    if may_begin(text, at, end, normalizer):
        node, _ = match_at(text, ITEMS, at, end, U0, every, memo)
        if every.nodes[node, LENGTH] and every.nodes[node, LEAST] <= most:
            return True
    return normalizer.kinds[code_at(text, at)[0]] & CHANGES > 0


@part
def stays(text, at, end, table, most, normalizer, memo):
    """Whether no character of a text changes, and the text contains no string of ``normalizer.every``.

    Args:
        text, at, end: the text.
        table: the offset of a table in ``normalizer.stops``: `IF_FOUND_ALONE` or `IF_FOUND_ANYWAY`.
        most: the maximum value of a string in ``normalizer.every``; strings with a higher value are ignored.
        normalizer: `fst.text.arguments.NormalizerArguments`.
        memo: uint64[3], the memo of the search, see `fst.runtime.kernels.tries.match_at`.
    """
    stops = normalizer.stops
    reset(at, memo)
    while AT_ONCE and at < end:
        found = stops_from(text, at, end, stops, table)
        while found:
            if changes_at(text, at + trailing_zeros(found), end, most, normalizer, memo):
                return False
            found &= found - U1
        at += U64
    while at < end:
        if is_stop(text, at, end, stops, table) and changes_at(text, at, end, most, normalizer, memo):
            return False
        at += U1
    return True


@kernel
def is_unchanged(text, starts, normalizer, memo):
    """Whether normalization leaves texts unchanged, and every added token is found without normalization, too."""
    if normalizer.scalars.prefix or normalizer.scalars.puts or len(normalizer.splitter.moves):
        return False
    if normalizer.scalars.strips:
        for row in range(len(starts) - 1):
            if has_space_ends(text, np.uint64(starts[row]), np.uint64(starts[row + 1]), normalizer.kinds):
                return False
    return stays(text, np.uint64(starts[0]), np.uint64(starts[-1]), IF_FOUND_ALONE, FOUND_ALONE, normalizer, memo)


@inlined
def may_copy(text, start, end, normalizer, memo):
    """Whether a text has no added tokens, and normalization only adds a prefix and maps bytes by ``normalizer.mapped``."""
    if not normalizer.scalars.copies or (normalizer.scalars.strips and has_space_ends(text, start, end, normalizer.kinds)):
        return False
    return stays(text, start, end, IF_FOUND_ANYWAY, FOUND_ANYWAY, normalizer, memo)


@inlined
def put_front(byte, origin, width, into, filled, places, written):
    """Write an ASCII character before a text, with a span of `width` characters from `origin`; return the new number of bytes and of
    characters.
    """
    into[filled] = byte
    return filled + U1, put_place(origin, origin + width, places, written)


@part
def put_places(text, start, end, origin, joins, places, written):
    """Write the span of each character of a text. With `joins`, a space has the span of the next character, because the space belongs to
    the next word.
    """
    for at in range(start, end):
        byte = text[np.uint64(at)]
        if byte & LEAD_MASK != CONTINUES:
            first = origin + np.uint64(joins and byte == SPACE_BYTE)
            written = put_place(first, first + U1, places, written)
            origin += U1


@part
def copy_row(text, begin, end, origin, is_inside, normalizer, into, filled, places, written):
    """Copy a text for which `may_copy` is true. The arguments are as in `fst.runtime.text.kernels.normalizer.rewrite_row`."""
    if begin < end and not is_inside:
        for index in range(len(normalizer.lead)):
            filled, written = put_front(normalizer.lead[index], origin, normalizer.scalars.leads, into, filled, places, written)
        prefix = normalizer.scalars.prefix
        if (prefix == IS_ALWAYS or (prefix == IS_FIRST and origin == U0)) and text[begin] != SPACE_BYTE:
            filled, written = put_front(SPACE_BYTE, origin, U1, into, filled, places, written)
    start, filled = filled, put_bytes(text, begin, end, into, filled)
    for at in range(start, filled if len(normalizer.mapped) else start):
        into[np.uint64(at)] = normalizer.mapped[into[np.uint64(at)]]
    count = end - begin
    for at in range(begin, end, U64):
        left = end - np.uint64(at)
        bits = continuing(text, np.uint64(at))
        count -= ones(bits & (U1 << left) - U1 if left < U64 else bits)
    if len(places):
        put_places(text, begin, end, origin, normalizer.scalars.separator != KEEPS_WHITE, places, written)
    return filled, written + count
