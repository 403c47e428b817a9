"""pyarrow, or the error that says how to install it; and zstd, which pyarrow brings along."""

from __future__ import annotations

import io
from typing import Any

from fst.errors import UnsupportedError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise UnsupportedError("Parquet, Arrow and zstd take pyarrow, which is not installed: pip install 'pyarrow>=18'") from None

__all__ = ["ZstdCompressor", "pa", "pq", "zstd"]


def zstd(file: Any) -> Any:
    """The unpacked data of a file of zstd frames."""
    return pa.CompressedInputStream(file, "zstd")


class ZstdCompressor:
    """Compresses with zstd, by the methods of `bz2.BZ2Compressor`.

    Args:
        chunk: how many bytes of data a frame holds at least, but for the last one.
    """

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._waiting = io.BytesIO()

    def compress(self, data: bytes) -> bytes:
        """A frame of the data so far if there is enough for one, else nothing."""
        self._waiting.write(data)
        return self.flush() if self._waiting.tell() >= self._chunk else b""

    def flush(self) -> bytes:
        """A frame of the data that is left."""
        data, self._waiting = self._waiting.getvalue(), io.BytesIO()
        return bytes(pa.compress(data, "zstd", asbytes=True))
