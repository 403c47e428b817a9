"""Linkers, which turn an object into a WebAssembly module or a shared library."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from fst.compile.export.code import EXPORTED
from fst.errors import UnsupportedError

# __heap_base: the address from which a host may use memory.
WASM_LINKER = "wasm-ld"
WASM = ["--no-entry", "--strip-all", "-z", "stack-size=65536", *(f"--export={name}" for name in (*EXPORTED, "__heap_base"))]
SHARED = ["-shared", "--strip-all", "-z", "noexecstack"]


def linked_wasm(code: bytes) -> bytes:
    """Link an object for WebAssembly to a module without imports.

    Raises:
        UnsupportedError: no linker is found, or it fails.
    """
    return _linked(linker(WASM_LINKER), WASM, code)


def linked_library(*codes: bytes) -> bytes:
    """Link objects in the format ELF to a shared library without dependencies.

    Raises:
        UnsupportedError: as in `linked_wasm`.
    """
    return _linked(linker("ld.lld"), SHARED, *codes)


def linker(name: str) -> list[str]:
    """Return the command of one of LLVM's linkers: installed, or in the package ``ziglang``.

    Raises:
        UnsupportedError: no linker is found.
    """
    if which(name):
        return [name]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", name]
    raise UnsupportedError(f"the linker {name} is not found; expected LLVM's lld; install it, or run: pip install ziglang")


def _linked(command: Sequence[str], options: Sequence[str], *codes: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        sources, output = [Path(folder, f"{number}.o") for number in range(len(codes))], Path(folder, "linked")
        for source, code in zip(sources, codes, strict=True):
            source.write_bytes(code)
        done = subprocess.run([*command, *options, *sources, "-o", output], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnsupportedError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
        return output.read_bytes()
