"""Compile all kernels ahead of time, on all cores."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager
from queue import SimpleQueue
from time import monotonic
from typing import Any

import click

from fst.cli.commands.warmup.kernels import PARTS
from fst.cli.process import Process
from fst.core import native
from fst.core.threads import thread_count

MOST_PROCESSES = 8  # each process needs about 400 MB; the longest part alone takes as long as all other parts on seven processes


def warm_up() -> None:
    """Compile all kernels, unless they are native code; print a line after each part."""
    if found := native.library():
        click.echo(f"all kernels are native code for {found.level}; there is nothing to compile", err=True)
        return
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


def compiled(count: int, worker: str) -> Generator[tuple[str, Any], None, None]:
    """Compile the parts in `count` processes with the method `compile` of a worker. Yield each finished part with the method's result.
    `count`: the number of processes. `worker`: as in `Process`.
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
            process = Process(f"compiler {number + 1}", worker)
            processes.callback(process.end)
            idle.put(process)
        processes.callback(threads.shutdown, wait=False, cancel_futures=True)
        yield from (done.result() for done in as_completed([threads.submit(compile_part, part) for part in PARTS]))
