"""The pair of files of Megatron-LM: the ids, and the index that `IndexedDataset` reads.

The index is a header and three arrays: the number of ids of each sequence (int32); the position of its first byte in the `.bin` (int64);
the number of each document's first sequence, and at the end the number of all sequences (int64). All numbers are little-endian.
"""

from __future__ import annotations

import struct
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.runtime.files.shards.shard import Lengths, Shard, Vocabulary, data_of

HEADER = struct.Struct("<9sQBQQ")  # magic, version, type of the ids, sequences, documents + 1
MAGIC, VERSION = b"MMIDIDX\x00\x00", 1
CODES = {"uint16": 8, "int32": 4}  # dtype of the ids → its number in the index
LARGE = 65500  # number of ids from which a vocabulary needs int32; Megatron-LM has this limit
MOST = (1 << 31) - 1  # maximum number of ids of a document


class Megatron(Shard):
    """The format "megatron". A document is one sequence, or no sequence if it has no ids."""

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:
        self.dtype = "uint16" if vocabulary.count < LARGE else "int32"
        self._ids, self._index = self._opened(files)
        self._lengths = Lengths(files)
        self._sequences = 0

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        self._ids.write(data_of(ids, self.dtype))
        lengths = self._lengths.add(ids, ends)
        self._sequences += int(np.count_nonzero(lengths))
        if len(lengths) and (longest := int(lengths.max())) > MOST:
            number = self.documents + 1 + int(lengths.argmax())
            reason = f"document {number} has {longest:,} ids; expected at most {MOST:,}; divide it, or write another format"
            raise UnsupportedError(f"{self.parts[0].name}: {reason}")

    def close(self) -> None:
        """Write the index."""
        code, width = CODES[self.dtype], np.dtype(self.dtype).itemsize
        self._index.write(HEADER.pack(MAGIC, VERSION, code, self._sequences, self.documents + 1))
        for lengths in self._lengths.chunks():
            self._index.write(data_of(lengths[lengths > 0], "<i4"))
        begun = 0
        for lengths in self._lengths.chunks():
            ends = begun + np.cumsum(lengths)
            self._index.write(data_of(((ends - lengths) * width)[lengths > 0], "<i8"))
            begun = int(ends[-1])
        begun = 0
        self._index.write(bytes(8))
        for lengths in self._lengths.chunks():
            ends = begun + np.cumsum(lengths > 0)
            self._index.write(data_of(ends, "<i8"))
            begun = int(ends[-1])
