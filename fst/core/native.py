"""Native code: the machine code of kernels, which a release for a platform contains. With native code, no call imports or needs numba.

A wheel for a platform has a folder ``fst/native``, which a checkout lacks::

    manifest.json             the kernels, and the sources of which they are compiled
    x86-64-v3.so …            a shared library for each level of processors, or for the whole architecture, such as aarch64.so
    calls.abi3.so             an extension that calls kernels, see `calls.c`

If a source has changed since the release, as in an edited checkout, the folder is ignored, and numba compiles kernels. A kernel or a set of
argument types that the manifest does not contain is compiled by numba, too.

manifest.json contains an object with these members:

======= =============================================================================================================================
abi     `ABI`
sources the names of all modules whose text the kernels depend on, as in `fst.core.kernel_cache.sources_of`
digest  `digest_of` these modules
kernels key of a kernel (`key_of`) → ``[symbol, results, releases]``
======= =============================================================================================================================

``symbol`` is the name of the kernel's entry in the shared library (`fst.core.prepared`). ``results`` has a letter for the type of the
result, or of each element of a tuple: i and u for integers with and without a sign, b for a bool, d for a double, o for an object, and n
for None. ``releases`` is true if the kernel runs without the interpreter's lock.

Object kernels, which read Python objects, are in the library, too. Their code calls functions of Python's stable ABI,
``PyUnicode_FromKindAndData``, and numba's function for the characters of a str, ``numba_extract_unicode``, which is a jump to the address
in the library's variable `CHARACTERS`.
"""

from __future__ import annotations

import json
import logging
import os
import platform
from collections.abc import Callable, Iterable
from ctypes import CDLL, c_uint32, c_uint64, c_void_p, cast, string_at
from functools import cache
from hashlib import sha256
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fst.core.fields import Fields

ABI = 1  # the version of entries, keys and this file's format
FOLDER = Path(__file__).parents[1] / "native"
CHARACTERS = "fst_characters"
CPU_INFO = Path("/proc/cpuinfo")
# The levels of x86-64 processors, the best level first, and the flags that Linux lists for each level in addition to the flags of lower
# levels. Kernels for AVX-512 also need VBMI, which the first processors with AVX-512 lack.
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vbmi", "avx512vl"},
    "x86-64-v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}
# Settings of numba with which kernels are compiled differently, and their usual values.
OTHER_CODE = {"NUMBA_DISABLE_JIT": "0", "NUMBA_BOUNDSCHECK": "0", "NUMBA_OPT": "3"}


class NativeKernel(NamedTuple):
    """A kernel in native code."""

    call: Callable[..., Any]  # the function that calls it
    entry: int  # the address of its entry, see `fst.core.prepared`


class Library:
    """The native code of a level. `folder`: ``fst/native``. `kernels`: the member of the manifest."""

    def __init__(self, folder: Path, level: str, kernels: dict[str, tuple[str, str, bool]]) -> None:
        self.level, self._kernels = level, kernels
        self._code, self._calls = CDLL(str(folder / f"{level}.so")), _extension(folder)
        self._calls.set_form(*string_form())
        c_uint64.in_dll(self._code, CHARACTERS).value = self._calls.CHARACTERS

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


@cache
def library() -> Library | None:
    """The native code for this processor; None if the package has none, or only code of other sources than the package's."""
    if any(os.environ.get(name, usual) != usual for name, usual in OTHER_CODE.items()):
        return None
    try:
        manifest = json.loads((FOLDER / "manifest.json").read_bytes())
        levels = [level for level in levels_of(CPU_INFO) if (FOLDER / f"{level}.so").exists()]
        if not levels or manifest["abi"] != ABI or manifest["digest"] != digest_of(manifest["sources"]):
            return None
    except OSError:
        return None
    try:
        return Library(FOLDER, levels[0], manifest["kernels"])
    except (OSError, ImportError) as error:
        logging.getLogger("fst").warning("fst: native code cannot be loaded, so numba compiles kernels: %s", error)
        return None


def levels_of(cpu_info: Path) -> list[str]:
    """The names of the levels whose code this processor can run, the best first. With ``NUMBA_CPU_NAME=generic``, only the name of the
    lowest level.
    `cpu_info`: Linux's description of the processor.
    """
    machine = platform.machine()
    if machine != "x86_64":
        return [machine]
    with cpu_info.open("rb", buffering=0) as file:  # a read of the whole file takes long if there are many cores
        lines = file.read(1 << 13).decode().splitlines()
    flags = {flag for line in lines if line.startswith("flags") for flag in line.split()}
    found, needed = list[str](), set[str]()
    for level in reversed(LEVELS):
        needed |= LEVELS[level]
        found = [level, *found] if needed <= flags else found
    return found[-1:] if os.environ.get("NUMBA_CPU_NAME") == "generic" else found


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


def _extension(folder: Path) -> Any:
    """Import the extension."""
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


def _flags(text: str) -> int:
    """The word of flags of a str, which follows the length and the hash."""
    return c_uint32.from_address(id(text) + object.__basicsize__ + 16).value
