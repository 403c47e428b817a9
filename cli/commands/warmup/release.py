"""Write the native code of a release: a folder for each system, made on one machine, see `fst.compile.export.native`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from fst.cli.commands.warmup.kernels import Compiler
from fst.cli.commands.warmup.processes import MOST_PROCESSES, compiled
from fst.cli.process import Process
from fst.core.threads import thread_count

if TYPE_CHECKING:
    from fst.compile.export.native import Kernel, Level
    from fst.compile.export.program import Module
    from fst.compile.export.targets import Target


class Collector:
    """The worker of a `Process` that collects kernels."""

    def compile(self, part: str) -> dict[str, Kernel]:
        """Run the kernels of a part that this process has not run yet; return them by key."""
        from fst.compile.export.native import called_kernels

        with called_kernels() as kernels:
            Compiler().compile(part)
        return kernels


class Translator:
    """The worker of a `Process` that makes the native code of a level, in the environment of the level."""

    def translate(self, kernels: Sequence[Kernel], targets: Sequence[Target]) -> Level:
        """Compile kernels for systems with processors of the level."""
        from fst.compile.export.native import level_of

        return level_of(kernels, targets)


def write_release(folder: Path) -> None:
    """Write the files of ``fst/native`` for each system to a folder that bears the system's first tag; print a line after each step."""
    from fst.compile.export.platforms import PLATFORMS, files_of, need_linker, targets_of
    from fst.compile.export.released import NAME

    need_linker()  # before kernels are compiled for minutes
    begun = monotonic()
    kernels = _collected()
    click.echo(f"{len(kernels)} kernels", err=True)
    targets = targets_of(PLATFORMS)

    def made(name: str) -> Level:
        found = level(name, kernels, targets[name])
        click.echo(f"{name}: {', '.join(found.objects)}", err=True)
        return found

    with ThreadPoolExecutor(min(thread_count(), 1 + len(targets))) as threads:
        modules = threads.submit(exports)
        levels = dict(zip(targets, threads.map(made, targets), strict=True))
    for platform in PLATFORMS:
        _write({**files_of(platform, levels), NAME: modules.result()}, folder / platform.tags[0])
    click.echo(f"ready, in {monotonic() - begun:.1f} s; {folder}", err=True)


def _collected() -> list[Kernel]:
    """All kernels, in the order of their keys."""
    found: dict[str, Kernel] = {}
    with closing(compiled(min(thread_count(), MOST_PROCESSES), f"{__name__}:Collector")) as parts:
        for _, kernels in parts:
            found |= kernels
    return [found[key] for key in sorted(found)]


def level(name: str, kernels: Sequence[Kernel], targets: Sequence[Target]) -> Level:
    """Compile kernels for systems with processors of a level, in a process of its own."""
    from fst.compile.export.native import settings_of

    process = Process(f"the compiler for {name}", f"{__name__}:Translator", settings=settings_of(name))
    try:
        found: Level = process.ask("translate", kernels, targets)
    finally:
        process.end()
    return found


def exports() -> bytes:
    """Compile the modules of exports for all processors; see `fst.compile.export.released`."""
    from fst.cli.commands.export.objects import COMPILER
    from fst.cli.commands.export.samples import families
    from fst.compile.export.capture import SETTINGS
    from fst.compile.export.released import archive
    from fst.compile.export.targets import TARGETS

    objects: list[tuple[Module, dict[str, bytes]]] = []
    sources: set[str] = set()
    process = Process("the exporter", COMPILER, settings=SETTINGS)
    try:
        for module, kernels in families():
            process.ask("translate", kernels)
            codes = {target: process.ask("code", module, target) for target in TARGETS}
            objects.append((module, {target: code for target, (code, _) in codes.items()}))
            sources |= {name for _, names in codes.values() for name in names}
    finally:
        process.end()
    click.echo(f"exports: {len(objects)} modules for {', '.join(TARGETS)}", err=True)
    return archive(objects, sources)


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
