"""Compressed files, recognised by first bytes or by name, and their data."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fst.core import remote

CHUNK = 1 << 20  # bytes that are read at a time
PACKED_BLOCK = 1 << 16  # bytes of bz2 and xz that are read at a time
MAX_XZ_MEMORY = 1 << 27  # bytes; `xz -9` takes half of that, and a stranger's file may ask for 4 GB

# First bytes. For bz2 they are ASCII, as a text might begin, so the mark of the first block is added; all others are not UTF-8.
PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    **{b"BZh%d%b" % (level, block): "bz2" for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
}
ENDINGS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
# Endings of archives and of compressed files that are neither read nor written.
UNSUPPORTED = (".7z", ".br", ".lz4", ".lzma", ".rar", ".tar", ".tgz", ".z", ".zip")
DAMAGED = (EOFError, zlib.error, lzma.LZMAError)


def ending(name: str) -> tuple[str, str | None]:
    """The ending of a file name, in lower case, and the packing that the name states.

    Examples:
        >>> ending("a/part.JSONL.gz"), ending("ids.npy"), ending("x.xz")
        (('.jsonl', 'gzip'), ('.npy', None), ('', 'xz'))
    """
    path = Path(remote.file_of(name).lower())
    packing = ENDINGS.get(path.suffix)
    return (path.with_suffix("").suffix if packing else path.suffix), packing


def unpacked(file: io.RawIOBase, packing: str) -> Any:
    """The data in a compressed file. Reading takes memory for the requested bytes only, not for the unpacked file."""
    if packing == "gzip":
        return gzip.GzipFile(fileobj=io.BufferedReader(file, CHUNK))
    if packing == "zstd":
        from fst.runtime.files.with_pyarrow import zstd

        return zstd(file)
    if packing == "bz2":
        return Streams(file, bz2.BZ2Decompressor)
    return Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_XZ_MEMORY))


class Streams(io.RawIOBase):
    """The data of compressed streams that follow one another in a file. Other data after a stream is an error, unlike in `bz2` and `lzma`.

    Args:
        file: the streams.
        new: makes a decompressor, for one stream.
    """

    def __init__(self, file: io.RawIOBase, new: Callable[[], Any]) -> None:
        self._file, self._new = file, new
        self._decompressor = new()
        self._waiting = b""  # the first bytes of the next stream

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read data into a buffer; 0 bytes at the end."""
        while not self._decompressor.eof or self._begins():
            data = self._decompressor.decompress(self._packed(), len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _packed(self) -> bytes:
        """The next compressed bytes, if the decompressor needs some."""
        if not self._decompressor.needs_input:
            return b""
        packed, self._waiting = self._waiting or self._file.read(PACKED_BLOCK), b""
        if not packed:
            raise EOFError("a compressed stream is cut off")
        return packed

    def _begins(self) -> bool:
        """Whether another stream follows the one that ended; zeros may come between them."""
        rest = self._decompressor.unused_data.lstrip(b"\0")
        while not rest:
            if not (packed := self._file.read(PACKED_BLOCK)):
                return False
            rest = packed.lstrip(b"\0")
        self._decompressor, self._waiting = self._new(), rest
        return True


