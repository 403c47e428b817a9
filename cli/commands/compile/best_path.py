"""The command `fst compile best-path`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("best-path", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FILE")
@output_option
@click.option("--name", help="The name of the machine in an archive (.far).")
@click.option("--unit", type=click.Choice(["character", "utf-8"]), help="The meaning of labels without symbols: code points or bytes.")
@click.option("--unknown", type=click.Choice(["error", "copy"]), help="Refuse texts without a path, which is the default, or copy them.")
def command(source: str, output: str, **options: Any) -> None:
    """Compile a weighted transducer, such as a text normalizer, into a table for `fst rewrite`.

    FILE is an OpenFst file (.fst), an archive (.far) as pynini and NeMo write it, or AT&T text. It may be packed with gzip. Each text is
    rewritten to the output of its path of least weight.

    \b
    Examples:
      fst compile best-path zh_tn_tagger.fst -o tagger.npz
      fst compile best-path en_tn.far --name tokenize_and_classify -o tagger.npz
    """
    write_table("fst.compile:best_path", source, output, **options)
