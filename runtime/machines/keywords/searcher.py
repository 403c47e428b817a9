"""The searcher finds keywords in texts, and replaces them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np

from fst.core.lazy import Lazy
from fst.errors import counted, not_one_of
from fst.machines.keywords.table import OVERLAPPING, KeywordTable
from fst.runtime.encoder import Encoder
from fst.runtime.machines.keywords.empty import EmptyKeywords, EmptyStream, lengths_of
from fst.runtime.machines.keywords.normalizer import front_end_of
from fst.runtime.machines.keywords.replacing import (
    Chosen,
    Found,
    Replacements,
    check_replacements,
    chosen,
    in_utf_8,
    replaced_rows,
    replaced_strings,
)
from fst.runtime.public_class import PublicClass
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.strings import ends_of
from fst.runtime.rows.texts import Bytes, Column, Ints, Source, Texts, batch_of, check, listed
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import CANDIDATES, AfterSpaces, SafeCuts
from fst.runtime.short_texts import ShortSearch, can_be_short
from fst.runtime.stream import Part, ResultStream, Stream
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids
from fst.tables.kernel_call import SHORT

PIECE = 1 << 16  # number of characters in each piece of a long text
NO_PLACES = np.empty(0, np.int32)
OFFSETS: Mapping[str | None, bool | str] = {"characters": True, "bytes": "bytes", None: False}

FEW = 16  # maximum number of matches for which Python is faster than kernels

Replacement = str | Sequence[str] | Mapping[str, str] | Callable[["Match", str], str] | Callable[["Match"], str]
Chooser = Callable[["Match", str], str]


class Match(NamedTuple):
    """A keyword found in a text.

    Attributes:
        id: the number of the keyword.
        start, end: the position of the keyword's first character (or byte) in the text, and one past its last character.
    """

    id: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches in a batch of texts.

    ``len(matches)`` is the number of rows, and ``matches[r]`` is the list of the matches in row r.

    Attributes:
        ids: int32[n], the number of each match's keyword.
        starts, ends: int32[n], the position of each match's first character (or byte) in its row, and one past its last character; int64[n]
            from a stream. Empty if only ids were requested.
        row_splits: int64[rows + 1]; row r contains the matches ``row_splits[r]`` to ``row_splits[r + 1] - 1``.
    """

    ids: Ids
    starts: Ids | Ints
    ends: Ids | Ints
    row_splits: Ints

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> list[Match]:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        if len(self.starts) < len(self.ids):
            raise ValueError("these matches have no spans; pass offsets='characters' or 'bytes'")
        row %= len(self)
        part = slice(self.row_splits[row], self.row_splits[row + 1])
        return [Match(*match) for match in zip(self.ids[part].tolist(), self.starts[part].tolist(), self.ends[part].tolist(), strict=True)]

    def __iter__(self) -> Iterator[list[Match]]:
        return (self[row] for row in range(len(self)))


class Searcher(PublicClass):
    """A searcher finds keywords in texts. A searcher is immutable, so that threads can share it without a lock.

    Args:
        table: a result of `fst.compile.keywords`. For a table file, use `load`.

    Raises:
        UnsupportedError: the table is not a table of keywords.

    Examples:
        >>> from fst.compile import keywords
        >>> searcher = Searcher(keywords(["he", "she", "hers"]))
        >>> searcher.find_batch(["ushers", "", "he"])[0]
        [Match(id=1, start=1, end=4)]
        >>> searcher.replace("ushers", "X"), searcher.replace("ushers", lambda match, text: text.upper())
        ('uXrs', 'uSHErs')
    """

    _compiler = "keywords"

    def __init__(self, table: KeywordTable) -> None:
        self._table: KeywordTable = table
        self._matcher = _Matcher(table)
        self._shorts: list[ShortSearch] = []  # from first calls; several if threads made them at once; each may be in use
        self._find_short: Callable[[str], list[Match] | None] = self._find_first_short

    def __repr__(self) -> str:
        return f"<fst.Searcher {self._table.metadata.automaton.match_kind}, {counted(len(self.keywords), 'keyword')}>"

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords, in the order of their numbers."""
        return self._table.keywords

    def find_batch(
        self, texts: Texts, *, offsets: str | None = "characters", threads: int | None = None, errors: str = "strict"
    ) -> Matches:
        """Find the matches in many texts.

        Args:
            texts: as in `fst.Tokenizer.encode_batch`.
            offsets: "characters": spans count characters, as in slices of a str; "bytes": spans count bytes of UTF-8; None: return only
                ids, which is faster.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Raises:
            TextError: a row is not text; the message contains the row's number.
            ValueError: `offsets`, `threads` or `errors` has an invalid value.
        """
        if offsets not in OFFSETS:
            raise ValueError(not_one_of("offsets", offsets, OFFSETS))
        return _matches(self._matcher.encode_batch(texts, offsets=OFFSETS[offsets], threads=threads, errors=errors))

    def find_iter(self, text: str | bytes, *, errors: str = "strict") -> Iterator[Match]:
        """Iterate over the matches in one text. Spans count the characters of a str, or the bytes of a bytes object. The arguments are as
        in `find_batch`.

        A long str is searched piece by piece, as the iterator advances. The error for a lone surrogate is raised when the iterator reaches
        the piece that contains it.
        """
        if type(text) is str and errors == "strict":
            found = self._find_short(text)
            if found is not None:
                return iter(found)
        if isinstance(text, str) and len(text) > PIECE:
            return self._find_in_pieces(text, errors)
        offsets = "bytes" if isinstance(text, bytes) else "characters"
        return iter(self.find_batch(batch_of(text), offsets=offsets, threads=1, errors=errors)[0])

    def find(self, text: str | bytes, *, errors: str = "strict") -> Match | None:
        """Find the first match in a text; return None without a match. The arguments are as in `find_iter`."""
        return next(self.find_iter(text, errors=errors), None)

    def is_match(self, text: str | bytes, *, errors: str = "strict") -> bool:
        """Whether a text contains a keyword. The search stops soon after the first match. The arguments are as in `find_iter`."""
        if isinstance(text, str) and not SHORT < len(text) <= PIECE and not self._is_overlapping:
            return self.find(text, errors=errors) is not None
        return self.count(batch_of(text), threads=1, errors=errors).item() > 0  # count, because a list of overlapping matches may be long

    def count(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> Ints:
        """Count the matches in each text; return int64[rows]. The arguments are as in `find_batch`."""
        return self._matcher.count_tokens(texts, threads=threads, errors=errors)

    @overload
    def replace(self, text: str, by: Replacement, *, threads: int | None = None) -> str: ...

    @overload
    def replace(self, text: list[str] | tuple[str, ...], by: Replacement, *, threads: int | None = None) -> list[str]: ...

    def replace(self, text: str | list[str] | tuple[str, ...], by: Replacement, *, threads: int | None = None) -> str | list[str]:
        """Replace all matches. A character that is normalized to several characters may belong to two matches; then both replacements are
        written.

        Args:
            text: a str, or a batch of str as in `find_batch`.
            by: a str for all keywords; a list with a str for each keyword; a dict from keyword to str, where missing keywords are left
                unchanged; or a function that returns a str. The arguments of the function are the match, as in `re.sub`, or the match and
                its text.
            threads: as in `find_batch`.

        Raises:
            TextError: a text or a replacement is malformed.
            TypeError: `by` has another type.
            ValueError: `by` is a list with more or fewer items than keywords; or the keywords were compiled for overlapping matches.
        """
        by = self._checked_replacement(by)
        texts: Any = [text] if isinstance(text, str) else listed(text)
        found = self.find_batch(texts, threads=threads)
        if callable(by) or len(found.ids) <= FEW:
            replaced = _replacing(by, self.keywords)
            rows = [_replaced(row, found, replaced) for row, found in zip(texts, found, strict=True)]
        else:
            rows = replaced_strings(texts, self._chosen(by, found))
        return rows[0] if isinstance(text, str) else rows

    def find_arrow(self, column: Any, *, threads: int | None = None, errors: str = "strict") -> Any:
        """Find the matches in a column of texts; return a column of lists of matches. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            threads, errors: as in `find_batch`.

        Returns:
            ``list<struct<id: int32, start: int32, end: int32>>``, with positions in characters; null rows stay null. For an Array, the
            result is an Array; for any other column, a ChunkedArray with the same chunks.

        Raises:
            TextError: a row is not text, or the column does not contain texts; the message contains the row's number or the column's type.
            ValueError: as in `find_batch`.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import keywords
            >>> Searcher(keywords(["he", "she"])).find_arrow(pa.array(["ushers", None])).to_pylist()
            [[{'id': 1, 'start': 1, 'end': 4}], None]
        """
        from fst.runtime.rows.arrow import matched

        return matched(column, lambda rows: self._found(rows, threads, errors))

    def replace_arrow(self, column: Any, by: Replacement, *, threads: int | None = None) -> Any:
        """Replace all matches in a column of texts. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            by: as in `replace`. For a function, each text is converted to a str.
            threads: as in `find_batch`.

        Returns:
            A column of the same type, with the same chunks; null rows stay null.

        Raises:
            TextError, TypeError, ValueError: as in `replace`; or the column does not contain texts, or the new texts are too long for its
                type.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import keywords
            >>> Searcher(keywords(["he", "she"])).replace_arrow(pa.array(["ushers", None]), "*").to_pylist()
            ['u*rs', None]
        """
        from fst.runtime.rows.arrow import rewritten

        by = self._checked_replacement(by)

        def rewrite(rows: Column) -> tuple[Ints, Callable[[], Bytes]]:
            (data, starts), found = rows.joined(), _matches(self._found(rows, threads))
            if not callable(by):
                return replaced_rows(data, starts, self._chosen(by, found))
            texts = (str(data[start:end].data, "utf-8") for start, end in pairwise(starts.tolist()))
            new = [in_utf_8(_replaced(text, row, by)) for text, row in zip(texts, found, strict=True)]
            return ends_of(new), lambda: np.frombuffer(b"".join(new), np.uint8)

        return rewritten(column, rewrite)

    def stream(self, *, errors: str = "strict") -> MatchStream:
        """Search one text that arrives in pieces, for the same matches as in the complete text. A match can be read as soon as no later
        text can change this match.

        Args:
            errors: as in `find_batch`.

        Returns:
            A stream with the methods `write`, `read` and `close`, for one thread at a time. The memory of the stream does not depend on the
            length of the text, except for unread matches.

        Raises:
            ValueError: `errors` has an unknown value.

        Examples:
            >>> from fst.compile import keywords
            >>> stream = Searcher(keywords(["he", "she", "hers"])).stream()
            >>> stream.write("us")
            >>> stream.write("hers, s")
            >>> stream.read()[0]
            [Match(id=1, start=1, end=4)]
            >>> stream.write("he")
            >>> stream.close()[0]
            [Match(id=1, start=8, end=11)]
        """
        return MatchStream(self._matcher.stream(offsets=True, errors=errors))

    def _find_first_short(self, text: str) -> list[Match] | None:
        """Find the matches in a text as `fst.runtime.short_texts.ShortSearch.find` does; at the first call, replace `_find_short`, which is
        an attribute because a `Lazy` takes longer.
        """
        self._find_short = _find_nothing
        if not self._matcher._empties and can_be_short(self._matcher._spans_runner):
            self._shorts.append(short := ShortSearch(self._matcher._spans_runner, Match))
            self._find_short = short.find
        return self._find_short(text)

    @property
    def _is_overlapping(self) -> bool:
        return self._table.metadata.automaton.match_kind == OVERLAPPING

    def _find_in_pieces(self, text: str, errors: str) -> Iterator[Match]:
        stream = self.stream(errors=errors)
        for start in range(0, len(text), PIECE):
            stream.write(text[start : start + PIECE])
            yield from stream.read()[0]
        yield from stream.close()[0]

    def _checked_replacement(self, by: Replacement) -> Chooser | Replacements:
        """Check replacements, and return them; convert a function to a function of the match and its text."""
        if self._is_overlapping:
            raise ValueError('replace: matches overlap; compile the keywords with another match_kind than "overlapping"')
        if callable(by):
            return of_two(by)
        check_replacements(by, len(self.keywords))
        return by

    def _found(self, rows: Column, threads: int | None, errors: str = "strict") -> Batch:
        return self._matcher._encode(rows, special_ids=NO_SPECIAL_IDS, with_spans=True, threads=threads, errors=errors)

    def _chosen(self, by: Replacements, found: Matches) -> Chosen:
        """Choose the replacement of each match, and return the choices in arrays for kernels."""
        return chosen(by, Found(found.ids, np.stack([found.starts, found.ends], axis=1), found.row_splits), self.keywords)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._table,)


class MatchStream(ResultStream[Matches]):
    """A search in one text that arrives in pieces; made by `fst.Searcher.stream`.

    The results are `Matches` with one row. Positions are int64, and count characters from the beginning of the stream, even if the pieces
    are bytes.
    """

    def _result(self, part: Part) -> Matches:
        assert part.offsets is not None
        return Matches(part.ids, part.offsets[:, 0], part.offsets[:, 1], np.array([0, len(part.ids)]))


class _Matcher(Encoder):
    """The encoder that runs the kernel for keyword numbers and spans of matches."""

    @Lazy
    def _ids_runner(self) -> Runner:
        arguments = self._table.arguments()
        return Runner(self._table, arguments, self._workspaces, front_end=front_end_of(self._table, arguments))

    @Lazy
    def _spans_runner(self) -> Runner:
        ids = self._ids_runner
        return Runner(self._table, ids.arguments, self._workspaces, with_spans=True, front_end=ids.front_end)

    def stream(self, *, add_special_tokens: bool = True, offsets: bool = False, errors: str = "strict") -> Stream:
        """Search one text that arrives in pieces; see `fst.runtime.encoder.Encoder.stream`."""
        if not self._empties:
            return super().stream(add_special_tokens=add_special_tokens, offsets=offsets, errors=errors)
        check(errors)
        runner = self._spans_runner
        return EmptyStream(self._empties, offsets, runner, self._pending(runner), self._special_ids, errors, self._trim)

    def _encode(self, source: Source, *, with_spans: bool = False, counted: bool = False, errors: str = "strict", **options: Any) -> Batch:
        if not self._empties:
            return super()._encode(source, with_spans=with_spans, counted=counted, errors=errors, **options)
        batch = super()._encode(source, with_spans=True, errors=errors, **options)
        return self._empties.put(batch, lengths_of(source, errors))

    @Lazy
    def _empties(self) -> EmptyKeywords | None:
        overlapping = self._table.metadata.automaton.match_kind == OVERLAPPING
        return EmptyKeywords(self._table.empty, overlapping=overlapping) if self._table.empty else None

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        """The finder of safe cuts, which are after characters that occur in no keyword, and so in no match."""
        held = self._table.bytes_read
        absent = "".join(char for char in CANDIDATES if not held[ord(char)])
        return AfterSpaces(absent) if absent else None


def _find_nothing(_text: str) -> None:
    """Return None, because every text needs a batch."""


def _matches(batch: Batch) -> Matches:
    starts, ends = (NO_PLACES, NO_PLACES) if batch.offsets is None else batch.offsets.T
    return Matches(batch.ids, starts, ends, batch.row_splits)


def of_two(by: Callable[..., str]) -> Chooser:
    """Convert a function of a match, or of a match and its text, to a function of a match and its text."""
    try:
        signature(by).bind(None, None)
    except TypeError:
        return lambda match, _: by(match)
    except ValueError:  # a function that is not written in Python may have no signature
        pass
    return by


def _replacing(by: Chooser | Replacements, keywords: Sequence[str]) -> Chooser:
    """Make a function of a match and its text that returns the replacement."""
    if callable(by):
        return by
    if isinstance(by, Mapping):
        return lambda match, text: _checked(by.get(keywords[match.id], text))
    if isinstance(by, str):
        return lambda _match, _text: _checked(by)
    return lambda match, _: _checked(by[match.id])


def _checked(replacement: str) -> str:
    in_utf_8(replacement)
    return replacement


def _replaced(text: str, found: Sequence[Match], replaced: Chooser) -> str:
    """Replace the matches in a text. A character that several matches share is removed once."""
    parts, at = list[str](), 0
    for match in found:
        parts += text[at : match.start], replaced(match, text[match.start : match.end])
        at = max(at, match.end)
    return "".join([*parts, text[at:]])
