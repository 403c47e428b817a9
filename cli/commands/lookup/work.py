"""Look up documents, and write the analyses as lines of text, JSON lines or columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

from fst.cli.files.formats import Forms, forms_of
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.runtime.files.documents import Documents
from fst.runtime.machines.lookup.lines import APERTIUM, LINES, TSV, has_nulls

if TYPE_CHECKING:
    from fst import Analyses, Lookup
    from fst.cli.files.columns import ColumnsOf


IN_TEXT = (APERTIUM, "json")  # the forms for running text
ANALYSES, WEIGHTS, TOKENS = "analyses", "weights", "tokens"  # names of the added members or columns


@dataclass(frozen=True, eq=False)
class Found:
    """Documents and their analyses."""

    documents: Documents
    words: Sequence[bytes | None]  # the text of each document in UTF-8; None for a null
    analyses: Analyses  # the analyses of each document; the analyses of a null document have no meaning

    @property
    def rows(self) -> Sequence[list[str] | None]:
        """The analyses of each document; None for a null."""
        return [None if word is None else row for word, row in zip(self.words, self.analyses, strict=True)]

    @property
    def weights(self) -> Sequence[list[float] | None] | None:
        """The weights of the analyses of each document, None for a null; or None for an unweighted table."""
        splits, weights = self.analyses.row_splits.tolist(), self.analyses.weights
        if weights is None:
            return None
        rows = [weights[begin:end].tolist() for begin, end in pairwise(splits)]
        return [None if word is None else row for word, row in zip(self.words, rows, strict=True)]


@dataclass(frozen=True, eq=False)
class Analysed:
    """Documents of running text and their tokens."""

    documents: Documents
    texts: Sequence[str | None]  # the text of each document; None for a null
    tokens: Sequence[Any]  # the tokens of each document, an empty list for a null; or the streams of all documents


def looking_up(lookup: Lookup, text_name: str | None, **options: Any) -> Callable[[Documents], Found]:
    """A function that looks up documents; with `text_name`, the function also adds each text to its document as a field of this name."""

    def look_up(documents: Documents) -> Found:
        texts = documents.texts_in_utf8(range(len(documents)))
        words: list[Any] = [text or b"" for text in texts] if has_nulls(texts) else texts
        found = lookup.lookup_batch(words, **options)
        return Found(documents if text_name is None else documents.carrying(documents.texts, text_name), texts, found)

    return look_up


def analysing(lookup: Lookup, text_name: str | None, form: str, **options: Any) -> Callable[[Documents], Analysed]:
    """A function that analyses documents as running text, with options of `fst.Lookup.analyze_batch`; see `looking_up`.

    For the form `APERTIUM`, the function returns streams.
    """
    of_texts: Callable[..., Iterable[Any]] = lookup.to_apertium if form == APERTIUM else lookup.analyze_batch

    def analyse(documents: Documents) -> Analysed:
        texts = documents.texts_in_utf8(range(len(documents)))
        tokens = [*of_texts([text or b"" for text in texts], **options)]
        carried = documents if text_name is None else documents.carrying(documents.texts, text_name)
        return Analysed(carried, [None if text is None else str(text, "utf-8") for text in texts], tokens)

    return analyse


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
    from fst.cli.files.columns import ListColumn

    return ListColumn(ANALYSES, lambda found: found.rows)
