"""Writers of compressed files."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any

from fst.runtime.files.packing import CHUNK


@contextmanager
def packed(file: IO[bytes], packing: str | None) -> Iterator[Any]:
    """A file that compresses data by the method `packing`, or not if it is None. The file is complete when the context ends without an
    error.
    """
    if packing is None:
        yield file
        return
    packer = Packer(file, packing)
    yield packer
    packer.end()


class Packer:
    """A compressed output file.

    Args:
        file: the output for compressed data.
        packing: the kind of compression, a value of `fst.runtime.files.packing.ENDINGS`.
    """

    def __init__(self, file: IO[bytes], packing: str) -> None:
        self._file, self._compressor = file, _compressor(packing)

    def write(self, data: bytes) -> None:
        """Compress and write data. The compressor may buffer some bytes until more data arrives."""
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        """Flush the file; the compressor may still buffer some bytes."""
        self._file.flush()

    def end(self) -> None:
        """Write the bytes that the compressor still buffers."""
        self._file.write(self._compressor.flush())


def _compressor(packing: str) -> Any:
    if packing == "gzip":
        return zlib.compressobj(wbits=16 + zlib.MAX_WBITS)  # the header has no name and no time, so equal data gives equal bytes
    if packing == "zstd":
        return ZstdCompressor(CHUNK)
    return bz2.BZ2Compressor() if packing == "bz2" else lzma.LZMACompressor()


class ZstdCompressor:
    """A compressor for zstd with the methods of `bz2.BZ2Compressor`.

    Args:
        chunk: the minimum number of bytes of data in a frame, except the last frame.
    """

    def __init__(self, chunk: int) -> None:
        from fst.runtime.files.with_pyarrow import pa

        self._packed = partial(pa.compress, codec="zstd", asbytes=True)
        self._chunk = chunk
        self._waiting = io.BytesIO()

    def compress(self, data: bytes) -> bytes:
        """A frame of the buffered data; empty if there is less than `chunk`."""
        self._waiting.write(data)
        return self.flush() if self._waiting.tell() >= self._chunk else b""

    def flush(self) -> bytes:
        """A frame of the remaining data."""
        data, self._waiting = self._waiting.getvalue(), io.BytesIO()
        return bytes(self._packed(data))
