"""Files of object stores and servers, such as ``s3://bucket/part.jsonl.gz``. The package fsspec and its plug-ins read and write them."""

from __future__ import annotations

import glob
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import IO, Any

from fst.errors import FstError, UnsupportedError

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # a scheme of one letter would be a drive of Windows


def is_remote(name: str) -> bool:
    """Whether a name is a URL."""
    return URL.match(name) is not None


def opened(url: str) -> Any:
    """A file to read.

    Raises:
        UnsupportedError: the package that reads it is not installed.
        OSError: it cannot be read.
    """
    system, path = _found(url)
    with _telling(url):
        return system.open(path, "rb")


def size(url: str) -> int | None:
    """The bytes of a file; None if they are not known.

    Raises:
        UnsupportedError, OSError: as in `opened`.
    """
    system, path = _found(url)
    with _telling(url):
        found: int | None = system.info(path).get("size")
    return found


def is_there(url: str) -> bool:
    """Whether a file exists."""
    system, path = _found(url)
    with _telling(url):
        return bool(system.exists(path))


def is_folder(url: str) -> bool:
    """Whether a URL is that of a folder that exists."""
    system, path = _found(url)
    with _telling(url):
        return bool(system.isdir(path))


def modified(url: str) -> float:
    """The time when a file was changed last, in seconds; that of a file whose server does not state it is long ago."""
    system, path = _found(url)
    with _telling(url):
        try:
            return float(system.modified(path).timestamp())
        except NotImplementedError:
            return -inf


@contextmanager
def written(url: str) -> Iterator[IO[bytes]]:
    """A file to write. It is collected on this machine and sent once it is complete, so that it appears whole or not at all.

    Raises:
        UnsupportedError, OSError: as in `opened`, for writing.
    """
    system, path = _found(url)
    with tempfile.NamedTemporaryFile() as file:
        yield file
        file.flush()
        with _telling(url):
            system.put_file(file.name, path)


def files(url: str) -> Sequence[str]:
    """The files in a folder, or those that match a pattern, or else the file itself.

    Raises:
        UnsupportedError, OSError: as in `opened`.
    """
    system, path = _found(url)
    with _telling(url):
        if system.isfile(path):
            return [url]
        found = filter(system.isfile, system.glob(path)) if glob.has_magic(path) else system.find(path)
        return [system.unstrip_protocol(path) for path in sorted(found)]


@contextmanager
def _telling(url: str) -> Iterator[None]:
    """Name the file in errors, of which each plug-in has its own."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or url
        raise
    except Exception as error:
        raise FstError(f"{url}: {error}") from None


def _found(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        told = f"{url}: files that are not on this machine take fsspec, which is not installed: pip install fsspec"
        raise UnsupportedError(told) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"{url}: {error}") from None
    return system, path
