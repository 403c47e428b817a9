"""Format text and aligned tables for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table: the head, then the rows; all columns are left-aligned."""
    widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]
    for row in [head, *rows]:
        cells = (cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: the first column is left-aligned, all others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        yield "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])


def visible(text: str) -> str:
    """A text in which escapes replace the characters that a terminal does not show."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def width(text: str) -> int:
    """The number of columns of a text on a terminal."""
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)
