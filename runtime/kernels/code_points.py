"""Count the characters of UTF-8 before ascending positions, without a loop over bytes.

A count is three numbers. `block` is the position of a block of 64 bytes. `bits` is a bit mask: bit i is set if byte i of the block
continues a character. `behind` is the position of the block minus the number of characters before it. A loop over bytes would be slower,
because its length varies and the processor cannot predict its end.
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
    """Begin to count at a position that has `before` characters before it."""
    return at, continuing(text, at), at - before


@inlined
def count_to(text, at, block, bits, behind):
    """Advance to the block of a position, which is at or after the last position."""
    while at - block >= U64:
        behind += ones(bits)
        block += U64
        bits = continuing(text, block)
    return block, bits, behind


@inlined
def characters_before(at, block, bits, behind):
    """The number of characters that begin before a position in the block."""
    return at - behind - ones_before(bits, at - block)
