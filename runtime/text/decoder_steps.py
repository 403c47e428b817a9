"""Decode ids to text by steps (`fst.tables.decoder_steps`), all at once or as the ids arrive.

Nearly all decoders change each token by itself, decode runs of bytes, and strip the text at the end. For these decoders, the changed tokens
are stored as bytes, and kernels join them. If the joined bytes of a row are not UTF-8, the row is decoded again step by step.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.runtime.decoder import ByteDecoder, DecodeStream, IdsLike, array_of, decoder_of_contents, row_of
from fst.runtime.rows.batch import Batch
from fst.tables.decoder_steps import (
    ALL,
    METASPACE,
    NONE,
    PIECES,
    STRIP,
    SUFFIX,
    SYMBOL,
    UNKNOWN,
    Plan,
    Step,
    Steps,
    each_byte_unknown,
    joined,
    leading,
    plan,
)


class StepDecoder:
    """Decodes ids to texts. Numbers that are not ids are skipped.

    Args:
        names: a mapping from id to token.
        steps: the steps of the decoder.
    """

    def __init__(self, names: Mapping[int, str], steps: Steps) -> None:
        self._names, self._steps, self._plan = names, steps, plan(steps)
        kinds = {step["type"] for step in self._plan.alone if step.get("prepend_scheme") != "never"} if self._plan else set()
        self._has_ends = not kinds.isdisjoint((METASPACE, SUFFIX))
        self._breaks = {number for number, name in names.items() if not name}
        self._pieces = next((step for step in steps if step["type"] == PIECES and step["leading"] != NONE), None)

    def skipping(self, ids: Collection[int]) -> StepDecoder:
        """A decoder that also skips `ids`. With steps of sentencepiece, skipped ids end runs of bytes."""
        if any(step["type"] == PIECES for step in self._steps):
            return StepDecoder({number: "" if number in ids else name for number, name in self._names.items()}, self._steps)
        return StepDecoder({number: name for number, name in self._names.items() if number not in ids}, self._steps)

    def text(self, ids: Any) -> str:
        """The text of a row of ids.

        Raises:
            TypeError: `ids` is not a row of whole numbers.
            OverflowError: a number is less than 0, or has more than 32 bits.
        """
        (text,) = self.texts([ids])
        return text

    def texts(self, sequences: Iterable[Any]) -> list[str]:
        """The text of each row of ids.

        Raises:
            TypeError, OverflowError: as in `text`.
        """
        rows = sequences if isinstance(sequences, Batch) else [array_of(ids) for ids in sequences]
        if self._plan is None:
            return [self._slowly(ids) for ids in rows]
        found = self._contents.bytes_of_rows(rows)
        spans = pairwise([0, *found.ends.tolist()])
        return [self._text(ids, bytes(found.data[begin:end]), self._plan) for ids, (begin, end) in zip(rows, spans, strict=True)]

    def stream(self) -> DecodeStream:
        """Return a stream that decodes ids as they arrive.

        Raises:
            UnsupportedError: the text of the first ids may depend on all ids after them.
        """
        if self._plan is None or any(step["type"] != STRIP or step["stop"] for step in self._plan.tail):
            raise UnsupportedError("decode_stream: the decoder changes the text as a whole; decode all ids at once")
        return StepStream(self._names, self._plan)

    def _text(self, ids: NDArray[Any], data: bytes, by: Plan) -> str:
        """The text of a row, from the joined bytes of its tokens."""
        if by.has_bytes and self._breaks and not self._breaks.isdisjoint(ids.tolist()):
            return self._slowly(ids)
        if self._has_ends:
            data = self._with_ends(ids, data, by)
        if self._pieces:
            data = data[self._leading(ids, self._pieces) :]
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self._slowly(ids)
        return joined(by.tail, [text]) if by.tail else text

    def _with_ends(self, ids: NDArray[Any], data: bytes, by: Plan) -> bytes:
        """Replace the bytes of a row's first and last tokens, which may differ from their bytes inside a row."""
        first, last = self._first(ids.tolist()), self._first(ids[::-1].tolist())
        if first is None or last is None:
            return data
        (at_first, first_name), (at_last, last_name) = first, last
        if at_first + at_last == len(ids) - 1:
            return by.content(first_name, is_first=True, is_last=True)
        inner = data[len(by.content(first_name)) : len(data) - len(by.content(last_name))]
        return by.content(first_name, is_first=True) + inner + by.content(last_name, is_last=True)

    def _leading(self, ids: NDArray[Any], step: Step) -> int:
        """The number of spaces to remove at the beginning of a row."""
        count = 0
        for name in (self._names[int(number)] for number in ids if int(number) in self._names):
            count += leading(step, name)
            if name and (name != SYMBOL or step["leading"] != ALL):
                break
        return count

    def _first(self, ids: Sequence[int]) -> tuple[int, str] | None:
        """The position and the name of the first id that is not skipped; None: all are skipped."""
        return next(((place, self._names[number]) for place, number in enumerate(ids) if number in self._names), None)

    def _slowly(self, ids: Any) -> str:
        return joined(self._steps, [self._names[number] for number in row_of(ids) if number in self._names])

    @Lazy
    def _contents(self) -> ByteDecoder:
        by = self._plan or Plan((), has_bytes=False, tail=())
        return decoder_of_contents({number: by.content(name) for number, name in self._names.items()})


class StepStream(DecodeStream):
    """Decodes ids by steps as they arrive.

    The joined texts from `write` and `close` equal the result of `fst.Tokenizer.decode` for all ids, with one exception: in a run of bytes
    that is not UTF-8 as a whole, the complete characters before the error are kept, and each byte after them becomes U+FFFD.

    Args:
        names: a mapping from id to token.
        by: the plan of the steps.
    """

    def __init__(self, names: Mapping[int, str], by: Plan) -> None:
        super().__init__()
        self._names, self._plan = names, by
        self._is_first, self._holds = True, any(step["type"] == SUFFIX for step in by.alone)
        self._has_pieces = any(step["type"] == PIECES for step in by.alone)
        self._is_greedy = any(step["type"] == PIECES and step["leading"] == ALL for step in by.alone)
        self._held: str | None = None  # the last token, if its text depends on whether it is the last of all
        self._run, self._is_spoilt = b"", False  # incomplete bytes of the current run; whether the run is not UTF-8
        self._cuts = [(step["content"], step["start"]) for step in by.tail]

    def _added(self, ids: IdsLike) -> str:
        tokens = [self._names[number] for number in row_of(ids) if number in self._names]
        return self._cut("".join(map(self._following, tokens)))

    def _rest(self) -> str:
        last = "" if self._held is None else self._put(self._held, is_last=True)
        return self._cut(last + self._ended())

    def _following(self, token: str) -> str:
        """The text to return after a token arrives; the text of the token before it if the last token is held back."""
        if self._has_pieces and not token:
            return self._ended()
        if not self._holds:
            return self._put(token, is_last=False)
        before, self._held = self._held, token
        return "" if before is None else self._put(before, is_last=False)

    def _put(self, token: str, *, is_last: bool) -> str:
        found = self._plan.changed(token, is_first=self._is_first, is_last=is_last)
        self._is_first = self._is_first and self._is_greedy and found == ""
        return self._ended() + found if isinstance(found, str) else self._taken(found)

    def _taken(self, byte: int) -> str:
        """The text to return after a byte of a run: the character that it completes, or U+FFFD for malformed bytes."""
        if self._is_spoilt:
            return UNKNOWN
        self._run += bytes([byte])
        if self._has_pieces:
            text, count = utf_8_decode(self._run, "surrogateescape", False)
            self._run = self._run[count:]
            return each_byte_unknown(text)
        try:
            text, count = utf_8_decode(self._run, "strict", False)
        except UnicodeDecodeError:
            text, count, self._is_spoilt = UNKNOWN * len(self._run), len(self._run), True
        self._run = self._run[count:]
        return text

    def _ended(self) -> str:
        """End the current run of bytes: U+FFFD for each incomplete byte."""
        text, self._run, self._is_spoilt = UNKNOWN * len(self._run), b"", False
        return text

    def _cut(self, text: str) -> str:
        """Strip a part of the text if it is at the beginning of the whole text."""
        for place, (content, most) in enumerate(self._cuts):
            rest = text.lstrip(content)
            count = min(len(text) - len(rest), most)
            text = text[count:]
            self._cuts[place] = content, 0 if text else most - count
        return text
