"""Native code of the kernels that a program calls: the folder ``fst/native`` of a release, for the processor of the tests."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import llvmlite.binding as llvm

from fst.cli.commands.warmup.release import level
from fst.compile.export.native import Kernel
from fst.compile.export.platforms import PLATFORMS, Platform, extension, files_of, targets_of
from fst.core import native

IS_OLD = not hasattr(llvm, "create_new_module_pass_manager")
NO_LINKER = "native code needs ziglang: the extra [release]" if find_spec("ziglang") is None else ""
OBSTACLE = NO_LINKER or "this llvmlite has typed pointers" * IS_OLD  # empty without an obstacle


def here() -> Platform:
    """The system of the tests."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64", "ARM64": "aarch64"}.get(platform.machine(), platform.machine())
    return next(each for each in PLATFORMS if each.system == sys.platform and each.zig.startswith(machine))


def write_folder(kernels: Sequence[Kernel], folder: Path, name: str | None = None) -> None:
    """Write the folder with the extension, and the library for a level, by default the best level of this processor."""
    folder.mkdir(parents=True, exist_ok=True)
    file, code = extension(here())
    (folder / file).write_bytes(code)
    name = name or native.levels_from(native.extension(folder).level())[0]
    one = here()._replace(levels=[name])
    made = {name: level(name, kernels, targets_of([one])[name])}
    for file, code in files_of(one, made).items():
        if not (folder / file).exists():
            (folder / file).write_bytes(code)
