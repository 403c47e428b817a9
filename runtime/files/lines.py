r"""Documents of plain text, from files and standard input: lines, texts between separators, or complete files.

Only "\n" ends a line; all characters before it, such as "\r", belong to the document. Input is read in blocks as it arrives, so that memory
is bounded for files of any size, and the output for a typed or piped line appears immediately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fst.errors import TextError
from fst.runtime.files.streams import Source, opened
from fst.runtime.rows.texts import Column

LINE_FEED = b"\n"
MOST_BYTES = 1 << 24  # maximum size of a document that is read in one piece
LONG_BYTES = 1 << 21  # minimum size of a document that is divided into pieces


@dataclass(frozen=True)
class Block:
    """A block, which contains documents of one file that are processed together.

    Attributes:
        file: the name of the file in messages.
        first: the number of the first document in the file, from 1.
        lines: the documents, by default without separators.
        unit: the word for a document in messages.
        is_begun, goes_on: whether the only document of the block began in an earlier block, and whether it continues in the next block.
    """

    file: str
    first: int
    lines: list[bytes]
    unit: str = "line"
    is_begun: bool = False
    goes_on: bool = False

    def place(self, row: int) -> str:
        """Name a document by its file and number, for messages."""
        return f"{self.file}, {self.unit} {self.first + row}"


class Ended(NamedTuple):
    """A block of lines that include their line feeds.

    Attributes:
        first: the number of the first line in the file, from 1.
        lines: the lines.
    """

    first: int
    lines: Column


def read(name: str, advance: Callable[[int], None]) -> Iterator[Block]:
    """Read the lines of a file, or of standard input for "-", in blocks. `advance` is called with the number of bytes of each read."""
    with opened(name, advance) as source:
        yield from blocks(source, LINE_FEED)


def blocks(
    source: Source, separator: bytes | None, *, in_pieces: bool = False, with_ends: bool = False, most: int | None = None
) -> Iterator[Block]:
    """Read the documents of a file as they arrive, in blocks.

    Args:
        source: the file.
        separator: the bytes between documents; None: the file is one document. Text after the last separator is a document, too. There are
            two exceptions: empty text and, if the separator is not a line feed, text of whitespace.
        in_pieces: whether a document of more than `LONG_BYTES` is divided into pieces, each of which is a block.
        with_ends: whether documents include the separator at their end.
        most: the maximum size in bytes of a document that is not divided; None: `MOST_BYTES`.
    """
    unit, most = "line" if separator == LINE_FEED else "document", MOST_BYTES if most is None else most
    number, unfinished, size, is_begun = 1, list[bytes](), 0, False
    for documents, rest in _split(source.chunks(), separator):
        if documents:
            documents = [document + separator for document in documents] if separator and with_ends else documents
            first, *others = documents
            yield Block(source.name, number, [b"".join([*unfinished, first]), *([] if is_begun else others)], unit, is_begun)
            if is_begun and others:
                yield Block(source.name, number + 1, others, unit)
            number, unfinished, size, is_begun = number + len(documents), [], 0, False
        unfinished.append(rest)
        size += len(rest)
        if not in_pieces and size > most:
            raise _too_long(source.name, unit, number, most)
        if in_pieces and (is_begun or size > LONG_BYTES):
            yield Block(source.name, number, [b"".join(unfinished)], unit, is_begun, goes_on=True)
            unfinished, size, is_begun = [], 0, True
    last = b"".join(unfinished)
    if is_begun or separator is None or (last if separator == LINE_FEED else last.strip()):
        yield Block(source.name, number, [last], unit, is_begun)


def ended(source: Source, most: int) -> Iterator[Ended]:
    """Read the lines of a file as `blocks` does with `with_ends`, but without an object for each line. Only lines that several reads return
    in parts are copied. `most`: the maximum size of a line in bytes.
    """
    number, unfinished, size = 1, list[bytes](), 0
    for chunk in source.chunks():
        begin, end = 0, chunk.rfind(LINE_FEED) + 1
        if end and size:
            begin = chunk.index(LINE_FEED) + 1
            yield _joined(number, [*unfinished, chunk[:begin]])
            number, unfinished, size = number + 1, [], 0
        if begin < end:
            data = np.frombuffer(chunk, np.uint8, end - begin, begin)
            yield Ended(number, lines := Column(data, np.append(0, np.flatnonzero(data == LINE_FEED[0]) + 1)))
            number += len(lines)
        unfinished.append(chunk[end:])
        size += len(chunk) - end
        if size > most:
            raise _too_long(source.name, "line", number, most)
    if size:
        yield _joined(number, unfinished)


def _joined(number: int, parts: Iterable[bytes]) -> Ended:
    line = np.frombuffer(b"".join(parts), np.uint8)
    return Ended(number, Column(line, np.array([0, len(line)])))


def _too_long(name: str, unit: str, number: int, most: int) -> TextError:
    return TextError(f"{name}, {unit} {number}: more than {most:,} bytes; split it")


def _split(chunks: Iterable[bytes], separator: bytes | None) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield, for each chunk, the documents that end in the chunk, and the bytes after the last document. Bytes at the end of a chunk that
    may begin a separator are moved to the next chunk.
    """
    waiting, length = b"", len(separator or b"") - 1
    for chunk in chunks:
        *documents, rest = (waiting + chunk).split(separator) if separator else [chunk]
        kept = max(len(rest) - length, 0) if length > 0 else len(rest)
        waiting = rest[kept:]
        yield documents, rest[:kept]
    if waiting:
        yield [], waiting
