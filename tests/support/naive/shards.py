"""The files of each format for training, written document by document with `struct`, as the descriptions of the formats define them."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from itertools import accumulate

Rows = Sequence[Sequence[int]]


def files(form: str, rows: Rows, count: int, name: str, limit: int = 1 << 26) -> dict[str, bytes]:
    """The content of each file of the output `x`. `count`: the number of ids of the vocabulary. `name`: the name of the tokenizer. `limit`:
    the maximum size of a shard of MDS.
    """
    ids, ends = [number for row in rows for number in row], list(accumulate(map(len, rows)))
    narrow = "H" if count <= 65536 else "I"
    if form == "nanogpt":
        return {"x.bin": packed(narrow, ids)}
    if form == "llmc":
        kind = (20240520, 1) if narrow == "H" else (20240801, 7)
        return {"x.bin": packed("i", [*kind, len(ids), *[0] * 253]) + packed(narrow, ids)}
    if form == "datatrove":
        described = f"{name}|{struct.calcsize(narrow)}\n{len(ids)}\n{len(ids)}.00 T"  # `len(ids)` is less than 10
        return {"x.ds": packed(narrow, ids), "x.ds.index": packed("Q", ends), "x.ds.metadata": described.encode()}
    if form == "megatron":
        return megatron(rows, "H" if count < 65500 else "i")
    assert form == "mds"
    return mds([row for row in rows if row], narrow if narrow == "H" else "i", limit)


def packed(kind: str, numbers: Sequence[int]) -> bytes:
    """Numbers as little-endian bytes."""
    return struct.pack(f"<{len(numbers)}{kind}", *numbers)


def megatron(rows: Rows, kind: str) -> dict[str, bytes]:
    """The ids and the index of Megatron-LM."""
    sequences, documents, places, place = [], [0], [], 0
    for row in rows:
        if row:
            sequences.append(len(row))
            places.append(place)
            place += struct.calcsize(kind) * len(row)
        documents.append(len(sequences))
    header = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8 if kind == "H" else 4, len(sequences), len(documents))
    index = header + packed("i", sequences) + packed("q", places) + packed("q", documents)
    return {"x.bin": b"".join(packed(kind, row) for row in rows), "x.idx": index}


def mds(rows: Rows, kind: str, limit: int) -> dict[str, bytes]:
    """The shards of MosaicML Streaming."""
    columns = {"column_names": ["tokens"], "column_encodings": [f"ndarray:{'uint16' if kind == 'H' else 'int32'}"], "column_sizes": [None]}
    about = json.dumps(
        {"version": 2, "format": "mds", "compression": None, "hashes": [], "size_limit": limit, **columns}, sort_keys=True
    ).encode()
    shards: list[list[bytes]] = []
    size = limit
    for row in rows:
        length = (4, "B") if len(row) < 256 else (5, "H") if len(row) < 65536 else (6, "I")
        data = struct.pack(f"<B{length[1]}", length[0], len(row)) + packed(kind, row)
        sample = packed("I", [len(data)]) + data
        if not shards or size + len(sample) + 4 > limit:
            shards.append([])
            size = 8 + len(about)
        shards[-1].append(sample)
        size += len(sample) + 4
    return {f"x.{number:05}.mds": shard(samples, about) for number, samples in enumerate(shards)}


def shard(samples: Sequence[bytes], about: bytes) -> bytes:
    """A shard of MosaicML Streaming."""
    first = 4 + 4 * (len(samples) + 1) + len(about)
    places = list(accumulate(map(len, samples), initial=first))
    return packed("I", [len(samples), *places]) + about + b"".join(samples)
