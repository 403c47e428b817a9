"""Open files and standard input as bytes; recognise the format of a file, and unpack compressed files."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fst.core import remote
from fst.errors import TextError
from fst.runtime.files.packing import CHUNK, DAMAGED, PACKED, unpacked

STANDARD = "-"

# The first bytes of columnar files. A text may begin with ARROW1 or PAR1; then, pass --input-format text.
COLUMNS = {b"\xff\xff\xff\xff": "arrow", b"ARROW1": "arrow", b"PAR1": "parquet"}


@dataclass(frozen=True)
class Source:
    """A file to read.

    Attributes:
        name: the name of the file, for messages.
        file: the unpacked bytes of the file.
        kind: "arrow" or "parquet", by the first bytes; None for all other files.
        is_packed: whether the file was compressed.
    """

    name: str
    file: io.BufferedReader
    kind: str | None
    is_packed: bool

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes as they arrive. A read returns the available bytes, and waits only if no byte is available."""
        take = self.file.read if self.is_packed else self.file.read1
        while chunk := take(CHUNK):
            yield chunk


@contextmanager
def opened(name: str, advance: Callable[[int], None]) -> Iterator[Source]:
    """Open a file, or standard input for "-"; recognise the format by the first bytes, and unpack the file. `advance` is called with the
    number of stored bytes of each read. If the file is damaged or incomplete, later reads may also raise a TextError.
    """
    shown = "standard input" if name == STANDARD else name
    with ExitStack() as stack:
        raw = _unbuffered(standard_input()) if name == STANDARD else stack.enter_context(_of_name(name))
        file, head = _begun(Counted(raw, advance))
        packing = next((packing for magic, packing in PACKED.items() if head.startswith(magic)), None)
        with _blaming(shown, packing):
            if packing:
                file, head = _begun(Forward(unpacked(file, packing)))
            kind = next((kind for magic, kind in COLUMNS.items() if head.startswith(magic)), None)
            yield Source(shown, io.BufferedReader(file, CHUNK), kind, bool(packing))


def _of_name(name: str) -> Any:
    """Open a file by name; a local file is opened without a buffer."""
    return remote.opened(name) if remote.is_remote(name) else Path(name).open("rb", buffering=0)


def _begun(file: Any) -> tuple[io.RawIOBase, bytes]:
    """Read the first bytes of a file, only as many as are needed to recognise its format, so that a typed line is read immediately."""
    head = b""
    while any(len(head) < len(magic) and magic.startswith(head) for magic in (*PACKED, *COLUMNS)):
        if not (more := file.read(1)):
            break
        head += more
    if file.seekable():
        file.seek(-len(head), os.SEEK_CUR)
        return file, head
    return Forward(file, head), head


@contextmanager
def _blaming(name: str, packing: str | None) -> Iterator[None]:
    """Add the name of the file to the errors of reads."""
    try:
        yield
    except (*DAMAGED, OSError) as error:
        if packing and not getattr(error, "errno", None):
            raise TextError(f"{name}: its {packing} data is damaged or cut short ({error}); pack it again, or fetch it again") from None
        if isinstance(error, OSError) and error.filename is None:
            error.filename = name
        raise


class Forward(io.RawIOBase):
    """A file that can be read only from the beginning to the end, without seeking. `head` contains bytes that were already read from the
    file; `read` returns these bytes first.
    """

    def __init__(self, file: Any, head: bytes = b"") -> None:
        self._file, self._head = file, head

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read bytes into a buffer; return their number."""
        if not self._head:
            return int(self._file.readinto(buffer) or 0)
        count = min(len(buffer), len(self._head))
        buffer[:count], self._head = self._head[:count], self._head[count:]
        return count


class Counted(Forward):
    """A file that calls `advance` with the number of bytes of each read."""

    def __init__(self, file: Any, advance: Callable[[int], None]) -> None:
        super().__init__(file)
        self._advance = advance

    def seekable(self) -> bool:
        """Whether the file is seekable."""
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a position, and return this position."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Read bytes into a buffer; return their number."""
        count = super().readinto(buffer)
        self._advance(count)
        return count


def size(names: Iterable[str]) -> int | None:
    """Compute the total size of files in bytes; return None if a size is unknown."""
    found = [remote.size(name) if remote.is_remote(name) else _size(name) for name in names]
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def _size(name: str) -> int | None:
    """Return the size of a regular local file in bytes; None for other files."""
    status = os.fstat(standard_input().fileno()) if name == STANDARD else Path(name).stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def standard_input() -> IO[bytes]:
    """Return standard input as a file of bytes."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed", "standard input")
    return sys.stdin.buffer


def _unbuffered(file: IO[bytes]) -> Any:
    """Return a file without its buffer, because a thread that waits for input would hold the buffer's lock when the process ends."""
    return getattr(file, "raw", file)
