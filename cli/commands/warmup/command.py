"""The command `fst warmup`."""

from __future__ import annotations

from pathlib import Path

import click

from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("warmup", cls=CliCommand)
@click.option(
    "--native",
    type=FileName(),
    metavar="FOLDER",
    show_default="kernels for this processor",
    help="Write the native code of a release for each system instead, see CONTRIBUTING.md.",
)
def command(native: str | None) -> None:
    """Compile all kernels ahead of time, and keep them on disk.

    Otherwise the first call of each kernel compiles it, in up to 20 s. Use this command in images and installers; see docs/containers.md.

    One process per core compiles, at most eight; FST_NUM_THREADS overrides the number of cores. Kernels that are already on disk are not
    compiled again.

    The folder of the kernels is NUMBA_CACHE_DIR; by default it lies next to the installed package, or in the user's cache if that folder
    cannot be written. If no folder can be written, the exit code is 1. A package with native code has nothing to compile.

    \b
    Examples:
      RUN pip install "./fst-toolkit[numba]" && fst warmup
    """
    if native is None:
        from fst.cli.commands.warmup.processes import warm_up

        warm_up()
    else:
        from fst.cli.commands.warmup.release import write_release

        write_release(Path(native))
