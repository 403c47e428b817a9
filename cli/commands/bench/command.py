"""The command `fst bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fst.cli.files.progress import progress
from fst.cli.files.streams import check_target, keep_apart, show, written
from fst.cli.group import CliCommand
from fst.cli.options import files_argument, reading_options, table_argument
from fst.cli.parameters import FileName
from fst.core import remote
from fst.runtime.files.streams import STANDARD, size

PEERS = ("tokenizers", "tiktoken", "sentencepiece", "gigatoken", "all")


@click.command("bench", cls=CliCommand)
@table_argument
@files_argument
@click.option("--against", type=click.Choice(PEERS), multiple=True, help="Time this library, too; may be repeated.")
@click.option("--source", type=FileName(), metavar="SOURCE", show_default="none", help="What --against makes tokenizers from.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", show_default="1", help="Threads of each tokenizer, with --against.")
@click.option("--chart", type=FileName(), metavar="FILE.png", show_default="none", help="Draw a picture of the speeds, with --against.")
@reading_options
def command(
    table: str, files: tuple[str, ...], against: tuple[str, ...], source: str | None, threads: int | None, chart: str | None, **reading: Any
) -> None:
    """Measure how fast documents become token ids, and count the ids. Files are read as `fst encode` reads them.

    The files are read into memory, which takes about four times their size. Each time is the median of five runs after a warm-up, without
    reading and writing: on one thread, and on one thread for each core that the process may use.

    The count of tokens leaves out [CLS], [SEP] and the like. A word is a run of characters between white space.

    Words that no tokens cover become the unknown token. The ten most frequent of them are listed as they stand in the text, each with its
    count. To bound memory, rare ones are forgotten if there are more than some 65,000 different ones; a count may then be too low.

    With --against, speeds and unknown words give way to a comparison: the table and other libraries encode the documents in turns. Each
    library has a process of its own, which holds all documents, too. It is made from SOURCE: tokenizers reads a tokenizer.json, tiktoken a
    .tiktoken file, sentencepiece a .model, and gigatoken any of these. From a folder each takes the file that it reads. "all" means the
    libraries that are installed and read SOURCE.

    First, the ids of all documents are compared, without [CLS], [SEP] and the like. The figures are medians of five rounds. Some libraries
    cache: their first pass is that of a tokenizer just made, and "again" is the same pass once more. The ratio says how many times as fast
    the table is. A terminal also shows bars. --chart needs matplotlib.

    \b
    Examples:
      fst bench bert.npz reviews.txt
      head -n 100000 reviews.txt | fst bench bert.npz -
      fst bench bert.npz books.parquet --column text
      fst bench bert.npz reviews.txt --against tokenizers --source bert-base-uncased/
      fst bench gpt2.npz reviews.txt --against all --source tokenizer.json --chart speeds.png
    """
    from fst.cli.commands.bench.figures import documents, measured
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    _check_peers(against, source=source, threads=threads, chart=chart)
    keep_apart([STANDARD, *filter(None, [chart])], (table, *files, *filter(None, [source])))
    how, tables = Reading(**reading), load(table)
    total = size(files)
    how.check(files)
    if source is not None:
        from fst.cli.commands.bench.comparison import as_bars, compared, draw_chart, sources

        read = sources(against, Path(click.get_current_context().with_resource(remote.fetched(source))))
    with progress("reading", total) as advance:
        found = documents(how, files, advance)
    if source is None:
        show(list(measured(tables, found)))
        return
    result = compared(tables, found, read, against, threads or 1)
    show([*result.lines(), *(["", *as_bars(result)] if sys.stdout.isatty() else [])])
    if chart is not None:
        with written(chart) as file:
            draw_chart(file, result, files)


def _check_peers(against: tuple[str, ...], **options: Any) -> None:
    """Refuse options of `fst bench --against` that do not go together, and a chart that could not be drawn or written."""
    given = [name for name, value in options.items() if value is not None]
    if given and not against:
        raise click.UsageError(f"--{given[0]} is for a comparison: name a library with --against")
    if against and options["source"] is None:
        raise click.UsageError("--against makes tokenizers from a file: name it with --source, as in --source tokenizer.json")
    if (chart := options["chart"]) is not None:
        from fst.cli.commands.bench.chart import need_matplotlib

        if not chart.lower().endswith(".png"):
            raise click.UsageError(f"--chart {chart}: a chart is a PNG; name it {Path(chart).with_suffix('.png')}")
        check_target(chart)
        need_matplotlib()
