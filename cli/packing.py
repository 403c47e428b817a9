"""Compressed files: how they are recognised, by their first bytes and by their names, and how they are read and written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

CHUNK = 1 << 20  # bytes that are read at a time
BLOCK = 1 << 16  # bytes of bz2 and xz that are read at a time
MAX_XZ_MEMORY = 1 << 27  # bytes; `xz -9` takes half of that, and a stranger's file may ask for 4 GB

# First bytes. Those of bz2 are ASCII, so they include the block that follows; the others are not UTF-8.
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
    """The ending of a file name, in lower case, and how the file is packed according to its name.

    Example:
        >>> ending("a/part.JSONL.gz"), ending("ids.npy"), ending("x.xz")
        (('.jsonl', 'gzip'), ('.npy', None), ('', 'xz'))
    """
    path = Path(name.lower())
    packing = ENDINGS.get(path.suffix)
    return (path.with_suffix("").suffix if packing else path.suffix), packing


def unpacked(file: io.RawIOBase, packing: str) -> Any:
    """The data in a compressed file. However well it was packed, reading takes memory only for what is asked for."""
    if packing == "gzip":
        return gzip.GzipFile(fileobj=io.BufferedReader(file, CHUNK))
    if packing == "zstd":
        from fst.cli.columns import zstd

        return zstd(file)
    if packing == "bz2":
        return Streams(file, bz2.BZ2Decompressor)
    return Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MAX_XZ_MEMORY))


class Streams(io.RawIOBase):
    """The data of compressed streams that follow one another in a file. Unlike `bz2` and `lzma`, it takes nothing else after the first one.

    Args:
        file: the streams.
        new: makes a decompressor, for one stream.
    """

    def __init__(self, file: io.RawIOBase, new: Callable[[], Any]) -> None:
        self._file, self._new = file, new
        self._decompressor = new()
        self._waiting = b""  # of a stream that begins

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read."""
        while not self._decompressor.eof or self._begins():
            data = self._decompressor.decompress(self._packed(), len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _packed(self) -> bytes:
        """What the decompressor needs to go on."""
        if not self._decompressor.needs_input:
            return b""
        packed, self._waiting = self._waiting or self._file.read(BLOCK), b""
        if not packed:
            raise EOFError("a stream does not end")
        return packed

    def _begins(self) -> bool:
        """Whether another stream follows the one that ended; zeros may stand between them."""
        rest = self._decompressor.unused_data.lstrip(b"\0")
        while not rest:
            if not (packed := self._file.read(BLOCK)):
                return False
            rest = packed.lstrip(b"\0")
        self._decompressor, self._waiting = self._new(), rest
        return True


@contextmanager
def packed(file: IO[bytes], packing: str | None) -> Iterator[Any]:
    """A file that compresses what is written to it, if there is a packing. It is complete when the context ends without an error."""
    if packing is None:
        yield file
        return
    packer = Packer(file, packing)
    yield packer
    packer.end()


class Packer:
    """A file to write, compressed.

    Args:
        file: where the compressed data goes.
        packing: a value of `ENDINGS`.
    """

    def __init__(self, file: IO[bytes], packing: str) -> None:
        self._file, self._compressor = file, _compressor(packing)

    def write(self, data: bytes) -> None:
        """Write, or keep what is too little to be compressed well."""
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        """Pass on what is compressed so far."""
        self._file.flush()

    def end(self) -> None:
        """Write the rest."""
        self._file.write(self._compressor.flush())


def _compressor(packing: str) -> Any:
    if packing == "gzip":
        return zlib.compressobj(wbits=16 + zlib.MAX_WBITS)  # without name and time: equal data gives equal bytes
    if packing == "zstd":
        from fst.cli.columns import ZstdCompressor

        return ZstdCompressor()
    return bz2.BZ2Compressor() if packing == "bz2" else lzma.LZMACompressor()
