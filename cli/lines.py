r"""Documents of plain text, from files and standard input: lines, what stands between separators, or all of a file.

Lines end at "\n" and nowhere else; what stands before it is the document, whatever it is. Input is read as it comes, in blocks, so that
memory does not grow with a file, and so that whoever types or pipes one line sees one line come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fst.cli.streams import Source, opened
from fst.errors import TextError

LINE_FEED = b"\n"
MOST_BYTES = 1 << 24  # of a document that has to be in memory
LONG_BYTES = 1 << 21  # of a document that comes in pieces


@dataclass(frozen=True)
class Block:
    """Documents of one file that are dealt with together.

    Attributes:
        file: the name of the file, as messages say it.
        first: number of the first document in the file, from 1.
        lines: the documents, without what separates them.
        unit: what a document is called.
        is_begun, goes_on: whether the only document began in blocks before this one, or goes on in blocks after it.
    """

    file: str
    first: int
    lines: list[bytes]
    unit: str = "line"
    is_begun: bool = False
    goes_on: bool = False

    def place(self, row: int) -> str:
        """Where a document of the block stands, as messages say it."""
        return f"{self.file}, {self.unit} {self.first + row}"


def read(name: str, advance: Callable[[int], None]) -> Iterator[Block]:
    """The lines of a file, or of standard input for "-".

    Args:
        name: the file.
        advance: is told how many bytes each reading took.
    """
    with opened(name, advance) as source:
        yield from blocks(source, LINE_FEED)


def blocks(source: Source, separator: bytes | None, *, in_pieces: bool = False) -> Iterator[Block]:
    """The documents of a file, as they come.

    Args:
        source: the file.
        separator: what stands between documents; None: all is one. After the last one there is another document if there is anything; after
            one that is no line feed, if there is more than white space.
        in_pieces: whether a document of more than `LONG_BYTES` comes in pieces, a block each.

    Raises:
        TextError: a document that is to be whole has more than `MOST_BYTES`.
    """
    unit = "line" if separator == LINE_FEED else "document"
    number, unfinished, is_begun = 1, list[bytes](), False
    for documents, rest in _split(source.chunks(), separator):
        if documents:
            first, *others = documents
            yield Block(source.name, number, [b"".join([*unfinished, first]), *([] if is_begun else others)], unit, is_begun)
            if is_begun and others:
                yield Block(source.name, number + 1, others, unit)
            number, unfinished, is_begun = number + len(documents), [], False
        unfinished.append(rest)
        size = sum(map(len, unfinished))
        if not in_pieces and size > MOST_BYTES:
            raise TextError(f"{source.name}, {unit} {number}: more than {MOST_BYTES:,} bytes; split it")
        if in_pieces and (is_begun or size > LONG_BYTES):
            yield Block(source.name, number, [b"".join(unfinished)], unit, is_begun, goes_on=True)
            unfinished, is_begun = [], True
    last = b"".join(unfinished)
    if is_begun or separator is None or (last if separator == LINE_FEED else last.strip()):
        yield Block(source.name, number, [last], unit, is_begun)


def _split(chunks: Iterable[bytes], separator: bytes | None) -> Iterator[tuple[list[bytes], bytes]]:
    """Of each chunk the documents that end in it, and what is left. What may be the beginning of a separator waits for the next one."""
    waiting, length = b"", len(separator or b"") - 1
    for chunk in chunks:
        *documents, rest = (waiting + chunk).split(separator) if separator else [chunk]
        kept = max(len(rest) - length, 0) if length > 0 else len(rest)
        waiting = rest[kept:]
        yield documents, rest[:kept]
    if waiting:
        yield [], waiting
