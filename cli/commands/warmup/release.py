"""Native code of a release: all kernels for each level of processors."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

import click

from fst.cli.commands.warmup.kernels import Compiler
from fst.cli.commands.warmup.processes import compiled
from fst.core import native
from fst.core.threads import thread_count
from fst.errors import UnsupportedError

if TYPE_CHECKING:
    from fst.compile.export.native import NativeKernel


class NativeCompiler:
    """The worker of a `Process` that compiles kernels to native code."""

    def compile(self, part: str) -> dict[str, NativeKernel]:
        """Compile the kernels of a part that this process has not compiled yet; return them by key."""
        from fst.compile.export.native import native_kernels

        with native_kernels() as kernels:
            Compiler().compile(part)
        return kernels


def write_native_code(folder: Path) -> None:
    """Write native code to a folder, and a line after each level."""
    from fst.compile.export.native import need_linker, write

    need_linker()  # before kernels are compiled for minutes
    begun, missing = monotonic(), native.LEVELS.keys() - native.levels_of(native.CPU_INFO)
    if missing:
        raise UnsupportedError(f"this processor is below the level {max(missing)}; expected one that runs the kernels of every level")
    levels = {level: _kernels_of(level) for level in native.LEVELS}
    write(levels, folder)
    click.echo(f"ready, in {monotonic() - begun:.1f} s; {folder}", err=True)


def _kernels_of(level: str) -> list[NativeKernel]:
    """All kernels of a level, sorted by key."""
    from fst.compile.export.native import settings_of

    found: dict[str, NativeKernel] = {}
    with TemporaryDirectory() as cache:  # of the processes, so that none compiles a kernel again that another has compiled
        settings = {**settings_of(level), "NUMBA_CACHE_DIR": cache}
        with closing(compiled(thread_count(), f"{__name__}:NativeCompiler", settings=settings)) as parts:
            for _, kernels in parts:
                found |= kernels
    click.echo(f"{level}: {len(found)} kernels", err=True)
    return [found[key] for key in sorted(found)]
