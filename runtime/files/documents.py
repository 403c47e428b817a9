"""Blocks of documents, the unit in which commands read, encode and write documents; and the ids of a block."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.runtime.rows.texts import replaced, wrong_at

if TYPE_CHECKING:
    from fst import Matches, Rewriter, Searcher, Segmenter, Tokenizer

MEND = "correct it, or pass --errors skip"
MEND_TEXT = "correct it, or pass --errors replace or skip"


class Fault(NamedTuple):
    """An error in a document, with the remedy that commands with the option --errors recommend."""

    what: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of one file.

    Attributes:
        file: the name of the file, for messages.
        unit: the word for a document in messages: "line", "row" or "document".
        numbers: the number of each document in the file, from 1.
        texts: the texts of the documents: a list of bytes or of str.
        others: the other fields of each document: a list of objects; None if there are no other fields, or if they are not needed.
        wrong: the number and the fault of each document that was left out.
        replaced: the number of documents that were repaired during reading.
    """

    file: str
    unit: str
    numbers: Sequence[int]
    texts: Any
    others: Any = None
    wrong: Sequence[tuple[int, Fault]] = field(default=())
    replaced: int = 0

    is_whole: ClassVar[bool] = True  # whether `texts` contains complete documents, so that a document can be left out

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, number: int) -> str:
        """Return the name of a document for messages, from its file and its number."""
        return f"{self.file}, {self.unit} {number}"

    def not_text(self) -> dict[int, Fault]:
        """Find the rows that are malformed; return a mapping from these rows to their faults."""
        return {row: fault for row, text in enumerate(self.texts) if (fault := not_text(text)) is not None}

    def in_utf8(self) -> Documents:
        """Return the documents without nulls, with texts as bytes objects; for commands without the option --errors."""
        faults = [*self.wrong, *((self.numbers[row], fault) for row, fault in self.not_text().items())]
        if faults:
            number, fault = min(faults)
            raise TextError(f"{self.place(number)}: {fault.what}; correct it")
        return self._in_utf8()

    def _in_utf8(self) -> Documents:
        return replace(self, texts=[text.encode() if isinstance(text, str) else text for text in self.texts])

    def without(self, rows: Collection[int]) -> Documents:
        """Return all documents whose row is not in `rows`."""
        return self.taken([row for row in range(len(self.numbers)) if row not in rows])

    def taken(self, rows: Sequence[int]) -> Documents:
        """Select documents by their rows; a row that occurs twice selects its document twice."""
        others = None if self.others is None else [self.others[row] for row in rows]
        return replace(self, numbers=[self.numbers[row] for row in rows], texts=[self.texts[row] for row in rows], others=others)

    def records(self) -> Any:
        """Return the other fields of each document as a list of objects for JSON; None if there are no other fields."""
        return self.others

    def mended(self) -> Documents:
        """Return the documents, with malformed units replaced by U+FFFD."""
        return replace(self, texts=[replaced(text) for text in self.texts])

    def texts_in_utf8(self, rows: Sequence[int]) -> list[bytes | None]:
        """Return the texts of the chosen rows; the text of a null row is None."""
        texts = [*self.texts] if rows == range(len(self.texts)) else [self.texts[row] for row in rows]
        return [text.encode() if isinstance(text, str) else text for text in texts] if str in set(map(type, texts)) else texts

    def carrying(self, texts: Any, name: str) -> Documents:
        """Add a text to the other fields of each document, as the field `name`. If the field exists, its position does not change."""
        others = repeat({}) if self.others is None else self.others
        return replace(self, others=[{**record, name: text} for record, text in zip(others, map(_as_str, texts), strict=False)])

    def encode(self, tokenizer: Tokenizer, errors: str, **options: Any) -> Encoded:
        """Encode the documents; `options` are passed to `Tokenizer.encode_batch`."""
        batch = tokenizer.encode_batch(self.texts, errors=errors, **options)
        return Encoded(self, batch.ids, batch.row_splits[1:], offsets=batch.offsets)

    def count(self, tokenizer: Tokenizer, errors: str, **options: Any) -> int:
        """Count the ids of all documents; `options` are passed to `Tokenizer.count_tokens`."""
        return int(tokenizer.count_tokens(self.texts, errors=errors, **options).sum())

    def find(self, searcher: Searcher, threads: int | None) -> tuple[Matches, NDArray[np.bool_] | None]:
        """Find the matches in the documents, with positions in characters. Return also bool[rows], whether each document is null; None if
        no document is null.
        """
        return searcher.find_batch(self.texts, threads=threads), None

    def count_matches(self, searcher: Searcher, threads: int | None) -> NDArray[np.int64]:
        """Count the matches in each document; return int64[rows]."""
        return searcher.count(self.texts, threads=threads)

    def segment(self, segmenter: Segmenter, threads: int | None) -> Any:
        """Segment each document into a list of str."""
        return [*segmenter.segment_batch(self.texts, offsets=True, threads=threads)]

    def replace(self, searcher: Searcher, by: str, threads: int | None) -> Any:
        """Replace the matches in the texts; return a list of str."""
        return searcher.replace(list(map(_as_str, self.texts)), by, threads=threads)

    def rewrite(self, rewriter: Rewriter, threads: int | None) -> Any:
        """Apply rewrite rules to the texts; return a list of str."""
        return rewriter.apply_batch(list(map(_as_str, self.texts)), threads=threads)


@dataclass(frozen=True, eq=False)
class Lines(Documents):
    """Lines to count or to read once: `texts` is a `Column` of `fst.runtime.rows.texts`, which kernels check and repair."""

    def mended(self) -> Documents:
        """Return the documents unchanged, because `Column.gather` replaces malformed units."""
        return self


@dataclass(frozen=True, eq=False)
class Encoded:
    """The ids of a block of documents.

    Attributes:
        documents: the documents.
        ids: int32[n], the ids of all documents in order.
        ends: int64[rows], the end of each document's ids. Ids after the last end belong to a document that continues in the next block.
        nulls: bool[rows], whether each document is null; None if no document is null.
        offsets: int32[n, 2], the span of each id in characters; None if they are not needed.
    """

    documents: Documents
    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    nulls: NDArray[np.bool_] | None = None
    offsets: NDArray[np.int32] | None = None


def _as_str(text: str | bytes) -> str:
    """Convert a text to str."""
    try:
        return text if isinstance(text, str) else str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"not UTF-8 at byte {error.start}") from None


def not_text(text: str | bytes) -> Fault | None:
    """Find the fault of a text; return None for valid text."""
    place = wrong_at(text)
    if place is None:
        return None
    return Fault(f"{'a lone surrogate at character' if isinstance(text, str) else 'not UTF-8 at byte'} {place}", MEND_TEXT)
