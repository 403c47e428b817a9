"""Write documents whose texts have been replaced, for the commands that rewrite texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from fst.cli.files.writers import Write, lines_of, records_of
from fst.runtime.files.documents import Documents


@contextmanager
def writing_texts(name: str, form: str, end: bytes | None) -> Iterator[Write[Documents]]:
    """A function that writes documents with new texts. In the form "lines", `end` follows each document."""
    if form == "lines":
        with lines_of(name) as file:
            yield lambda documents: _write_texts(file, documents, end or b"")
    else:
        with records_of(name, form, NoMembers, NoColumns) as write:
            yield write


def _write_texts(file: IO[bytes], documents: Documents, end: bytes) -> None:
    texts = documents.texts_in_utf8(range(len(documents.texts)))
    file.write(b"".join([(text or b"") + end for text in texts]))
    file.flush()


class NoMembers:
    """A conversion that adds no members, so the output has the fields of the document."""

    def of(self, documents: Documents, /) -> tuple[Documents, Any, Mapping[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        return documents, None, {}


class NoColumns:
    """A conversion that adds no columns, so the output has the columns of the input."""

    added: Sequence[tuple[str, Any]] = ()

    def of(self, documents: Documents, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return documents, ()
