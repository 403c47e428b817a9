"""Native code of the kernels that a program calls: the folder ``fst/native`` of a release, for the processor of the tests."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import llvmlite.binding as llvm

from fst.compile.export.native import NativeKernel, write
from fst.core import native

IS_OLD = not hasattr(llvm, "create_new_module_pass_manager")
OBSTACLE = "native code needs gcc" if not which("gcc") else "this llvmlite has typed pointers" * IS_OLD  # empty without an obstacle


def write_folder(kernels: Sequence[NativeKernel], folder: Path) -> None:
    """Write the folder with the library for the best level of this processor, and the extension."""
    write({native.levels_of(native.CPU_INFO)[0]: kernels}, folder)
    source, include = Path(native.__file__).with_name("calls.c"), sysconfig.get_paths()["include"]
    command = ["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(folder / "calls.abi3.so")]
    subprocess.run(command, check=True)
