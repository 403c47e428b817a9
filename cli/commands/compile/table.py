"""Compile a source, and write the table: the body of all commands of `fst compile`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from fst.cli.files.progress import note, progress, telling_warnings
from fst.cli.files.streams import check_target, keep_apart
from fst.cli.options import READING, FileName, with_options
from fst.core import remote
from fst.runtime.files.outputs import is_device
from fst.runtime.files.streams import size

if TYPE_CHECKING:
    from fst.runtime.files.reading import Files

WORD_FORMATS = ("lines", "jieba", "csv", "tsv", "parquet", "arrow")

output_option = click.option("-o", "--output", required=True, type=FileName(), metavar="TABLE.npz", help="The table file to write.")
user_option = click.option("--user", type=FileName(), metavar="FILE", show_default="none", help="A file of more words, in the same format.")
word_options = with_options(
    click.option(
        "--input-format", "format", type=click.Choice(WORD_FORMATS), show_default="by its name, or lines", help="The format of FILE."
    ),
    click.option("--column", metavar="NAME", show_default="the first in CSV, else the only one", help="The column of the words."),
    section=READING,
)

# Endings of sources and of other programs' files: nobody expects a table in such a file.
ENDINGS_OF_OTHERS = (
    *(".json", ".jsonl", ".txt", ".csv", ".tsv", ".parquet", ".arrow", ".model", ".vocab", ".tiktoken", ".bin", ".npy", ".gz", ".zip"),
    *(".att", ".fst", ".hfstol", ".lexc", ".dix", ".aff", ".dic", ".rules", ".wasm", ".js", ".c"),
)


def write_table(
    function: str,
    source: str | Sequence[str],
    output: str,
    *,
    user: str | None = None,
    tune: str | None = None,
    named: Callable[[str], Any] = Path,
    **options: Any,
) -> None:
    """Compile a source, and write the table.

    Args:
        function: the name of the compiling function, as `module:function`.
        source: the name or the URL of a file or a folder; or several, if the compiling function takes a list of paths.
        output: the file to write.
        user: a file with additional words, or None.
        tune: a file of texts, or None.
        named: a function from the name of a local file to the first argument of the compiling function.
        options: options of the compiling function; None values are left out.
    """
    sources = [source] if isinstance(source, str) else source
    keep_apart([output], [*(file for one in sources for file in _files_of(Path(one))), *filter(None, [user, tune])])
    check_target(output)
    if output.lower().endswith(ENDINGS_OF_OTHERS):
        raise click.UsageError(f"{output}: the output is a table; expected a name such as {Path(output).stem}.npz; name another output")
    if not remote.is_remote(output) and is_device(Path(output)):
        raise click.UsageError(f"{output} is a device or a pipe; expected a regular file; name another output")
    from fst.core.jit import no_collector

    note(f"compiling {', '.join(sources)} …")
    begun = monotonic()
    with (
        telling_warnings(),
        no_collector(),
        _fetched(sources) as paths,
        remote.fetched(user or "") as more,
        _texts(tune) as texts,
    ):
        given = {name: value for name, value in {**options, "user": more or None, "tune": texts}.items() if value is not None}
        try:
            table = resolve_name(function)(named(paths[0]) if len(paths) == 1 else [*map(named, paths)], **given)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    table.save(output)
    note(f"{output}: {table.header.get('layout', table.kind)}, {size([output]) or 0:,} bytes, in {monotonic() - begun:.1f} s")


@contextmanager
def _fetched(sources: Sequence[str]) -> Iterator[list[str]]:
    """The names of local files with the contents of some files."""
    with ExitStack() as stack:
        yield [stack.enter_context(remote.fetched(source)) for source in sources]


@contextmanager
def _texts(tune: str | None) -> Iterator[Files | None]:
    """The texts of a file, with a progress bar while they are read; None if there is no file."""
    if tune is None:
        yield None
        return
    from fst.runtime.files.reading import Files
    from fst.tables.kernel_call import MOST_UNITS  # not at the top, because its module imports NumPy

    texts = Files([tune], for_command=True, with_ends=True, most=MOST_UNITS)
    with progress("tuning", texts.size) as texts.advance:
        yield texts


def _files_of(source: Path) -> list[str]:
    """The files that the compiler may read for a source: the source itself, or the files in a folder."""
    if not source.is_dir():
        return [str(source)]
    from fst.compile.sources.inputs import FILES, single_files

    return [str(path) for path in (*(source / name for name in FILES), *single_files(source))]
