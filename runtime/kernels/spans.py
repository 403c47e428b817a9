"""Spans of characters as 64-bit numbers, ``first character | one past the last << 32``."""

from __future__ import annotations

from fst.core.jit import inlined
from fst.runtime.kernels.constants import HALF, LOW_HALF


@inlined
def pack_span(first, end):
    """Pack a span: its first character, and one past its last."""
    return first | end << HALF


@inlined
def span_of(item):
    """Return the first character of a span, and one past its last."""
    return item & LOW_HALF, item >> HALF


@inlined
def join_spans(one, other):
    """Pack the span from the start of a span to the end of another."""
    return one & LOW_HALF | other >> HALF << HALF
