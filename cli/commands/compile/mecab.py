"""The command `fst compile mecab`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, user_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("mecab", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="FOLDER")
@output_option
@user_option
@click.option(
    "--encoding", metavar="NAME", show_default="that in dicrc, or utf-8", help="The encoding of the files: utf-8, euc-jp, shift_jis, ..."
)
def command(source: str, output: str, **options: Any) -> None:
    """Compile a dictionary of MeCab into a table for `fst segment`.

    FOLDER has the sources of a dictionary such as IPADIC: CSV files, matrix.def, char.def, unk.def and perhaps dicrc; or its compiled
    files, as in the packages ipadic and unidic-lite: sys.dic, unk.dic, matrix.bin and char.bin. The tokens are the same as in MeCab's best
    path.

    \b
    Examples:
      fst compile mecab mecab-ipadic-2.7.0/ --encoding euc-jp -o ipadic.npz
      fst compile mecab mecab-ipadic-2.7.0/ --user names.csv -o ipadic.npz
    """
    write_table("fst.compile.machines.segmentation.lattice:mecab", source, output, **options)
