"""Count the characters before ascending positions of a UTF-8 text, 64 bytes at a time.

Three numbers represent a count. `block` is the position of a block of 64 bytes. `bits` is a bit mask: bit i is set if byte i of the block
continues a character. `behind` is the position of the block minus the number of characters before the block. A loop over single bytes would
be slower, because the processor cannot predict where the loop ends.
"""

from __future__ import annotations

from fst.core.jit import inlined
from fst.runtime.kernels.constants import U1, U64
from fst.runtime.kernels.intrinsics import continuing, ones


@inlined
def ones_before(bits, place):
    """Count the 1 bits among the lowest `place` bits of a word; `place` must be less than 64."""
    return ones(bits & (U1 << place) - U1)


@inlined
def count_from(text, at, before):
    """Begin to count at a position after the first `before` characters of a text."""
    return at, continuing(text, at), at - before


@inlined
def count_to(text, at, block, bits, behind):
    """Advance to the block that contains a position; the position must not be before the position of the previous call."""
    while at - block >= U64:
        behind += ones(bits)
        block += U64
        bits = continuing(text, block)
    return block, bits, behind


@inlined
def characters_before(at, block, bits, behind):
    """Return the number of characters that begin before a position in the block."""
    return at - behind - ones_before(bits, at - block)
