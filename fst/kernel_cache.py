"""Compiled kernels on disk.

Numba's own cache asks for a folder that can be written before it reads one, so that kernels in an image are compiled again wherever the
image is read-only. This cache reads from any folder that no stranger can write to, and writes to the first one that it can. A file holds
the machine code of one function for one processor, and a digest of the code and of its sources: one that is stale or damaged counts for
nothing.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

import fst
from fst import lent

DIGEST = 32  # bytes of SHA-256, at the beginning of a file
# Private parts of numba; without them `fst.jit` does without this module.
REDUCE: Any = CompileResult._reduce
REBUILD: Any = CompileResult._rebuild
BY_OTHERS = 0o002  # the permission to write that everybody has

_full: dict[Path, str | None] = {}  # folders that took no kernel, and why


class KernelCache:
    """The machine code of one function on disk. Numba calls it in place of its `FunctionCache`.

    Args:
        function: the kernel in Python.
    """

    def __init__(self, function: Any) -> None:
        self._source = Path(function.__globals__.get("__file__", ""))
        self._name = f"{self._source.stem}.{function.__qualname__}"
        self._globals = function.__globals__

    def load_overload(self, kinds: Any, context: Any) -> Any | None:
        """What numba compiled for arguments of these types, or None if no folder has it."""
        name, key = self._file(kinds, context.codegen())
        for folder in folders(self._source):
            with suppress(OSError):
                code = _read(folder / name)
                if code[:DIGEST] == self._digest(key, code[DIGEST:]):
                    return REBUILD(context, *pickle.loads(code[DIGEST:]))
        return None

    def save_overload(self, kinds: Any, result: Any) -> None:
        """Keep what numba compiled. Where that fails, the next process compiles again, and this one goes on."""
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

    def destination(self) -> tuple[bool, str]:
        """Whether kernels are kept, and where they are, or why they are not."""
        folder, obstacles = self._destination()
        if folder:
            return True, f"kept in {folder}"
        return False, f"not kept: {'; '.join(obstacles)}; set NUMBA_CACHE_DIR to a folder that you can write"

    def _destination(self) -> tuple[Path | None, list[str]]:
        """The first folder that can be written, and what is in the way of those before it."""
        obstacles: list[str] = []
        for folder in folders(self._source):
            obstacle = _full.get(folder) or _obstacle(folder)
            if obstacle is None:
                return folder, obstacles
            obstacles.append(f"{folder}: {obstacle}")
        return None, obstacles

    def _file(self, kinds: Any, codegen: Any) -> tuple[str, bytes]:
        """The name of the file for types of arguments on this processor, and all that it stands for."""
        key = repr((numba.__version__, llvmlite.__version__, sys.implementation.cache_tag, str(kinds), codegen.magic_tuple())).encode()
        return f"{self._name}-{sha256(key).hexdigest()[:16]}.kernel", key

    def _digest(self, key: bytes, code: bytes) -> bytes:
        """The digest of machine code, of what it was compiled for and of what it was compiled from.

        Its sources are the file of the function, and those of the package that it takes something from.
        """
        modules = {getattr(value, "__module__", None) or "" for value in self._globals.values()}
        sources = {sys.modules[name].__file__ for name in modules if name.startswith("fst.")} | {str(self._source), lent.__file__}
        digest = sha256(key)
        for source in sorted(filter(None, sources)):
            digest.update(sha256(Path(source).read_bytes()).digest())
        digest.update(code)
        return digest.digest()


def keep(compiled: Any) -> None:
    """Have numba keep the machine code of a function by this cache.

    Raises:
        AttributeError: it has no cache that could be replaced.
    """
    if not hasattr(compiled, "_cache"):
        raise AttributeError("numba's functions have no _cache")
    compiled._cache = KernelCache(compiled.py_func)


def folders(source: Path) -> list[Path]:
    """Where the kernels of a source file may lie: where NUMBA_CACHE_DIR says; if it says nothing, beside it or in the user's cache."""
    own = f"fst-toolkit-{fst.__version__}"
    named: str = vars(config)["CACHE_DIR"]
    if named:
        return [Path(named, own)]
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), own)  # noqa: PTH111 - which raises where there is no home
    return [source.parent / "__pycache__", *[users] * users.is_absolute()]


def _obstacle(folder: Path) -> str | None:
    """What is in the way of keeping kernels in a folder, which is made if it is not there."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not _is_safe(folder.stat()):
            return "another user can write to it"
    except OSError as error:
        return error.strerror
    return None if os.access(folder, os.W_OK | os.X_OK) else "it cannot be written"


def _is_safe(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to root, this user or the owner of this package, and only they and their group can write to it.

    A kept kernel is a program: whoever can write it acts as the user who reads it.
    """
    if os.name != "posix":
        return True
    trusted = {0, os.geteuid(), Path(__file__).stat().st_uid}
    return status.st_uid in trusted and not status.st_mode & BY_OTHERS


def _read(path: Path) -> bytes:
    """The contents of a file, or nothing if it is not safe to use."""
    with path.open("rb") as file:
        return file.read() if _is_safe(path.parent.stat()) and _is_safe(os.fstat(file.fileno())) else b""


def _write(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
            file.write(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
