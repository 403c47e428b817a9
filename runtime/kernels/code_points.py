"""Counting the characters of UTF-8 before positions that ascend, without a loop over bytes.

A count is three numbers: the position of a block of 64 bytes; a bit for each of these that continues a character; and what to subtract
from a position for the number of characters before it, as far as bytes before the block are concerned. The number of bytes between two
positions varies, so no processor could predict the end of a loop over them.
"""

from __future__ import annotations

from fst.core.jit import inlined
from fst.runtime.kernels.constants import U1, U64
from fst.runtime.kernels.intrinsics import continuing, ones


@inlined
def ones_before(bits, place):
    """The number of ones in the lowest `place` bits of a word; `place` is below 64."""
    return ones(bits & (U1 << place) - U1)


@inlined
def count_from(text, at, before):
    """Begin to count at a position, with `before` characters before it."""
    return at, continuing(text, at), at - before


@inlined
def count_to(text, at, block, bits, behind):
    """Advance to the block of a position that is not before the last one."""
    while at - block >= U64:
        behind += ones(bits)
        block += U64
        bits = continuing(text, block)
    return block, bits, behind


@inlined
def characters_before(at, block, bits, behind):
    """The number of characters that begin before a position in the block."""
    return at - behind - ones_before(bits, at - block)
