"""Read the header of a GGUF file: metadata as pairs of keys and values. The weights after it are never read.

::

    magic "GGUF" | uint32 version | uint64 number of tensors | uint64 number of pairs | pairs
    pair    string key | uint32 type | value
    string  uint64 number of bytes | UTF-8
    array   uint32 type of its elements | uint64 number of elements | elements

Numbers are little-endian. Source: the specification of GGUF, docs/gguf.md of the project ggml, versions 2 and 3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from fst.compile.files import GZIP, MAX_SOURCE_BYTES, beginning
from fst.core import regular_files
from fst.errors import VocabularyError, quoted

MAGIC, VERSIONS = b"GGUF", (2, 3)
NUMBERS = dict(enumerate(("<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<f4", "?"))) | {10: "<u8", 11: "<i8", 12: "<f8"}  # type → dtype
STRING, ARRAY = 8, 9
MOST_PAIRS = 1 << 16
LOOKED_AT = 1 << 10  # number of first bytes that identify a model; gzip needs more than a few
BLOCK = 1 << 20  # minimum number of bytes of a read
MOST_DEPTH = 4  # maximum number of levels of arrays in arrays


class Header(NamedTuple):
    """The header of a GGUF file.

    Attributes:
        values: key → a number, a bool, a str, an array of numbers, or a list of strings. Strings are decoded with `surrogateescape`,
            because a token may be a part of a character.
        data: the bytes of the header, from the magic to the last pair.
    """

    values: Mapping[str, Any]
    data: bytes


class _Reader:
    """A reader of the header that reads at most `MAX_SOURCE_BYTES`.

    Attributes:
        data: the bytes that were read.
        at: the number of bytes that were taken.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self.data, self.at = bytearray(), 0

    def take(self, size: int) -> bytes:
        """The next bytes of the file."""
        end = self.at + size
        if end > MAX_SOURCE_BYTES:
            raise VocabularyError(f"{self._path}: the metadata is larger than {MAX_SOURCE_BYTES >> 20} MiB; expected a smaller header")
        if end > len(self.data):
            self.data += self._file.read(max(end - len(self.data), BLOCK))
        if end > len(self.data):
            raise VocabularyError(f"{self._path} is cut short in its metadata; expected a complete GGUF model: download it again")
        begin, self.at = self.at, end
        return bytes(self.data[begin:end])

    def number(self, form: str = "<Q") -> int:
        """The next number, in a format of `struct`."""
        found: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return found

    def string(self) -> str:
        """The next string."""
        return self.take(self.number()).decode(errors="surrogateescape")

    def value(self, kind: int, depth: int = 0) -> Any:
        """The next value of a type."""
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            if depth == MOST_DEPTH:
                raise VocabularyError(f"{self._path}: the metadata has arrays of more than {MOST_DEPTH} levels; download the file again")
            return self._array(self.number("<I"), self.number(), depth + 1)
        if kind not in NUMBERS:
            raise VocabularyError(f"{self._path}: the metadata has a value of type {kind}; expected types 0 to 12: download the file again")
        return self.numbers(kind, 1)[0].item()

    def numbers(self, kind: int, count: int) -> Any:
        """The next numbers of a type, as an array."""
        form = np.dtype(NUMBERS[kind])
        return np.frombuffer(self.take(count * form.itemsize), form)

    def _array(self, kind: int, count: int, depth: int) -> Any:
        if kind in NUMBERS:
            return self.numbers(kind, count)
        if count > (MAX_SOURCE_BYTES - self.at) // 8:  # each string or array has at least 8 bytes
            raise VocabularyError(f"{self._path}: the metadata has an array of {count:,} elements; expected at most one for each 8 bytes")
        return [self.value(kind, depth) for _ in range(count)]


def is_model(path: Path) -> bool:
    """Whether a file is a GGUF model, by its first bytes, which are unpacked if the file is packed with gzip."""
    return beginning(path, LOOKED_AT).startswith(MAGIC)


def header_of(path: Path) -> Header:
    """Read the header of a file.

    Raises:
        VocabularyError: the file is not a GGUF file of a known version, or is damaged.
    """
    regular_files.need_regular(path, VocabularyError)
    with path.open("rb") as file:
        reader = _Reader(file, path)
        begun = reader.take(len(MAGIC))
        if begun != MAGIC:
            found = "is packed with gzip" if begun.startswith(GZIP) else f"does not begin with {MAGIC.decode()}"
            raise VocabularyError(f"{path} {found}; expected a GGUF model; unpack it, or name another file")
        version = reader.number("<I")
        if version not in VERSIONS:
            has = "is big-endian" if version.to_bytes(4, "big")[0] else f"has version {version}"
            raise VocabularyError(f"{path}: the GGUF file {has}; expected little-endian, version 2 or 3; convert the model again")
        reader.number()  # of tensors
        values = dict(_pairs(reader, reader.number(), path))
        return Header(values, bytes(reader.data[: reader.at]))


def _pairs(reader: _Reader, count: int, path: Path) -> Iterator[tuple[str, Any]]:
    if count > MOST_PAIRS:
        raise VocabularyError(f"{path}: the metadata has {count:,} pairs; expected at most {MOST_PAIRS:,}: download the file again")
    known = set[str]()
    for _ in range(count):
        key = reader.string()
        if key in known:
            raise VocabularyError(f"{path}: the metadata has the key {quoted(key)} twice; expected each key once")
        known.add(key)
        yield key, reader.value(reader.number("<I"))
