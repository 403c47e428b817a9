"""Randomness: how a call draws its ids. `fst.Dropout` and `fst.Sampling` are two kinds."""

from __future__ import annotations

from typing import Protocol, TypeVar

Kind = TypeVar("Kind")


class Randomness(Protocol):
    """The properties of any kind that an encoder reads. Each public class names the kinds that it accepts."""

    @property
    def first_row(self) -> int:
        """The number of the first row."""

    @property
    def needs_whole_rows(self) -> bool:
        """Whether an id depends on the text after it."""

    def seeded(self: Kind) -> Kind:
        """The same with a seed."""

    def after(self: Kind, rows: int) -> Kind:
        """The same for the rows after some others."""
