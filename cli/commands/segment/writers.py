"""Segment files, and write the tokens as lines of text, JSON lines or columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from fst.cli.commands.segment.words import Segmented, analysing, segmenting, tagging
from fst.cli.files.formats import forms_of
from fst.cli.files.ids import TOKENS
from fst.cli.files.job import Job
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst.cli.files.columns import ColumnsOf

MECAB, POSSEG = "mecab", "posseg"
FORMS = forms_of("wakati", MECAB, POSSEG, "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")
SPECIAL: dict[str, Any] = {MECAB: analysing, POSSEG: tagging}


def segment(job: Job, segmenter: Any, threads: int | None) -> None:
    """Segment the input files of each output, and write the tokens."""
    for output in job.outputs:
        how = job.how_for(output)
        work = SPECIAL[output.form](segmenter) if output.form in SPECIAL else segmenting(segmenter, threads, how.carried_name)
        job.write(output, how, work, writing(output.name, output.form))


@contextmanager
def writing(name: str, form: str) -> Iterator[Write[Segmented]]:
    """A function that writes tokens to a file, or to standard output for "-"."""
    if form in ("wakati", POSSEG):
        with lines_of(name) as file:
            yield lambda segmented: _write_lines(file, segmented)
    elif form == MECAB:
        with lines_of(name) as file:
            yield lambda segmented: _write_words(file, segmented)
    else:
        with records_of(name, form, TokenMembers, _token_columns) as write:
            yield write


def _write_lines(file: IO[bytes], segmented: Segmented) -> None:
    """Write a line for each document: its tokens, separated by spaces, without tokens of whitespace."""
    rows = segmented.rows()
    file.write("".join([" ".join([token for token in row or () if not token.isspace()]) + "\n" for row in rows]).encode())
    file.flush()


def _write_words(file: IO[bytes], segmented: Segmented) -> None:
    """Write the lines of MeCab's output for each document."""
    file.write("".join([f"{line}\n" for lines in segmented.rows() for line in lines or ()]).encode())
    file.flush()


def _token_columns() -> ColumnsOf[Segmented]:
    from fst.cli.commands.segment.columns import TokenColumns

    return TokenColumns()


class TokenMembers:
    """A conversion of segmented documents to a JSON member with the list of tokens."""

    def of(self, segmented: Segmented, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        return segmented.documents, None, {TOKENS: list(map(as_json, segmented.rows()))}
