"""Options that several commands of `fst compile` share."""

from __future__ import annotations

import click

from fst.cli.options import READING, with_options
from fst.cli.parameters import FileName

WORD_FORMATS = ("lines", "jieba", "csv", "tsv", "parquet", "arrow")

output_option = click.option("-o", "--output", required=True, type=FileName(), metavar="TABLE.npz", help="The table file to write.")
user_option = click.option("--user", type=FileName(), metavar="FILE", show_default="none", help="A file of more words, in the same format.")
word_options = with_options(
    click.option(
        "--input-format", "format", type=click.Choice(WORD_FORMATS), show_default="by its name, or lines", help="The format of FILE."
    ),
    click.option("--column", metavar="NAME", show_default="the first in CSV, else the only one", help="The column of the words."),
    section=READING,
)
