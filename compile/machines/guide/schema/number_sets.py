"""Sets of numbers that are not yet automata: a set is a union of terms, and the automaton of a term's texts is made when it is written."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

from fst.errors import UnsupportedError

ONE = Decimal(1)
MAX_TERMS = 400


class Numbers(NamedTuple):
    """A term: the numbers of a list; or the multiples of all divisors and of no excluded divisor, between bounds, that are not listed.

    Attributes:
        listed: the numbers of the list; None: the other attributes count.
        least, most: the bounds; None: no bound.
        above, below: whether the bounds are excluded.
        divisors, excluded: numbers above 0; integers are the multiples of 1.
        without: numbers that are not in the set.
    """

    listed: frozenset[Decimal] | None = None
    least: Decimal | None = None
    above: bool = False
    most: Decimal | None = None
    below: bool = False
    divisors: frozenset[Decimal] = frozenset()
    excluded: frozenset[Decimal] = frozenset()
    without: frozenset[Decimal] = frozenset()

    def has(self, number: Decimal) -> bool:
        """Whether a number is in the set."""
        if self.listed is not None:
            return number in self.listed
        return (
            number not in self.without
            and (self.least is None or self.least < number or (self.least == number and not self.above))
            and (self.most is None or number < self.most or (self.most == number and not self.below))
            and all(is_multiple(number, of) for of in self.divisors)
            and not any(is_multiple(number, of) for of in self.excluded)
        )

    @property
    def is_integral(self) -> bool:
        """Whether all numbers of the set are integers by its attributes."""
        if self.listed is not None:
            return all(is_multiple(each, ONE) for each in self.listed)
        return any(is_multiple(of, ONE) for of in self.divisors)

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no number."""
        if self.listed is not None:
            return not self.listed
        if self.least is not None and self.most is not None:
            if self.least > self.most:
                return True
            if self.least == self.most:
                return not self.has(self.least)
        if not self.divisors:
            return False  # the decimals between two different bounds, of which some multiples and some numbers are left out
        step = Fraction(_step(self.divisors))
        periods = [(step / Fraction(of)).denominator for of in self.excluded]  # every such multiple of the step is excluded
        if 1 in periods:
            return True
        if self.least is None or self.most is None:
            return False
        first, last = ceil(Fraction(self.least) / step), floor(Fraction(self.most) / step)
        outside = {Fraction(number) / step for number in self.without}
        outside |= {Fraction(self.least) / step} if self.above else set()
        outside |= {Fraction(self.most) / step} if self.below else set()
        left = (place for place in range(first, last + 1) if place not in outside and all(place % period for period in periods))
        return not any(True for _ in left)


EVERY = Numbers()
INTEGERS = Numbers(divisors=frozenset([ONE]))
ALL: tuple[Numbers, ...] = (EVERY,)  # the set of all numbers


@lru_cache(maxsize=1 << 12)
def is_multiple(number: Decimal, of: Decimal) -> bool:
    """Whether a number is a multiple of another."""
    return (Fraction(number) / Fraction(of)).denominator == 1


def listed(numbers: Iterable[Decimal]) -> tuple[Numbers, ...]:
    """The set of the numbers of a list."""
    found = frozenset(numbers)
    return (Numbers(found),) if found else ()


def _both(one: Numbers, other: Numbers) -> Numbers:
    if one is EVERY or other is EVERY:
        return other if one is EVERY else one
    if one.listed is not None or other.listed is not None:
        few, more = (one, other) if one.listed is not None else (other, one)
        assert few.listed is not None
        return Numbers(frozenset(each for each in few.listed if more.has(each)))
    least, above = _larger((one.least, one.above), (other.least, other.above), 1)
    most, below = _larger((one.most, one.below), (other.most, other.below), -1)
    divisors = one.divisors | other.divisors
    divisors = frozenset([_step(divisors)]) if len(divisors) > 1 else divisors
    excluded = _smallest(one.excluded | other.excluded, divisors)
    return Numbers(None, least, above, most, below, divisors, excluded, one.without | other.without)


def _step(divisors: Iterable[Decimal]) -> Decimal:
    """The smallest number of which all common multiples are multiples."""
    numbers, unit = _whole(divisors)
    return _divided(lcm(*numbers), unit)


def _whole(numbers: Iterable[Decimal]) -> tuple[list[int], int]:
    """Numbers as multiples of 1 divided by a unit, and the unit."""
    fractions = [Fraction(each) for each in numbers]
    unit = lcm(*(each.denominator for each in fractions))
    return [each.numerator * (unit // each.denominator) for each in fractions], unit


def _divided(number: int, unit: int) -> Decimal:
    with localcontext() as context:
        context.prec = len(str(number)) + len(str(unit)) + 1
        return Decimal(number) / Decimal(unit)


def _smallest(excluded: frozenset[Decimal], divisors: frozenset[Decimal]) -> frozenset[Decimal]:
    """The fewest and smallest numbers whose multiples are the multiples of `excluded`, among the multiples of at most one divisor: among
    those of 33, multiples of 6 are the multiples of 2, and if they are excluded, so are the multiples of 8.
    """
    if not divisors:
        return frozenset(of for of in excluded if not any(other != of and is_multiple(of, other) for other in excluded))
    (step, *numbers), unit = _whole([*divisors, *excluded])
    common = {lcm(step, each) for each in numbers}
    fewest = [each for each in common if not any(other != each and each % other == 0 for other in common)]
    return frozenset(_divided(_least(each, step), unit) for each in fewest)


def _least(common: int, step: int) -> int:
    """The smallest number whose least common multiple with a step is a given number."""
    found, rest = common // step, step
    while (shared := gcd(found, rest)) > 1:
        found, rest = found * shared, rest // shared
    return found


def _larger(one: tuple[Decimal | None, bool], other: tuple[Decimal | None, bool], sign: int) -> tuple[Decimal | None, bool]:
    """The stricter of two bounds and whether it is excluded; `sign`: 1 for lower bounds, -1 for upper bounds."""
    if one[0] is None or other[0] is None:
        return other if one[0] is None else one
    if one[0] == other[0]:
        return one[0], one[1] or other[1]
    return one if (one[0] > other[0]) == (sign > 0) else other


def _is_within(one: Numbers, other: Numbers) -> bool:
    """Whether a term is plainly within another."""
    if one.listed is not None:
        return all(map(other.has, one.listed))
    return (
        other.listed is None
        and _larger((one.least, one.above), (other.least, other.above), 1) == (one.least, one.above)
        and _larger((one.most, one.below), (other.most, other.below), -1) == (one.most, one.below)
        and all(any(is_multiple(each, of) for each in one.divisors) for of in other.divisors)
        and all(any(is_multiple(of, each) for each in one.excluded) for of in other.excluded)
        and all(number in one.without or not one.has(number) for number in other.without)
    )


def _kept(terms: Iterable[Numbers]) -> tuple[Numbers, ...]:
    """The terms that are not empty and not plainly within others."""
    found = dict.fromkeys(each for each in terms if not each.is_empty)
    if EVERY in found:
        return ALL
    for each in tuple(found):
        if any(other is not each and _is_within(each, other) for other in found):
            del found[each]
    if len(found) > MAX_TERMS:
        raise UnsupportedError(f"a combination of schemas has more than {MAX_TERMS} alternatives")
    lists = [each.listed for each in found if each.listed is not None]
    if len(lists) > 1:
        return (Numbers(frozenset().union(*lists)), *(each for each in found if each.listed is None))
    return tuple(found)


def both(first: tuple[Numbers, ...], second: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    """The numbers that are in both sets."""
    if first is ALL or second is ALL:
        return second if first is ALL else first
    return _kept(_both(one, other) for one, other in product(first, second))


def either(first: tuple[Numbers, ...], second: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    """The numbers that are in either set."""
    return ALL if first is ALL or second is ALL else _kept(first + second)


def complement(terms: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    """The numbers that are not in a set."""
    return reduce(both, map(_others, terms), ALL)


def _others(term: Numbers) -> tuple[Numbers, ...]:
    if term.listed is not None:
        return (Numbers(without=term.listed),)
    found = [*listed(term.without), *(Numbers(excluded=frozenset([of])) for of in term.divisors)]
    found += [Numbers(divisors=frozenset([of])) for of in term.excluded]
    if term.least is not None:
        found.append(Numbers(most=term.least, below=not term.above))
    if term.most is not None:
        found.append(Numbers(least=term.most, above=not term.below))
    return _kept(found)
