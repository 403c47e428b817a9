r"""Documents, one a line: from files and standard input, and back to a file or standard output.

Lines end at "\n" and nowhere else; what stands before it is the document, whatever it is. Input is read as it comes, in blocks, so that
memory does not grow with a file, and so that whoever types or pipes one line sees one line come out.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fst.errors import TextError

STANDARD = "-"
BLOCK_BYTES = 1 << 20  # larger ones are no faster, and take more memory


@dataclass(frozen=True)
class Block:
    r"""Lines of one file that are dealt with together.

    Attributes:
        file: the name of the file, as messages say it.
        first: number of the first line in the file, from 1.
        lines: the documents, without their "\n".
    """

    file: str
    first: int
    lines: list[bytes]

    def place(self, row: int) -> str:
        """Where a line of the block stands, as messages say it."""
        return f"{self.file}, line {self.first + row}"

    def not_text(self, hint: str) -> TextError | None:
        """The error for the first line that is not UTF-8, if there is one."""
        for row, line in enumerate(self.lines):
            if (byte := _not_text(line)) is not None:
                return TextError(f"{self.place(row)}: not UTF-8 at byte {byte}; {hint}")
        return None


def _not_text(line: bytes) -> int | None:
    """The first byte that is no part of a text in UTF-8, or None."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def read(name: str, advance: Callable[[int], None]) -> Iterator[Block]:
    """The lines of a file, or of standard input for "-".

    Args:
        name: the file.
        advance: is told how many bytes each reading took.
    """
    shown = "standard input" if name == STANDARD else name
    number, unfinished = 1, list[bytes]()
    with _opened(name) as file:
        # One reading is one call of the system: it takes what is there, and waits only when nothing is.
        while data := file.read1(BLOCK_BYTES):  # type: ignore[attr-defined]
            advance(len(data))
            *lines, rest = data.split(b"\n")
            if lines:
                lines[0] = b"".join([*unfinished, lines[0]])
                yield Block(shown, number, lines)
                number, unfinished = number + len(lines), []
            unfinished.append(rest)
    if last := b"".join(unfinished):
        yield Block(shown, number, [last])


def size(names: Iterable[str]) -> int | None:
    """The bytes of all files together, or None where that cannot be known.

    Raises:
        OSError: a file is not there; better said before the first one is read than after.
    """
    found = [os.fstat(standard_input().fileno()) if name == STANDARD else Path(name).stat() for name in names]
    return sum(status.st_size for status in found) if all(stat.S_ISREG(status.st_mode) for status in found) else None


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == STANDARD:
        yield standard_input()
    else:
        with Path(name).open("rb") as file:
            yield file


def standard_input() -> IO[bytes]:
    """Standard input, as bytes."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed", "standard input")
    return sys.stdin.buffer


def standard_output() -> IO[bytes]:
    """Standard output, as bytes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed", "standard output")
    return sys.stdout.buffer


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """A file to write, or standard output for "-". A regular file appears whole or not at all."""
    if name == STANDARD:
        yield standard_output()
        standard_output().flush()
        return
    path = target(name)
    if is_device(path):
        with path.open("wb") as file:
            yield file
        return
    from fst.file import replacing

    with replacing(path) as file:
        yield file


def target(name: str) -> Path:
    """The path of a file to be made, once it is clear that there is a folder to make it in.

    Raises:
        OSError: it is a folder, or in none.
    """
    path = Path(name)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if is_device(path):
        return path
    path = path.resolve()  # so that a link stays one, and what it leads to is replaced
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no folder {path.parent} to write it in", name)
    return path


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device: something to be written to, and on no account to be replaced."""
    return path.exists() and not path.is_file()


def show(lines: Iterable[str]) -> None:
    """Write lines to standard output, as UTF-8 wherever it leads."""
    with written(STANDARD) as out:
        for line in lines:
            out.write(line.encode("utf-8", "surrogateescape") + b"\n")
