"""Write files, local or remote, that get their name only when they are complete; find and remove files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fst.core import remote


@contextmanager
def written_file(name: str) -> Iterator[IO[bytes]]:
    """Open an output file. A regular or remote file gets its name only when the context ends without an error."""
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


def is_device(path: Path) -> bool:
    """Whether a path is a pipe or a device. An output is written into such a file; it does not replace the file."""
    return path.exists() and not path.is_file()


def is_there(name: str) -> bool:
    """Whether a file exists."""
    return remote.is_there(name) if remote.is_remote(name) else Path(name).exists()


def modified(name: str) -> float:
    """The time of the last change of a file, in seconds. If the server of a remote file reports no time, a time in the distant past is
    returned.
    """
    return remote.modified(name) if remote.is_remote(name) else Path(name).stat().st_mtime


def remove(name: str) -> None:
    """Remove a file, if it exists."""
    if not remote.is_remote(name):
        Path(name).unlink(missing_ok=True)
    elif remote.is_there(name):
        remote.remove(name)


def read(name: str) -> bytes:
    """Read a whole file."""
    if remote.is_remote(name):
        with remote.opened(name) as file:
            data: bytes = file.read()
            return data
    return Path(name).read_bytes()
