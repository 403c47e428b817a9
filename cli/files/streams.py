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
from fst.runtime.files.outputs import is_device, target, written_file
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
    with written_file(name) as file:
        yield file


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


def show(lines: Iterable[str]) -> None:
    """Write lines to standard output, always as UTF-8."""
    with written(STANDARD) as out:
        for line in lines:
            out.write(line.encode("utf-8", "surrogateescape") + b"\n")
