"""Find keywords in documents, count them or replace them: the stage between reading and writing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst import Matches, Searcher

MATCHES = "matches"  # the name of the JSON field, and of the column in Arrow and Parquet
PLACES = ("start", "end")


@dataclass(frozen=True, eq=False)
class Found:
    """Documents and the matches in them.

    Attributes:
        documents: the documents.
        counts: int64[rows], the number of matches in each document.
        matches: the matches, with positions in characters; None: matches were only counted.
        nulls: bool[rows], whether each document is null; None: no document is null.
    """

    documents: Documents
    counts: NDArray[np.int64]
    matches: Matches | None = None
    nulls: NDArray[np.bool_] | None = None


Find = Callable[[Documents, str], Found]


def finding(searcher: Searcher, threads: int | None, text_name: str | None) -> Find:
    """A function that finds matches in documents; with `text_name`, it also adds each text to its document as a field of this name."""

    def find(documents: Documents, errors: str) -> Found:
        documents = documents.mended() if errors == "replace" else documents
        matches, nulls = documents.find(searcher, threads)
        carrying = documents if text_name is None else documents.carrying(documents.texts, text_name)
        return Found(carrying, np.diff(matches.row_splits), matches, nulls)

    return find


def counting(searcher: Searcher, threads: int | None) -> Find:
    """A function that counts the matches in documents."""

    def count(documents: Documents, errors: str) -> Found:
        documents = documents.mended() if errors == "replace" else documents
        return Found(documents, documents.count_matches(searcher, threads))

    return count


def replacing(searcher: Searcher, by: str, threads: int | None, text_name: str | None) -> Callable[[Documents, str], Documents]:
    """A function that replaces matches; with `text_name`, it also adds each new text to its document as a field of this name."""
    def rewrite(documents: Documents, errors: str) -> Documents:
        documents = documents.mended() if errors == "replace" else documents
        texts = documents.replace(searcher, by, threads)
        carrying = documents if text_name is None else documents.carrying(texts, text_name)
        return replace(carrying, texts=texts)

    return rewrite
