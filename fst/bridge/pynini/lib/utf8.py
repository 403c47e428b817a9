"""Acceptors of the bytes of one character in UTF-8 (RFC 3629), without U+0000. The module ``pynini.lib.utf8``."""

from __future__ import annotations

from fst.bridge.pynini.machine import Fst
from fst.bridge.pynini.operations import concat, union


def _bytes(first: int, last: int) -> Fst:
    return union(*(f"[{byte}]" for byte in range(first, last + 1))).optimize()


SINGLE_BYTE = _bytes(0x01, 0x7F)
LEADING_BYTE = _bytes(0xC2, 0xF4)
CONTINUATION_BYTE = _bytes(0x80, 0xBF)
VALID_BYTE = union(SINGLE_BYTE, LEADING_BYTE, CONTINUATION_BYTE).optimize()
# The first byte determines the range of the second one.
VALID_UTF8_CHAR = union(
    SINGLE_BYTE,
    _bytes(0xC2, 0xDF) + CONTINUATION_BYTE,
    _bytes(0xE0, 0xE0) + _bytes(0xA0, 0xBF) + CONTINUATION_BYTE,
    _bytes(0xE1, 0xEC) + CONTINUATION_BYTE**2,
    _bytes(0xED, 0xED) + _bytes(0x80, 0x9F) + CONTINUATION_BYTE,
    _bytes(0xEE, 0xEF) + CONTINUATION_BYTE**2,
    _bytes(0xF0, 0xF0) + _bytes(0x90, 0xBF) + CONTINUATION_BYTE**2,
    _bytes(0xF1, 0xF3) + CONTINUATION_BYTE**3,
    _bytes(0xF4, 0xF4) + _bytes(0x80, 0x8F) + CONTINUATION_BYTE**2,
).optimize()
# The letters A to Z of flags, U+1F1E6 to U+1F1FF.
VALID_UTF8_CHAR_REGIONAL_INDICATOR_SYMBOL = concat("[240][159][135]", _bytes(0xA6, 0xBF)).optimize()
