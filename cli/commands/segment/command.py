"""The command `fst segment`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.errors import UnsupportedError


@click.command("segment", cls=CliCommand)
@table_argument
@files_argument
@output_options
@format_option("wakati", "mecab", "posseg", "json", "arrow", "parquet", default="wakati")
@reading_options
@working_options
def command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Segment documents into words of a dictionary. TABLE is from `fst compile maxmatch`, `jieba` or `mecab`.

    FILE and output folders work as in `fst encode`. With maxmatch, a character becomes a token if no word of the dictionary begins there.

    \b
    --format, or the ending of the output, chooses the format:
      wakati          a line per document: its tokens, separated by spaces, without
                      tokens of whitespace
      mecab           the output of MeCab: a line per word, with its features after
                      a tab, and EOS after each document
      posseg          as wakati, each token with its part of speech, as in 猫/n;
                      TABLE is from `fst compile jieba --tags`
      json            an object per line: the fields or columns of the input, or
                      else text; and tokens
      arrow, parquet  all columns of the input, and tokens, lists of strings

    \b
    Examples:
      fst segment zh.npz corpus.txt > words.txt
      fst segment zh.npz books.parquet --column text -o words.parquet --threads 2
      fst segment zh.npz corpus/ --field text -o words/ --resume
      fst segment ipadic.npz corpus.txt --format mecab

    \b
    $ printf '研究\\n研究生\\n生命\\n' > dict.txt; fst compile maxmatch dict.txt -o zh.npz
    $ echo "研究生命" | fst segment zh.npz
    研究生 命
    """
    from fst.cli.commands.segment.work import FORMS, MECAB, POSSEG, segment
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load_for, ready

    job = Job(Target(output, form, overwrite, resume), FORMS, files, table, reading, errors)
    forms = {each.form for each in job.outputs}
    tables = load_for("MecabSegmenter" if MECAB in forms else "JiebaSegmenter" if POSSEG in forms else "Segmenter", table)
    if POSSEG in forms and not len(tables.tags):
        raise UnsupportedError(f"{table} has no parts of speech; expected a table of `fst compile jieba --tags`")
    job.check_inputs()
    segmenter = ready(tables, lambda segmenter: segmenter.segment(b"a"))
    with job.progress("segmenting"):
        segment(job, segmenter, threads)
