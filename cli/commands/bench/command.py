"""The command `fst bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fst.cli.files.progress import progress
from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import FileName, files_argument, reading_options, table_argument, with_options
from fst.core import remote
from fst.runtime.files.streams import STANDARD, size

PEERS = ("tokenizers", "tiktoken", "sentencepiece", "gigatoken", "all")

against_options = with_options(
    click.option("--against", type=click.Choice(PEERS), multiple=True, help="A library, or all installed ones; may be repeated."),
    click.option("--source", type=FileName(), metavar="SOURCE", show_default="none", help="The file or folder that the libraries read."),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", show_default="1", help="The threads of each tokenizer."),
    section="Options for a comparison",
)


@click.command("bench", cls=CliCommand)
@table_argument
@files_argument
@against_options
@reading_options
def command(
    table: str, files: tuple[str, ...], against: tuple[str, ...], source: str | None, threads: int | None, **reading: Any
) -> None:
    """Measure how fast documents become token ids, and count the ids.

    All files are read into memory, which takes about four times their size. A speed is the median of five runs after a warm-up, on one
    thread and on all cores. Reading and writing are not timed. Counts do not include [CLS], [SEP] and similar tokens; a word is a run of
    characters between whitespace. The ten most frequent unknown words are listed.

    With --against, the table and other libraries encode the documents in turns, each library in a separate process. The ids of all are
    compared first. Speeds are medians of five rounds: "first pass" with a new tokenizer, "again" with a filled cache. A ratio of 2 means
    that the table is twice as fast.

    \b
    Examples:
      fst bench bert.npz reviews.txt
      head -n 100000 reviews.txt | fst bench bert.npz -
      fst bench bert.npz books.parquet --column text
      fst bench bert.npz reviews.txt --against tokenizers --source bert-base-uncased/
      fst bench gpt2.npz reviews.txt --against all --source tokenizer.json --threads 4
    """
    from fst.cli.commands.bench.figures import documents, measured
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    _check_against(against, source=source, threads=threads)
    keep_apart([STANDARD], (table, *files, *filter(None, [source])))
    how, tables = Reading(**reading), load(table)
    total = size(files)
    how.check(files)
    if source is not None:
        from fst.cli.commands.bench.comparison import as_bars, compared, sources

        read = sources(against, Path(click.get_current_context().with_resource(remote.fetched(source))))
    with progress("reading", total) as advance:
        found = documents(how, files, advance)
    if source is None:
        show(list(measured(tables, found)))
        return
    result = compared(tables, found, read, against, threads or 1)
    show([*result.lines(), *(["", *as_bars(result)] if sys.stdout.isatty() else [])])


def _check_against(against: tuple[str, ...], **options: Any) -> None:
    """Refuse options of a comparison that cannot be combined."""
    given = [name for name, value in options.items() if value is not None]
    if given and not against:
        raise click.UsageError(f"--{given[0]} is for a comparison; name a library with --against")
    if against and options["source"] is None:
        raise click.UsageError("--against needs the file that the libraries read; name it with --source, as in --source tokenizer.json")
