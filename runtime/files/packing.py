"""Recognise compressed files by their first bytes or their names, and unpack them."""

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

CHUNK = 1 << 20  # number of bytes per read
PACKED_BLOCK = 1 << 16  # number of bytes per read of bz2 and xz
MAX_XZ_MEMORY = 1 << 27  # maximum memory in bytes; `xz -9` needs half of this, but a malicious file may need 4 GB

# The first bytes of each format. A text could begin with "BZh", so the first bytes of bz2 include the mark of the first block.
PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    **{b"BZh%d%b" % (level, block): "bz2" for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
}
ENDINGS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
# Endings of archives and compressed files that can neither be read nor written.
UNSUPPORTED = (".7z", ".br", ".lz4", ".lzma", ".rar", ".tar", ".tgz", ".z", ".zip")
DAMAGED = (EOFError, zlib.error, lzma.LZMAError)


def ending(name: str) -> tuple[str, str | None]:
    """Return the ending of a file name in lower case, without an ending such as .gz; and the compression format that .gz indicates, or
    None.

    Examples:
        >>> ending("a/part.JSONL.gz"), ending("ids.npy"), ending("x.xz")
        (('.jsonl', 'gzip'), ('.npy', None), ('', 'xz'))
    """
    path = Path(remote.file_of(name).lower())
    packing = ENDINGS.get(path.suffix)
    return (path.with_suffix("").suffix if packing else path.suffix), packing


def unpacked(file: io.RawIOBase, packing: str) -> Any:
    """Open a compressed file for reading its unpacked data. A read needs memory only for the requested bytes."""
    if packing == "gzip":
        return gzip.GzipFile(fileobj=io.BufferedReader(file, CHUNK))
    if packing == "zstd":
        from fst.runtime.files.with_pyarrow import zstd

        return zstd(file)
    if packing == "bz2":
        return Streams(file, bz2.BZ2Decompressor)
    return Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_XZ_MEMORY))


class Streams(io.RawIOBase):
    """A reader of consecutive compressed streams in a file; `new` returns a decompressor for one stream. Other data after a stream is an
    error here; `bz2` and `lzma` ignore such data.
    """

    def __init__(self, file: io.RawIOBase, new: Callable[[], Any]) -> None:
        self._file, self._new = file, new
        self._decompressor = new()
        self._waiting = b""  # the first bytes of the next compressed stream

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read data into a buffer; return the number of bytes, 0 at the end."""
        while not self._decompressor.eof or self._begins():
            data = self._decompressor.decompress(self._packed(), len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _packed(self) -> bytes:
        """Read the next compressed bytes; return no bytes if the decompressor needs no input."""
        if not self._decompressor.needs_input:
            return b""
        packed, self._waiting = self._waiting or self._file.read(PACKED_BLOCK), b""
        if not packed:
            raise EOFError("a compressed stream is cut off")
        return packed

    def _begins(self) -> bool:
        """Begin the next stream, possibly after zero bytes; return False at the end of the file."""
        rest = self._decompressor.unused_data.lstrip(b"\0")
        while not rest:
            if not (packed := self._file.read(PACKED_BLOCK)):
                return False
            rest = packed.lstrip(b"\0")
        self._decompressor, self._waiting = self._new(), rest
        return True
