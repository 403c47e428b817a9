"""Numbers, names and sections in the binary format of WebAssembly."""

from __future__ import annotations

from collections.abc import Iterable

from fst.errors import UnsupportedError

# The sections of a module, by their numbers.
CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, CODE, DATA, DATA_COUNT, TAG = range(14)
FUNCREF, I32 = b"\x70", b"\x7f"  # types
I32_CONST, END = b"\x41", b"\x0b"  # instructions
PADDED = 5  # bytes of LEB128 that are enough for any number of 32 bits


class Reader:
    """A position in bytes, from which numbers and names are read.

    Args:
        data: the bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def __bool__(self) -> bool:
        """Whether any bytes are left."""
        return self.at < len(self.data)

    def take(self, count: int) -> bytes:
        """Read bytes.

        Raises:
            UnsupportedError: fewer bytes are left.
        """
        begin, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise UnsupportedError(f"a part of the object has {len(self.data)} bytes; expected {self.at}: the object is incomplete")
        return self.data[begin : self.at]

    def byte(self) -> int:
        """Read a byte."""
        return self.take(1)[0]

    def unsigned(self) -> int:
        """Read a number of at most 32 bits in LEB128."""
        number = 0
        for shift in range(0, 7 * PADDED, 7):
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise UnsupportedError(f"a number has more than {PADDED} bytes; expected one of 32 bits in LEB128: the object is damaged")

    def signed(self) -> int:
        """Read a number of at most 32 bits in signed LEB128."""
        begin, number = self.at, self.unsigned()
        bits = 7 * (self.at - begin)
        return number - (number >> (bits - 1) << bits)

    def sized(self) -> bytes:
        """Read bytes that follow their length."""
        return self.take(self.unsigned())

    def name(self) -> str:
        """Read a name."""
        return self.sized().decode(errors="replace")


def unsigned(number: int) -> bytes:
    """A nonnegative number in LEB128."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def signed(number: int) -> bytes:
    """A number in signed LEB128."""
    found = bytearray()
    while not -0x40 <= number < 0x40:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number & 0x7F])


def sized(data: bytes) -> bytes:
    """Bytes, with their length before them."""
    return unsigned(len(data)) + data


def section(number: int, items: Iterable[bytes]) -> bytes:
    """A section with a list of items; b"" if there are no items."""
    found = [*items]
    return bytes([number]) + sized(unsigned(len(found)) + b"".join(found)) if found else b""


def constant(number: int) -> bytes:
    """The expression of a constant of 32 bits."""
    return I32_CONST + signed(number) + END
