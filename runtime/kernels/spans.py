"""Spans of characters as 64-bit numbers, ``first character | one past the last << 32``."""

from __future__ import annotations

from fst.core.jit import inlined
from fst.runtime.kernels.constants import HALF, LOW_HALF


@inlined
def pack_span(first, end):
    """Pack a span from its first character and one past its last character."""
    return first | end << HALF


@inlined
def span_of(item):
    """Return the first character of a span, and one past its last character."""
    return item & LOW_HALF, item >> HALF


@inlined
def join_spans(one, other):
    """Pack the span from the start of one span to the end of another."""
    return one & LOW_HALF | other >> HALF << HALF
