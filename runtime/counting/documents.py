"""Blocks of documents to count, from iterables of texts, from Arrow columns and from files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from fst.errors import TextError
from fst.runtime.counting.counter import Block
from fst.runtime.files.documents import Documents
from fst.runtime.files.reading import Files
from fst.runtime.rows.texts import Column, Source, rows_of

MOST_TEXTS, MOST_UNITS = 1 << 10, 1 << 18  # maximum number of texts in a block; a block also ends at this number of characters or bytes


def of_texts(texts: Iterable[Any]) -> Iterator[Block]:
    """Divide texts into blocks; the texts are an iterable of str, of bytes objects, or of lists of str or bytes objects."""
    first = 0
    for rows in _batches(texts):
        yield _numbered(rows_of(rows), first)
        first += len(rows)


def of_column(column: Any) -> Iterator[Block]:
    """Divide the rows of a column that Arrow can import into blocks; null rows are omitted."""
    from fst.runtime.rows.arrow import rows_of_column

    first = 0
    for rows in rows_of_column(column):
        yield _numbered(rows, first)
        first += len(rows)


def of_files(files: Files, errors: str) -> Iterator[Block]:
    """Divide the documents of files into blocks. In plain text, a document is a line with its line feed."""
    first = 0
    for documents in files.documents(errors):
        for rows in _rows(documents.texts):
            yield Block(rows, first, partial(_place, documents))
            first += len(rows)


def _place(documents: Documents, row: int) -> str:
    return documents.place(documents.numbers[row])


def _rows(texts: Any) -> Iterator[Source]:
    """Iterate over the rows of a list, of a `Column`, or of a pyarrow array."""
    if isinstance(texts, list | Column):
        yield rows_of(texts) if isinstance(texts, list) else texts
    else:
        from fst.runtime.rows.arrow import rows_of_column

        yield from rows_of_column(texts)


def _numbered(rows: Source, first: int) -> Block:
    return Block(rows, first, lambda row: f"document {first + row}")


def _batches(texts: Iterable[Any]) -> Iterator[list[Any]]:
    """Collect texts in lists, each of which is a block."""
    if isinstance(texts, list | tuple) and not any(isinstance(text, list | tuple) for text in texts[:1]):
        texts = texts if type(texts) is list else [*texts]
        yield from (texts[at : at + MOST_TEXTS] for at in range(0, len(texts), MOST_TEXTS))
        return
    waiting, size = list[Any](), 0
    for item in texts:
        if isinstance(item, list | tuple):
            if waiting:
                yield waiting
            waiting, size = [], 0
            yield from _batches(item)
            continue
        if not isinstance(item, str | bytes):
            raise TextError(f"a document is {type(item).__name__}; expected str or bytes; name the column or the field of texts")
        waiting.append(item)
        size += len(item)
        if size >= MOST_UNITS or len(waiting) == MOST_TEXTS:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting
