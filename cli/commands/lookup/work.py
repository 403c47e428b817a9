"""Look up documents: the stage between reading and writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fst.runtime.files.documents import Documents
from fst.runtime.machines.lookup.lines import APERTIUM, has_nulls

if TYPE_CHECKING:
    from fst import Analyses, Lookup
    from fst.cli.files.pipeline import Work

ANALYSES, WEIGHTS, TOKENS = "analyses", "weights", "tokens"  # names of the added members or columns


@dataclass(frozen=True, eq=False)
class Found:
    """Documents and their analyses.

    Attributes:
        documents: the documents.
        words: the text of each document in UTF-8; None for a null.
        analyses: the analyses of each document; those of a null have no meaning.
    """

    documents: Documents
    words: Sequence[bytes | None]
    analyses: Analyses

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
    """Documents of running text and their tokens.

    Attributes:
        documents: the documents.
        texts: the text of each document; None for a null.
        tokens: the tokens of each document, none for a null; or the streams of all documents.
    """

    documents: Documents
    texts: Sequence[str | None]
    tokens: Sequence[Any]


def looking_up(lookup: Lookup, text_name: str | None, **options: Any) -> Work[Found]:
    """A function that looks up documents, with options of `fst.Lookup.lookup_batch`; with `text_name`, it also adds each text to its
    document as a field of this name.
    """

    def look_up(documents: Documents, errors: str) -> Found:
        documents = documents.mended() if errors == "replace" else documents
        texts = documents.texts_in_utf8(range(len(documents)))
        words: list[Any] = [text or b"" for text in texts] if has_nulls(texts) else texts
        found = lookup.lookup_batch(words, **options)
        return Found(documents if text_name is None else documents.carrying(documents.texts, text_name), texts, found)

    return look_up


def analysing(lookup: Lookup, text_name: str | None, form: str, **options: Any) -> Work[Analysed]:
    """A function that analyses documents as running text, with options of `fst.Lookup.analyze_batch`; see `looking_up`.

    For the form `APERTIUM`, it makes streams.
    """
    of_texts: Callable[..., Iterable[Any]] = lookup.to_apertium if form == APERTIUM else lookup.analyze_batch

    def analyse(documents: Documents, errors: str) -> Analysed:
        documents = documents.mended() if errors == "replace" else documents
        texts = documents.texts_in_utf8(range(len(documents)))
        tokens = [*of_texts([text or b"" for text in texts], **options)]
        carried = documents if text_name is None else documents.carrying(documents.texts, text_name)
        return Analysed(carried, [None if text is None else str(text, "utf-8") for text in texts], tokens)

    return analyse
