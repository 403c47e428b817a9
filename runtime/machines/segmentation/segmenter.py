"""Segmenters cut texts into the words of a dictionary and the tokens between these words.

A `Segmenter` runs any table whose kernel writes an id and a span for each token. The id of a word is its index in ``words``; a token that
is not in the dictionary has a negative id. If the table can read a text in parts, the last token of each part has the greatest end
position. In addition to the members of `fst.tables.table.Table`, the table has three members:

- ``words``, the words of the dictionary;
- ``streams``, whether the kernel can read a text in parts;
- ``cuts``, the ASCII characters after which every text may be cut without a change of its tokens; may be "".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fst.automata.rows import Array
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError, counted, not_one_of
from fst.machines.segmentation.jieba import LETTER, JiebaTable
from fst.machines.segmentation.unit_trie import KIND_SHIFT
from fst.runtime.encoder import Encoder
from fst.runtime.front_end import Pending
from fst.runtime.public_class import PublicClass
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import UNIT_TYPES, Ints, Source, Texts, batch_of, check, listed, replaced, units_or_none
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import AfterSpaces, SafeCuts
from fst.runtime.stream import Part, ResultStream, Stream
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids
from fst.tables.table import Table

UTF_16 = UNIT_TYPES["utf-16"]
WITH_SPANS: Mapping[bool | str, bool | str] = {False: False, True: True, "characters": True, "bytes": "bytes"}


@dataclass(frozen=True, eq=False)
class Segments:
    """The tokens of a batch of texts.

    ``len(segments)`` is the number of rows, and ``segments[r]`` is the list of the token strings of row r. The strings are cut out of the
    texts. Without offsets in characters, each access to a row segments its text again.

    Attributes:
        ids: int32[n], the id of each token: its index in the segmenter's `words`; -1 for a token that is not in the dictionary.
        starts, ends: int32[n], the position of each token's first character (or byte) in its row, and one past its last character; None
            without offsets.
        row_splits: int64[rows + 1]; row r contains the tokens ``row_splits[r]`` to ``row_splits[r + 1] - 1``.
    """

    ids: Ids
    starts: Ids | None
    ends: Ids | None
    row_splits: Ints
    _source: _Source = field(repr=False)

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> list[str]:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        if self.starts is None or self.ends is None or not self._source.in_characters:
            return self._source.strings(row)
        part = slice(self.row_splits[row], self.row_splits[row + 1])
        return strings(self._source.text(row), self.starts[part], self.ends[part])

    def __iter__(self) -> Iterator[list[str]]:
        located = self if self._source.in_characters else self._source.segments(offsets=True)
        return (located[row] for row in range(len(self)))


class Segmenter(PublicClass):
    """A segmenter cuts texts into words with a dictionary. A segmenter is immutable, so that threads can share it without a lock.

    Args:
        table: a result of `fst.compile.maxmatch` or of a function of `fst.compile.lattice`. For a table file, use `load`.

    Raises:
        UnsupportedError: the table is not for segmentation.

    Examples:
        >>> from fst.compile import maxmatch
        >>> segmenter = Segmenter(maxmatch(["研究", "研究生", "生命", "命", "科学"]))
        >>> segmenter.segment("研究生命科学。")
        ['研究生', '命', '科学', '。']
        >>> segmenter.segment_batch(["科学。", "", "命"]).ids
        array([ 4, -1,  3], dtype=int32)
    """

    _compiler = "maxmatch"

    def __init__(self, table: Table) -> None:
        self._table: Any = table
        self._encoder = _TokenEncoder(table)

    def __repr__(self) -> str:
        return f"<fst.Segmenter {self._table.kind}, {counted(len(self.words), 'word')}>"

    @property
    def words(self) -> Sequence[str]:
        """The words, in the order of their ids."""
        words: Sequence[str] = self._table.words
        return words

    def segment(self, text: str | bytes, *, errors: str = "strict") -> list[str]:
        """Segment one text into a list of tokens.

        Args:
            text: str, or bytes in UTF-8.
            errors: "strict": raise an error; "replace": replace lone surrogates and malformed UTF-8 by U+FFFD.

        Raises:
            TextError: the argument is not text.
            ValueError: `errors` has an unknown value.
        """
        return _Source(self._encoder, batch_of(text), errors, 1).strings(0)

    def segment_batch(self, texts: Texts, *, offsets: bool | str = False, threads: int | None = None, errors: str = "strict") -> Segments:
        """Segment many texts.

        Args:
            texts: as in `fst.Tokenizer.encode_batch`.
            offsets: "characters" (or True): include the span of each token in characters, as in slices of a str; "bytes": include the span
                in bytes of UTF-8.
            threads, errors: as in `fst.Tokenizer.encode_batch`.

        Raises:
            TextError: a row is not text; the message contains the row's number.
            ValueError: `offsets`, `threads` or `errors` has an invalid value.
        """
        if offsets not in WITH_SPANS:
            raise ValueError(not_one_of("offsets", offsets, WITH_SPANS))
        return _Source(self._encoder, listed(texts), errors, threads).segments(WITH_SPANS[offsets])

    def segment_arrow(self, column: Any, *, threads: int | None = None) -> Any:
        """Segment a column of texts into a column of lists of tokens, without a copy of texts or tokens. This method needs pyarrow.

        Args:
            column: as in `fst.Tokenizer.encode_arrow`.
            threads: as in `segment_batch`.

        Returns:
            ``list<string>``; null rows stay null. For an Array, the result is an Array; for any other column, a ChunkedArray with the same
            chunks.

        Raises:
            TextError: a row is not text, or the column does not contain texts; the message contains the row's number or the column's type.
            ValueError: as in `segment_batch`.
            ImportError: pyarrow is not installed.

        Examples:
            >>> import pyarrow as pa
            >>> from fst.compile import maxmatch
            >>> Segmenter(maxmatch(["un", "able"])).segment_arrow(pa.array(["unable", None, "un!"])).to_pylist()
            [['un', 'able'], None, ['un', '!']]
        """
        from fst.runtime.rows.arrow import segmented

        return segmented(column, lambda rows: self._encoder.segment_rows(rows, threads))

    def count(self, texts: Texts, *, threads: int | None = None, errors: str = "strict") -> Ints:
        """Count the tokens of each text; return int64[rows]. The arguments are as in `segment_batch`."""
        return self._encoder.count_tokens(texts, threads=threads, errors=errors)

    def stream(self, *, errors: str = "strict") -> SegmentStream:
        """Segment one text that arrives in pieces. The tokens equal those of `segment`; each token can be read as soon as no later text can
        change this token.

        Args:
            errors: as in `segment`.

        Returns:
            A stream with the methods `write`, `read` and `close`, for one thread at a time. The memory of the stream does not depend on the
            length of the text, except for unread tokens.

        Raises:
            UnsupportedError: the dictionary was compiled for segmentation from the end of a text.
            ValueError: `errors` has an unknown value.

        Examples:
            >>> from fst.compile import maxmatch
            >>> stream = Segmenter(maxmatch(["研究", "研究生", "生命"])).stream()
            >>> stream.write("研究生")
            >>> stream.read()
            ['研究生']
            >>> stream.write("命。")
            >>> stream.close()
            ['命', '。']
        """
        if not self._table.streams:
            raise UnsupportedError(f"streams with this {self._table.kind} table: it needs the end of a text first; use segment")
        return SegmentStream(self._encoder, errors)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._table,)


class _TokenEncoder(Encoder):
    """The encoder that runs the kernel for ids and spans of tokens."""

    @Lazy
    def _spans_runner(self) -> Runner:
        return Runner(self._table, self._ids_runner.arguments, self._workspaces, with_spans=True)

    @Lazy
    def _safe_cuts(self) -> SafeCuts | None:
        return AfterSpaces(self._table.cuts) if self._table.cuts else None

    def _pending(self, runner: Runner) -> Pending | None:
        table = self._table
        return PendingBlock(table.units) if isinstance(table, JiebaTable) else super()._pending(runner)

    def segment_rows(self, rows: Source, threads: int | None) -> Batch:
        """Segment rows, with spans in characters."""
        return self._encode(rows, special_ids=NO_SPECIAL_IDS, with_spans=True, threads=threads)


class SegmentStream(ResultStream[list[str]]):
    """A segmenter of one text that arrives in pieces; made by `fst.Segmenter.stream`. The results are lists of tokens.

    Args:
        encoder: the encoder that segments the text.
        errors: "strict" or "replace", as in `fst.Segmenter.segment`.
    """

    _stream: _RecordedStream

    def __init__(self, encoder: _TokenEncoder, errors: str) -> None:
        check(errors)
        super().__init__(_RecordedStream(encoder, errors))
        self._text, self._before = "", 0  # text after the last returned token, and number of characters before this text

    def _result(self, part: Part) -> list[str]:
        if not len(part.ids):
            return []
        assert part.offsets is not None
        text = self._text + self._stream.taken()
        offsets = part.offsets - self._before
        end = int(offsets[-1, 1])
        self._text, self._before = text[end:], self._before + end
        return strings(text, offsets[:, 0], offsets[:, 1])


class _RecordedStream(Stream):
    """A stream that also stores the decoded text, from which tokens are cut."""

    def __init__(self, encoder: _TokenEncoder, errors: str) -> None:
        super().__init__(encoder._spans_runner, encoder._pending(encoder._spans_runner), NO_SPECIAL_IDS, errors, encoder._trim)
        self._texts: list[str] = []

    def taken(self) -> str:
        """Remove the stored text from the stream, and return this text."""
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def _text_of(self, block: Any, is_last: bool) -> str:
        text = super()._text_of(block, is_last)
        self._texts.append(text)
        return text


class _Source:
    """The texts of `Segments`, and the encoder that segments these texts; if `in_characters`, the `Segments` contain spans in
    characters.
    """

    def __init__(self, encoder: _TokenEncoder, texts: Sequence[Any], errors: str, threads: int | None, in_characters: bool = False) -> None:
        self._encoder, self._texts, self._errors, self._threads, self.in_characters = encoder, texts, errors, threads, in_characters

    def segments(self, offsets: bool | str) -> Segments:
        """Segment all texts; `offsets` is as in `fst.Tokenizer.encode_batch`."""
        batch = self._encoder.encode_batch(self._texts, offsets=offsets, threads=self._threads, errors=self._errors)
        source = _Source(self._encoder, [*self._texts], self._errors, self._threads, offsets is True)  # the caller may change the list
        if batch.offsets is None:
            return Segments(batch.ids, None, None, batch.row_splits, source)
        return Segments(batch.ids, batch.offsets[:, 0], batch.offsets[:, 1], batch.row_splits, source)

    def text(self, row: int) -> str:
        """Return the text of a row, with U+FFFD for malformed units."""
        text = self._texts[row]
        if isinstance(text, str) and self._errors == "strict":
            return text
        return replaced(text)

    def strings(self, row: int) -> list[str]:
        """Segment the text of a row again, into strings."""
        one: Any = [self._texts[row]]
        offsets = self._encoder.encode_batch(one, offsets=True, threads=1, errors=self._errors).offsets
        assert offsets is not None
        return strings(self.text(row), offsets[:, 0], offsets[:, 1])


def strings(text: str, starts: Ids | Ints, ends: Ids | Ints) -> list[str]:
    """Cut the tokens with these spans out of a text."""
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


class PendingBlock:
    """A test for an unfinished block of jieba, by `fst.machines.segmentation.jieba.Arguments.units`."""

    def __init__(self, numbers: Array) -> None:
        self._is_inside = numbers >> KIND_SHIFT >= LETTER

    def begins(self, text: str) -> bool:
        """Whether all characters of the text belong to blocks."""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the block continues to the end of `text`."""
        data = units_or_none(text, UTF_16)
        return data is not None and bool(self._is_inside[data].all())
