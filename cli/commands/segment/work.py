"""Segment files, and write the tokens as lines of text, JSON lines or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from fst.cli.files.formats import forms_of
from fst.cli.files.ids import TOKENS
from fst.cli.files.job import Job
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst import Segmenter
    from fst.cli.files.columns import ColumnsOf
    from fst.runtime.machines.segmentation.lattice import JiebaSegmenter, MecabSegmenter


MECAB, POSSEG = "mecab", "posseg"
FORMS = forms_of("wakati", MECAB, POSSEG, "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")


@dataclass(frozen=True, eq=False)
class Segmented:
    """Documents and their tokens.

    Attributes:
        documents: the documents.
        tokens: a list of str for each document, or a `pyarrow` array of lists with nulls. For the form "mecab", the lists contain lines of
            MeCab's output; for "posseg", tokens with their parts of speech.
    """

    documents: Documents
    tokens: Any

    def rows(self) -> Sequence[list[str] | None]:
        """The tokens of each document; None for a null."""
        rows: Sequence[list[str] | None] = self.tokens if isinstance(self.tokens, list) else self.tokens.to_pylist()
        return rows


def segmenting(segmenter: Segmenter, threads: int | None, text_name: str | None) -> Callable[[Documents, str], Segmented]:
    """A function that segments documents; with `text_name`, it also adds each text to its document as a field of this name."""

    def segment(documents: Documents, errors: str) -> Segmented:
        documents = documents.mended() if errors == "replace" else documents
        tokens = documents.segment(segmenter, threads)
        return Segmented(documents if text_name is None else documents.carrying(documents.texts, text_name), tokens)

    return segment


def analysing(segmenter: MecabSegmenter) -> Callable[[Documents, str], Segmented]:
    """A function that returns MeCab's output for documents. A null is treated as an empty document."""

    def analyse(documents: Documents, errors: str) -> Segmented:
        documents = documents.mended() if errors == "replace" else documents
        texts = documents.texts_in_utf8(range(len(documents)))
        return Segmented(documents, [segmenter.parse(text or b"").splitlines() for text in texts])

    return analyse


def tagging(segmenter: JiebaSegmenter) -> Callable[[Documents, str], Segmented]:
    """A function that returns strings ``word/flag`` for documents, without words of whitespace. A null is treated as an empty document."""

    def tag(documents: Documents, errors: str) -> Segmented:
        documents = documents.mended() if errors == "replace" else documents
        rows = map(segmenter.tag, (text or b"" for text in documents.texts_in_utf8(range(len(documents)))))
        return Segmented(documents, [[f"{word}/{flag}" for word, flag in row if not word.isspace()] for row in rows])

    return tag


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
    from fst.cli.files.columns import ListColumn

    return ListColumn(TOKENS, lambda segmented: segmented.tokens)


class TokenMembers:
    """A conversion of segmented documents to a JSON member with the list of tokens."""

    def of(self, segmented: Segmented, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        return segmented.documents, None, {TOKENS: list(map(as_json, segmented.rows()))}
