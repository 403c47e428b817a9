"""The command `fst segment`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.errors import UnsupportedError

if TYPE_CHECKING:
    from fst import Segmenter
    from fst.cli.files.columns import ColumnsOf
    from fst.cli.files.writers import Write
    from fst.runtime.files.documents import Documents
    from fst.runtime.machines.segmentation.lattice import JiebaSegmenter, MecabSegmenter

MECAB, POSSEG = "mecab", "posseg"


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
    from fst.cli.files.formats import forms_of
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load_for, ready

    forms = forms_of("wakati", MECAB, POSSEG, "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")
    job = Job(Target(output, form, overwrite, resume), forms, files, table, reading, errors)
    used = {each.form for each in job.outputs}
    tables = load_for("MecabSegmenter" if MECAB in used else "JiebaSegmenter" if POSSEG in used else "Segmenter", table)
    if POSSEG in used and not len(tables.tags):
        raise UnsupportedError(f"{table} has no parts of speech; expected a table of `fst compile jieba --tags`")
    job.check_inputs()
    segmenter = ready(tables, lambda segmenter: segmenter.segment(b"a"))
    with job.progress("segmenting"):
        for each in job.outputs:
            how = job.how_for(each)
            work = SPECIAL[each.form](segmenter) if each.form in SPECIAL else _segmenting(segmenter, threads, how.carried_name)
            job.write(each, how, work, _writing(each.name, each.form))


@dataclass(frozen=True, eq=False)
class _Segmented:
    """Documents and their tokens."""

    documents: Documents
    # a list of str for each document, or a `pyarrow` array of lists with nulls. For the form "mecab", the lists contain lines of MeCab's
    # output; for "posseg", tokens with their parts of speech.
    tokens: Any

    def rows(self) -> Sequence[list[str] | None]:
        """The tokens of each document; None for a null."""
        rows: Sequence[list[str] | None] = self.tokens if isinstance(self.tokens, list) else self.tokens.to_pylist()
        return rows


def _segmenting(segmenter: Segmenter, threads: int | None, text_name: str | None) -> Callable[[Documents], _Segmented]:
    """A function that segments documents; with `text_name`, the function also adds each text to its document as a field of this name."""

    def segment(documents: Documents) -> _Segmented:
        tokens = documents.segment(segmenter, threads)
        return _Segmented(documents if text_name is None else documents.carrying(documents.texts, text_name), tokens)

    return segment


def _analysing(segmenter: MecabSegmenter) -> Callable[[Documents], _Segmented]:
    """A function that returns MeCab's output for documents. A null is treated as an empty document."""

    def analyse(documents: Documents) -> _Segmented:
        texts = documents.texts_in_utf8(range(len(documents)))
        return _Segmented(documents, [segmenter.parse(text or b"").splitlines() for text in texts])

    return analyse


def _tagging(segmenter: JiebaSegmenter) -> Callable[[Documents], _Segmented]:
    """A function that returns strings ``word/part-of-speech`` for documents, without words of whitespace. A null is treated as an empty
    document.
    """

    def tag(documents: Documents) -> _Segmented:
        rows = map(segmenter.tag, (text or b"" for text in documents.texts_in_utf8(range(len(documents)))))
        return _Segmented(documents, [[f"{word}/{flag}" for word, flag in row if not word.isspace()] for row in rows])

    return tag


SPECIAL: dict[str, Any] = {MECAB: _analysing, POSSEG: _tagging}


@contextmanager
def _writing(name: str, form: str) -> Iterator[Write[_Segmented]]:
    """A function that writes tokens to a file, or to standard output for "-"."""
    from fst.cli.files.writers import lines_of, records_of

    if form in ("wakati", POSSEG):
        with lines_of(name) as file:
            yield lambda segmented: _write_lines(file, segmented)
    elif form == MECAB:
        with lines_of(name) as file:
            yield lambda segmented: _write_words(file, segmented)
    else:
        with records_of(name, form, _TokenMembers, _token_columns) as write:
            yield write


def _write_lines(file: IO[bytes], segmented: _Segmented) -> None:
    """Write a line for each document: its tokens, separated by spaces, without tokens of whitespace."""
    rows = segmented.rows()
    file.write("".join([" ".join([token for token in row or () if not token.isspace()]) + "\n" for row in rows]).encode())
    file.flush()


def _write_words(file: IO[bytes], segmented: _Segmented) -> None:
    """Write the lines of MeCab's output for each document."""
    file.write("".join([f"{line}\n" for lines in segmented.rows() for line in lines or ()]).encode())
    file.flush()


def _token_columns() -> ColumnsOf[_Segmented]:
    from fst.cli.files.columns import ListColumn
    from fst.cli.files.ids import TOKENS

    return ListColumn(TOKENS, lambda segmented: segmented.tokens)


class _TokenMembers:
    """A conversion of segmented documents to a JSON member with the list of tokens."""

    def of(self, segmented: _Segmented, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        from fst.cli.files.ids import TOKENS
        from fst.cli.files.writers import as_json

        return segmented.documents, None, {TOKENS: list(map(as_json, segmented.rows()))}
