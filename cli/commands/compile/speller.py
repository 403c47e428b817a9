"""The command `fst compile speller`."""

from __future__ import annotations

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("speller", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@click.option("--no-suggestions", is_flag=True, help="A smaller table, for checks alone.")
@output_option
def command(source: str, no_suggestions: bool, output: str) -> None:
    """Compile a dictionary of Hunspell, or a speller of Giella, into a table for `fst spell`.

    FILE is the .aff or the .dic file of the dictionary; the other file is in the same folder. Each may be packed with gzip. Or FILE is an
    archive .zhfst of a lexicon and an error model.

    \b
    Examples:
      fst compile speller en_US.aff -o en_US.npz
      fst compile speller /usr/share/hunspell/de_DE.dic -o de_DE.npz
      fst compile speller se.zhfst -o se.npz
    """
    write_table("fst.compile:speller", source, output, suggestions=not no_suggestions)
