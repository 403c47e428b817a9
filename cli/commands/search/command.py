"""The command `fst search`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.runtime.files.streams import STANDARD


@click.command("search", cls=CliCommand)
@table_argument
@files_argument
@click.option("--count", "counts", is_flag=True, help="Print the number of matches in each file.")
@click.option("--replace", "by", metavar="TEXT", help="Write all documents, with TEXT in place of each match.")
@click.option("--names", is_flag=True, help="Write keywords instead of their numbers.")
@output_options
@format_option("lines", "matches", "json", "npz", "arrow", "parquet", default="lines; with --names matches")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True, help="Colour matches.")
@reading_options
@working_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    table: str,
    files: tuple[str, ...],
    counts: bool,
    by: str | None,
    names: bool,
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    color: str,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Find keywords in documents, as grep does. TABLE is from `fst compile keywords`.

    Documents with a match are printed; on a terminal, matches are in colour, unless NO_COLOR is set. With several files, each line begins
    with the name of its file. FILE and output folders work as in `fst encode`.

    \b
    --format, or the ending of the output, chooses the format:
      lines           the documents with a match
      matches         a line per match, separated by tabs: the number of the document,
                      from 1; the number of the keyword, from 0; the start of the
                      match, and its end, one past its last character
      json            an object per document: its fields or columns, or else text;
                      and matches, a list of objects with id, start and end
      arrow, parquet  all columns of the input, and matches
      npz             the arrays ids, starts, ends and row_splits

    --count prints the number of matches in each file, unlike `grep -c`, which counts lines.

    \b
    Exit codes, as in grep:
      0    something was found; with --replace: done
      1    nothing was found
      2    failed, or wrong usage

    \b
    Examples:
      fst search names.npz reviews.txt
      fst search names.npz logs/*.gz --count
      fst search names.npz reviews.txt --names | cut -f 2 | sort | uniq -c
      fst search names.npz books.parquet --column text -o found.parquet
      fst search names.npz books/ --column text --replace "[NAME]" -o redacted/

    \b
    $ printf 'he\\nshe\\n' > words.txt; fst compile keywords words.txt -o words.npz
    $ echo "ushers" | fst search words.npz --names
    1   she     1       4
    """
    from fst.cli.commands.search.work import Search
    from fst.cli.commands.search.writers import FORMS, check_options, check_replacing
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load_for, ready

    if counts and (by is not None or names or form or output != STANDARD):
        raise click.UsageError("--count cannot be combined with --replace, --names, --format or --output")
    form = form or ("matches" if names and output == STANDARD else None)
    target, of_text = Target(output, form, overwrite, resume), "matches" if names else None
    job = Job(target, FORMS, files, table, reading, errors, of_text)
    for each in job.outputs:
        check_options(each.form, names, by is not None)
    tables = load_for("Searcher", table)
    if by is not None:
        check_replacing(tables)
    job.check_inputs()
    search = Search(ready(tables, lambda searcher: searcher.count([b"a"])), job, threads)
    with job.progress("searching"):
        if counts:
            search.count(files)
        for each in [] if counts else job.outputs:
            if by is None:
                search.find(each, names=names, color=color)
            else:
                search.replace(each, by)
    if not search.found and by is None and job.outputs:
        ctx.exit(1)
