"""Shards of MosaicML Streaming, as its `MDSWriter` writes them for the column `tokens`, and the index of a folder of shards.

A shard is the number of samples (uint32), the begin of each sample and the end of the last one in the file (uint32), a description of the
columns as JSON, and the samples. A sample is the size of its array in bytes (uint32), the kind of the shape (a byte), the length of the
array in one, two or four bytes, and the ids.
"""

from __future__ import annotations

import json
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
REMEDY = "divide it, or write another format"
FIRST = ".00000.mds"
LIMITS = np.array([1 << 8, 1 << 16])  # lengths from which a sample needs more bytes for the length


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
        self._samples: list[Any] = []
        self._sizes: list[NDArray[np.int64]] = []
        self._room = SHARD_BYTES - 8 - len(self._columns)

    def _add(self, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        last = int(ends[-1]) if len(ends) else 0
        if len(ends):
            begun = sum(map(len, self._begun))
            lengths = np.diff(ends + begun, prepend=0)
            self._divide(*samples(np.concatenate([*self._begun, ids[:last]]), lengths[lengths > 0], self.dtype))
            self._begun = []
        if last < len(ids):
            self._begun.append(ids[last:])
            if sum(map(len, self._begun)) > MOST_IDS:
                raise UnsupportedError(f"a document has more than {MOST_IDS:,} ids; {REMEDY}")

    def _divide(self, data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> None:
        """Add samples to shards, and write full shards. `data`: the samples. `sizes`: int64[samples], the size of each one in bytes."""
        while len(sizes):
            count = int(np.searchsorted(np.cumsum(sizes + 4), self._room, "right"))
            count = count or (0 if self._sizes else 1)
            size = int(sizes[:count].sum())
            if count:
                self._samples.append(data[:size].data)
                self._sizes.append(sizes[:count])
                self._room -= size + 4 * count
            data, sizes = data[size:], sizes[count:]
            if len(sizes):
                self._flush()

    def _flush(self) -> None:
        """Write a shard."""
        sizes = np.concatenate(self._sizes)
        begins = 4 + 4 * (len(sizes) + 1) + len(self._columns) + np.cumsum([0, *sizes])
        name = f"{self._stem}.{len(self.parts):05}.mds"
        with written_file(name) as file:
            file.write(data_of(np.array([len(sizes)]), "uint32"))
            file.write(data_of(begins, "uint32"))
            file.write(self._columns)
            file.writelines(self._samples)
        self.parts.append(Part(name, len(sizes)))
        self._empty()

    def close(self) -> None:
        """Write the last shard."""
        if self._sizes:
            self._flush()


def samples(ids: NDArray[np.int32], lengths: NDArray[np.int64], dtype: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack documents as samples.

    Args:
        ids: int32[n], the ids of all documents.
        lengths: int64[documents], the number of ids of each document, at least 1.
        dtype: the dtype of ids in samples.

    Returns:
        uint8[bytes], the samples, and int64[documents], the size of each sample in bytes.

    Raises:
        UnsupportedError: a document has too many ids.
    """
    if len(lengths) and (longest := int(lengths.max())) > MOST_IDS:
        raise UnsupportedError(f"a document has {longest:,} ids; expected at most {MOST_IDS:,}; {REMEDY}")
    kinds = np.searchsorted(LIMITS, lengths, "right")  # the length has 1 << kind bytes
    heads = 5 + (1 << kinds)
    sizes = heads + lengths * np.dtype(dtype).itemsize
    begins = np.cumsum(sizes) - sizes
    data, is_ids = np.empty(int(sizes.sum()), np.uint8), np.ones(int(sizes.sum()), bool)
    fields = np.zeros((len(lengths), 9), np.uint8)
    fields[:, :4] = (sizes - 4).astype("<u4").view(np.uint8).reshape(-1, 4)
    fields[:, 4] = 1 << 2 | kinds
    fields[:, 5:] = lengths.astype("<u4").view(np.uint8).reshape(-1, 4)
    for place in range(9):
        has = heads > place
        at = begins[has] + place
        data[at], is_ids[at] = fields[has, place], False
    data[is_ids] = np.frombuffer(data_of(ids, dtype), np.uint8)
    return data, sizes
