"""Random numbers that depend only on a seed, a row and an index in the row; and the base class of all kinds of randomness.

Number i of a row is number i of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators") with the `key` of
the row as its seed. `fst.runtime.kernels.random` contains the same functions for kernels.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from operator import index
from typing import Any, TypeVar

GAMMA, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
FIRST_SHIFT, SECOND_SHIFT, LAST_SHIFT = 30, 27, 31
WORD = (1 << 64) - 1
SHARE_BITS = 53  # number of random bits that become a float in [0, 1): the precision of a float
SEED_BYTES = 8
Kind = TypeVar("Kind", bound="Seeded")


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """The fields of all kinds of randomness.

    Attributes:
        seed: 0 to 2**64 - 1; the same seed gives the same ids. None: a new random seed for each call.
        first_row: the number of the first row, 0 to 2**63 - 1. Set `first_row` if you encode a corpus in several calls: each row then gets
            the same ids as in one call for all rows.
    """

    seed: int | None = None
    first_row: int = 0

    def __post_init__(self) -> None:
        if self.seed is not None:
            object.__setattr__(self, "seed", _whole("seed", self.seed, 64))
        object.__setattr__(self, "first_row", _whole("first_row", self.first_row, 63))

    @property
    def needs_whole_rows(self) -> bool:
        """Whether an id may depend on later text of the same row; such a row must not be encoded in parts."""
        return False

    def seeded(self: Kind) -> Kind:
        """Return this randomness with a seed. If `seed` is None, a random seed is chosen."""
        return self if self.seed is not None else replace(self, seed=int.from_bytes(os.urandom(SEED_BYTES), "little"))

    def after(self: Kind, rows: int) -> Kind:
        """Return this randomness for the rows that follow the first `rows` rows."""
        return replace(self, first_row=self.first_row + rows)

    def key(self, row: int) -> int:
        """The seed for row `row`, counted from `first_row`."""
        assert self.seed is not None
        return key(self.seed, self.first_row + row)


def is_index(value: Any) -> bool:
    """Whether a value is a whole number and not a bool."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _whole(name: str, value: Any, bits: int) -> int:
    if not (hasattr(value, "__index__") and 0 <= index(value) < 1 << bits):
        raise ValueError(f"{name} is {value!r}; expected a whole number from 0 to 2**{bits} - 1")
    return index(value)


def mixed(number: int) -> int:
    """The mixing function of SplitMix64, a permutation of the 64-bit numbers."""
    number = (number ^ number >> FIRST_SHIFT) * FIRST_FACTOR & WORD
    number = (number ^ number >> SECOND_SHIFT) * SECOND_FACTOR & WORD
    return number ^ number >> LAST_SHIFT


def key(seed: int, row: int) -> int:
    """The seed of a row."""
    return mixed(mixed(seed) + row & WORD)


def number_of(row_key: int, index: int) -> int:
    """Random number `index` of a row, from 1."""
    return mixed(row_key + index * GAMMA & WORD)


def share_of(number: int) -> float:
    """Convert a random number to a number in [0, 1)."""
    return (number >> 64 - SHARE_BITS) / (1 << SHARE_BITS)
