"""A rewriter in the form of an encoder, for the tests of conformance: the ids of a text are the characters of the new text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import fst
from fst.runtime.encoder import Encoder
from fst.runtime.rows.batch import Batch
from fst.runtime.stream import Part


def codes_of(texts: Sequence[str]) -> Any:
    """int32[n], the characters of all texts."""
    return np.array([ord(char) for text in texts for char in text], np.int32)


class RewritingEncoder(Encoder):
    """An encoder of texts into the characters of new texts, by the methods of a rewriter. The encoder finds no words, and no spans in
    streams.
    """

    def __init__(self, rewriter: fst.Rewriter) -> None:
        self._rewriter = rewriter

    def encode(self, text: str | bytes, *, errors: str = "strict", **_: Any) -> Any:
        """Rewrite one text."""
        return codes_of([self._rewriter.apply(text, errors=errors)])

    def encode_batch(
        self, texts: Any, *, max_length: int | None = None, offsets: Any = False, errors: str = "strict", **options: Any
    ) -> Batch:
        """Rewrite many texts; the spans are compared with those of the walk, and left out."""
        new = self._rewriter.apply_batch(texts, threads=options.get("threads"), errors=errors)
        if offsets:
            self._check_spans(texts)
        new = [text[:max_length] for text in new]
        return Batch(codes_of(new), np.cumsum([0, *map(len, new)]), np.empty((0, 2), np.int32), np.empty(0, np.int32))

    def encode_arrow(self, column: Any, **_: Any) -> Any:
        """Rewrite a column, whose type must stay the same."""
        new = self._rewriter.apply_arrow(column)
        assert new.type == column.type
        texts = new.cast(pa.string()).to_pylist()
        return pa.array([None if text is None else codes_of([text]).tolist() for text in texts])

    def count_tokens(self, texts: Any, **_: Any) -> Any:
        """Count the characters of new texts."""
        return np.array([*map(len, self._rewriter.apply_batch(texts))])

    def stream(self, **_: Any) -> Any:
        """Rewrite a stream."""
        return RewritingStream(self._rewriter.stream())

    def _check_spans(self, texts: Sequence[str]) -> None:
        """Compare new texts and spans with those of the walk."""
        table: Any = self._rewriter._table
        aligned = self._rewriter.align_batch(texts, threads=2)
        expected = [table.written(text) for text in texts]
        assert aligned.texts == ["".join(written.char for written in row) for row in expected]
        assert aligned.offsets.tolist() == [[written.start, written.end] for row in expected for written in row]
        assert np.diff(aligned.row_splits).tolist() == [*map(len, aligned.texts)]


class RewritingStream:
    """A stream of rewritten text in the form of a stream of ids."""

    def __init__(self, stream: fst.RewriteStream) -> None:
        self._stream = stream

    def write(self, piece: str | bytes) -> None:
        """Append a piece."""
        self._stream.write(piece)

    def read(self) -> Part:
        """The characters of the new text that no later text can change."""
        return self._part(self._stream.read())

    def close(self) -> Part:
        """The other characters."""
        return self._part(self._stream.close())

    @staticmethod
    def _part(text: str) -> Part:
        return Part(codes_of([text]), np.empty((0, 2), np.int64), np.empty(0, np.int64))
