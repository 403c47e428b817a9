"""Checks of files before they are read. Only regular files are read, since a pipe may block forever, and a device may have no end."""

from __future__ import annotations

import stat
from pathlib import Path

from fst.errors import FstError

KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def need_regular(path: Path, error: type[FstError]) -> None:
    """Refuse a pipe, a socket or a device before it is opened. `path`: the path of a file or a folder. `error`: the class of the error."""
    kind = KINDS.get(stat.S_IFMT(path.stat().st_mode))
    if kind:
        raise error(f"{path} is {kind}; expected a regular file; copy its contents to a file")


def contents(path: Path, most: int, error: type[FstError]) -> bytes:
    """Read a regular file; raise an error if it has more than `most` bytes.

    Args:
        path: the file.
        most: the maximum number of bytes. The number of bytes read is checked, too, because a file of a virtual file system may have more
            bytes than its stated size.
        error: the class of the error.
    """
    need_regular(path, error)
    size = path.stat().st_size
    if size <= most:
        with path.open("rb") as file:
            data = file.read(size + 1)  # not `most` at once: Python reserves memory for as many bytes
            data += file.read(most - size) if len(data) > size else b""
        if len(data) <= most:
            return data
    raise error(f"{path} is larger than {most >> 20:,} MiB; expected a smaller file")
