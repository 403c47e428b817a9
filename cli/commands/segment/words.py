"""Segment documents: the stage between reading and writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fst.runtime.files.documents import Documents

if TYPE_CHECKING:
    from fst import Segmenter
    from fst.runtime.machines.segmentation.lattice import JiebaSegmenter, MecabSegmenter


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
