"""Files that others name: only regular ones are read, since a pipe may wait for ever, and a device may have no end."""

from __future__ import annotations

import stat
from pathlib import Path

from fst.errors import FstError

KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def need_regular(path: Path, error: type[FstError]) -> None:
    """Refuse a pipe, a socket or a device before it is opened.

    Args:
        path: the file, or a folder.
        error: the class of the error.

    Raises:
        OSError: there is no such file.
    """
    kind = KINDS.get(stat.S_IFMT(path.stat().st_mode))
    if kind:
        raise error(f"{path} is {kind}; expected a regular file; copy what it gives into one")


def contents(path: Path, most: int, error: type[FstError]) -> bytes:
    """The bytes of a regular file, at most `most`.

    Args:
        path: the file.
        most: its maximum size; a file of a virtual system may have more bytes than its size.
        error: the class of the error.

    Raises:
        OSError: it cannot be read.
    """
    need_regular(path, error)
    if path.stat().st_size <= most:
        with path.open("rb") as file:
            data = file.read(most + 1)
        if len(data) <= most:
            return data
    raise error(f"{path} is larger than {most >> 20:,} MiB; expected a smaller file")
