"""Shards of MosaicML Streaming, as its `MDSWriter` writes them for the column `tokens`, and the index of a folder of shards.

A shard is the number of samples (uint32), the begin of each sample and the end of the last one in the file (uint32), a description of the
columns as JSON, and the samples. A sample is the size of its array in bytes (uint32), the kind of the shape (a byte), the length of the
array in one, two or four bytes, and the ids.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.runtime.files.outputs import written_file
from fst.runtime.files.shards.shard import Part, Shard, Vocabulary, data_of, narrow

SHARD_BYTES = 1 << 26  # maximum size of a shard, except a shard of one sample
MOST_IDS = (1 << 30) - (1 << 10)  # maximum number of ids of a document: places in a shard are of type uint32
FIRST = ".00000.mds"
SHAPES = ((1 << 8, "B"), (1 << 16, "H"), (1 << 32, "I"))  # the limit of lengths, and the type of a length


def _columns(dtype: str) -> dict[str, Any]:
    """The description of the columns in a shard and in the index. `dtype`: the dtype of the ids, such as "uint16"."""
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [],
        "size_limit": SHARD_BYTES,
        "column_names": ["tokens"],
        "column_encodings": [f"ndarray:{dtype}"],
        "column_sizes": [None],
    }


def index(files: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
    """The index of a folder. `files`: for each shard, the dtype of its ids; and its name, bytes and documents."""
    shards = [
        {
            **_columns(dtype),
            "samples": file["documents"],
            "raw_data": {"basename": file["name"], "bytes": file["bytes"], "hashes": {}},
            "zip_data": None,
        }
        for dtype, file in files
    ]
    return json.dumps({"version": 2, "shards": shards}, sort_keys=True).encode()


class Mds(Shard):
    """The format "mds". A document is a sample, but a document without ids is omitted, because MDS has no empty arrays. Shards have the
    sizes that `MDSWriter` gives them; a shard gets its name when it is complete.
    """

    def _begin(self, vocabulary: Vocabulary, files: ExitStack) -> None:  # noqa: ARG002 - no file is open between two shards
        self.dtype = "uint16" if narrow(vocabulary) == "uint16" else "int32"
        self._columns = json.dumps(_columns(self.dtype), sort_keys=True).encode()
        self._stem = self.parts.pop().name.removesuffix(FIRST)
        self._begun: list[NDArray[np.int32]] = []  # ids of an unfinished document
        self._empty()

    def _empty(self) -> None:
        self._samples: list[bytes] = []
        self._size = 8 + len(self._columns)

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        begin = 0
        for end in ends.tolist():
            self._sample(np.concatenate([*self._begun, ids[begin:end]]) if self._begun else ids[begin:end])
            self._begun, begin = [], end
        if begin < len(ids):
            self._begun.append(ids[begin:])

    def _sample(self, ids: NDArray[np.int32]) -> None:
        if not len(ids):
            return
        if len(ids) > MOST_IDS:
            reason = f"a document has {len(ids):,} ids; expected at most {MOST_IDS:,}; divide it, or write another format"
            raise UnsupportedError(f"{self._stem}: {reason}")
        kind = next(kind for kind, (limit, _) in enumerate(SHAPES) if len(ids) < limit)
        data = struct.pack(f"<B{SHAPES[kind][1]}", 1 << 2 | kind, len(ids)) + data_of(ids, self.dtype)
        size = 4 + len(data) + 4
        if self._samples and self._size + size > SHARD_BYTES:
            self._flush()
        self._samples.append(len(data).to_bytes(4, "little") + data)
        self._size += size

    def _flush(self) -> None:
        """Write a shard."""
        count = len(self._samples)
        begins = np.cumsum([4 + 4 * (count + 1) + len(self._columns), *map(len, self._samples)])
        name = f"{self._stem}.{len(self.parts):05}.mds"
        with written_file(name) as file:
            file.write(count.to_bytes(4, "little") + begins.astype("<u4").tobytes() + self._columns)
            file.writelines(self._samples)
        self.parts.append(Part(name, count))
        self._empty()

    def close(self) -> None:
        """Write the last shard."""
        if self._samples:
            self._flush()
