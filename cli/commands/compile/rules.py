"""The command `fst compile rules`."""

from __future__ import annotations

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("rules", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@output_option
def command(source: str, output: str) -> None:
    """Compile rewrite rules into a table for `fst rewrite`.

    FILE is UTF-8 text with one rule per line, such as a -> b / left _ right, where left and right are regular expressions. Each rule reads
    what the rule before has written. Several rules in a line, separated by ,, read the same text. A line may begin with a direction, as in
    ltr: or rtl:. A line such as V = [aeiou] defines a name. Lines that begin with # are comments. If FILE ends with .tsv, each line is a
    string, a tab, and the string that replaces it.

    \b
    Examples:
      fst compile rules spanish.rules -o spanish.npz
      fst compile rules abbreviations.tsv -o abbreviations.npz
    """
    write_table("fst.compile:rules", source, output)
