"""A cache on disk for compiled tables, so that later processes do not compile the same tokenizer or splitter again.

The name of a file is a digest of the tokenizer, of the compiler's sources and of the version of Python, so a stale file is never read. A
table is proven safe when it is loaded. A file that is damaged, or that other users can write to, is ignored. If several processes need the
same table at the same time, one process compiles it, and all others wait for its file.

==================== ==========================================================================================
``DIGEST.npz``       a table
``DIGEST.source``    the name of the source of the table, for `fst cache`; locked while the table is compiled
==================== ==========================================================================================
"""

from __future__ import annotations

import logging
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fst import registry
from fst.core import cache_folder
from fst.core.version import VERSION
from fst.errors import FstError, TableError, cut, quoted

VARIABLE = "FST_CACHE"
PACKAGES = ("core", "automata", "tables", "text", "pretokens", "machines")
MAX_BYTES = 1 << 29  # maximum size of all tables in the folder together; the least recently used tables are removed first
NAME = re.compile(r"[0-9a-f]{64}\.npz")
SPLITTER = "a splitter"
LONGEST_NAME = 120  # characters of a name in the log, which may contain a path and the number of tokens

# The files that determine a table: package → its folders, and the endings of the files.
SOURCES = {"fst": (PACKAGES, (".py",)), "fst.compile": ((".",), (".py", ".tsv", ".xz"))}


def folder() -> tuple[Path | None, str]:
    """The folder of the tables, and ""; or None, and the reason.

    The environment variable FST_CACHE names the folder. By default, it is ``fst-toolkit-VERSION/tables`` in the user's cache.
    """
    if named := os.environ.get(VARIABLE):
        path = Path(named)
        return (path, "") if path.is_absolute() else (None, f"{VARIABLE} is {quoted(named)}; expected an absolute path")
    users = cache_folder.users()
    return (users / "tables", "") if users else (None, "the user has no home folder")


def folders_of_tables() -> list[Path]:
    """The folder of the tables, and those of other versions of this package in the user's cache.

    Raises:
        FstError: FST_CACHE is not an absolute path, or the user has no home folder.
    """
    own, obstacle = folder()
    if own is None:
        raise FstError(f"the folder of cached tables is missing: {obstacle}")
    users = cache_folder.users()
    if os.environ.get(VARIABLE) or users is None:
        return [own]
    others = (path / "tables" for path in sorted(users.parent.glob(users.name.replace(VERSION, "*"))) if not path.is_symlink())
    return [own, *(path for path in others if path != own and path.is_dir() and not path.is_symlink())]


def table_with(content: bytes) -> Any | None:
    """The cached table of a tokenizer or splitter with a `content`, see `table_of`; None if the cache has no such table."""
    place, _ = folder()
    return _kept(place / _name(content)) if place else None


def table_of(name: str | None, content: bytes, compile_it: Callable[[], Any]) -> Any:
    """The cached table of a tokenizer or of a splitter. If the cache has no table, write a line to the log, compile the table, and write it
    to the cache. If another process is compiling the same table, wait for it.

    Args:
        name: the name of the tokenizer, for the log and for `fst cache`; None for a splitter, which is not logged.
        content: everything in the tokenizer or splitter that determines the table.
        compile_it: a function that compiles the table.
    """
    found = table_with(content)
    if found is not None:
        return found
    place, obstacle = folder()
    if place and (reason := cache_folder.obstacle(place)):
        place, obstacle = None, f"{place}: {reason}"
    if place is None:
        _log(name, f"not kept: {obstacle}")
        return compile_it()
    path = place / _name(content)
    with ExitStack() as stack:
        with suppress(OSError):  # if the disk is full, the table is compiled without a lock
            stack.enter_context(cache_folder.alone(source_of(path), "ab"))
        found = _kept(path)  # of a process that had the lock before
        return _compiled(name, path, compile_it) if found is None else found


def _compiled(name: str | None, path: Path, compile_it: Callable[[], Any]) -> Any:
    """Compile a table, and write it to a file; if this fails, leave no file with the name of its source."""
    _log(name, f"kept in {path.parent}")
    try:
        table = compile_it()
        _keep(table, path, name or SPLITTER)
    finally:
        if not path.exists():
            with suppress(OSError):  # Windows does not remove an open file
                source_of(path).unlink(missing_ok=True)
    found = _kept(path)  # read again, so that the table's origin is its file, as in later processes
    return table if found is None else found


def _log(name: str | None, where: str) -> None:
    if name is not None:
        logging.getLogger("fst").warning("fst: compiling %s, up to 20 s; %s", cut(name, LONGEST_NAME), where)


def _name(content: bytes) -> str:
    return f"{sha256(_sources() + content).hexdigest()}.npz"


@cache
def _sources() -> bytes:
    """The digest of everything on which a compiled table depends, apart from its source: the compiler's files, and the version of Python,
    whose module `unicodedata` the compiler uses.
    """
    digest = sha256(f"{VERSION} {sys.implementation.cache_tag}".encode())
    for package, (folders, endings) in SOURCES.items():
        spec = find_spec(package)  # `find_spec` finds the compiler without importing it
        if spec and spec.origin:
            for each in folders:
                for content in _contents(Path(spec.origin).parent / each, endings):
                    digest.update(sha256(content).digest())
    return digest.digest()


def _contents(place: Path, endings: tuple[str, ...]) -> Iterator[bytes]:
    """The contents of the files in a folder with one of these endings, in the order of their names. `Path.glob` takes twice as long."""
    for inner, names, files in os.walk(place):
        names.sort()
        for name in sorted(files):
            if name.endswith(endings):
                with open(os.path.join(inner, name), "rb", buffering=0) as file:  # noqa: PTH118, PTH123 - called 400 times at each start
                    yield file.readall()


def _kept(path: Path) -> Any | None:
    """The proven table in a file; None if the file is missing, unsafe or damaged."""
    with suppress(OSError, TableError):
        if cache_folder.is_safe(path.parent.stat()) and cache_folder.is_safe(path.stat()):
            table = registry.load(path)
            with suppress(OSError):
                os.utime(path)
            return table
    return None


def _keep(table: Any, path: Path, name: str) -> None:
    """Write a table and the name of its source, and remove the least recently used tables beyond `MAX_BYTES`. The table appears only when
    it is complete.
    """
    try:
        source_of(path).write_text(str(Path(name).absolute()) if Path(name).exists() else name, "utf-8", "backslashreplace")
        table.save(path)
        total = 0
        for file, status in tables_in(path.parent):
            total += status.st_size
            if total > MAX_BYTES:
                remove_table(file)
    except OSError as error:
        logging.getLogger("fst").warning("fst: the table is not kept: %s: %s", error.filename or path.parent, error.strerror)


def tables_in(place: Path) -> list[tuple[Path, os.stat_result]]:
    """The files of tables in a folder, and their status; the most recently used first. Links and other files are left out."""
    named = (path for path in (place.iterdir() if place.is_dir() else ()) if NAME.fullmatch(path.name))
    return sorted(filter(None, map(_regular, named)), key=lambda found: found[1].st_mtime, reverse=True)


def _regular(path: Path) -> tuple[Path, os.stat_result] | None:
    """A regular file and its status; None for links, folders, and a file that another process has removed."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return (path, status) if stat.S_ISREG(status.st_mode) else None
    return None


def source_of(path: Path) -> Path:
    """The file with the name of the source of a table. `path`: the file of the table."""
    return path.with_suffix(".source")


def remove_table(path: Path) -> None:
    """Remove the file of a table and the name of its source."""
    path.unlink(missing_ok=True)
    source_of(path).unlink(missing_ok=True)
