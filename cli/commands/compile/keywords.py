"""The command `fst compile keywords`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, word_options, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName, component

MATCH_KINDS = ("leftmost-longest", "leftmost-first", "standard", "overlapping")


@click.command("keywords", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@output_option
@click.option(
    "--match-kind", type=click.Choice(MATCH_KINDS), show_default=MATCH_KINDS[0], help="The matches to find where several overlap."
)
@click.option("--ignore-case", is_flag=True, default=None, help="Ignore upper and lower case.")
@click.option("--whole-words", is_flag=True, default=None, help="Find keywords only where words begin and end.")
@click.option(
    "--normalizer",
    callback=component,
    metavar="TYPE|JSON",
    show_default="none",
    help="A normalizer of the library tokenizers for keywords and texts: NFKC, ...",
)
@click.option("--allow-empty", is_flag=True, default=None, help="Accept an empty keyword, which matches between all characters.")
@word_options
def command(source: str, output: str, **options: Any) -> None:
    """Compile keywords into a table for `fst search`.

    FILE is UTF-8 text with one keyword per line, or a file with columns: .csv, .tsv, .parquet, .arrow, .feather or .ipc. The number of a
    keyword is its position, from 0.

    \b
    Examples:
      fst compile keywords names.txt -o names.npz
      fst compile keywords people.csv --column name -o people.npz --whole-words
      fst compile keywords terms.txt -o terms.npz --ignore-case --normalizer NFKC
    """
    write_table("fst.compile:keywords", source, output, **options)
