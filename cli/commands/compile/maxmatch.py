"""The command `fst compile maxmatch`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, word_options, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName

DIRECTIONS = ("forward", "backward")


@click.command("maxmatch", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@output_option
@click.option("--direction", type=click.Choice(DIRECTIONS), show_default=DIRECTIONS[0], help="The end at which segmentation begins.")
@word_options
def command(source: str, output: str, **options: Any) -> None:
    """Compile a list of words into a table for `fst segment`.

    The segmenter takes the longest word at each position. FILE is UTF-8 text with one word per line, or a file with columns: .csv, .tsv,
    .parquet, .arrow, .feather or .ipc.

    \b
    Examples:
      fst compile maxmatch words.txt -o words.npz
      fst compile maxmatch dict.txt --input-format jieba --direction backward -o zh.npz
    """
    write_table("fst.compile:maxmatch", source, output, **options)
