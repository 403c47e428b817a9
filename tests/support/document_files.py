"""Write documents to files of each kind that commands read, and read the rows of output files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

INPUTS = ("lines", "documents", "json", "parquet", "arrow file", "arrow stream")
OUTPUTS = ("ids", "tokens", "json", "npy", "bin", "arrow", "parquet")
TEXTS = ("unaffable", "", "  Hello [MASK]!  ", "héllo", "xyz un", "un\u2028hello", "un " * 50)
SEPARATOR = "<|endoftext|>"
PACKINGS = ("plain", "gzip", "zstd", "bz2", "xz")
ENDINGS = {"plain": "", "gzip": ".gz", "zstd": ".zst", "bz2": ".bz2", "xz": ".xz"}


def as_input(kind: str, texts: Sequence[Any]) -> bytes:
    """The bytes of a file of documents of a given kind; if the kind has columns, the file also contains other columns than the text."""
    if kind == "lines":
        return "".join(f"{text}\n" for text in texts).encode()
    if kind == "documents":
        return "".join(f"{text}{SEPARATOR}" for text in texts).encode()
    rows = [{"number": number, "text": text, "last": None} for number, text in enumerate(texts)]
    if kind == "json":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    return as_table(kind, pa.Table.from_pylist(rows, pa.schema([("number", pa.int64()), ("text", pa.string()), ("last", pa.string())])))


def as_table(kind: str, table: Any, **options: Any) -> bytes:
    """The bytes of a file of a given kind that contains the rows of an Arrow table."""
    file = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, file, **options)
    else:
        with (pa.ipc.new_file if kind == "arrow file" else pa.ipc.new_stream)(file, table.schema) as writer:
            writer.write_table(table, **options)
    return file.getvalue()


def packed(data: bytes, packing: str) -> bytes:
    """Compress data as two consecutive streams, members or frames; without a compression, return the data unchanged."""
    half = len(data) // 2
    packs: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    packs["zstd"] = lambda part: bytes(pa.compress(part, "zstd", asbytes=True))
    return data if packing == "plain" else b"".join(map(packs[packing], (data[:half], data[half:])))


def unpacked(data: bytes, packing: str) -> bytes:
    """The data after decompression by standard libraries."""
    if packing == "zstd":
        return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())
    unpacks = {"gzip": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}
    return data if packing == "plain" else unpacks[packing](data)


def options_for(kind: str) -> list[str]:
    """The command-line options for a kind of file."""
    return {"lines": [], "documents": ["--separator", SEPARATOR], "json": ["--field", "text"]}.get(kind, ["--column", "text"])


def fields_of(kind: str, number: int, text: str | None) -> dict[str, Any]:
    """The fields that a document has after it is read from a file of some kind."""
    return {"text": text} if kind in ("lines", "documents") else {"number": number, "text": text, "last": None}


def rows_of(path: Path, form: str) -> list[Any]:
    """Read the rows of ids from an output file, or the rows of tokens if `form` is "tokens"."""
    if form in ("npy", "bin"):
        ids, splits = np.load(path) if form == "npy" else np.fromfile(path, "<u2"), np.load(path.with_suffix(".splits.npy"))
        assert (ids.dtype, splits.dtype, int(splits[0])) == (np.int32 if form == "npy" else np.uint16, np.int64, 0)
        return [row.tolist() for row in np.split(ids, splits[1:-1])] if len(splits) > 1 else []
    if form == "parquet":
        return list(pq.read_table(path)["input_ids"].to_pylist())
    if form == "arrow":
        with pa.ipc.open_file(path) as reader:
            return list(reader.read_all()["input_ids"].to_pylist())
    rows = path.read_text(encoding="utf-8").splitlines()
    if form == "json":
        return [json.loads(row)["input_ids"] for row in rows]
    return [row.split() if form == "tokens" else list(map(int, row.split())) for row in rows]


def records_of(path: Path, form: str) -> list[dict[str, Any]]:
    """The rows of an output file with all their columns."""
    if form == "json":
        return [json.loads(row) for row in path.read_bytes().splitlines()]
    if form == "parquet":
        return list(pq.read_table(path).to_pylist())
    with pa.ipc.open_file(path) as reader:
        return list(reader.read_all().to_pylist())
