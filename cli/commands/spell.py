"""The command `fst spell`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from fst.cli.group import CliCommand
from fst.cli.options import files_argument, format_option, output_options, reading_options, table_argument, working_options
from fst.errors import TextError

if TYPE_CHECKING:
    from fst import Misspelling, Speller
    from fst.cli.files.writers import Write
    from fst.runtime.files.documents import Documents

SUGGESTIONS, KEPT = "suggestions", 1 << 12  # a member of each wrong word; the number of words whose suggestions are kept
STYLE = "The kind of suggestions: the nearest words, or those of Hunspell, in its order."
LINES, MISSPELLINGS = "lines", "misspellings"  # the form of lines, and the name of the added member or column


@click.command("spell", cls=CliCommand)
@table_argument
@files_argument
@output_options
@format_option("lines", "json", "arrow", "parquet", default="lines")
@click.option("--suggest", type=click.IntRange(1), metavar="N", show_default="none", help="Add up to N suggestions for each wrong word.")
@click.option("--style", type=click.Choice(["nearest", "hunspell"]), default="nearest", show_default=True, help=STYLE)
@reading_options
@working_options
def command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    suggest: int | None,
    style: Literal["nearest", "hunspell"],
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Find the wrong words of documents. TABLE is from `fst compile speller`. FILE and output folders work as in `fst encode`.

    \b
    --format, or the ending of the output, chooses the format:
      lines           per wrong word: number of the document, from 1; word; start;
                      end, one past its last character; with --suggest, suggestions
      json            per document: its fields or columns, or else text; and
                      misspellings, a list of objects with word, start and end
      arrow, parquet  all columns of the input, and misspellings

    \b
    Examples:
      fst spell de_DE.npz books/*.gz | cut -f 2 | sort | uniq -c | sort -rn
      fst spell en_US.npz reviews.parquet --column text --suggest 3 -o out.parquet

    \b
    $ printf 'SET UTF-8\\n' > en.aff; printf '2\\na\\nword\\n' > en.dic
    $ fst compile speller en.aff -o en.npz
    $ echo "A wrod" | fst spell en.npz
    1   wrod    2       6
    """
    from fst.cli.files.formats import forms_of
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load_for, ready

    forms = forms_of(LINES, "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")
    job = Job(Target(output, form, overwrite, resume), forms, files, table, reading, errors)
    tables = load_for("Speller", table)
    job.check_inputs()
    speller = ready(tables, lambda speller: speller.check_text(b"a"))
    with job.progress("checking"):
        for each in job.outputs:
            how = job.how_for(each)
            job.write(each, how, _checking(speller, how.carried_name, suggest, style, threads), _writing(each.name, each.form, suggest))


@dataclass(frozen=True, eq=False)
class Checked:
    """Documents, and the wrong words of each: their word, start and end, and possibly suggestions; None for a null."""

    documents: Documents
    rows: Sequence[list[dict[str, Any]] | None]


def _checking(
    speller: Speller, text_name: str | None, suggest: int | None, style: Literal["nearest", "hunspell"], threads: int | None
) -> Callable[[Documents], Checked]:
    """A function that checks documents, and adds `suggest` suggestions for each wrong word; with `text_name`, it also adds each text to its
    document as a field of this name.
    """

    @lru_cache(KEPT)
    def suggestions(word: str) -> dict[str, list[str]]:
        if suggest is None:
            return {}
        try:
            return {SUGGESTIONS: speller.suggest(word, limit=suggest, style=style)}
        except TextError:  # the word, or the search for it, is too long
            return {SUGGESTIONS: []}

    def found_in(text: bytes, spans: Sequence[Misspelling]) -> list[dict[str, Any]]:
        characters = text.decode() if spans else ""
        words = [characters[span.start : span.end] for span in spans]
        return [{"word": word, "start": span.start, "end": span.end, **suggestions(word)} for word, span in zip(words, spans, strict=True)]

    def check(documents: Documents) -> Checked:
        texts = documents.texts_in_utf8(range(len(documents)))
        found = speller.check_texts([text or b"" for text in texts], threads=threads)
        rows = [None if text is None else found_in(text, spans) for text, spans in zip(texts, found, strict=True)]
        return Checked(documents if text_name is None else documents.carrying(documents.texts, text_name), rows)

    return check


@contextmanager
def _writing(name: str, form: str, suggest: int | None) -> Iterator[Write[Checked]]:
    """A function that writes the wrong words to a file, or to standard output for "-"."""
    from fst.cli.files.writers import lines_of, records_of

    if form == LINES:
        with lines_of(name) as file:
            yield partial(_write_lines, file)
    else:
        with records_of(name, form, _Members, partial(_Columns, suggest is not None)) as write:
            yield write


def _write_lines(file: IO[bytes], checked: Checked) -> None:
    """Write a line for each wrong word."""
    rows = zip(checked.documents.numbers, checked.rows, strict=True)
    file.write("".join([_line(number, word) for number, row in rows for word in row or ()]).encode())
    file.flush()


def _line(number: int, found: Mapping[str, Any]) -> str:
    """The line of a wrong word."""
    fields = [str(number), found["word"], str(found["start"]), str(found["end"])]
    if SUGGESTIONS in found:
        fields.append(", ".join(found[SUGGESTIONS]))
    return "\t".join(fields) + "\n"


class _Members:
    """A conversion of wrong words to a JSON member."""

    def of(self, checked: Checked, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        from fst.cli.files.writers import as_json

        return checked.documents, None, {MISSPELLINGS: list(map(as_json, checked.rows))}


class _Columns:
    """A conversion of wrong words to a column of lists of structs."""

    def __init__(self, has_suggestions: bool) -> None:
        from fst.runtime.files.with_pyarrow import pa

        self._pa = pa
        fields = [("word", pa.string()), ("start", pa.int32()), ("end", pa.int32()), (SUGGESTIONS, pa.list_(pa.string()))]
        self._kind = pa.list_(pa.struct(fields if has_suggestions else fields[:-1]))

    @property
    def added(self) -> Sequence[tuple[str, Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return [(MISSPELLINGS, self._kind)]

    def of(self, checked: Checked, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return checked.documents, [self._pa.array(checked.rows, self._kind)]
