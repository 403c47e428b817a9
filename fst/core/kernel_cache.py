"""Compiled kernels on disk.

Numba's own cache reads only from writable folders, so a process in a read-only image compiles all kernels again. This cache reads from
every folder that other users cannot write to, and writes to the first writable folder. A file contains the machine code of one function for
one processor and one set of argument types, and a digest of this code and of all source files from which it is compiled. A stale or damaged
file is ignored. If several processes need a kernel at the same time, one process compiles it, and all others wait for its file.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba import types
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from fst.core import borrowed, cache_folder, passes
from fst.core.cache_folder import is_safe

try:
    import fcntl
except ImportError:  # there is no fcntl on Windows, so every process compiles its own kernels there
    fcntl = None  # type: ignore[assignment]

DIGEST = 32  # number of bytes of the SHA-256 digest, with which a file begins
REDUCE: Any = CompileResult._reduce
REBUILD: Any = CompileResult._rebuild
# `from fst.x import a, b`, also in parentheses over several lines; and `import fst.x`.
IMPORT = re.compile(r"\n(?:from (fst(?:\.\w+)*) import (\([^)]*|.*)|import (fst(?:\.\w+)*))")
PATIENCE = 60.0  # seconds after which a process compiles a kernel, even if another process is compiling it

_full: dict[Path, str | None] = {}  # each folder in which a kernel could not be written → the reason


class KernelCache:
    """The machine code of one function on disk: a replacement for numba's `FunctionCache`.

    Args:
        function: the kernel in Python.
    """

    def __init__(self, function: Any) -> None:
        self._source = Path(function.__globals__.get("__file__", ""))
        self._name = f"{self._source.stem}.{function.__qualname__}"

    def load_overload(self, kinds: Any, context: Any) -> Any | None:
        """The cached machine code for arguments of these types; None if no folder contains it."""
        name, key = self._file(kinds, context.codegen())
        for folder in folders(self._source):
            with suppress(OSError):
                code = _read(folder / name)
                if code[:DIGEST] == self._digest(key, code[DIGEST:]):
                    return REBUILD(context, *pickle.loads(code[DIGEST:]))
        return None

    def save_overload(self, kinds: Any, result: Any) -> None:
        """Write machine code that numba has just compiled. If the write fails, this process continues, and the next process compiles the
        kernel again.
        """
        folder, _ = self._destination()
        if folder is None or result.library.has_dynamic_globals:
            return
        name, key = self._file(kinds, result.library.codegen)
        code = dumps(REDUCE(result))
        try:
            _write(folder / name, self._digest(key, code) + code)
        except OSError as error:
            _full[folder] = error.strerror
            logging.getLogger("fst").warning("fst: kernels are not kept: %s: %s", folder, error.strerror)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until no other process compiles kernels of this source file; then make other processes wait until the context ends.

        The lock is on the source file, which every process can read; a separate lock file would have to be created, owned and removed. A
        process waits at most `PATIENCE` seconds; on a file system without locks, it does not wait.
        """
        if fcntl is None or not self.destination()[0]:
            yield
            return
        with self._source.open("rb") as file:
            _lock(file.fileno())
            yield

    def destination(self) -> tuple[bool, str]:
        """Whether kernels are cached on disk; and a text that contains the folder, or the reason why they are not cached."""
        folder, obstacles = self._destination()
        if folder:
            return True, f"kept in {folder}"
        return False, f"not kept: {'; '.join(obstacles)}; set NUMBA_CACHE_DIR to a folder that you can write"

    def _destination(self) -> tuple[Path | None, list[str]]:
        """The first writable folder, and for each folder before it the reason why it is not writable."""
        obstacles: list[str] = []
        for folder in folders(self._source):
            obstacle = _full.get(folder) or cache_folder.obstacle(folder)
            if obstacle is None:
                return folder, obstacles
            obstacles.append(f"{folder}: {obstacle}")
        return None, obstacles

    def _file(self, kinds: Any, codegen: Any) -> tuple[str, bytes]:
        """The file name for argument types on this processor, and the key that is part of the file's digest."""
        versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
        key = repr((versions, [*map(_described, kinds)], codegen.magic_tuple())).encode()
        return f"{self._name}-{sha256(key).hexdigest()[:16]}.kernel", key

    def _digest(self, key: bytes, code: bytes) -> bytes:
        """The digest of machine code together with its key and its source files."""
        return sha256(key + digest_of_sources(str(self._source)) + code).digest()


def _lock(descriptor: int) -> None:
    """Lock a file until it is closed; give up after `PATIENCE` seconds."""
    end = monotonic() + PATIENCE
    while not _is_locked(descriptor) and monotonic() < end:
        sleep(0.02)


def _is_locked(descriptor: int) -> bool:
    """Try to lock a file. Return True if this process has the lock, or if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _described(kind: Any) -> str:
    """The full name of a numba type. The name that numba gives to a NamedTuple lacks the module and the fields of the NamedTuple."""
    if not isinstance(kind, types.BaseTuple):
        return str(kind)
    of_any: Any = kind
    parts, of = ", ".join(map(_described, of_any)), getattr(kind, "instance_class", tuple)
    return f"{of.__module__}.{of.__qualname__}{getattr(kind, 'fields', '')}({parts})"


@cache
def digest_of_sources(path: str) -> bytes:
    """The digest of `sources_of` a file."""
    return b"".join(sorted(_source(source)[0] for source in sources_of(path)))


@cache
def sources_of(path: str) -> set[str]:
    """All sources that affect the compilation of a kernel in a file.

    The sources are the file, all modules of this package that it imports, directly or indirectly, and the modules of `fst.core` that
    compile it.
    """
    found = set[str]()
    pending = {path, str(borrowed.__file__), str(passes.__file__)}
    while pending:
        source = pending.pop()
        found.add(source)
        pending |= _source(source)[1] - found
    return found


@cache
def _source(path: str) -> tuple[bytes, set[str]]:
    """The digest of a source, and the files of this package that it imports at its top level."""
    text = Path(path).read_bytes()
    files = {getattr(sys.modules.get(name), "__file__", None) for name in _imports(text.decode())}
    return sha256(text).digest(), {file for file in files if file}


def _imports(text: str) -> set[str]:
    """The names in this package that a source imports at its top level; some of these names are not modules."""
    found: set[str] = set()
    for module, names, alone in IMPORT.findall("\n" + text):
        found |= {alone or module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
    return found


def keep(compiled: Any) -> None:
    """Replace numba's cache of a function with a `KernelCache`."""
    compiled._cache = KernelCache(compiled.py_func)


def folders(source: Path) -> list[Path]:
    """The folders for kernels of a source file: in NUMBA_CACHE_DIR if it is set; otherwise next to the file and in the user's cache."""
    named: str = vars(config)["CACHE_DIR"]
    if named:
        return [Path(named, cache_folder.OWN)]
    users = cache_folder.users()
    return [source.parent / "__pycache__", *([users] if users else [])]


def _read(path: Path) -> bytes:
    """The contents of a file; empty if the file or its folder is not safe."""
    with path.open("rb") as file:
        return file.read() if is_safe(path.parent.stat()) and is_safe(os.fstat(file.fileno())) else b""


def _write(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and then rename it, so that no process reads an incomplete file."""
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
            file.write(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
