"""Read the lines of a dictionary's files, and the fields of a line."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from fst.errors import UnsupportedError, VocabularyError, quoted

NUMBER = re.compile(r"[+-]?[0-9]{1,9}")


class DamagedError(VocabularyError):
    """A damaged line at which Hunspell stops reading the file."""


class Lines:
    """The lines of a file. Bytes outside of the encoding become lone surrogates, because flags may be any bytes.

    Attributes:
        path: the file.
        number: the number of the current line, from 1; errors contain it.
        text: the current line.
    """

    def __init__(self, path: Path, data: bytes, encoding: str) -> None:
        self.path, self.number, self.text = path, 0, ""
        self._texts = data.removeprefix(codecs.BOM_UTF8).decode(encoding, "surrogateescape").split("\n")

    def __iter__(self) -> Iterator[str]:
        """Yield the lines after the current line."""
        while self.number < len(self._texts):
            self.text = self._texts[self.number].removesuffix("\r").removesuffix("\r")
            self.number += 1
            yield self.text

    def where(self, found: str = "") -> str:
        """The file, the number of the line and, if the line contains `found`, its column."""
        column = f", column {self.text.index(found) + 1}" if found and found in self.text else ""
        return f"{self.path}, line {self.number}{column}"

    def fault(self, message: str, found: str = "") -> VocabularyError:
        """The error for a value of this line."""
        return VocabularyError(f"{self.where(found)}: {message}")

    def damage(self, message: str, found: str = "") -> DamagedError:
        """The error for a line at which Hunspell stops."""
        return DamagedError(f"{self.where(found)}: {message}")

    def unsupported(self, message: str) -> UnsupportedError:
        """The error for a line that is well-formed but not supported."""
        return UnsupportedError(f"{self.where()}: {message}")

    def value(self) -> str:
        """The first value of the line's option."""
        name, *values = fields(self.text)
        if not values:
            raise self.damage(f"the option {name} has no value; expected one")
        return values[0]

    def count(self, value: str) -> int:
        """The number of lines of a table, from a value of this line."""
        if integer(value) < 1:
            raise self.damage(f"the number of lines is {quoted(value)}; expected a decimal number, at least 1", value)
        return integer(value)

    def rows(self, name: str, least: int) -> Iterator[list[str]]:
        """The values of the lines of the table that begins in this line.

        Args:
            name: the option, with which each line begins.
            least: the smallest number of values of a line.
        """
        first, count, lines = self.number, self.count(self.value()), iter(self)
        for left in range(count, 0, -1):
            found = fields(next(lines, ""))
            if not found or not found[0].startswith(name):
                raise self.damage(f"the line is no line of {name}; expected {left} more lines of the table in line {first}")
            if len(found) <= least:
                raise self.damage(f"the line of {name} has {len(found) - 1} values; expected at least {least}")
            yield found[1:]


def fields(text: str) -> list[str]:
    """The parts of a text that spaces or tabs separate."""
    return [field for field in text.replace("\t", " ").split(" ") if field]


def integer(text: str) -> int:
    """The number with which a text begins; 0 if there is no number."""
    found = NUMBER.match(text)
    return int(found[0]) if found else 0
