"""Randomness: the random choice of ids. `fst.Dropout` and `fst.Sampling` are its two kinds."""

from __future__ import annotations

from typing import Protocol, TypeVar

Kind = TypeVar("Kind")


class Randomness(Protocol):
    """The properties of randomness that an encoder reads. Each public class lists the kinds that it accepts."""

    @property
    def first_row(self) -> int:
        """The number of the first row."""

    @property
    def needs_whole_rows(self) -> bool:
        """Whether an id depends on the text after it."""

    def seeded(self: Kind) -> Kind:
        """The same randomness with a seed."""

    def after(self: Kind, rows: int) -> Kind:
        """The same randomness for the rows after the first `rows` rows."""
