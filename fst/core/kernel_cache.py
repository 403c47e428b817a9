"""Compiled kernels on disk.

Numba's own cache reads only from writable folders, so a process in a read-only image compiles all kernels again. This cache keeps kernels
as `fst.core.cache_folder` describes. A file contains the machine code of one function for one processor and one set of argument types. The
digest in a file covers all sources from which the kernel is compiled, so a stale file is ignored.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import types
from numba.core import config
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from fst.core import borrowed, numba_passes
from fst.core.cache_folder import CodeCache

REDUCE: Any = CompileResult._reduce
REBUILD: Any = CompileResult._rebuild
# `from fst.x import a, b`, also in parentheses over several lines; and `import fst.x`.
IMPORT = re.compile(r"\n(?:from (fst(?:\.\w+)*) import (\([^)]*|.*)|import (fst(?:\.\w+)*))")
SETTINGS = ("OPT", "BOUNDSCHECK")  # settings of numba with which kernels are compiled differently
OWN_SETTING = "FST_CHECK_SIZES"  # see `fst.runtime.kernels.intrinsics`


class KernelCache(CodeCache):
    """The machine code of one function on disk: a replacement for numba's `FunctionCache`. `function`: the kernel in Python."""

    def __init__(self, function: Any) -> None:
        source = Path(function.__globals__.get("__file__", ""))
        super().__init__(source, f"{source.stem}.{function.__qualname__}")

    @property
    def named(self) -> str:
        """The value of NUMBA_CACHE_DIR when numba was imported."""
        found: str = vars(config)["CACHE_DIR"]
        return found

    def load_overload(self, kinds: Any, context: Any) -> Any | None:
        """The cached machine code for arguments of these types; None if no folder contains it."""
        if (sources := self._sources()) is None:
            return None
        code = next(self.find(_key(kinds, context.codegen()), sources), None)
        return REBUILD(context, *pickle.loads(code)) if code else None

    def save_overload(self, kinds: Any, result: Any) -> None:
        """Write machine code that numba has just compiled."""
        if not result.library.has_dynamic_globals and (sources := self._sources()) is not None:
            self.store(_key(kinds, result.library.codegen), dumps(REDUCE(result)), sources)

    def _sources(self) -> bytes | None:
        """The digest of all sources; None if a source cannot be read, as in an archive."""
        try:
            return digest_of_sources(str(self._source))
        except OSError:
            return None


def _key(kinds: Any, codegen: Any) -> bytes:
    """A text of argument types, the processor, versions and settings."""
    versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
    settings = [*map(vars(config).get, SETTINGS), os.environ.get(OWN_SETTING)]
    return repr((versions, settings, [*map(_described, kinds)], codegen.magic_tuple())).encode()


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

    The sources are the file, all modules of this package that the file imports, directly or indirectly, and the modules of `fst.core` that
    compile kernels.
    """
    found = set[str]()
    pending = {path, str(borrowed.__file__), str(numba_passes.__file__)}
    while pending:
        source = pending.pop()
        found.add(source)
        pending |= _source(source)[1] - found
    return found


def modules_of(path: str) -> set[str]:
    """The names of the modules of this package whose files are the `sources_of` a file."""
    names = {getattr(module, "__file__", None): name for name, module in [*sys.modules.items()] if name.startswith("fst.")}
    return {names[source] for source in sources_of(path) if source in names}


@cache
def _source(path: str) -> tuple[bytes, set[str]]:
    """The digest of a source, and the files of this package that it imports at its top level."""
    text = Path(path).read_bytes()
    files = {getattr(sys.modules.get(name), "__file__", None) for name in _imports(text.decode())}
    return sha256(text).digest(), {file for file in files if file}


def _imports(text: str) -> set[str]:
    """The names of this package that a source imports at its top level: modules, and also functions and classes."""
    found: set[str] = set()
    for module, names, alone in IMPORT.findall("\n" + text):
        found |= {alone or module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
    return found


def keep(compiled: Any) -> None:
    """Replace numba's cache of a function with a `KernelCache`."""
    compiled._cache = KernelCache(compiled.py_func)
