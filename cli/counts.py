"""Counts of documents and tokens of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.runtime.files.documents import Documents


@dataclass(frozen=True)
class Count:
    """How many documents and tokens a file has."""

    file: str
    documents: int
    tokens: int

    @classmethod
    def of(cls, file: str, parts: Iterable[tuple[int, int]]) -> Count:
        """The sum of the documents and tokens of its parts."""
        documents = tokens = 0
        for more_documents, more_tokens in parts:
            documents, tokens = documents + more_documents, tokens + more_tokens
        return cls(file, documents, tokens)


def counting(tokenizer: Tokenizer, **options: Any) -> Callable[[Documents, str], tuple[int, int]]:
    """A function that counts documents and their tokens; the options are those of `Tokenizer.count_tokens`."""
    return lambda documents, errors: (len(documents), documents.count(tokenizer, errors, **options))


def as_object(counts: Sequence[Count]) -> dict[str, Any]:
    """All counts and their sum, as JSON."""
    total = asdict(_total(counts))
    del total["file"]
    return {"files": [asdict(count) for count in counts], **total}


def listed(counts: Sequence[Count]) -> Iterator[str]:
    """The counts as lines for a person: one for each file, and one for the sum if there are several."""
    rows = [("documents", "tokens", "file")]
    shown = counts if len(counts) == 1 else [*counts, _total(counts)]
    rows += [(f"{count.documents:,}", f"{count.tokens:,}", count.file) for count in shown]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return (f"{documents:>{widths[0]}}  {tokens:>{widths[1]}}  {file}" for documents, tokens, file in rows)


def _total(counts: Sequence[Count]) -> Count:
    return Count.of("total", ((count.documents, count.tokens) for count in counts))
