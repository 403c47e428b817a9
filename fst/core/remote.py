"""Files of object stores and servers, such as ``s3://bucket/part.jsonl.gz``. The package fsspec and its plug-ins read and write these
files.
"""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import IO, Any

from fst.errors import FstError, UnsupportedError

URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]+://")  # one letter is a Windows drive, not a scheme
OF_THIS_MACHINE = ("file://", "local://")


def plain(name: str) -> str:
    """Convert the URL of a local file to its path; other names are unchanged."""
    return next((name.removeprefix(scheme) for scheme in OF_THIS_MACHINE if name.startswith(scheme) and "::" not in name), name)


def is_remote(name: object) -> bool:
    """Whether a name is a URL."""
    return isinstance(name, str) and URL.match(name) is not None


def file_of(name: str) -> str:
    """A name up to the end of its file name: without a query, and without the URL of the archive that contains the file."""
    if not is_remote(name):
        return name
    link = next(link for link in name.split("::") if "://" in link)
    return link.partition("?")[0] if link.startswith("http") else link


def canonical(url: str) -> str:
    """A URL in the canonical spelling of its file system."""
    return _named(url, *_found(url))


@contextmanager
def opened(url: str) -> Iterator[Any]:
    """Open a file to read. The file system object exists until the file is closed, because some objects, if deleted, close files."""
    system, path = _found(url)
    with _telling(url):
        file = system.open(path, "rb")
    with file:
        yield file


def read(url: str, most: int) -> bytes:
    """The first bytes of a file, at most `most` bytes."""
    with opened(url) as file, _telling(url):
        data: bytes = file.read(most)
    return data


def size(url: str) -> int | None:
    """The size of a file in bytes; None if the file system does not report sizes."""
    system, path = _found(url)
    with _telling(url):
        found: int | None = system.info(path).get("size")
    return found


def is_there(url: str) -> bool:
    """Whether a file exists."""
    system, path = _found(url)
    with _telling(url):
        return bool(system.exists(path))


def remove(url: str) -> None:
    """Remove a file."""
    system, path = _found(url)
    with _telling(url):
        system.rm_file(path)


def is_folder(url: str) -> bool:
    """Whether a URL names an existing folder."""
    system, path = _found(url)
    with _telling(url):
        return bool(system.isdir(path))


def modified(url: str) -> float:
    """The time of a file's last change, in seconds; `-inf` if the file system does not report times."""
    system, path = _found(url)
    with _telling(url):
        try:
            return float(system.modified(path).timestamp())
        except NotImplementedError:
            return -inf


@contextmanager
def written(url: str) -> Iterator[IO[bytes]]:
    """Open a file to write. The data is first written to a local temporary file, which is sent when it is complete."""
    from tempfile import NamedTemporaryFile

    system, path = _found(url)
    with NamedTemporaryFile() as file:
        yield file
        file.flush()
        with _telling(url):
            system.put_file(file.name, path)


@contextmanager
def fetched(name: str) -> Iterator[str]:
    """The path of a file or a folder; for a URL, the path of a temporary local copy."""
    if not is_remote(name):
        yield name
        return
    from tempfile import TemporaryDirectory

    system, path = _found(name)
    with TemporaryDirectory() as folder:
        copy = Path(folder, Path(path).name)
        with _telling(name):
            system.get(path, str(copy), recursive=system.isdir(path))
        yield str(copy)


def files(url: str) -> Sequence[str]:
    """The files in a folder, the files that match a pattern, or the file itself."""
    system, path = _found(url)
    with _telling(url):
        if system.isfile(path):
            return [url]
        found = filter(system.isfile, system.glob(path)) if glob.has_magic(path) else system.find(path)
        return [_named(url, system, path) for path in sorted(found)]


def _named(url: str, system: Any, path: str) -> str:
    """The URL of `path` in the file system of `url`, such as ``zip://a.txt::s3://bucket/b.zip``."""
    links = url.split("::")
    at = next(number for number, link in enumerate(links) if "://" in link)
    return "::".join([*links[:at], system.unstrip_protocol(path), *links[at + 1 :]])


@contextmanager
def _telling(url: str) -> Iterator[None]:
    """Add the URL to errors, and convert the error classes of plug-ins to classes of this package."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from None
    except OSError as error:
        if error.strerror is None:
            raise FstError(f"{url}: {error}") from None
        error.filename = error.filename or url
        raise
    except (ImportError, NotImplementedError, ValueError) as error:
        raise UnsupportedError(f"{url}: {str(error) or 'its file system cannot do this'}") from None
    except Exception as error:
        raise FstError(f"{url}: {str(error) or type(error).__name__}") from None


def _found(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        reason = f"{url}: remote files need fsspec, which is not installed: pip install fsspec"
        raise UnsupportedError(reason) from None
    with _telling(url):
        system, path = fsspec.core.url_to_fs(url)
    return system, path
