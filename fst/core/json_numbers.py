"""The conversion of JSON numbers to floats as in the reference, ``serde_json``. The result is not always the nearest float.

``serde_json`` reads the digits as one whole number of at most 64 bits, and multiplies or divides it by a power of ten. Each of these steps
rounds, but Python rounds only once.
"""

from __future__ import annotations

import re
from math import inf, isinf, nextafter

MAX_DIGITS = (1 << 64) - 1
MAX_POWER = 308
_NEIGHBOURS = 8  # number of neighbouring floats that are tried on each side
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


def reference_float(spelling: str) -> float:
    """The float of a JSON number with a fraction or an exponent.

    Examples:
        >>> reference_float("-3.5449328422546387"), reference_float("-13.543037414550781"), reference_float("2e-3")
        (-3.5449328422546387, -13.54303741455078, 0.002)
    """
    match = _NUMBER.fullmatch(spelling)
    if not match:
        raise ValueError(f"{spelling} is not a JSON number")
    sign, whole, fraction, exponent = match.groups()
    digits, power = _significand(whole, fraction or "")
    found = _scaled(float(digits), power + int(exponent or 0))
    if isinf(found):
        raise ValueError(f"the number {spelling} is too large")
    return -found if sign else found


def _significand(whole: str, fraction: str) -> tuple[int, int]:
    """The digits that fit into 64 bits as a number, and the power of ten by which it must be multiplied."""
    digits, power = int(whole), 0
    if digits > MAX_DIGITS:
        kept = len(whole)
        while int(whole[:kept]) > MAX_DIGITS:
            kept -= 1
        return _with_fraction(int(whole[:kept]), len(whole) - kept, fraction)
    return _with_fraction(digits, power, fraction)


def _with_fraction(digits: int, power: int, fraction: str) -> tuple[int, int]:
    if digits * 10 ** len(fraction) + int(fraction or 0) <= MAX_DIGITS:
        return digits * 10 ** len(fraction) + int(fraction or 0), power - len(fraction)
    for digit in map(int, fraction):
        if digits * 10 + digit > MAX_DIGITS:
            break
        digits, power = digits * 10 + digit, power - 1
    return digits, power


def _scaled(number: float, power: int) -> float:
    """A number times a power of ten, rounded as in ``serde_json``."""
    while power < -MAX_POWER and number:
        number, power = number / 1e308, power + MAX_POWER
    if not number:
        return number
    if power > MAX_POWER:
        return float("inf")
    return number * float(f"1e{power}") if power >= 0 else number / float(f"1e{-power}")


def spelled_as(number: float) -> float:
    """The float to write to JSON so that ``serde_json`` reads it as `number`. This float is `number` or one of its neighbours.

    Examples:
        >>> reference_float(repr(spelled_as(-3.54)))
        -3.54
    """
    below = above = number
    for _ in range(_NEIGHBOURS):
        for found in (below, above):
            if reference_float(repr(found)) == number:
                return found
        below, above = nextafter(below, -inf), nextafter(above, inf)
    return number
