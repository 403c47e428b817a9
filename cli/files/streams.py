"""Outputs as bytes: standard output, and files that get their name only when they are complete."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from fst.core import remote
from fst.runtime.files.streams import STANDARD, standard_input


def standard_output() -> IO[bytes]:
    """Standard output, as bytes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed", "standard output")
    return sys.stdout.buffer


@contextmanager
def written(name: str) -> Iterator[IO[bytes]]:
    """An output file, or standard output for "-". A regular or remote file gets its name only when it is complete."""
    if name == STANDARD:
        yield standard_output()
        standard_output().flush()
        return
    if remote.is_remote(name):
        with remote.written(name) as file:
            yield file
        return
    from fst.tables.npz import replacing

    path = target(name)
    try:
        with path.open("wb") if is_device(path) else replacing(path) as file:
            yield file
    except OSError as error:
        if error.filename is None:
            error.filename = name
        raise


def target(name: str) -> Path:
    """The path of the file that an output replaces, after a check that its folder can be written."""
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(mode):
        return path
    path = path.resolve()  # a symbolic link stays, and the file that it points to is replaced
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no folder {path.parent} to write it in", name)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"the folder {path.parent} cannot be written", name)
    return path


def check_target(name: str) -> None:
    """Check that an output can be written: for a local file, create a file in its folder and remove it. A remote file cannot be checked."""
    from fst.tables.npz import need_writable

    if name != STANDARD and not remote.is_remote(name) and not is_device(path := target(name)):
        need_writable(path)


def check_folder(name: str, files: Iterable[str]) -> None:
    """Check in advance that files can be written into a folder, which may be missing."""
    if remote.is_remote(name):
        return
    there = next(path for path in (Path(name).absolute(), *Path(name).absolute().parents) if path.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    for file in files if there == Path(name).absolute() else [str(there / Path(name).name)]:
        check_target(file)


def is_there(name: str) -> bool:
    """Whether a file exists."""
    return remote.is_there(name) if remote.is_remote(name) else Path(name).exists()


def modified(name: str) -> float:
    """The time of the last change of a file, in seconds. If the server of a remote file reports no time, a time in the distant past is
    returned.
    """
    return remote.modified(name) if remote.is_remote(name) else Path(name).stat().st_mtime


def keep_apart(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Raise an error if an output is also an input, even under another name. "-" means standard output, but in `inputs` standard input."""
    read = {_identity(name, standard_input) for name in inputs} - {None}
    for name in outputs:
        if _identity(name, standard_output) in read:
            shown = "standard output" if name == STANDARD else name
            raise click.UsageError(f"{shown} is also an input, and would be overwritten; name another output")


def _identity(name: str, standard: Callable[[], IO[bytes]]) -> tuple[int, int] | str | None:
    """A value that identifies a file: device and inode of a local file, or the name of a remote file; None if the file is not regular."""
    if remote.is_remote(name):
        return remote.canonical(name)
    try:
        status = os.fstat(standard().fileno()) if name == STANDARD else Path(name).stat()
    except (FileNotFoundError, io.UnsupportedOperation):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def flush_output() -> None:
    """Flush standard output. If this fails, drop the data; otherwise, Python would try to write the data again at exit, and report an
    error.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        drop_output()


def drop_output() -> None:
    """Discard all further standard output, because its reader may never read it."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device. An output is written into such a file; it does not replace the file."""
    return path.exists() and not path.is_file()


def show(lines: Iterable[str]) -> None:
    """Write lines to standard output, always as UTF-8."""
    with written(STANDARD) as out:
        for line in lines:
            out.write(line.encode("utf-8", "surrogateescape") + b"\n")
