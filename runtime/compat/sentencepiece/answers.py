"""Convert ids and texts to the results of a ``SentencePieceProcessor``, in the form that the caller requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from operator import index
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.runtime.compat.sentencepiece.arguments import (
    OUT_OF_RANGE,
    UNKNOWN,
    Form,
    need_utf_8,
    numbers_of,
    pieces_of_row,
    starts_of,
    text_of,
)
from fst.runtime.compat.sentencepiece.pieces import NO_PIECE, Located, Pieces


class Answers:
    """A converter of ids and texts to the results of a ``SentencePieceProcessor``."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces

    def read(self, input: Any, read: Callable[[Any], str] = text_of) -> str:
        """Convert a text to str, with U+FFFD for each malformed byte."""
        text = read(input)
        if isinstance(input, bytes) and UNKNOWN in text and text.encode() != input:
            self.pieces.need_mendable()
        return text

    def formed(self, text: str, ids: list[int], form: Form, raw: Any) -> Any:
        """Make the result for a text from its ids, in the form that the caller requests."""
        if form.is_placed:
            return self.placed(text, ids, self.pieces.located(text, ids), form, raw)
        if form.kind in (str, bytes):
            pieces = self._around(self._spelled(text, ids, form), form, self.pieces.names.__getitem__)
            return [piece.encode() for piece in pieces] if form.kind is bytes else pieces
        ids = self._around(ids, form, int)
        if form.kind == "numpy":
            array = np.array(ids, np.int32)
            array.flags.writeable = False
            return array
        return ids

    def _spelled(self, text: str, ids: list[int], form: Form) -> list[str]:
        """Return the pieces of a text."""
        pieces, unknown = self.pieces.spelled(text, ids), self.pieces.unk_id
        if not form.emit_unk_piece:
            return pieces
        return [self.pieces.names[unknown] if self.id_of(piece) == unknown else piece for piece in pieces]

    def _around(self, row: list[Any], form: Form, named: Callable[[int], Any]) -> list[Any]:
        """Reverse a row and add the begin and end pieces, if `form` requests this; `named` converts the ids of the two pieces to items of
        the row.
        """
        _, add_bos, add_eos, reverse, *_ = form
        for name, number, is_asked in (("BOS", self.pieces.bos_id, add_bos), ("EOS", self.pieces.eos_id, add_eos)):
            if is_asked and number == NO_PIECE:
                raise ValueError(f"INVALID_ARGUMENT: {name} token is not defined as a control symbol in this model.")
        row = row[::-1] if reverse else row
        return [*([named(self.pieces.bos_id)] if add_bos else ()), *row, *([named(self.pieces.eos_id)] if add_eos else ())]

    def placed(self, text: str, ids: list[int], located: Sequence[Located], form: Form, raw: Any) -> dict[str, Any]:
        """Make a dictionary with the ids, the pieces and the offsets of a text."""
        if not form.in_bytes:
            need_utf_8(text, raw)
            return {"ids": ids, "pieces": [one.piece for one in located], "offsets": [(one.begin, one.end) for one in located]}
        data = raw if isinstance(raw, bytes) else raw.encode()
        starts = range(len(text) + 1) if text.isascii() else starts_of(text, data)
        spans = [(starts[one.begin], starts[one.end]) for one in located]
        return {"ids": ids, "pieces": [one.piece.encode() for one in located], "offsets": spans}

    def normalized(self, input: Any, with_offsets: Any) -> Any:
        """Normalize a text; if offsets are requested, return them, too."""
        text = self.read(input)
        normal, places = self.pieces.normalized(text)
        if isinstance(input, str):
            return (normal, places or [0]) if with_offsets else normal
        if not with_offsets:
            return normal.encode()
        starts = starts_of(text, input)
        sizes = [len(char.encode()) for char in normal] + [1] * (len(places) > 0)
        return normal.encode(), [starts[place] for place, size in zip(places, sizes, strict=True) for _ in range(size)]

    def texts_of_ids(self, rows: Any, kind: Any, in_bytes: bool) -> list[Any]:
        """Decode rows of ids to texts."""
        if kind in (str, bytes):
            texts = [self._text_of_ids(row) for row in rows]
            return [text.encode() for text in texts] if in_bytes else texts
        found = (self._numbers(row).tolist() for row in rows)
        return [self._surfaces([self.pieces.names[number].encode() for number in ids], ids, in_bytes) for ids in found]

    def _text_of_ids(self, row: Any) -> str:
        """Decode a row of ids to a text."""
        text = self.pieces.quick_text(row) if type(row) is list else None
        return self.pieces.text(self._numbers(row)) if text is None else text

    def texts_of_pieces(self, rows: Any, kind: Any, in_bytes: bool) -> list[Any]:
        """Decode rows of pieces to texts."""
        found = list[Any]()
        for row in rows:
            pieces = pieces_of_row(row)
            ids = [self.id_of(piece.decode("utf-8", "surrogateescape")) for piece in pieces]
            if kind in (str, bytes):
                text = self.pieces.text_of_pieces(pieces, ids)
                found.append(text if in_bytes else text.decode())
            else:
                found.append(self._surfaces(pieces, ids, in_bytes))
        return found

    def _surfaces(self, pieces: Sequence[bytes], ids: list[int], in_bytes: bool) -> dict[str, Any]:
        """Make a dictionary with a decoded text, and with the text's ids, pieces and offsets."""
        surfaces = self.pieces.surfaces(pieces, ids)
        text = b"".join(surfaces)
        ends = [0, *accumulate(map(len, surfaces))]
        if in_bytes:
            return {"text": text, "ids": ids, "pieces": [*pieces], "offsets": [*pairwise(ends)]}
        ends = [0, *accumulate(len(new.decode()) for new in surfaces)]
        return {"text": text.decode(), "ids": ids, "pieces": [piece.decode() for piece in pieces], "offsets": [*pairwise(ends)]}

    def id_of(self, piece: str) -> int:
        """Return the id of a piece; for a str that is not a piece, the id of the model's unknown piece."""
        return self.pieces.ids.get(piece, self.pieces.unk_id)

    def of_ids(self, ids: Any, tell: Callable[[int], Any]) -> Any:
        """Look up a property of an id, or of each id of a row."""
        if type(ids) is int and 0 <= ids < len(self.pieces.names):
            return tell(ids)
        try:
            number = index(ids)
        except TypeError:
            return [tell(one) for one in self._numbers(ids).tolist()]
        return tell(*self._numbers([number]).tolist())

    def _numbers(self, ids: Any) -> Array:
        """Convert a row of ids to an array, and check that each id belongs to a piece."""
        found = numbers_of(ids)
        if len(found) and (found.min() < 0 or found.max() >= len(self.pieces.names)):
            raise IndexError(OUT_OF_RANGE)
        return found
