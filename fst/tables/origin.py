"""The file that a table comes from, by which the table is pickled."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from fst.core import remote
from fst.core.regular_files import need_regular
from fst.errors import TableError


def digest_of(directory: bytes) -> str:
    """The digest of a table: SHA-256 of the directory at the end of its file, which contains the name, the size and the CRC-32 of each
    array. So no array is read again; a file is read whole, and compared with its directory, whenever it is loaded.
    """
    return sha256(directory).hexdigest()


class Origin(NamedTuple):
    """The file that a table comes from.

    Attributes:
        place: an absolute path, or a URL.
        digest: the digest of the table, see `digest_of`.
        size: the number of bytes of the directory.
    """

    place: str
    digest: str
    size: int

    @classmethod
    def of(cls, path: str | Path, directory: bytes) -> Origin:
        """The origin of a table that was loaded from a path or a URL, given the directory at the end of the file."""
        place = remote.plain(str(path))
        return cls(place if remote.is_remote(place) else str(Path(place).absolute()), digest_of(directory), len(directory))

    @property
    def is_current(self) -> bool:
        """Whether the file still has the digest of the table; true for a URL, which is not read."""
        if remote.is_remote(self.place):
            return True
        with suppress(OSError, TableError):
            path = Path(self.place)
            need_regular(path, TableError)
            with path.open("rb") as file:
                file.seek(-self.size, os.SEEK_END)
                return digest_of(file.read(self.size)) == self.digest
        return False
