"""Compile a source, and write the table: the work of all commands of `fst compile`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any

import click

from fst.cli.files.progress import note
from fst.cli.files.streams import check_target, is_device, keep_apart
from fst.core import remote
from fst.runtime.files.streams import size


def write_table(
    function: str, source: str, output: str, *, user: str | None = None, named: Callable[[str], Any] = Path, **options: Any
) -> None:
    """Compile a source, and write the table.

    Args:
        function: the name of the function that compiles, as `pkgutil.resolve_name` takes it.
        source: the name or the URL of a file or a folder.
        output: the file to write.
        user: a file of more words; None: none.
        named: the argument of the function for the name of a file on this machine.
        options: options of the function; those that are None are left out.

    Raises:
        click.UsageError: the output is an input or no regular file, or an option has a value that it cannot have.
        FstError, OSError: the source cannot be compiled, or not be read.
    """
    keep_apart([output], [*_files_of(Path(source)), *filter(None, [user])])
    check_target(output)
    if not remote.is_remote(output) and is_device(Path(output)):
        raise click.UsageError(f"{output} is a device or a pipe; expected a regular file; name another output")
    from fst.core.jit import no_collector

    note(f"compiling {source} …")
    begun = monotonic()
    with no_collector(), remote.fetched(source) as path, remote.fetched(user or "") as more:
        given = {name: value for name, value in {**options, "user": more or None}.items() if value is not None}
        try:
            table = resolve_name(function)(named(path), **given)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    table.save(output)
    note(f"{output}: {table.about.get('layout', table.kind)}, {size([output]) or 0:,} bytes, in {monotonic() - begun:.1f} s")


def _files_of(source: Path) -> list[str]:
    """The files that a vocabulary is read from: a file, or those of a folder."""
    if not source.is_dir():
        return [str(source)]
    from fst.compile.sources.pretrained.folder import FILES
    from fst.compile.sources.read import single_files

    return [str(path) for path in (*(source / name for name in FILES), *single_files(source))]
