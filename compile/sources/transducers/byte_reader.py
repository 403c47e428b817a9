"""Read numbers, strings and arrays from binary files that are not trusted."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import VocabularyError, quoted


class Reader:
    """The bytes of a file, and the position of the next byte."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.data, self.path, self.place = data, path, 0

    def numbers(self, layout: str) -> tuple[int, ...]:
        """Read little-endian integers."""
        size = struct.calcsize(f"<{layout}")
        self.need(size)
        found = struct.unpack_from(f"<{layout}", self.data, self.place)
        self.place += size
        return found

    def string(self) -> str:
        """Read an int32 length, and a string of this length."""
        (size,) = self.numbers("i")
        return self._text(size, 0)

    def name(self) -> str:
        """Read a string and the zero byte after it."""
        end = self.data.find(b"\0", self.place)
        if end < 0:
            raise self.fault("a name has no end; the file is damaged or cut short")
        return self._text(end - self.place, 1)

    def array(self, dtype: np.dtype[Any], count: int) -> NDArray[np.void]:
        """Read an array of records."""
        if not 0 <= count <= len(self.data):
            raise self.fault(f"the number of records is {count:,}; expected at most {len(self.data):,}")
        self.need(count * dtype.itemsize)
        found = np.frombuffer(self.data, dtype, count, self.place)
        self.place += count * dtype.itemsize
        return found

    def align(self, alignment: int) -> None:
        """Skip to the next multiple of a number."""
        self.place += -self.place % alignment

    def need(self, size: int) -> None:
        """Refuse a file that does not contain `size` more bytes."""
        if not 0 <= size <= len(self.data) - self.place:
            left = max(len(self.data) - self.place, 0)
            raise self.fault(f"{size:,} bytes are needed, and {left:,} are left; the file is damaged or cut short")

    def fault(self, problem: str) -> VocabularyError:
        """The error for a problem at the current position."""
        return VocabularyError(f"{self.path}, byte {self.place}: {problem}")

    def _text(self, size: int, skipped: int) -> str:
        self.need(size + skipped)
        found = self.data[self.place : self.place + size]
        try:
            text = found.decode()
        except UnicodeDecodeError:
            raise self.fault(f"a name is {quoted(found)}; expected UTF-8") from None
        self.place += size + skipped
        return text
