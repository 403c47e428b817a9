"""Files and standard streams as bytes: what is read is recognised and unpacked, what is written appears whole or not at all."""

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

import click

from fst import remote
from fst.cli.packing import CHUNK, DAMAGED, PACKED, unpacked
from fst.errors import TextError

STANDARD = "-"

# First bytes of columnar files. Text may begin like the last two; --input-format tells them apart.
COLUMNS = {b"\xff\xff\xff\xff": "arrow", b"ARROW1": "arrow", b"PAR1": "parquet"}


@dataclass(frozen=True)
class Source:
    """A file to read.

    Attributes:
        name: the name, for messages.
        file: its bytes, unpacked.
        kind: "arrow" or "parquet" if it begins like one, else None.
        is_packed: whether it was compressed.
    """

    name: str
    file: io.BufferedReader
    kind: str | None
    is_packed: bool

    def chunks(self) -> Iterator[bytes]:
        """The bytes, as they come: one reading takes what is there, and waits only when nothing is."""
        take = self.file.read if self.is_packed else self.file.read1
        while chunk := take(CHUNK):
            yield chunk


@contextmanager
def opened(name: str, advance: Callable[[int], None]) -> Iterator[Source]:
    """A file, or standard input for "-", recognised by its first bytes and unpacked.

    Args:
        name: the file.
        advance: called with the number of bytes of each read, as they lie on disk.

    Raises:
        TextError: it is compressed, and damaged or cut short; later reads raise this too.
        UnsupportedError: the library that reads it is not installed.
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
    """A file, without a buffer if it is on this machine."""
    return remote.opened(name) if remote.is_remote(name) else Path(name).open("rb", buffering=0)


def _begun(file: Any) -> tuple[io.RawIOBase, bytes]:
    """A file, and what it begins with, as far as that is needed to recognise it: who types a line has it taken at once."""
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
    """Errors of reading, told with the name of the file."""
    try:
        yield
    except (*DAMAGED, OSError) as error:
        if packing and not getattr(error, "errno", None):
            raise TextError(f"{name}: its {packing} data is damaged or cut short ({error}); pack it again, or fetch it again") from None
        if isinstance(error, OSError) and error.filename is None:
            error.filename = name
        raise


class Forward(io.RawIOBase):
    """A file that is read from its beginning to its end.

    Args:
        file: what is read.
        head: bytes that were already read, and are returned first.
    """

    def __init__(self, file: Any, head: bytes = b"") -> None:
        self._file, self._head = file, head

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read."""
        if not self._head:
            return int(self._file.readinto(buffer) or 0)
        count = min(len(buffer), len(self._head))
        buffer[:count], self._head = self._head[:count], self._head[count:]
        return count


class Counted(Forward):
    """A file that reports how many bytes are read from it.

    Args:
        file: what is read.
        advance: called with each number of bytes.
    """

    def __init__(self, file: Any, advance: Callable[[int], None]) -> None:
        super().__init__(file)
        self._advance = advance

    def seekable(self) -> bool:
        """Whether one can go to other places in it."""
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Read."""
        count = super().readinto(buffer)
        self._advance(count)
        return count


def size(names: Iterable[str]) -> int | None:
    """The bytes of all files together, or None if they cannot be known.

    Raises:
        OSError: a file is missing, which is better reported before the first one is read.
    """
    found = [remote.size(name) if remote.is_remote(name) else _size(name) for name in names]
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def _size(name: str) -> int | None:
    """The bytes of a regular file of this machine; None for any other."""
    status = os.fstat(standard_input().fileno()) if name == STANDARD else Path(name).stat()
    return status.st_size if stat.S_ISREG(status.st_mode) else None


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


def _unbuffered(file: IO[bytes]) -> Any:
    """A file without its buffer, whose lock a thread that still waits for input would keep when the process ends."""
    return getattr(file, "raw", file)


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """A file to write, or standard output for "-". A regular file, or one of another machine, appears whole or not at all."""
    if name == STANDARD:
        yield standard_output()
        standard_output().flush()
        return
    if remote.is_remote(name):
        with remote.written(name) as file:
            yield file
        return
    from fst.npz import replacing

    path = target(name)
    try:
        with path.open("wb") if is_device(path) else replacing(path) as file:
            yield file
    except OSError as error:
        if error.filename is None:
            error.filename = name
        raise


def target(name: str) -> Path:
    """The path of an output, after a check that its folder can be written.

    Raises:
        OSError: it is a folder, its folder is missing or cannot be written, or the name is impossible.
    """
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(mode):
        return path
    path = path.resolve()  # so that a link stays a link, and its target is replaced
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no folder {path.parent} to write it in", name)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"the folder {path.parent} cannot be written", name)
    return path


def check_target(name: str) -> None:
    """Check that an output can be written, as far as that is known before: the folder of a file of this machine.

    Raises:
        OSError: as by `target`.
    """
    if name != STANDARD and not remote.is_remote(name):
        target(name)


def is_there(name: str) -> bool:
    """Whether a file exists."""
    return remote.is_there(name) if remote.is_remote(name) else Path(name).exists()


def modified(name: str) -> float:
    """The time of the last change of a file, in seconds; a time long ago if its server does not state it."""
    return remote.modified(name) if remote.is_remote(name) else Path(name).stat().st_mtime


def keep_apart(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse to write to a file that is also read, whatever name or link leads to it. "-" is standard output, or standard input.

    Raises:
        click.UsageError: an output is an input.
    """
    read = {_identity(name, standard_input) for name in inputs} - {None}
    for name in outputs:
        if _identity(name, standard_output) in read:
            shown = "standard output" if name == STANDARD else name
            raise click.UsageError(f"{shown} is also an input, and would be overwritten; name another output")


def _identity(name: str, standard: Callable[[], IO[bytes]]) -> tuple[int, int] | str | None:
    """Device and inode of a regular file; the name of one of another machine; None: there is no regular file of that name."""
    if remote.is_remote(name):
        return remote.canonical(name)
    try:
        status = os.fstat(standard().fileno()) if name == STANDARD else Path(name).stat()
    except (FileNotFoundError, io.UnsupportedOperation):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device: something to be written to, and on no account to be replaced."""
    return path.exists() and not path.is_file()


def show(lines: Iterable[str]) -> None:
    """Write lines to standard output, as UTF-8 wherever it leads."""
    with written(STANDARD) as out:
        for line in lines:
            out.write(line.encode("utf-8", "surrogateescape") + b"\n")
