"""Look up files, and write the analyses as lines of text, JSON lines or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from fst.cli.commands.lookup.work import ANALYSES, TOKENS, WEIGHTS, Analysed, Found
from fst.cli.files.formats import Forms, forms_of
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst.cli.files.columns import ColumnsOf

TSV = "tsv"
IN_TEXT = ("apertium", "json")  # the forms for running text
UNKNOWN = "+?"  # what flookup prints for an unknown word


def _forms() -> Forms:
    forms = forms_of(TSV, "apertium", "xerox", "json", advice="write JSON lines (.jsonl), or Parquet (.parquet)")
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
        _write_words(file, LINES[form], found)
    file.flush()


def _write_words(file: IO[bytes], lines_of_word: Callable[[str, Sequence[str]], str], found: Found) -> None:
    for row, (word, analyses) in enumerate(zip(found.words, found.analyses, strict=True)):
        rows = analyses or []
        if found.weights is not None and lines_of_word is not _apertium:
            rows = [f"{analysis}\t{weight:.9g}" for analysis, weight in zip(rows, found.weights[row], strict=True)]
        file.write(lines_of_word(word or "", rows).encode())


def _tsv(word: str, analyses: Sequence[str]) -> str:
    return "".join([f"{word}\t{analysis}\n" for analysis in analyses or [""]])


def _xerox(word: str, analyses: Sequence[str]) -> str:
    return _tsv(word, analyses or [UNKNOWN]) + "\n"


def _apertium(word: str, analyses: Sequence[str]) -> str:
    return f"^{word}/{'/'.join(analyses or [f'*{word}'])}$\n"


LINES: Mapping[str, Callable[[str, Sequence[str]], str]] = {TSV: _tsv, "apertium": _apertium, "xerox": _xerox}


class AnalysisMembers:
    """A conversion of analyses to JSON members: the analyses and the weights of a weighted table, or the tokens of running text."""

    def of(self, found: Found | Analysed, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.formats.MembersOf`."""
        if isinstance(found, Analysed):
            rows = zip(found.texts, found.tokens, strict=True)
            objects = [None if text is None else [token._asdict() for token in tokens] for text, tokens in rows]
            return found.documents, None, {TOKENS: list(map(as_json, objects))}
        members = {ANALYSES: list(map(as_json, found.analyses))}
        if found.weights is not None:
            pairs = zip(found.analyses, found.weights, strict=True)
            members[WEIGHTS] = [as_json(None if analyses is None else weights) for analyses, weights in pairs]
        return found.documents, None, members


def _analysis_columns() -> ColumnsOf[Found]:
    from fst.cli.commands.lookup.columns import AnalysisColumns

    return AnalysisColumns()
