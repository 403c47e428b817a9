"""The texts of sets of numbers, as parts of late guides.

Numbers without any restriction have exponents; other numbers have none. If all numbers of a set are integers, they have no fraction, and
there is no -0.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from math import lcm
from typing import NamedTuple

from fst.compile.machines.guide.languages import block_of, difference, intersection
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.schema.number_sets import EVERY, INTEGERS, Numbers
from fst.compile.machines.guide.schema.numbers import MAX_REMAINDERS, compared, decimals, multiples, plain_integers
from fst.errors import UnsupportedError
from fst.machines.guide.parts import Part

MANY_REMAINDERS = 30  # number of joint remainders above which a minimal automaton is made
MAX_STATES = 1 << 15  # maximum number of states of the texts of a term
POINT = ord(".")
BEGIN, ZERO, WHOLE, DOT, FRACTION = range(5)  # where a number is: before its digits; after a 0, after other digits; after the point; later


class _Bound(NamedTuple):
    """A number that is compared to the number that is read, without signs.

    Attributes:
        digits, fraction: its digits before and after the point.
        orders: whether the number that is read may be smaller, equal and larger.
    """

    digits: bytes
    fraction: bytes
    orders: tuple[bool, bool, bool]

    def whole(self, at: tuple[int, int], digit: int) -> tuple[int, int]:
        """The number of digits read, and their order, after another digit before the point."""
        count, order = at
        if count >= len(self.digits):
            return len(self.digits) + 1, 1
        if not order:
            order = (digit > self.digits[count]) - (digit < self.digits[count])
        return count + 1, order

    def pointed(self, at: tuple[int, int]) -> tuple[int, int]:
        """The same at the point: 0 digits after it, and the order of the digits before it."""
        count, order = at
        return 0, -1 if count < len(self.digits) else 1 if count > len(self.digits) else order

    def after(self, at: tuple[int, int], digit: int) -> tuple[int, int]:
        """The same after another digit after the point."""
        count, order = at
        if order:
            return at
        other = self.fraction[count] if count < len(self.fraction) else 48
        return min(count + 1, len(self.fraction)), (digit > other) - (digit < other)

    def is_met(self, at: tuple[int, int]) -> bool:
        """Whether a number that ends here, after the point, may have its order."""
        return self.orders[(at[1] or -(at[0] < len(self.fraction))) + 1]

    def is_dead(self, at: tuple[int, int]) -> bool:
        """Whether no number that continues here, after the point, may have its order."""
        return bool(at[1]) and not self.orders[at[1] + 1]

    def edges(self, at: tuple[int, int], *, is_whole: bool) -> set[int]:
        """The first digits of ranges of digits with the same effect."""
        digits = self.digits if is_whole else self.fraction
        if at[1]:
            return set()
        digit = digits[at[0]] if at[0] < len(digits) else 48
        return {digit, digit + 1}


class _Divisor(NamedTuple):
    """A divisor, as a whole number of steps; a step is 1 divided by 10 to the power of `places`."""

    steps: int
    places: int
    is_excluded: bool

    def after(self, at: tuple[int, int], digit: int, *, is_whole: bool) -> tuple[int, int]:
        """The number of digits after the point, and the remainder, after a digit; the remainder is -1 if digits below a step are not 0."""
        count, remainder = at
        if is_whole:
            return 0, (remainder * 10 + digit - 48) % self.steps
        if count == self.places:
            return count, remainder if digit == 48 else -1
        return count + 1, (remainder * 10 + digit - 48) % self.steps

    def is_met(self, at: tuple[int, int]) -> bool:
        """Whether a number that ends here is a multiple, or none if multiples are excluded."""
        count, remainder = at
        return (remainder >= 0 and remainder * 10 ** (self.places - count) % self.steps == 0) != self.is_excluded


@lru_cache(maxsize=1 << 10)
def number_part(term: Numbers) -> Part | None:
    """The part of the texts of a term; None if it has none."""
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    add_numbers(builder, term, start, end)
    return builder.part(start, [end])


def is_small(term: Numbers) -> bool:
    """Whether the texts of a term take few states."""
    return term is EVERY or term == INTEGERS or (term.listed is not None and len(term.listed) < 4)


def add_numbers(builder: PartBuilder, term: Numbers, start: int, end: int) -> None:
    """Add the texts of a term between two states."""
    if term is EVERY:
        _add_every(builder, start, end)
    elif term == INTEGERS:
        _add_integers(builder, start, end)
    elif term.listed is not None:
        for number in sorted(term.listed):
            _add_number(builder, number, start, end, has_fraction=not term.is_integral)
    elif lcm(*(each.steps for each in _divisors(term))) > MANY_REMAINDERS:
        _add_automaton(builder, term, start, end)
    else:
        for is_negative in (False, True):
            _add_signed(builder, term, start, end, is_negative=is_negative)


def _add_integers(builder: PartBuilder, start: int, end: int) -> None:
    minus, more = builder.state(), builder.state()
    builder.read(start, 48, 48, end)
    builder.read(start, 45, 45, minus)
    for state in (start, minus):
        builder.read(state, 49, 57, more)
    builder.read(more, 48, 57, more)
    builder.skip(more, end)


def _add_every(builder: PartBuilder, start: int, end: int) -> None:
    minus, zero, more, point, fraction, power, sign, digits = (builder.state() for _ in range(8))
    builder.read(start, 45, 45, minus)
    for state in (start, minus):
        builder.read(state, 48, 48, zero)
        builder.read(state, 49, 57, more)
    builder.read(more, 48, 57, more)
    for state in (zero, more):
        builder.read(state, POINT, POINT, point)
    builder.read(point, 48, 57, fraction)
    builder.read(fraction, 48, 57, fraction)
    for state in (zero, more, fraction):
        builder.read(state, 69, 69, power)
        builder.read(state, 101, 101, power)
    builder.read(power, 43, 43, sign)
    builder.read(power, 45, 45, sign)
    for state in (power, sign, digits):
        builder.read(state, 48, 57, digits)
    for state in (zero, more, fraction, digits):
        builder.skip(state, end)


def _add_number(builder: PartBuilder, number: Decimal, start: int, end: int, *, has_fraction: bool) -> None:
    """Add the texts of one number: its shortest decimal, with any zeros at the end of its fraction if it may have one."""
    digits, fraction = _digits(number)
    text = (b"-" if number < 0 else b"") + digits
    if fraction:
        loop = builder.text(start, text + b"." + fraction, builder.state())
        builder.read(loop, 48, 48, loop)
        builder.skip(loop, end)
        return
    after = builder.text(start, text, builder.state())
    builder.skip(after, end)
    if has_fraction:
        loop = builder.text(after, b".0")
        builder.read(loop, 48, 48, loop)
        builder.skip(loop, end)
    if not number and has_fraction:
        builder.text(start, b"-0", after)


def _digits(number: Decimal) -> tuple[bytes, bytes]:
    """The digits before the point and after it, without zeros at the end of the fraction."""
    first, _, last = f"{number.copy_abs():f}".partition(".")
    return (first.lstrip("0") or "0").encode(), last.rstrip("0").encode()


def _bounds(term: Numbers, *, is_negative: bool) -> list[_Bound] | None:
    """The bounds of the number without its sign; None if there is no number with this sign."""
    found = []
    for value, is_open, order in ((term.least, term.above, 1), (term.most, term.below, -1)):
        if value is None:
            continue
        order = -order if is_negative else order  # 1: the number without its sign must be larger
        if value and (value < 0) != is_negative:
            if order < 0:
                return None
            continue
        found.append(_Bound(*_digits(value), (order < 0, not is_open, order > 0)))
    found += [_Bound(*_digits(value), (True, False, True)) for value in term.without if not value or (value < 0) == is_negative]
    return found


def _divisors(term: Numbers) -> list[_Divisor]:
    found = []
    for of, is_excluded in (*((each, False) for each in term.divisors), *((each, True) for each in term.excluded)):
        digits, fraction = _digits(of)
        found.append(_Divisor(int(digits + fraction), len(fraction), is_excluded))
    if any(each.steps > 1 for each in found) and sum(each.steps for each in found) > MAX_REMAINDERS:
        of = max(term.divisors | term.excluded)
        raise UnsupportedError(f"multiples of {of} have more than {MAX_REMAINDERS:,} remainders; choose a number with fewer digits")
    return found


def _add_signed(builder: PartBuilder, term: Numbers, start: int, end: int, *, is_negative: bool) -> None:
    """Add the numbers of a term with one sign. A state is where the number is, the order of its digits relative to those of each bound, and
    the remainder for each divisor.
    """
    bounds = _bounds(term, is_negative=is_negative)
    if bounds is None:
        return
    is_integral, divisors = term.is_integral, _divisors(term)
    if is_integral:
        divisors = [each for each in divisors if each.is_excluded or each[:2] != (1, 0)]
        if is_negative:
            bounds = [*bounds, _Bound(b"0", b"", (True, False, True))]
    if is_negative:
        minus = builder.state()
        builder.read(start, 45, 45, minus)
        start = minus
    begin = (BEGIN, *((0, 0) for _ in bounds), *((0, 0) for _ in divisors))
    states: dict[tuple[object, ...], int] = {begin: start}
    waiting: list[tuple[object, ...]] = [begin]
    for state in waiting:  # the loop appends to `waiting`
        if len(states) > MAX_STATES:
            raise UnsupportedError(f"the texts of the numbers have more than {MAX_STATES:,} states; choose numbers with fewer digits")
        for first, last, after in _steps(state, bounds, divisors, is_integral=is_integral):
            if after not in states:
                states[after] = builder.state()
                waiting.append(after)
            builder.read(states[state], first, last, states[after])
        if _is_final(state, bounds, divisors):
            builder.skip(states[state], end)


def _add_automaton(builder: PartBuilder, term: Numbers, start: int, end: int) -> None:
    """Add the numbers of a term from their minimal automaton."""
    found = plain_integers() if term.is_integral else decimals()
    for bound, orders in ((term.least, (1,) if term.above else (0, 1)), (term.most, (-1,) if term.below else (-1, 0))):
        if bound is not None:
            found = intersection(found, compared(bound, orders), MAX_STATES)
    for of in sorted(term.divisors):
        found = intersection(found, multiples(of), MAX_STATES)
    for of in sorted(term.excluded):
        found = difference(found, multiples(of), MAX_STATES)
    for number in sorted(term.without):
        found = difference(found, compared(number, (0,)), MAX_STATES)
    builder.block(start, block_of(found), end)


def _is_final(state: tuple, bounds: list[_Bound], divisors: list[_Divisor]) -> bool:  # type: ignore[type-arg]
    place, at = state[0], state[1:]
    if place in (BEGIN, DOT):
        return False
    ends = [each.pointed(found) if place in (ZERO, WHOLE) else found for each, found in zip(bounds, at, strict=False)]
    return all(map(_Bound.is_met, bounds, ends)) and all(map(_Divisor.is_met, divisors, at[len(bounds) :]))


def _steps(state: tuple, bounds: list[_Bound], divisors: list[_Divisor], *, is_integral: bool) -> list[tuple[int, int, tuple]]:  # type: ignore[type-arg]
    """The ranges of bytes that may follow in a state, and the states after them."""
    place, at = state[0], state[1:]
    compared, remainders = at[: len(bounds)], at[len(bounds) :]
    found: list[tuple[int, int, tuple]] = []  # type: ignore[type-arg]
    if place in (ZERO, WHOLE) and not is_integral:
        pointed = [each.pointed(one) for each, one in zip(bounds, compared, strict=True)]
        if not any(map(_Bound.is_dead, bounds, pointed)):
            found.append((POINT, POINT, (DOT, *pointed, *remainders)))
    if place == ZERO:
        return found
    is_whole = place in (BEGIN, WHOLE)
    edges = {48, 49, 58} if place == BEGIN else {48, 58}
    if any(each.steps > 1 for each in divisors):
        edges.update(range(48, 58))
    elif divisors and not is_whole:
        edges.add(49)
    for each, one in zip(bounds, compared, strict=True):
        edges |= each.edges(one, is_whole=is_whole)
    ordered = sorted(edges)
    for first, end in pairwise(ordered):
        if is_whole:
            orders = [each.whole(one, first) for each, one in zip(bounds, compared, strict=True)]
            if any(one[0] > len(each.digits) and not each.orders[2] for each, one in zip(bounds, orders, strict=True)):
                continue
        else:
            orders = [each.after(one, first) for each, one in zip(bounds, compared, strict=True)]
            if any(map(_Bound.is_dead, bounds, orders)):
                continue
        rests = [each.after(one, first, is_whole=is_whole) for each, one in zip(divisors, remainders, strict=True)]
        following = (ZERO if first == 48 and place == BEGIN else WHOLE) if is_whole else FRACTION
        found.append((first, end - 1, (following, *orders, *rests)))
    return found
