"""Files with documents, of each kind that commands read, and the rows of files that they write."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

INPUTS = ("lines", "documents", "json", "parquet", "arrow file", "arrow stream")
SEPARATOR = "<|endoftext|>"


def as_input(kind: str, texts: Sequence[Any]) -> bytes:
    """A file of some kind with documents, and columns around the text where a kind has others."""
    if kind == "lines":
        return "".join(f"{text}\n" for text in texts).encode()
    if kind == "documents":
        return "".join(f"{text}{SEPARATOR}" for text in texts).encode()
    rows = [{"number": number, "text": text, "last": None} for number, text in enumerate(texts)]
    if kind == "json":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    rows_of = pa.Table.from_pylist(rows, pa.schema([("number", pa.int64()), ("text", pa.string()), ("last", pa.string())]))
    file = io.BytesIO()
    if kind == "parquet":
        pq.write_table(rows_of, file)
    else:
        with (pa.ipc.new_file if kind == "arrow file" else pa.ipc.new_stream)(file, rows_of.schema) as writer:
            writer.write_table(rows_of)
    return file.getvalue()


def options_for(kind: str) -> list[str]:
    """The options that a kind of file takes."""
    return {"lines": [], "documents": ["--separator", SEPARATOR], "json": ["--field", "text"]}.get(kind, ["--column", "text"])


def fields_of(kind: str, number: int, text: str | None) -> dict[str, Any]:
    """The fields of a row that was read from a kind of file."""
    return {"text": text} if kind in ("lines", "documents") else {"number": number, "text": text, "last": None}


def records_of(path: Path, form: str) -> list[dict[str, Any]]:
    """The rows in a file that was written, with all columns."""
    if form == "json":
        return [json.loads(row) for row in path.read_bytes().splitlines()]
    if form == "parquet":
        return list(pq.read_table(path).to_pylist())
    with pa.ipc.open_file(path) as reader:
        return list(reader.read_all().to_pylist())
