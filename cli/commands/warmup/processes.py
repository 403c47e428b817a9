"""Compile all kernels ahead of time, on all cores: to the cache, or to the native code of a release for each level of processors."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from fst.cli.commands.warmup.kernels import PARTS, Compiler
from fst.cli.process import Process
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
    """Write native code to a folder; print a line after each level."""
    from fst.compile.export.native import need_linker, write

    need_linker()  # before kernels are compiled for minutes
    begun, missing = monotonic(), native.LEVELS.keys() - native.levels_of(native.CPU_INFO)
    if missing:
        raise UnsupportedError(f"this processor is below the level {max(missing)}; expected one that runs the kernels of every level")
    levels = {level: _kernels_of(level) for level in native.LEVELS}
    write(levels, folder)
    click.echo(f"ready, in {monotonic() - begun:.1f} s; {folder}", err=True)


def _kernels_of(level: str) -> list[NativeKernel]:
    from fst.compile.export.native import settings_of

    found: dict[str, NativeKernel] = {}
    with TemporaryDirectory() as cache:  # all processes share it, so that each kernel is compiled once
        settings = {**settings_of(level), "NUMBA_CACHE_DIR": cache}
        with closing(compiled(thread_count(), f"{__name__}:NativeCompiler", settings=settings)) as parts:
            for _, kernels in parts:
                found |= kernels
    click.echo(f"{level}: {len(found)} kernels", err=True)
    return [found[key] for key in sorted(found)]


MOST_PROCESSES = 8  # each process needs about 400 MB; the longest part alone takes as long as all other parts on seven processes


def warm_up() -> None:
    """Compile all kernels; print a line after each part."""
    begun, place = monotonic(), ""
    count = min(thread_count(), MOST_PROCESSES)
    with _telling(), closing(compiled(count, "fst.cli.commands.warmup.kernels:Compiler")) as parts:
        click.echo(f"compiling kernels on {count} core{'s' * (count != 1)}; kernels on disk are not compiled again", err=True)
        for number, (part, (kept, place)) in enumerate(parts, 1):
            if not kept:
                raise click.ClickException(f"kernels are {place}")
            click.echo(f"{number} of {len(PARTS)}: {part}", err=True)
    click.echo(f"ready, in {monotonic() - begun:.1f} s; {place}", err=True)


@contextmanager
def _telling() -> Iterator[None]:
    """Write a line to standard error if the run is interrupted."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        click.echo("interrupted; finished kernels stay on disk, and the next run compiles the others", err=True)
        raise


def compiled(count: int, worker: str, settings: Mapping[str, str] | None = None) -> Generator[tuple[str, Any], None, None]:
    """Compile the parts in `count` processes with the method `compile` of a worker. Yield each finished part with the method's result.
    `count`: the number of processes. `worker`, `settings`: as in `Process`.
    """
    idle: SimpleQueue[Process] = SimpleQueue()

    def compile_part(part: str) -> tuple[str, Any]:
        process = idle.get()
        try:
            return part, process.ask("compile", part)
        finally:
            idle.put(process)

    with ThreadPoolExecutor(count) as threads, ExitStack() as processes:  # end processes first: threads wait for their answers
        for number in range(count):
            process = Process(f"compiler {number + 1}", worker, settings=settings)
            processes.callback(process.end)
            idle.put(process)
        processes.callback(threads.shutdown, wait=False, cancel_futures=True)
        yield from (done.result() for done in as_completed([threads.submit(compile_part, part) for part in PARTS]))
