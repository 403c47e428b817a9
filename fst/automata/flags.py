"""Flag diacritics: operations on features, which decide at run time whether a path is allowed.

A symbol ``@P.CASE.ACC@`` reads nothing and writes nothing. It sets the feature CASE to the value ACC, or tests this feature. The register
of a feature is 0 if the feature is neutral, v if it has the value v, or ``NEGATED | v`` if it must not have the value v.

========= =================== ==================================================================
kind      symbol              meaning
========= =================== ==================================================================
POSITIVE  ``@P.F.V@``         set F to V
NEGATIVE  ``@N.F.V@``         set F to any value except V
REQUIRE   ``@R.F.V@``         fail unless F has the value V; without V, fail if F is neutral
DISALLOW  ``@D.F.V@``         fail if F has the value V; without V, fail unless F is neutral
CLEAR     ``@C.F@``           make F neutral
UNIFY     ``@U.F.V@``         fail if F contradicts V, otherwise set F to V
========= =================== ==================================================================

Source: Beesley & Karttunen 2003, *Finite State Morphology*, chapter 7; where the book has no rule, as in HFST.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from fst.automata.rows import Array
from fst.errors import UnsupportedError

KINDS = "PNRDCU"
POSITIVE, NEGATIVE, REQUIRE, DISALLOW, CLEAR, UNIFY = range(len(KINDS))
FEATURE_SHIFT, VALUE_SHIFT = 3, 16  # an operation in 32 bits: ``kind 3 | feature 13 | value 16``
MAX_FEATURES, MAX_VALUE = 1 << VALUE_SHIFT - FEATURE_SHIFT, (1 << 15) - 1
NEGATED = 1 << 15  # the bit of a register that means that the feature must not have the value

FLAG = re.compile(r"@([PNRDCU])\.([^.@]+)(?:\.([^.@]+))?@")


class Operation(NamedTuple):
    """An operation on a feature. The value is 0 if the symbol has none."""

    kind: int
    feature: int
    value: int


def pack(operation: Operation) -> int:
    """Pack an operation into 32 bits."""
    return operation.kind | operation.feature << FEATURE_SHIFT | operation.value << VALUE_SHIFT


def unpack(packed: int) -> Operation:
    """Unpack an operation."""
    return Operation(packed & (1 << FEATURE_SHIFT) - 1, packed >> FEATURE_SHIFT & MAX_FEATURES - 1, packed >> VALUE_SHIFT)


def operations_of(symbols: Sequence[str]) -> dict[int, int]:
    """The packed operation of each symbol that is a flag diacritic, by the number of the symbol."""
    features, values, found = dict[str, int](), dict[str, dict[str, int]](), dict[int, int]()
    for symbol, name in enumerate(symbols):
        match = FLAG.fullmatch(name)
        if match:
            kind, feature, value = match.groups()
            number = features.setdefault(feature, len(features))
            known = values.setdefault(feature, {})
            named = 0 if value is None else known.setdefault(value, 1 + len(known))
            if number >= MAX_FEATURES or named > MAX_VALUE:
                raise UnsupportedError(f"the flag {name} is one of too many; expected at most {MAX_FEATURES:,} features")
            if value is None and KINDS.index(kind) in (POSITIVE, NEGATIVE, UNIFY):
                raise UnsupportedError(f"the flag {name} has no value; expected @{kind}.{feature}.VALUE@")
            found[symbol] = pack(Operation(KINDS.index(kind), number, named))
    return found


def features_of(operations: Array) -> Array:
    """The feature of each packed operation."""
    found: Array = operations >> FEATURE_SHIFT & MAX_FEATURES - 1
    return found


class Outcome(NamedTuple):
    """The result of some operations.

    Attributes:
        registers: the registers after the operations; None if an operation fails.
        decided: the mask of the features on whose earlier values the success depends; or of the one feature on whose value the failure
            depends.
        fixed: the mask of the features whose values after the operations do not depend on earlier values.
    """

    registers: tuple[int, ...] | None
    decided: int
    fixed: int


def applied(operations: Sequence[int], registers: tuple[int, ...]) -> Outcome:
    """Apply some packed operations to registers.

    Examples:
        >>> accusative = pack(Operation(POSITIVE, 0, 1))
        >>> applied([accusative, pack(Operation(UNIFY, 0, 2))], (0,)).registers, applied([accusative], (0,)).registers
        (None, (1,))
    """
    if not operations:
        return Outcome(registers, 0, 0)
    found, decided, fixed = [*registers], 0, 0
    for packed in operations:
        kind, feature, value = unpack(packed)
        read = 1 << feature & ~fixed
        if kind == POSITIVE:
            found[feature] = value
        elif kind == NEGATIVE:
            found[feature] = NEGATED | value
        elif kind == CLEAR:
            found[feature] = 0
        elif not _holds(kind, value, found[feature]):
            return Outcome(None, read, fixed)
        else:
            decided |= read
            found[feature] = value if kind == UNIFY else found[feature]
        if kind not in (REQUIRE, DISALLOW):
            fixed |= 1 << feature
    return Outcome(tuple(found), decided, fixed)


def _holds(kind: int, value: int, held: int) -> bool:
    """Whether a test of a register for a value holds; the value 0 means any value."""
    if kind == UNIFY:
        return held in (0, value) or (held & NEGATED != 0 and held != NEGATED | value)
    return (held == value if value else held != 0) == (kind == REQUIRE)


class Alike:
    """The classes of register values that all (packed) operations of a table treat alike. One value of each class replaces the others, so
    that walks reach fewer combinations of registers; a feature that no operation tests has one value.
    """

    def __init__(self, operations: Iterable[int]) -> None:
        self._exact, self._unified, self._neutral = (dict[int, set[int]]() for _ in range(3))
        for packed in operations:
            kind, feature, value = unpack(packed)
            if kind == UNIFY:
                self._unified.setdefault(feature, set()).add(value)
            elif kind in (REQUIRE, DISALLOW):
                (self._exact if value else self._neutral).setdefault(feature, set()).add(value)
        self._first = dict[tuple[int, bool, int, tuple[int, int]], int]()
        self._values = dict[tuple[int, int], int]()

    def registers(self, registers: tuple[int, ...], changed: int) -> tuple[int, ...]:
        """The registers, in which the values of the features in the mask `changed` are replaced."""
        if not changed:
            return registers
        found = [*registers]
        for feature in members(changed):
            found[feature] = self._value(feature, found[feature])
        return tuple(found)

    def _value(self, feature: int, held: int) -> int:
        if (feature, held) not in self._values:
            self._first.setdefault((feature, *self._tested(feature, 0)), 0)  # all registers are 0 at first
            self._values[feature, held] = self._first.setdefault((feature, *self._tested(feature, held)), held)
        return self._values[feature, held]

    def _tested(self, feature: int, held: int) -> tuple[bool, int, tuple[int, int]]:
        """The results of all tests of a register: whether a test for a neutral feature holds; the register's value, if a test needs it; and
        the failing unifications, as the kind of the register and a value.
        """
        unified, value = self._unified.get(feature, set()), held & ~NEGATED
        if held & NEGATED:
            failing = (NEGATIVE, value) if value in unified else (CLEAR, 0)
        else:
            failing = (POSITIVE, value if value in unified else 0) if held and unified - {value} else (CLEAR, 0)
        return held == 0 and feature in self._neutral, held if held in self._exact.get(feature, ()) else 0, failing


@lru_cache(1 << 12)
def members(mask: int) -> tuple[int, ...]:
    """The features of a mask, ascending."""
    return tuple(feature for feature in range(mask.bit_length()) if mask >> feature & 1)
