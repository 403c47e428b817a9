"""Weights of three semirings: numbers that are added along a path.

The weight of several paths is the smallest one, or in log semirings, the negative logarithm of the sum of their probabilities.
"""

from __future__ import annotations

import math
from typing import Union

import numpy as np

from fst.bridge.pynini.errors import FstArgError, FstBadWeightError, FstOpError
from fst.errors import not_one_of

WeightLike = Union["Weight", str, float]
TYPES = ("tropical", "log", "log64")
OF_ARCS = {"standard": "tropical", "log": "log", "log64": "log64"}  # type of arcs → type of weights


class Weight:
    """A weight: a number of a semiring, where ∞ is the weight of no path."""

    def __init__(self, weight_type: str, weight: WeightLike) -> None:
        if weight_type not in TYPES:
            raise FstArgError(not_one_of("weight type", weight_type, TYPES))
        self._type = weight_type
        try:
            value = float(str(weight).replace("Infinity", "inf"))
        except ValueError:
            raise FstBadWeightError(f"the weight is {weight!r}; expected a number or 'Infinity'") from None
        self._value = value if weight_type == "log64" else float(np.float32(value))

    @classmethod
    def zero(cls, weight_type: str) -> Weight:
        """The weight of no path: ∞."""
        return cls(weight_type, math.inf)

    @classmethod
    def one(cls, weight_type: str) -> Weight:
        """The weight of the empty path: 0."""
        return cls(weight_type, 0)

    @classmethod
    def no_weight(cls, weight_type: str) -> Weight:
        """The weight that is not a number."""
        return cls(weight_type, math.nan)

    def type(self) -> str:
        """The semiring: "tropical", "log" or "log64"."""
        return self._type

    def member(self) -> bool:
        """Whether the weight is a number."""
        return not math.isnan(self._value)

    def copy(self) -> Weight:
        """The weight itself, which never changes."""
        return self

    def __float__(self) -> float:
        return self._value

    def __int__(self) -> int:
        return int(self._value)

    def __str__(self) -> str:
        if math.isinf(self._value):
            return "Infinity" if self._value > 0 else "-Infinity"
        return format(self._value, ".9g") if self.member() else "BadNumber"

    def to_string(self) -> str:
        """The number as text."""
        return str(self)

    def __repr__(self) -> str:
        return f"<{self._type} Weight {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Weight, str, float, int)):
            return NotImplemented
        return self._value == (other if isinstance(other, Weight) else Weight(self._type, other))._value

    def __hash__(self) -> int:
        return hash(self._value)


def plus(first: Weight, second: Weight) -> Weight:
    """The weight of two paths: the smaller weight, or ``-log(exp(-first) + exp(-second))``."""
    kind, (one, other) = _numbers(first, second)
    if kind == "tropical" or math.inf in (one, other):
        return Weight(kind, min(one, other))
    return Weight(kind, min(one, other) - math.log1p(math.exp(-abs(one - other))))


def times(first: Weight, second: Weight) -> Weight:
    """The weight of a path that continues another one: the sum."""
    kind, (one, other) = _numbers(first, second)
    return Weight(kind, one + other)


def divide(first: Weight, second: Weight) -> Weight:
    """The weight whose product with `second` is `first`: the difference.

    Raises:
        FstBadWeightError: `second` is infinite.
    """
    kind, (one, other) = _numbers(first, second)
    if math.isinf(other):
        raise FstBadWeightError("the divisor is infinite; expected a finite weight")
    return Weight(kind, one - other)


def power(weight: Weight, count: int) -> Weight:
    """The weight of a path that is repeated: the product of the weight and the number."""
    return Weight(weight.type(), count * float(weight) if count else 0)


def weight_of(weight: WeightLike | None, arc_type: str) -> float:
    """The number of a weight for arcs of a type; None: 0.

    Raises:
        FstBadWeightError: the weight cannot be read.
        FstOpError: the weight belongs to another semiring.
    """
    if weight is None:
        return 0.0
    if not isinstance(weight, Weight):
        return float(Weight(OF_ARCS[arc_type], weight))
    if weight.type() != OF_ARCS[arc_type]:
        raise FstOpError(f"the weight is {weight!r}; expected a weight of type {OF_ARCS[arc_type]!r}")
    return float(weight)


def _numbers(first: Weight, second: Weight) -> tuple[str, tuple[float, float]]:
    if first.type() != second.type():
        raise FstArgError(f"the weights are {first!r} and {second!r}; expected weights of one type")
    return first.type(), (float(first), float(second))
