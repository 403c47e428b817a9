"""The command `fst compile jieba`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName


@click.command("jieba", cls=CliCommand)
@click.argument("source", type=FileName(), metavar="[FILE]", required=False)
@output_option
@click.option("--user", type=FileName(), metavar="FILE", show_default="none", help="A file of more words, as for jieba.load_userdict.")
@click.option("--hmm", is_flag=True, default=None, help="Find unknown words, too, as jieba does by default; needs an installed jieba.")
@click.option("--tags", is_flag=True, default=None, help="Keep parts of speech, for `fst segment --format posseg`.")
def command(source: str | None, output: str, **options: Any) -> None:
    """Compile a dictionary of jieba into a table for `fst segment`.

    FILE has lines `word frequency part-of-speech`. Without FILE, the dictionary of an installed jieba is compiled. The tokens are the same
    as in jieba.cut(text, HMM=False), or with --hmm in jieba.cut(text).

    \b
    Examples:
      fst compile jieba -o zh.npz --hmm --tags
      fst compile jieba dict.txt --user names.txt -o zh.npz
    """
    from fst.compile.machines.segmentation.jieba_model import dictionary

    write_table("fst.compile.machines.segmentation.lattice:jieba", source or str(dictionary()), output, **options)
