"""Look up files, and write the analyses as lines of text, JSON lines or columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from fst.cli.commands.lookup.work import ANALYSES, TOKENS, WEIGHTS, Analysed, Found
from fst.cli.files.formats import Forms, forms_of
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents
from fst.runtime.machines.lookup.lines import APERTIUM, LINES, TSV

if TYPE_CHECKING:
    from fst.cli.files.columns import ColumnsOf

IN_TEXT = (APERTIUM, "json")  # the forms for running text


def _forms() -> Forms:
    forms = forms_of(*LINES, "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")
    instead = {ending: advice for ending, advice in forms.instead.items() if ending != ".tsv"}
    return forms._replace(endings={**forms.endings, ".tsv": TSV}, instead=instead)


FORMS = _forms()


@contextmanager
def writing(name: str, form: str) -> Iterator[Write[Any]]:
    """A function that writes analyses to a file, or to standard output for "-"."""
    if form in LINES:
        with lines_of(name) as file:
            yield partial(_write_lines, file, form)
    else:
        with records_of(name, form, AnalysisMembers, _analysis_columns) as write:
            yield write


def _write_lines(file: IO[bytes], form: str, found: Found | Analysed) -> None:
    """Write the lines of each word, or the stream of each text. A null is written as a text without characters."""
    if isinstance(found, Analysed):
        file.write("".join([f"{stream}\n" for stream in found.tokens]).encode())
    else:
        file.write(found.analyses.lines(found.words, form).data)
    file.flush()


class AnalysisMembers:
    """A conversion of analyses to JSON members: the analyses and the weights of a weighted table, or the tokens of running text."""

    def of(self, found: Found | Analysed, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        if isinstance(found, Analysed):
            rows = zip(found.texts, found.tokens, strict=True)
            objects = [None if text is None else [token._asdict() for token in tokens] for text, tokens in rows]
            return found.documents, None, {TOKENS: list(map(as_json, objects))}
        members, weights = {ANALYSES: list(map(as_json, found.rows))}, found.weights
        if weights is not None:
            members[WEIGHTS] = list(map(as_json, weights))
        return found.documents, None, members


def _analysis_columns() -> ColumnsOf[Found]:
    from fst.cli.commands.lookup.columns import AnalysisColumns

    return AnalysisColumns()
