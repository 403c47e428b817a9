"""The systems of a release: the wheels' names of them, and how libraries and the extension are linked for them.

``ziglang``, a compiler of C from PyPI with the libraries of all systems, links for each system on any other.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fst.compile.export.native import FEATURES, MATHEMATICS, Level, manifest
from fst.compile.export.targets import Target
from fst.core import native
from fst.errors import UnsupportedError

MACOS, GLIBC = "11.0", "2.17"  # the oldest supported versions
# In place of Python's header `pyconfig.h`: the macros that its stable ABI needs on 64-bit Windows.
WINDOWS = """
#define Py_PYCONFIG_H
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SHORT 2
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
"""
# What the extension and the libraries use of the libraries of Windows and of Python; an object, in contrast to a function, has `DATA`.
USED = {
    "ucrtbase.dll": f"{' '.join(sorted(MATHEMATICS))} memcpy memmove memset strlen strncpy",
    "python3.dll": (
        "PyArg_ParseTuple PyBool_FromLong PyBytes_AsString PyBytes_FromStringAndSize PyCMethod_New PyErr_Occurred PyErr_SetString "
        "PyEval_RestoreThread PyEval_SaveThread PyFloat_AsDouble PyFloat_FromDouble PyImport_ImportModule PyLong_AsUnsignedLongLongMask "
        "PyLong_FromLongLong PyLong_FromUnsignedLongLong PyLong_FromVoidPtr PyModule_AddObject PyModule_Create2 PyObject_GetAttrString "
        "PyTuple_GetItem PyTuple_New PyTuple_SetItem PyTuple_Size PyType_GetFlags PyType_IsSubtype PyUnicode_FromString "
        "PyUnicode_GetLength _Py_Dealloc PyExc_SystemError=DATA PyExc_ZeroDivisionError=DATA PyFloat_Type=DATA _Py_NoneStruct=DATA"
    ),
}


class Platform(NamedTuple):
    """A system with a kind of processors.

    Attributes:
        tags: the names of the system in the names of wheels.
        zig: the system's name for ``zig``.
        triple: the system's name for LLVM.
        levels: the levels of processors.
    """

    tags: tuple[str, ...]
    zig: str
    triple: str
    levels: Sequence[str]

    @property
    def system(self) -> str:
        """The name of the system in `sys.platform`."""
        return "win32" if "windows" in self.zig else "darwin" if "macos" in self.zig else "linux"



ARM = ["aarch64"]
PLATFORMS = [
    Platform(("manylinux_2_17_x86_64", "manylinux2014_x86_64"), f"x86_64-linux-gnu.{GLIBC}", "x86_64-unknown-linux-gnu", native.X86_64),
    Platform(("manylinux_2_17_aarch64", "manylinux2014_aarch64"), f"aarch64-linux-gnu.{GLIBC}", "aarch64-unknown-linux-gnu", ARM),
    Platform(("musllinux_1_2_x86_64",), "x86_64-linux-musl", "x86_64-unknown-linux-gnu", native.X86_64),
    Platform(("musllinux_1_2_aarch64",), "aarch64-linux-musl", "aarch64-unknown-linux-gnu", ARM),
    Platform(("macosx_11_0_x86_64",), f"x86_64-macos.{MACOS}", f"x86_64-apple-macosx{MACOS}", native.X86_64[1:]),
    Platform(("macosx_11_0_arm64",), f"aarch64-macos.{MACOS}", f"arm64-apple-macosx{MACOS}", ARM),
    Platform(("win_amd64",), "x86_64-windows-gnu", "x86_64-w64-windows-gnu", native.X86_64),
    Platform(("win_arm64",), "aarch64-windows-gnu", "aarch64-w64-windows-gnu", ARM),
]
# What a file calls, such as memcpy, is in the process that loads it, or in libraries of the system. A file of macOS contains its own name,
# by default the path to which it was linked, which would differ in each build.
FLAGS = {
    "linux": ["-shared", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,-z,undefs"],
    "darwin": ["-dynamiclib", "-Wl,-undefined,dynamic_lookup", "-Wl,-install_name,@rpath/fst"],
}
MACHINES = {"x86_64": ("x64", "i386:x86-64"), "aarch64": ("arm64", "arm64")}  # the names of processors for linkers of Windows


def targets_of(platforms: Iterable[Platform]) -> dict[str, list[Target]]:
    """The targets of each level of processors, one for each system."""
    pairs = dict.fromkeys((level, each.triple) for each in platforms for level in each.levels)
    targets = {level: list[Target]() for level, _ in pairs}
    for level, triple in pairs:
        targets[level].append(Target(triple, level if FEATURES[level] else "generic", FEATURES[level]))
    return targets


def files_of(platform: Platform, levels: Mapping[str, Level]) -> dict[str, bytes]:
    """The files of the folder ``fst/native`` for a system, by name."""
    own = {name: levels[name] for name in platform.levels}
    suffix = native.SUFFIXES.get(platform.system, ".so")
    libraries = {f"{name}{suffix}": library(level.objects[platform.triple], platform) for name, level in own.items()}
    name, code = extension(platform)
    return {"manifest.json": manifest(own), name: code, **libraries}


def need_linker() -> None:
    """Raise an error if the linker is not installed.

    Raises:
        UnsupportedError: ``ziglang`` is not installed.
    """
    if find_spec("ziglang") is None:
        raise UnsupportedError("ziglang is not installed, which links native code; install it: pip install ziglang")


def library(objects: Sequence[bytes], platform: Platform) -> bytes:
    """Link object files to a shared library."""
    with TemporaryDirectory() as folder:
        sources = [Path(folder, f"{number}.o") for number in range(len(objects))]
        for source, code in zip(sources, objects, strict=True):
            source.write_bytes(code)
        return _linked(platform, folder, sources)


def extension(platform: Platform, free_threaded: Path | None = None) -> tuple[str, bytes]:
    """Compile the extension; return its name, and the file. `free_threaded`: the folder of the headers of a version of Python, to compile
    for that version without the interpreter's lock, on Linux; None: to compile for all versions with the lock.
    """
    source, is_windows = Path(native.__file__).with_name("calls.c"), platform.system == "win32"
    paths = sysconfig.get_paths()
    places = ["-DPy_GIL_DISABLED=1", f"-I{free_threaded}"] if free_threaded else [f"-I{paths['include']}", f"-I{paths['platinclude']}"]
    with TemporaryDirectory() as folder:
        header, code = Path(folder, "windows.h"), Path(folder, "calls.o")
        header.write_text(WINDOWS * is_windows, encoding="ascii")
        flags = ["-O2", "-Wall", "-Werror", "-include", str(header), *places]
        _zig("cc", "-target", platform.zig, *flags, *["-fPIC"] * (not is_windows), "-c", str(source), "-o", str(code))
        name = "calls.so" if free_threaded else "calls.pyd" if is_windows else "calls.abi3.so"
        return name, _linked(platform, folder, [code])


def _linked(platform: Platform, folder: str, sources: Sequence[Path]) -> bytes:
    output, names = Path(folder, "linked"), [*map(str, sources)]
    if platform.system == "win32":
        machine = MACHINES[platform.zig.split("-")[0]]
        imported = [_imported(library, machine[1], folder) for library in USED]
        _zig("lld-link", "/dll", "/noentry", "/brepro", f"/machine:{machine[0]}", f"/out:{output}", *names, *imported)
    else:
        _zig("cc", "-target", platform.zig, *FLAGS[platform.system], "-s", *names, "-o", str(output))
    return output.read_bytes()


def _imported(library: str, machine: str, folder: str) -> str:
    """Make the file with which a program is linked that uses a library of Windows; return its path."""
    definitions, made = Path(folder, f"{library}.def"), Path(folder, f"{library}.lib")
    lines = [f"LIBRARY {library}", "EXPORTS", *(name.replace("=", " ") for name in USED[library].split())]
    definitions.write_text("\n".join(lines), encoding="ascii")
    _zig("dlltool", "-m", machine, "-D", library, "-d", str(definitions), "-l", str(made))
    return str(made)


def _zig(*arguments: str) -> None:
    """Run ``zig``.

    Raises:
        UnsupportedError: it fails.
    """
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnsupportedError(f"zig {arguments[0]} failed: {done.stderr.strip()}")
