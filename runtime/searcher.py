"""Keyword search: where keywords stand in texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np

from fst.lazy import Lazy
from fst.machines.keywords import OVERLAPPING, KeywordTables
from fst.runtime.batch import Batch
from fst.runtime.empties import Empties, EmptyStream, lengths_of
from fst.runtime.encoder import Encoder
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import CANDIDATES, Blanks, SafeCuts
from fst.runtime.speller import reading_of
from fst.runtime.stream import Stream
from fst.runtime.texts import Ints, Source, Texts, check
from fst.runtime.workspace import Ids

OFFSETS: Mapping[str, bool | str] = {"characters": True, "bytes": "bytes"}

Replacement = str | Sequence[str] | Mapping[str, str] | Callable[["Match", str], str]


class Match(NamedTuple):
    """Where a keyword stands in a text.

    Attributes:
        id: the number of the keyword.
        start, end: its first character, or byte, and one past the last.
    """

    id: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches in texts, one after the other.

    ``len(matches)`` is the number of rows, and ``matches[r]`` the list of the matches in one row.

    Attributes:
        ids: int32[n], the number of each match's keyword.
        starts, ends: int32[n], the first character, or byte, of each match in its row, and one past the last.
        row_splits: int64[rows + 1]; the matches of row r are those from ``row_splits[r]`` to before ``row_splits[r + 1]``.
    """

    ids: Ids
    starts: Ids
    ends: Ids
    row_splits: Ints

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> list[Match]:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        part = slice(self.row_splits[row], self.row_splits[row + 1])
        return [Match(*match) for match in zip(self.ids[part].tolist(), self.starts[part].tolist(), self.ends[part].tolist(), strict=True)]

    def __iter__(self) -> Iterator[list[Match]]:
        return (self[row] for row in range(len(self)))


class Searcher:
    """Searches texts for keywords. Immutable, so that any number of threads can share it without a lock.

    Args:
        table: from `fst.compile.keywords`; for a file use `fst.load`.

    Example:
        >>> from fst.compile import keywords
        >>> searcher = Searcher(keywords(["he", "she", "hers"]))
        >>> searcher.find_batch(["ushers", "", "he"])[0]
        [Match(id=1, start=1, end=4)]
        >>> searcher.replace("ushers", "X"), searcher.replace("ushers", lambda match, text: text.upper())
        ('uXrs', 'uSHErs')
    """

    def __init__(self, table: KeywordTables) -> None:
        self._table, self._matcher = table, _Matcher(table)

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords, in the order of their numbers."""
        return self._table.keywords

    def find_batch(self, texts: Texts, *, offsets: str = "characters", threads: int | None = None, errors: str = "strict") -> Matches:
        """The matches in many texts.

        Args:
            texts: a list or tuple, all str or all bytes of UTF-8.
            offsets: count "characters", as Python's slices do, or "bytes" of UTF-8.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Raises:
            TextError: a row is not text; the message names it.
            ValueError: `offsets`, `threads` or `errors` has a value that it cannot have.
        """
        if offsets not in OFFSETS:
            raise ValueError(f"offsets={offsets!r}: there are {', '.join(map(repr, OFFSETS))}")
        return _matches(self._matcher.encode_batch(texts, offsets=OFFSETS[offsets], threads=threads, errors=errors))

    def find_iter(self, text: str | bytes, *, errors: str = "strict") -> Iterator[Match]:
        """The matches in one text: in characters of a str, in bytes of bytes. The arguments are those of `find_batch`."""
        offsets = "bytes" if isinstance(text, bytes) else "characters"
        one: Any = [text]
        return iter(self.find_batch(one, offsets=offsets, threads=1, errors=errors)[0])

    def find(self, text: str | bytes, *, errors: str = "strict") -> Match | None:
        """The first match in a text, or None; see `find_iter`."""
        return next(self.find_iter(text, errors=errors), None)

    def is_match(self, text: str | bytes, *, errors: str = "strict") -> bool:
        """Whether a keyword stands in a text."""
        one: Any = [text]
        return self.count(one, threads=1, errors=errors).item() > 0

    def count(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> Ints:
        """int64[rows], the number of matches in each text. The arguments are those of `find_batch`."""
        return self._matcher.count_tokens(texts, threads=threads, errors=errors)

    @overload
    def replace(self, text: str, by: Replacement, *, threads: int | None = None) -> str: ...

    @overload
    def replace(self, text: list[str] | tuple[str, ...], by: Replacement, *, threads: int | None = None) -> list[str]: ...

    def replace(self, text: str | list[str] | tuple[str, ...], by: Replacement, *, threads: int | None = None) -> str | list[str]:
        """Replace all matches. A character that becomes several, which two matches share, is replaced by both.

        Args:
            text: a str, or a list or tuple of them.
            by: a str for all keywords; a list with one for each; a dict from keyword to str, of which others stay; or a function of the
                match and its text that returns a str.
            threads: as in `find_batch`.

        Raises:
            TextError: a text is not text.
            ValueError: `by` is a list of another length than the keywords; or the keywords were compiled for overlapping matches.
        """
        if self._table.metadata.automaton.match_kind == OVERLAPPING:
            raise ValueError('replace: matches overlap; compile the keywords with another match_kind than "overlapping"')
        texts: Any = [text] if isinstance(text, str) else text
        replaced = _replacing(by, self.keywords)
        rows = [_replaced(row, found, replaced) for row, found in zip(texts, self.find_batch(texts, threads=threads), strict=True)]
        return rows[0] if isinstance(text, str) else rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._table,)


class _Matcher(Encoder):
    """Runs the kernel: the ids are numbers of keywords, and the spans are those of matches."""

    @Lazy
    def _reading(self) -> dict[str, Any]:
        return reading_of(self._table)

    @Lazy
    def _ids_runner(self) -> Runner:
        return Runner(self._table, self._table.arguments(), self._workspaces, **self._reading)

    @Lazy
    def _spans_runner(self) -> Runner:
        return Runner(self._table, self._ids_runner.arguments, self._workspaces, with_spans=True, **self._reading)

    def stream(self, *, add_special_tokens: bool = True, offsets: bool = False, errors: str = "strict") -> Stream:
        """Search one text that comes in pieces; see `fst.runtime.encoder.Encoder.stream`."""
        if not self._empties:
            return super().stream(add_special_tokens=add_special_tokens, offsets=offsets, errors=errors)
        check(errors)
        return EmptyStream(self._empties, offsets, self._spans_runner, None, self._frame, errors, self._trim)

    def _encode(self, source: Source, *, with_spans: bool = False, counted: bool = False, errors: str = "strict", **options: Any) -> Batch:
        if not self._empties:
            return super()._encode(source, with_spans=with_spans, counted=counted, errors=errors, **options)
        batch = super()._encode(source, with_spans=True, errors=errors, **options)
        return self._empties.put(batch, lengths_of(source, errors))

    @Lazy
    def _empties(self) -> Empties | None:
        overlapping = self._table.metadata.automaton.match_kind == OVERLAPPING
        return Empties(self._table.empty, overlapping=overlapping) if self._table.empty else None

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        """After characters that no keyword has, no match goes on."""
        held = {*np.unique(self._table.keyword_bytes, return_counts=True)[0].tolist()}
        absent = "".join(char for char in CANDIDATES if ord(char) not in held)
        return Blanks(absent) if absent else None


def _matches(batch: Batch) -> Matches:
    assert batch.offsets is not None
    return Matches(batch.ids, batch.offsets[:, 0], batch.offsets[:, 1], batch.row_splits)


def _replacing(by: Replacement, keywords: Sequence[str]) -> Callable[[Match, str], str]:
    """A function from a match and its text to what replaces it."""
    if callable(by):
        return by
    if isinstance(by, Mapping):
        return lambda match, text: by.get(keywords[match.id], text)
    all_by = [by] * len(keywords) if isinstance(by, str) else by
    if len(all_by) != len(keywords):
        raise ValueError(f"replace: there are {len(all_by)} replacements for {len(keywords)} keywords")
    return lambda match, _: all_by[match.id]


def _replaced(text: str, found: Sequence[Match], replaced: Callable[[Match, str], str]) -> str:
    """The text with its matches replaced."""
    parts, at = list[str](), 0
    for match in found:
        parts += text[at : match.start], replaced(match, text[match.start : match.end])
        at = max(at, match.end)
    return "".join([*parts, text[at:]])
