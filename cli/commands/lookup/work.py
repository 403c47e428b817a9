"""Look up documents: the stage between reading and writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst import Lookup
    from fst.cli.files.pipeline import Work

APERTIUM = "apertium"  # a form
ANALYSES, WEIGHTS, TOKENS = "analyses", "weights", "tokens"  # names of the added members or columns



@dataclass(frozen=True, eq=False)
class Found:
    """Documents and their analyses.

    Attributes:
        documents: the documents.
        words: the text of each document; None for a null.
        analyses: the analyses of each document; None for a null.
        weights: the weights of the analyses of each document; None for an unweighted table.
    """

    documents: Documents
    words: Sequence[str | None]
    analyses: Sequence[list[str] | None]
    weights: Sequence[list[float]] | None


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
        found = lookup.lookup_batch([text or b"" for text in texts], **options)
        analyses = [None if text is None else row for text, row in zip(texts, found, strict=True)]
        splits, weights = found.row_splits.tolist(), found.weights
        weighted = None if weights is None else [weights[begin:end].tolist() for begin, end in pairwise(splits)]
        words = [None if text is None else str(text, "utf-8") for text in texts]
        return Found(documents if text_name is None else documents.carrying(documents.texts, text_name), words, analyses, weighted)

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
