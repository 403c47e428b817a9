"""A cache on disk for tables of live tokenizers, folders, names and splitters, so that later processes do not compile them again.

The name of a file is a digest of the tokenizer and of the compiler's sources, so a stale file is never read. A table is proven safe when it
is loaded. A file that is damaged, or that other users can write to, is ignored.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fst import registry
from fst.core import cache_folder
from fst.core.version import VERSION
from fst.errors import TableError

PACKAGES = ("core", "automata", "tables", "text", "pretokens", "machines")
MAX_BYTES = 1 << 29  # maximum size of all tables in the folder; the least recently used tables are removed first

# The files that determine a table: package → its folders, and the endings of the files.
SOURCES = {"fst": (PACKAGES, (".py",)), "fst.compile": ((".",), (".py", ".tsv", ".xz"))}


def table_of(name: str | None, content: bytes, compile_it: Callable[[], Any]) -> Any:
    """The cached table of a tokenizer or of a splitter. If the cache has no table, write a line to the log, compile the table, and write it
    to the cache.

    Args:
        name: the name of the tokenizer in the log; None: no log.
        content: everything in the tokenizer or splitter that determines the table.
        compile_it: a function that compiles the table.
    """
    users = cache_folder.users()
    path = users / "tables" / f"{_digest(content)}.npz" if users else None
    if path and (found := _kept(path)) is not None:
        return found
    obstacle = cache_folder.obstacle(path.parent) if path else "the user has no home folder"
    where = f"not kept: {obstacle}" if path is None or obstacle else f"kept in {path.parent}"
    if name is not None:
        logging.getLogger("fst").warning("fst: compiling %s, up to 20 s; %s", name, where)
    table = compile_it()
    if path and not obstacle:
        _keep(table, path)
        found = _kept(path)  # read again, so that the table's origin is its file, as in later processes
    return table if found is None else found


def _digest(content: bytes) -> str:
    return sha256(_sources() + content).hexdigest()


@cache
def _sources() -> bytes:
    """The digest of all files on which a compiled table depends."""
    digest = sha256(VERSION.encode())
    for package, (folders, endings) in SOURCES.items():
        spec = find_spec(package)  # `find_spec` finds the compiler without importing it
        if spec and spec.origin:
            for folder in folders:
                for content in _contents(Path(spec.origin).parent / folder, endings):
                    digest.update(sha256(content).digest())
    return digest.digest()


def _contents(folder: Path, endings: tuple[str, ...]) -> Iterator[bytes]:
    """The contents of the files with one of these endings, in the order of their names. `Path.glob` would take twice as long."""
    for place, names, files in os.walk(folder):
        names.sort()
        for name in sorted(files):
            if name.endswith(endings):
                with open(os.path.join(place, name), "rb", buffering=0) as file:  # noqa: PTH118, PTH123 - called 400 times at each start
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


def _keep(table: Any, path: Path) -> None:
    """Write a table, and remove the least recently used tables beyond `MAX_BYTES`. The new file appears only when it is complete."""
    try:
        table.save(path)
        files = sorted(((file.stat(), file) for file in path.parent.iterdir()), key=lambda one: one[0].st_mtime, reverse=True)
        total = 0
        for status, file in files:
            total += status.st_size
            if total > MAX_BYTES:
                file.unlink()
    except OSError as error:
        logging.getLogger("fst").warning("fst: the table is not kept: %s: %s", path.parent, error.strerror)
