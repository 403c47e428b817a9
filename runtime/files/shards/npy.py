"""Ids as one array, with or without the header of `.npy`, and the row splits in a second file."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from fst.runtime.files.shards.shard import Shard, Vocabulary, data_of, narrow

NPY_HEADER = 128  # bytes


def npy_header(dtype: str, length: int) -> bytes:
    """The header of a one-dimensional array in a `.npy` file: always `NPY_HEADER` bytes."""
    described = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00" + (NPY_HEADER - 10).to_bytes(2, "little") + described.ljust(NPY_HEADER - 11).encode() + b"\n"


class Bin(Shard):
    """The format "bin": ids as uint16, or uint32 for a vocabulary with larger ids; and int64[documents + 1], the row splits, as `.npy`.
    Headers contain lengths, so they are written last.
    """

    header = 0  # number of bytes before the ids

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        self.dtype = self._dtype_for(vocabulary)
        self._ids, self._splits = self._opened(files)
        self._ids.write(bytes(self.header))
        self._splits.write(bytes(NPY_HEADER) + np.zeros(1, "<i8").tobytes())

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        self._ids.write(data_of(ids, self.dtype))
        self._splits.write(data_of(ends + self.tokens, "<i8"))

    def _dtype_for(self, vocabulary: Vocabulary) -> str:
        return narrow(vocabulary)

    def close(self) -> None:
        """Write the headers."""
        self._splits.seek(0)
        self._splits.write(npy_header("<i8", self.documents + 1))


class Npy(Bin):
    """The format "npy": ids as int32, and the row splits."""

    header = NPY_HEADER

    def _dtype_for(self, vocabulary: Vocabulary) -> str:  # noqa: ARG002 - all ids fit
        return "int32"

    def close(self) -> None:
        """Write the headers."""
        super().close()
        self._ids.seek(0)
        self._ids.write(npy_header("<i4", self.tokens))
