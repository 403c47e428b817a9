"""The command `fst lookup`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.runtime.files.streams import STANDARD


@click.command("lookup", cls=CliCommand)
@table_argument
@files_argument
@click.option("--text", "in_text", is_flag=True, help="Find words in running text by longest match.")
@click.option("--deformatted", is_flag=True, help="The text comes from a deformatter of Apertium: copy superblanks, such as [<b>].")
@click.option("--inverse", is_flag=True, help="Look up analyses, and write words. TABLE needs --inverse, too.")
@click.option(
    "--case",
    type=click.Choice(["exact", "fold"]),
    default="exact",
    show_default=True,
    help="Look up unknown words also in lower case, Word and WORD, as Hunspell does.",
)
@click.option("--limit", type=click.IntRange(1, 4096), metavar="N", show_default="4096", help="The maximum number of analyses of a word.")
@output_options
@format_option("tsv", "apertium", "xerox", "json", "arrow", "parquet", default="tsv")
@reading_options
@working_options
def command(
    table: str,
    files: tuple[str, ...],
    in_text: bool,
    deformatted: bool,
    inverse: bool,
    case: str,
    limit: int | None,
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Look up words. TABLE is from `fst compile lookup`. A document is a word; FILE and output folders work as in `fst encode`.

    \b
    --format, or the ending of the output, chooses the format:
      tsv             a line per analysis: the word, a tab, the analysis, and in a
                      weighted table a tab and the weight; nothing follows the tab
                      after an unknown word
      apertium        a line per word, as lt-proc prints it: ^word/analysis$, or
                      ^word/*word$ for an unknown word; a backslash precedes
                      characters of a word that have a meaning in this format
      xerox           the output of flookup: as tsv, with +? for an unknown word, and
                      an empty line after each word
      json            an object per line: the fields or columns of the input, or
                      else text; and analyses
      arrow, parquet  all columns of the input, and analyses, lists of strings

    With --text, a document is running text. The format is apertium, which is the stream of lt-proc, or json, with tokens.

    \b
    Examples:
      fst lookup eng.npz words.txt > analyses.tsv
      fst lookup eng.npz words.parquet --column word -o analyses.parquet --threads 2
      fst lookup eng.npz analyses.txt --inverse
      fst lookup eng.npz reviews.txt --text > stream.txt
      apertium-deshtml page.html | fst lookup eng.npz --text --deformatted

    \b
    $ printf 'flies\\tfly+N\\nflies\\tfly+V\\n' > words.tsv; fst compile lookup words.tsv -o words.npz
    $ echo "flies" | fst lookup words.npz
    flies   fly+N
    flies   fly+V
    """
    from fst.cli.commands.lookup.work import FORMS, IN_TEXT, analysing, looking_up, writing
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load_for, ready
    from fst.runtime.machines.lookup.lines import APERTIUM

    if in_text and (inverse or case != "exact"):
        raise click.UsageError("--text cannot be combined with --inverse or --case")
    form = form or ("apertium" if in_text and output == STANDARD else None)
    if deformatted and not in_text:
        raise click.UsageError("--deformatted needs --text")
    job = Job(Target(output, form, overwrite, resume), FORMS, files, table, reading, errors)
    for each in job.outputs:
        if in_text and each.form not in IN_TEXT:
            raise click.UsageError(f"--text cannot be combined with the format {each.form}; choose {' or '.join(IN_TEXT)} with --format")
        if deformatted and each.form != APERTIUM:
            raise click.UsageError(f"--deformatted cannot be combined with the format {each.form}; choose {APERTIUM} with --format")
    tables = load_for("Lookup", table)
    job.check_inputs()
    lookup = ready(tables, lambda lookup: lookup(b"a"))
    lookup = lookup.inverted() if inverse else lookup
    options: Any = {"limit": limit, "threads": threads}
    with job.progress("looking up"):
        for each in job.outputs:
            how = job.how_for(each)
            name = how.carried_name
            if in_text:
                work: Any = analysing(lookup, name, each.form, **options, **({"deformatted": True} if deformatted else {}))
            else:
                work = looking_up(lookup, name, case=case, **options)
            job.write(each, how, work, writing(each.name, each.form))
