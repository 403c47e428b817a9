"""Load a table file as its machine's face: the public class that encodes with the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fst import registry
from fst.runtime.tokenizer import face_of


def load(path: str | Path) -> Any:
    """Load a table file: that of a tokenizer as a `fst.Tokenizer`, that of keywords as a `fst.Searcher`, that of a dictionary as a
    `fst.Segmenter`.

    The file is memory-mapped, so that processes share its memory. Before use, it is proven complete and safe.

    Args:
        path: a file from ``fst compile`` or `fst.machines.wordpiece.table.Tables.save`; or its URL, such as ``s3://bucket/t5.npz``, which
        fsspec
            reads. Each process fetches a URL into its own memory.

    Returns:
        The face of the table's machine, the public class that takes it.

    Raises:
        UnsupportedError: fsspec, or its plug-in for the URL, is not installed.
        TableError: the file is not a table, or of another version, damaged or hostile; the message says which and where.
        OSError: the file cannot be read.

    Examples:
        >>> from fst.compile import wordpiece
        >>> wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"]).save("tiny.npz")
        >>> load("tiny.npz").encode("Unable!")
        array([1, 3, 4, 0, 2], dtype=int32)
    """
    table = registry.load(path)
    return face_of(table)(table)
