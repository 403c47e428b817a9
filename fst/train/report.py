"""Measurements of a vocabulary on held-out texts, which were not used for its training.

A word is a run of letters, digits and marks. Words do not depend on the vocabulary's splitter, so the figures of two vocabularies are
comparable.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.errors import TextError, counted, quoted
from fst.tables.kernel_call import MOST_UNITS
from fst.train import chart
from fst.train.chart import Bar, Panel
from fst.train.paths import are_paths, begun

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer
    from fst.tables.table import Table

ALL = "all"  # the name of the row for all texts together
RARE = 10  # a token that occurs fewer times than this is rare
BLOCK = 1 << 10  # number of texts that are measured at a time
OF_WORDS = ("L", "N", "M")  # Unicode categories of the characters of words
HEADINGS = ("texts", "bytes/token", "chars/token", "words/token", "whole words", "unknown", "used", "rare")

TEXT = "text"  # the default name of the column of texts

Ints = NDArray[np.int64]
Block = tuple[list[str], list[str]]  # texts, and for each text the name of its row


@dataclass(frozen=True)
class Row:
    """The figures of some texts.

    Attributes:
        name: the value of the column `by`; "all" for all texts.
        texts, bytes, characters, words, tokens: total numbers. `tokens` excludes the special tokens around texts.
        whole: the number of words that are exactly one token other than the unknown token.
        unknown: the number of unknown tokens.
        used: the number of distinct tokens that occur.
        rare: the number of distinct tokens that occur 1 to 9 times.
    """

    name: str
    texts: int
    bytes: int
    characters: int
    words: int
    tokens: int
    whole: int
    unknown: int
    used: int
    rare: int

    @property
    def bytes_per_token(self) -> float:
        """Bytes of UTF-8 per token."""
        return self.bytes / max(1, self.tokens)

    @property
    def characters_per_token(self) -> float:
        """Characters per token."""
        return self.characters / max(1, self.tokens)

    @property
    def words_per_token(self) -> float:
        """Words per token."""
        return self.words / max(1, self.tokens)

    @property
    def whole_words(self) -> float:
        """The share of words that consist of one token."""
        return self.whole / max(1, self.words)

    @property
    def unknown_rate(self) -> float:
        """The share of unknown tokens among all tokens."""
        return self.unknown / max(1, self.tokens)

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures as text, in the order of `HEADINGS`."""
        sizes = f"{self.bytes_per_token:.3f}", f"{self.characters_per_token:.3f}", f"{self.words_per_token:.3f}"
        shares = f"{self.whole_words:.1%}", f"{self.unknown_rate:.2%}"
        return f"{self.texts:,}", *sizes, *shares, f"{self.used:,}", f"{self.rare:,}"


@dataclass(frozen=True)
class Report:
    """The figures of a vocabulary on held-out texts; `str` formats them as a table.

    Attributes:
        rows: a row for each value of the column `by`, then a row for all texts.
        size: the number of tokens in the vocabulary.
    """

    rows: Sequence[Row]
    size: int

    def __str__(self) -> str:
        lines = [("", *HEADINGS), *((row.name, *row.figures) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = ["  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]) for name, *cells in lines]
        return "\n".join([*(text.rstrip() for text in texts), f"{counted(self.size, 'token')} in the vocabulary"])

    def svg(self) -> str:
        """A chart of bytes per token, whole words and unknown tokens, as SVG text."""
        panels = [
            Panel("bytes a token", self._bars("bytes_per_token", ".2f")),
            Panel("words that are one token", self._bars("whole_words", ".1%")),
            Panel("unknown tokens", self._bars("unknown_rate", ".2%")),
        ]
        names = [row.name for row in self.rows]
        caption = f"{counted(self.rows[-1].texts, 'held-out text')} of {counted(self.rows[-1].bytes, 'byte')}"
        return chart.svg(panels, names, f"A vocabulary of {counted(self.size, 'token')}", caption)

    def _bars(self, name: str, form: str) -> Mapping[str, Bar]:
        values = {row.name: getattr(row, name) for row in self.rows}
        return {row: Bar(value, format(value, form), chart.OURS) for row, value in values.items()}


@dataclass
class _Sums:
    """Sums over some texts. The fields are as in `Row`; `counts` contains the number of occurrences of each id."""

    counts: Ints
    texts: int = 0
    bytes: int = 0
    characters: int = 0
    words: int = 0
    whole: int = 0

    def add(self, other: _Sums) -> None:
        """Add the sums over other texts."""
        self.counts = self.counts + other.counts
        for name in ("texts", "bytes", "characters", "words", "whole"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self, name: str, unknown: int | None) -> Row:
        """Convert the sums to a `Row`."""
        used, rare = int(np.count_nonzero(self.counts)), int(np.count_nonzero((self.counts > 0) & (self.counts < RARE)))
        unknowns = 0 if unknown is None else int(self.counts[unknown])
        sizes = self.texts, self.bytes, self.characters, self.words
        return Row(name, *sizes, int(self.counts.sum()), self.whole, unknowns, used, rare)


def report(table: Table, held_out: Any, *, column: str | None = None, field: str | None = None, by: str | None = None) -> Report:
    """Measure a vocabulary.

    Args:
        table: the table of the vocabulary.
        held_out, column, field, by: see `fst.train.result.Trained.report`.
    """
    from fst.runtime.tokenizer import Tokenizer

    tokenizer, size = Tokenizer(table), 1 + int(table.arrays()["token_ids"].max())
    sums: dict[str, _Sums] = {}
    for texts, names in _blocks(held_out, column, field, by):
        for name in dict.fromkeys(names):
            chosen = [text for text, found in zip(texts, names, strict=True) if found == name]
            sums.setdefault(name, _Sums(np.zeros(size, np.int64))).add(_measured(tokenizer, chosen, size))
    total = _Sums(np.zeros(size, np.int64))
    for one in sums.values():
        total.add(one)
    unknown = _unknown(tokenizer)
    rows = [one.row(name, unknown) for name, one in sorted(sums.items())] if by is not None else []
    return Report((*rows, total.row(ALL, unknown)), len(tokenizer))


def _unknown(tokenizer: Tokenizer) -> int | None:
    """The id of the unknown token; None if the vocabulary has no unknown token."""
    return tokenizer._metadata.model.unk_id  # type: ignore[no-any-return]


def _measured(tokenizer: Tokenizer, texts: Sequence[str], size: int) -> _Sums:
    batch = tokenizer.encode_batch(texts, add_special_tokens=False, offsets=True)
    lengths = np.array([*map(len, texts)], np.int64)
    # the position of each text in the concatenation of all texts, with a space between two texts
    bases = np.cumsum(lengths + 1) - lengths - 1
    spans = batch.offsets + np.repeat(bases, np.diff(batch.row_splits))[:, None]
    known = batch.ids != (-1 if (unknown := _unknown(tokenizer)) is None else unknown)
    begins, ends = _words(" ".join(texts))
    return _Sums(
        np.bincount(batch.ids, minlength=size),
        texts=len(texts),
        bytes=sum(len(text.encode()) for text in texts),
        characters=int(lengths.sum()),
        words=len(begins),
        whole=_whole(begins, ends, spans, known),
    )


def _words(text: str) -> tuple[Ints, Ints]:
    """The starts and the ends of the words in a text.

    Examples:
        >>> [bounds.tolist() for bounds in _words("It's naïve.")]
        [[0, 3, 5], [2, 4, 10]]
    """
    inside = _is_of_words()[np.frombuffer(text.encode("utf-32-le"), "<u4")]
    changes = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return changes[::2], changes[1::2]


@cache
def _is_of_words() -> NDArray[np.bool_]:
    return np.array([unicodedata.category(chr(code))[0] in OF_WORDS for code in range(CODE_POINTS)])


def _whole(begins: Ints, ends: Ints, spans: NDArray[np.int32] | Ints, known: NDArray[np.bool_]) -> int:
    """The number of words that are exactly one token other than the unknown token.

    A word is one token if the first token that ends after the word's beginning covers the word, and the next token begins at or after the
    word's end.
    """
    if not len(spans):
        return 0
    stops = np.maximum.accumulate(spans[:, 1])
    place = np.searchsorted(stops, begins, side="right")
    begins, ends, place = (values[place < len(spans)] for values in (begins, ends, place))
    starts = np.append(spans[:, 0], stops[-1])
    covers = (starts[place] <= begins) & (stops[place] >= ends) & (starts[place + 1] >= ends)
    return int(np.count_nonzero(covers & known[place]))


def _blocks(held_out: Any, column: str | None, field: str | None, by: str | None) -> Iterator[Block]:
    """The held-out texts in blocks, each text with the name of its row."""
    if isinstance(held_out, str | os.PathLike):
        yield from _of_files([held_out], column, field, by)
    elif isinstance(held_out, Mapping) or hasattr(held_out, "column_names") or hasattr(held_out, "columns"):
        yield from _zipped(_column(held_out, column or TEXT), None if by is None else _column(held_out, by))
    else:
        first, items = begun(held_out)
        if are_paths(first, items, has_column=(column or field) is not None):
            yield from _of_files(items, column, field, by)
        elif by is not None:
            raise TextError(f"by is {quoted(by)}, but the held-out texts have no columns; pass a table, columns or files that have them")
        else:
            yield from _zipped(items, None)


def _of_files(paths: Iterable[Any], column: str | None, field: str | None, by: str | None) -> Iterator[Block]:
    from fst.runtime.files.reading import Files

    for documents in Files(paths, column=column, field=field, others=by is not None, most=MOST_UNITS).documents():
        texts = documents.texts if isinstance(documents.texts, list) else documents.texts.to_pylist()
        yield from _zipped(texts, None if by is None else _values(documents, by))


def _values(documents: Any, name: str) -> Iterable[Any]:
    """The value of the column (or JSON field) `name` for each document of a file."""
    others = documents.others
    if isinstance(others, list):
        missing = next((row for row, record in enumerate(others) if name not in record), None)
        if missing is not None:
            raise TextError(f"{documents.place(documents.numbers[missing])} has no field {quoted(name)}; name one that it has")
        return [record[name] for record in others]
    if others is None or name not in others.schema.names:
        raise TextError(f"{documents.file} has no column {quoted(name)}; name one that it has")
    values: Iterable[Any] = others.column(name).to_pylist()
    return values


def _column(held_out: Any, name: str) -> Iterable[Any]:
    try:
        found = held_out[name]
    except (KeyError, IndexError, LookupError, ValueError):
        raise TextError(f"the held-out texts have no column {quoted(name)}; name one that they have") from None
    values: Iterable[Any] = found.to_pylist() if hasattr(found, "to_pylist") else found
    return values


def _zipped(texts: Iterable[Any], names: Iterable[Any] | None) -> Iterator[Block]:
    """Pair texts with the names of their rows, in blocks. Null texts are left out."""
    pairs = zip(texts, repeat(ALL) if names is None else names, strict=False)
    rows = ((_text(text), str(name)) for text, name in pairs if text is not None)
    while block := [*islice(rows, BLOCK)]:
        yield [text for text, _ in block], [name for _, name in block]


def _text(text: Any) -> str:
    if not isinstance(text, str | bytes):
        raise TextError(f"a held-out text is {type(text).__name__}; expected str or bytes; name the column of texts")
    return text if isinstance(text, str) else text.decode(errors="replace")
