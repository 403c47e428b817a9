"""Documents that are read, encoded and written together, and their ids."""

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
    from fst import Matches, Searcher, Segmenter, Tokenizer

MEND = "mend it, or pass --errors skip"
MEND_TEXT = "mend it, or pass --errors replace or skip"


class Fault(NamedTuple):
    """A fault of a document, and its remedy for commands with the option --errors."""

    what: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of one file.

    Attributes:
        file: the name of the file in messages.
        unit: the word for a document of this file: line, row or document.
        numbers: the number of each document in the file, from 1.
        texts: their texts: a list of bytes or of str.
        others: the other fields of each document: a list of objects. None: there are none, or they are not needed.
        wrong: documents that were left out: number and fault.
        replaced: how many were repaired while they were read.
    """

    file: str
    unit: str
    numbers: Sequence[int]
    texts: Any
    others: Any = None
    wrong: Sequence[tuple[int, Fault]] = field(default=())
    replaced: int = 0

    is_whole: ClassVar[bool] = True  # whether their texts are, and can be left out

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, number: int) -> str:
        """The position of a document, for messages."""
        return f"{self.file}, {self.unit} {number}"

    def not_text(self) -> dict[int, Fault]:
        """The rows that are not text, each with its fault."""
        return {row: fault for row, text in enumerate(self.texts) if (fault := not_text(text)) is not None}

    def in_utf8(self) -> Documents:
        """The same documents with bytes for texts, without nulls; for commands without the option --errors.

        Raises:
            TextError: one of them is not text.
        """
        faults = [*self.wrong, *((self.numbers[row], fault) for row, fault in self.not_text().items())]
        if faults:
            number, fault = min(faults)
            raise TextError(f"{self.place(number)}: {fault.what}; mend it")
        return self._in_utf8()

    def _in_utf8(self) -> Documents:
        return replace(self, texts=[text.encode() if isinstance(text, str) else text for text in self.texts])

    def without(self, rows: Collection[int]) -> Documents:
        """The other rows."""
        return self.taken([row for row in range(len(self.numbers)) if row not in rows])

    def taken(self, rows: Sequence[int]) -> Documents:
        """The rows with some numbers, repeated if a number is repeated."""
        others = None if self.others is None else [self.others[row] for row in rows]
        return replace(self, numbers=[self.numbers[row] for row in rows], texts=[self.texts[row] for row in rows], others=others)

    def records(self) -> Any:
        """The other fields of each document, as a list of objects for JSON; None: there are none."""
        return self.others

    def mended(self) -> Documents:
        """The same documents with U+FFFD for malformed units of text."""
        return replace(self, texts=[replaced(text) for text in self.texts])

    def texts_in_utf8(self, rows: Sequence[int]) -> list[bytes | None]:
        """The texts of some rows; None for nulls."""
        return [text.encode() if isinstance(text := self.texts[row], str) else text for row in rows]

    def carrying(self, texts: Any, name: str) -> Documents:
        """The same documents, with texts in their other fields too.

        Args:
            texts: a text for each document, as in `texts`.
            name: the field of the texts, which keeps its place if it is there.
        """
        others = repeat({}) if self.others is None else self.others
        return replace(self, others=[{**record, name: text} for record, text in zip(others, map(_as_str, texts), strict=False)])

    def encode(self, tokenizer: Tokenizer, errors: str, **options: Any) -> Encoded:
        """Their ids; the options are those of `Tokenizer.encode_batch`."""
        batch = tokenizer.encode_batch(self.texts, errors=errors, **options)
        return Encoded(self, batch.ids, batch.row_splits[1:], offsets=batch.offsets)

    def count(self, tokenizer: Tokenizer, errors: str, **options: Any) -> int:
        """The number of ids of each document; the options are those of `Tokenizer.count_tokens`."""
        return int(tokenizer.count_tokens(self.texts, errors=errors, **options).sum())

    def find(self, searcher: Searcher, threads: int | None) -> tuple[Matches, NDArray[np.bool_] | None]:
        """Their matches, in characters; and which of them are null, None if none is."""
        return searcher.find_batch(self.texts, threads=threads), None

    def count_matches(self, searcher: Searcher, threads: int | None) -> NDArray[np.int64]:
        """int64[rows], how many matches each has."""
        return searcher.count(self.texts, threads=threads)

    def segment(self, segmenter: Segmenter, threads: int | None) -> Any:
        """Their tokens: a list of str for each."""
        return [*segmenter.segment_batch(self.texts, offsets=True, threads=threads)]

    def replace(self, searcher: Searcher, by: str, threads: int | None) -> Any:
        """Their texts with matches replaced, in the form of `texts`."""
        return searcher.replace(list(map(_as_str, self.texts)), by, threads=threads)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The ids of documents.

    Attributes:
        documents: the documents.
        ids: int32[n], the ids of all documents in order.
        ends: int64[rows], the end of each document's ids; ids after the last end belong to an unfinished document.
        nulls: bool[rows], which of them are null; None: none.
        offsets: int32[n, 2], the span of each id in characters; None: they are not needed.
    """

    documents: Documents
    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    nulls: NDArray[np.bool_] | None = None
    offsets: NDArray[np.int32] | None = None


def _as_str(text: str | bytes) -> str:
    """A text as str.

    Raises:
        TextError: it is not text.
    """
    try:
        return text if isinstance(text, str) else str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"not UTF-8 at byte {error.start}") from None


def not_text(text: str | bytes) -> Fault | None:
    """The fault of a text, or None."""
    place = wrong_at(text)
    if place is None:
        return None
    return Fault(f"{'a lone surrogate at character' if isinstance(text, str) else 'not UTF-8 at byte'} {place}", MEND_TEXT)
