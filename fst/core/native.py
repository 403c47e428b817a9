"""Native code: the machine code of kernels, which a release for a platform contains. With native code, no call imports or needs numba.

A wheel for a platform has a folder ``fst/native``, which a checkout lacks::

    manifest.json             the kernels, and the sources of which they are compiled
    x86-64-v3.so …            a shared library for each level of processors, or aarch64.so; on Windows .dll, on macOS .dylib
    calls.abi3.so             an extension that calls kernels, see `calls.c`; on Windows calls.pyd

If a source has changed since the release, as in an edited checkout, the folder is ignored, and numba compiles kernels. A kernel or a set of
argument types that the manifest does not contain is compiled by numba, too.

manifest.json contains an object with these members:

======= =============================================================================================================================
abi     `ABI`
sources the names of all modules whose text the kernels depend on, as in `fst.core.kernel_cache.sources_of`
digest  `digest_of` these modules
python  the functions and objects of Python that the kernels use, see below
kernels key of a kernel (`key_of`) → ``[symbol, results, releases]``
======= =============================================================================================================================

``symbol`` is the name of the kernel's entry in the shared library (`fst.core.prepared`). ``results`` has a letter for the type of the
result, or of each element of a tuple: i and u for integers with and without a sign, b for a bool, d for a double, o for an object, and n
for None. ``releases`` is true if the kernel runs without the interpreter's lock.

Object kernels, which read Python objects, are in the library, too. It has a variable for each function and object of Python that they
use, such as ``fst_PyList_New``; after the library is loaded, the variables are set to the addresses in this process. So the library is
linked without Python, and serves all its versions. numba's function for the characters of a str, ``numba_extract_unicode``, is a part of
the extension.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ctypes import CDLL, addressof, c_char, c_int64, c_uint32, c_void_p, cast, pythonapi, string_at
from functools import cache
from hashlib import sha256
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fst.core.fields import Fields
from fst.errors import KernelError

ABI = 2  # the version of entries, keys and this file's format
FOLDER = Path(__file__).parents[1] / "native"
VARIABLE = "fst_{}"  # the name of the variable for a function or an object of Python
CHARACTERS = "numba_extract_unicode"  # not a function of Python, but of the extension
X86_64 = ["x86-64-v4", "x86-64-v3", "x86-64-v2"]  # the levels of processors, the best first; see `level` in calls.c
SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}  # of shared libraries; elsewhere .so
# Settings of numba with which kernels are compiled differently, and their usual values.
OTHER_CODE = {"NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0", "NUMBA_OPT": "3"}
# Reasons why a kernel has no native code.
ABSENT = "the package has no native code"
EDITED = "the package was edited after its native code was compiled"
BELOW = "the processor is below x86-64-v2, the lowest level of native code"
LACKING = "the native code of the package lacks this kernel for these types of arguments"


class NativeKernel(NamedTuple):
    """A kernel in native code."""

    call: Callable[..., Any]  # the function that calls it
    entry: int  # the address of its entry, see `fst.core.prepared`


class Library:
    """The native code of a level.

    Args:
        path: the shared library.
        calls: the extension.
        manifest: the manifest.
    """

    def __init__(self, path: Path, calls: Any, manifest: dict[str, Any]) -> None:
        self.level, self._calls, self._kernels = path.stem, calls, manifest["kernels"]
        self._code = CDLL(str(path))
        self._calls.set_form(*string_form())
        for name in manifest["python"]:
            address = self._calls.CHARACTERS if name == CHARACTERS else address_of(name)
            c_void_p.in_dll(self._code, VARIABLE.format(name)).value = address

    def find(self, key: str) -> NativeKernel | None:
        """The kernel with a key; None if there is none."""
        if key not in self._kernels:
            return None
        symbol, results, releases = self._kernels[key]
        entry: int = cast(self._code[symbol], c_void_p).value or 0
        return NativeKernel(self._calls.caller(entry, results, releases), entry)


def find(module: str, name: str, arguments: tuple[Any, ...]) -> NativeKernel | None:
    """The native kernel for arguments of these types; None if it has no native code."""
    found = library()
    return found.find(key_of(module, name, arguments)) if found else None


@contextmanager
def need_numba(what: str) -> Iterator[None]:
    """Replace the error of an import of numba, if it is not installed.

    Args:
        what: what needs numba, such as ``kernel encode_rows``.

    Raises:
        KernelError: numba is not installed; the message contains the reason why there is no native code.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        found = loaded()
        why = found if isinstance(found, str) else LACKING
        remedy = 'pip install "fst-toolkit[numba]"'
        raise KernelError(f"numba is not installed, and {why}; expected numba for {what}; {remedy}") from None


def library() -> Library | None:
    """The native code for this processor; None if the package has none, or only code of other sources than the package's."""
    found = loaded()
    return None if isinstance(found, str) else found


@cache
def loaded() -> Library | str:
    """The native code for this processor, or the reason why there is none."""
    for name, usual in OTHER_CODE.items():
        if (value := os.environ.get(name, usual)) != usual:
            return f"native code is not used because {name} is {value!r}"
    try:
        manifest = json.loads((FOLDER / "manifest.json").read_bytes())
    except OSError:
        return ABSENT
    if manifest["abi"] != ABI or not is_of(manifest):
        return EDITED
    try:
        calls = extension(FOLDER)
        levels = levels_from(calls.level())
        found = next(filter(Path.exists, (FOLDER / f"{level}{SUFFIXES.get(sys.platform, '.so')}" for level in levels)), None)
        return Library(found, calls, manifest) if found else ABSENT if levels else BELOW
    except (OSError, ImportError, AttributeError) as error:
        logging.getLogger("fst").warning("fst: native code cannot be loaded, so numba compiles kernels: %s", error)
        return f"the native code of the package cannot be loaded ({error})"


def is_of(manifest: dict[str, Any]) -> bool:
    """Whether the code that a manifest describes was compiled from the sources of this package."""
    try:
        return bool(manifest["digest"] == digest_of(manifest["sources"]))
    except OSError:
        return False


def levels_from(best: str) -> list[str]:
    """The levels whose code a processor can run, the best first. With ``NUMBA_CPU_NAME=generic``, only the lowest level.
    `best`: the level of the processor, the result of `level` in calls.c; empty if it is below all levels.
    """
    found = X86_64[X86_64.index(best) :] if best in X86_64 else [best] * bool(best)
    return found[-1:] if os.environ.get("NUMBA_CPU_NAME") == "generic" else found


def address_of(name: str) -> int:
    """The address of a function or an object of Python, such as ``_Py_NoneStruct``."""
    found: int = addressof(c_char.in_dll(pythonapi, name))
    return found


def key_of(module: str, name: str, arguments: tuple[Any, ...]) -> str:
    """The key of a kernel in the manifest: its module, its name, and a digest of the types of its arguments. `module`, `name`: as in
    `fst.core.jit.Deferred`. `arguments`: values for which the kernel is compiled.
    """
    return f"{module}:{name}:{sha256(kind_of(arguments).encode()).hexdigest()[:16]}"


def kind_of(argument: Any) -> str:
    """A text for the type of an argument. Two arguments have equal texts exactly if they have the same `fst.core.borrowed.kind_of`."""
    if isinstance(argument, tuple):
        of: Any = type(argument)
        return f"{of.__module__}.{of.__qualname__}{getattr(of, '_fields', '')}({', '.join(map(kind_of, argument))})"
    if isinstance(argument, str | type):
        return "object"
    if not isinstance(argument, np.ndarray):
        return np.asarray(argument).dtype.str
    assert argument.flags.c_contiguous, f"an array of strides {argument.strides} cannot be borrowed: it must be C-contiguous"
    if isinstance(argument, Fields):
        return f"{type(argument).__module__}.{type(argument).__qualname__}{argument.names}{argument.dtype.str}"
    return f"{argument.dtype.str}[{argument.ndim}]"


def digest_of(modules: Iterable[str]) -> str:
    """The SHA-256 digest of the names and texts of modules of this package, which are not imported."""
    digest = sha256()
    for module in modules:
        digest.update(f"{module} {sha256(source_of(module).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def source_of(module: str) -> Path:
    """The file of a module. In a checkout, the packages fst.compile, fst.runtime and fst.cli are next to the package fst."""
    _, part, *names = [*module.split("."), ""]
    folder = _folder(f"fst.{part}")
    if folder is None:
        folder, names = Path(__file__).parents[1], [part, *names]
    path = folder.joinpath(*names[:-1])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _folder(package: str) -> Path | None:
    """The folder of a package; None if there is no such package."""
    found = find_spec(package)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


def extension(folder: Path) -> Any:
    """Import the extension in a folder."""
    spec = spec_from_file_location("calls", next(iter(folder.glob("calls.*")), None))
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} has no extension")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def string_form() -> tuple[int, int, int]:
    """The form of a str in the memory of this Python, found by reading the memory of some examples. Returns the position of the three bits
    in the word of flags that are the size of a character, followed by a bit for characters that follow the object's fields, and a bit for
    ASCII; and the size of the fields, for an ASCII str and for any other str.
    """
    texts = [chr(code) * 2 for code in (0x61, 0xE9, 0x101, 0x1F600)]
    plain, other = (text.__sizeof__() - 3 for text in texts[:2])
    flags = [*map(_flags, texts)]
    places = [at for at in range(28) if [each >> at & 0b11111 for each in flags] == [0b11001, 0b01001, 0b01010, 0b01100]]
    if len(places) != 1 or [string_at(id(texts[0]) + plain, 2), string_at(id(texts[1]) + other, 2)] != [b"aa", b"\xe9\xe9"]:
        raise ImportError("a str has an unknown form")
    return places[0], plain, other


def tuple_form() -> tuple[int, int]:
    """The form of a tuple of three items in the memory of this Python: the size of the fields before the items; and the last word of the
    fields of a new tuple, which is the number of items, or since Python 3.14 the place of the hash.
    """
    new, size = tuple(range(3)), tuple.__basicsize__  # not a constant, which may be hashed already
    return size, c_int64.from_address(id(new) + size - 8).value


def _flags(text: str) -> int:
    """The word of flags of a str, which follows the length and the hash."""
    return c_uint32.from_address(id(text) + object.__basicsize__ + 16).value
