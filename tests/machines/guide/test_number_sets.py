"""Sets of numbers and their texts: numbers one by one, and the two ways to write the texts of a term."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import lcm
from random import Random
from typing import Any

import pytest
from support.naive.parts import Parts
from support.tiers import sample

from fst.compile.machines.guide.schema import number_parts
from fst.compile.machines.guide.schema.number_sets import Numbers, both, complement
from fst.compile.machines.guide.schema.numbers import multiples
from fst.errors import UnsupportedError

CASES = 400
DIVISORS = [*map(Decimal, ("1", "2", "3", "4", "6", "0.5", "0.3"))]
NUMBERS = [Decimal(each).scaleb(-places) for places in range(3) for each in range(-40, 41)]


def drawn_term(random: Random) -> Numbers:
    """Multiples of at most two numbers and of none of at most two numbers, between bounds, without at most two numbers."""
    least, most = sorted(random.sample(NUMBERS, 2))
    return Numbers(
        least=random.choice([None, least]),
        above=random.random() < 0.5,
        most=random.choice([None, most]),
        below=random.random() < 0.5,
        divisors=frozenset(random.sample(DIVISORS, random.randint(0, 2))),
        excluded=frozenset(random.sample(DIVISORS, random.randint(0, 2))),
        without=frozenset(random.sample(NUMBERS, random.randint(0, 2))),
    )


def reads(part: Any) -> Callable[[str], bool]:
    """Whether a text is a text of a part."""
    parts = Parts(lambda _: part)
    return lambda text: parts.reads(text.encode())[1]


@pytest.mark.parametrize("seed", sample(range(CASES), 20))
def test_operations_are_those_on_numbers(seed: int) -> None:
    """An intersection contains the numbers of both sets, and a complement all other numbers."""
    one, other = drawn_term(Random(seed)), drawn_term(Random(seed + CASES))
    common, rest = both((one,), (other,)), complement((one,))
    for number in NUMBERS:
        assert any(each.has(number) for each in common) == (one.has(number) and other.has(number))
        assert any(each.has(number) for each in rest) != one.has(number)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", sample(range(CASES), 20))
def test_both_writers_write_the_numbers_of_a_term(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """State by state, and from the automaton of its numbers, the texts of a term are its numbers; integers have no fraction."""
    term = drawn_term(Random(seed))
    for most in (1 << 20, 0):
        monkeypatch.setattr(number_parts, "MANY_REMAINDERS", most)
        part = number_parts.number_part.__wrapped__(term)
        assert (part is None) == term.is_empty
        read = reads(part)
        for number in NUMBERS if part is not None else ():
            assert read(f"{number:f}") == (term.has(number) and (not term.is_integral or "." not in f"{number:f}")), (term, number, most)


@pytest.mark.parametrize("of", ["7", "0.25", "6.5", "2000", "0.0005", "77"])
def test_multiples(of: str) -> None:
    """The texts of multiples are those that a division leaves without remainder."""
    found = multiples(Decimal(of))
    for number in NUMBERS:
        assert (f"{number:f}".encode() in found) == (number % Decimal(of) == 0)
    assert not any(text in found for text in (b"", b"-", b".", b"0.", b"00", b"--0", b"0.0.0", b"0e1"))


def test_many_remainders_are_refused() -> None:
    """Numbers that are not multiples of several numbers are refused if their automaton has too many states."""
    primes = frozenset(map(Decimal, (7, 11, 13, 17, 19)))
    assert lcm(7, 11, 13, 17, 19) > number_parts.MAX_STATES
    with pytest.raises(UnsupportedError, match="the automaton has more than 32,768 states"):
        number_parts.number_part(Numbers(excluded=primes))
