"""Import pyarrow, or raise an error with the command that installs it; unpack zstd with pyarrow."""

from __future__ import annotations

from typing import Any

from fst.errors import UnsupportedError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise UnsupportedError("Parquet, Arrow and zstd take pyarrow, which is not installed: pip install 'pyarrow>=18'") from None

__all__ = ["pa", "pq", "zstd"]


def zstd(file: Any) -> Any:
    """Open a zstd file for reading its unpacked data."""
    return pa.CompressedInputStream(file, "zstd")
