"""Sets of numbers as languages of decimals.

A number has many texts, such as 5, 5.0 and 5.00. A set contains all decimals of its numbers, without exponents, so the operations on sets
are the operations on languages.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache, lru_cache, reduce

import numpy as np

from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import Language, concatenation, difference, intersection, minimal, of_builder, union
from fst.compile.machines.guide.regex import whole
from fst.errors import UnsupportedError

MAX_REMAINDERS = 20_000
_CLASSES = np.zeros(256, np.uint8)  # the classes of bytes of `multiples`
_CLASSES[[*b"0123456789-."]] = range(1, 13)


@cache
def decimals() -> Language:
    """The texts of all numbers without exponents."""
    return whole(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


@cache
def plain_integers() -> Language:
    """The texts of integers without a fraction and without -0."""
    return whole(r"0|-?[1-9][0-9]*")


@lru_cache(maxsize=1 << 10)
def compared(bound: Decimal, orders: tuple[int, ...]) -> Language:
    """The decimals whose order relative to a bound is one of `orders`: -1 (smaller), 0 (equal) or 1 (larger)."""
    unsigned = whole(r"(0|[1-9][0-9]*)(\.[0-9]+)?")
    smaller = difference(difference(unsigned, _larger(abs(bound))), _equal(abs(bound)))
    languages = {-1: smaller, 0: _equal(abs(bound)), 1: _larger(abs(bound))}
    positive = [languages[order] for order in orders] if bound >= 0 else [unsigned] * (1 in orders)
    negative = [languages[-order] for order in orders] if bound <= 0 else [unsigned] * (-1 in orders)
    minus = whole("-")
    return reduce(union, [*positive, *(concatenation(minus, each) for each in negative)], difference(unsigned, unsigned))


def _larger(bound: Decimal) -> Language:
    """The unsigned decimals that are larger than a bound, which is not negative."""
    digits, fraction = _digits(bound)
    builder = Builder()
    start, integer, end = builder.state(), builder.state(), builder.state()  # `integer`: all digits before the point are read
    equal = larger = longer = start
    for place, digit in enumerate(digits):
        following = builder.state(), builder.state(), builder.state()
        _read(builder, equal, (digit, digit), following[0])
        _read(builder, equal, (chr(ord(digit) + 1), "9"), following[1])
        if place:
            _read(builder, larger, ("0", "9"), following[1])
        _read(builder, longer, ("0" if place else "1", "9"), following[2])
        equal, larger, longer = following
    more = builder.state()
    _read(builder, longer, ("0", "9"), more)
    _read(builder, more, ("0", "9"), more)
    builder.skip(larger, integer)
    builder.skip(more, integer)
    builder.skip(integer, end)
    point, any_digit = builder.state(), builder.state()
    builder.text(integer, b".", point)
    _read(builder, point, ("0", "9"), any_digit)
    _read(builder, any_digit, ("0", "9"), any_digit)
    builder.skip(any_digit, end)
    equal = builder.text(equal, b".")
    for digit in fraction:
        _read(builder, equal, (chr(ord(digit) + 1), "9"), any_digit)
        equal = builder.text(equal, digit.encode())
    _read(builder, equal, ("0", "0"), equal)
    _read(builder, equal, ("1", "9"), any_digit)
    return of_builder(builder, start, end)


def _read(builder: Builder, start: int, digits: tuple[str, str], end: int) -> None:
    """Add an arc for a range of digits, unless the range is empty."""
    if digits[0] <= digits[1]:
        builder.read(start, ord(digits[0]), ord(digits[1]), end)


def _equal(bound: Decimal) -> Language:
    """The unsigned decimals that are equal to a bound, which is not negative."""
    digits, fraction = _digits(bound)
    return whole(rf"{digits}\.{fraction}0*" if fraction else rf"{digits}(\.0+)?")


def _digits(number: Decimal) -> tuple[str, str]:
    """The digits before the point and after it, without zeros at the end of the fraction."""
    first, _, last = f"{number:f}".partition(".")
    return first, last.rstrip("0")


@lru_cache(maxsize=1 << 10)
def multiples(of: Decimal) -> Language:
    """The decimals that are multiples of a positive number. A state is the remainder of the digits so far, and the number of digits after
    the point.
    """
    digits, fraction = _digits(of)
    places, modulus = len(fraction), int(digits + fraction)
    if modulus * (places + 1) > MAX_REMAINDERS:
        raise UnsupportedError(f"multiples of {of} have more than {MAX_REMAINDERS:,} remainders; choose a number with fewer digits")
    part = np.arange(places + 2)[:, None]  # 0: before the point; 1 + n: n digits after it
    remainder = np.arange(modulus)
    scale = np.array([10 ** max(places - max(part - 1, 0), 0) % modulus for part in range(places + 2)])[:, None]
    targets = np.full((places + 2, modulus, 13), -1, np.int32)  # classes: other bytes, the digits, the sign, the point
    following = (remainder[:, None] * 10 + np.arange(10)) % modulus
    targets[:, :, 1:11] = np.minimum(part + (part > 0), places + 1)[:, :, None] * modulus + following
    targets[-1, :, 1:11] = -1
    targets[-1, :, 1] = (places + 1) * modulus + remainder
    targets[0, :, 12] = modulus + remainder
    start = targets[0, :1].copy()
    start[0, 11] = 0
    rows = np.concatenate([start, targets.reshape(-1, 13)])
    rows[rows >= 0] += 1
    is_final = np.append(False, remainder * scale % modulus == 0)
    return intersection(minimal(_CLASSES, rows, is_final), decimals())
