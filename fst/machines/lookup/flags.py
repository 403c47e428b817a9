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

Source: Beesley & Karttunen 2003, *Finite State Morphology*, chapter 7; where it is silent, as in HFST.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fst.automata.rows import Array

KINDS = "PNRDCU"
POSITIVE, NEGATIVE, REQUIRE, DISALLOW, CLEAR, UNIFY = range(len(KINDS))
FEATURE_SHIFT, VALUE_SHIFT = 3, 16  # an operation in 32 bits: ``kind 3 | feature 13 | value 16``
MAX_FEATURES, MAX_VALUE = 1 << VALUE_SHIFT - FEATURE_SHIFT, (1 << 15) - 1
NEGATED = 1 << 15  # the bit of a register whose feature must not have the value

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


def features_of(operations: Array) -> Array:
    """The feature of each packed operation."""
    found: Array = operations >> FEATURE_SHIFT & MAX_FEATURES - 1
    return found


def applied(operations: Sequence[int], registers: tuple[int, ...]) -> tuple[int, ...] | None:
    """The registers after some packed operations; None if an operation fails.

    Examples:
        >>> accusative = pack(Operation(POSITIVE, 0, 1))
        >>> applied([accusative, pack(Operation(UNIFY, 0, 2))], (0,)), applied([accusative], (0,))
        (None, (1,))
    """
    found = [*registers]
    for packed in operations:
        kind, feature, value = unpack(packed)
        held = found[feature]
        if kind == POSITIVE:
            found[feature] = value
        elif kind == NEGATIVE:
            found[feature] = NEGATED | value
        elif kind == CLEAR:
            found[feature] = 0
        elif kind == REQUIRE:
            if not (held == value if value else held):
                return None
        elif kind == DISALLOW:
            if held == value if value else held:
                return None
        else:
            if held not in (0, value) and not (held & NEGATED and held != NEGATED | value):
                return None
            found[feature] = value
    return tuple(found)
