"""The protocol of the two kinds of settings for a random choice of ids, `fst.Dropout` and `fst.Sampling`."""

from __future__ import annotations

from typing import Protocol, TypeVar

Kind = TypeVar("Kind")


class Randomness(Protocol):
    """The properties that `fst.Dropout` and `fst.Sampling` share. Each public class lists the kinds of randomness that it accepts."""

    @property
    def first_row(self) -> int:
        """The number of the first row; the random choices of a row depend on its number."""

    @property
    def needs_whole_rows(self) -> bool:
        """Whether an id may depend on the whole text after it, so that a text cannot be encoded in parts."""

    def seeded(self: Kind) -> Kind:
        """Return these settings with a random seed, unless they already have a seed."""

    def after(self: Kind, rows: int) -> Kind:
        """Return these settings with `first_row` increased by `rows`."""
