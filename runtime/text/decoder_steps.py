"""Decode ids to text by the steps of a vocabulary's decoder (`fst.tables.decoder_steps`), all at once or in a stream.

Nearly all decoders change each token independently, decode runs of byte tokens, and finally strip the text. For these decoders, the
changed tokens are stored as bytes, and kernels concatenate them. If the bytes of a row are not UTF-8, the row is decoded again, step by
step.
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
    """A decoder that converts ids to texts. `names` contains the token of each id; numbers that are not in `names` are skipped."""

    def __init__(self, names: Mapping[int, str], steps: Steps) -> None:
        self._names, self._steps, self._plan = names, steps, plan(steps)
        kinds = {step["type"] for step in self._plan.alone if step.get("prepend_scheme") != "never"} if self._plan else set()
        self._has_ends = not kinds.isdisjoint((METASPACE, SUFFIX))
        self._breaks = {number for number, name in names.items() if not name}
        self._pieces = next((step for step in steps if step["type"] == PIECES and step["leading"] != NONE), None)

    def skipping(self, ids: Collection[int]) -> StepDecoder:
        """Return a decoder that also skips `ids`. With steps of ``sentencepiece``, a skipped id ends a run of byte tokens."""
        if any(step["type"] == PIECES for step in self._steps):
            return StepDecoder({number: "" if number in ids else name for number, name in self._names.items()}, self._steps)
        return StepDecoder({number: name for number, name in self._names.items() if number not in ids}, self._steps)

    def text(self, ids: Any) -> str:
        """Decode a row of ids to a text."""
        (text,) = self.texts([ids])
        return text

    def texts(self, sequences: Iterable[Any]) -> list[str]:
        """Decode each row of ids to a text."""
        rows = sequences if isinstance(sequences, Batch) else [array_of(ids) for ids in sequences]
        if self._plan is None:
            return [self._slowly(ids) for ids in rows]
        found = self._contents.bytes_of_rows(rows)
        spans = pairwise([0, *found.ends.tolist()])
        return [self._text(ids, bytes(found.data[start:end]), self._plan) for ids, (start, end) in zip(rows, spans, strict=True)]

    def stream(self) -> DecodeStream:
        """Make a stream that decodes ids as they arrive.

        Raises:
            UnsupportedError: the text of the first ids may depend on all later ids.
        """
        if self._plan is None or any(step["type"] != STRIP or step["stop"] for step in self._plan.tail):
            raise UnsupportedError("decode_stream: the decoder changes the text as a whole; decode all ids at once")
        return StepStream(self._names, self._plan)

    def _text(self, ids: NDArray[Any], data: bytes, by: Plan) -> str:
        """Decode a row from the concatenated bytes of its tokens."""
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
        """Replace the bytes of a row's first and last token, because the steps may change a token differently at the begin or the end of a
        row.
        """
        first, last = self._first(ids.tolist()), self._first(ids[::-1].tolist())
        if first is None or last is None:
            return data
        (at_first, first_name), (at_last, last_name) = first, last
        if at_first + at_last == len(ids) - 1:
            return by.content(first_name, is_first=True, is_last=True)
        inner = data[len(by.content(first_name)) : len(data) - len(by.content(last_name))]
        return by.content(first_name, is_first=True) + inner + by.content(last_name, is_last=True)

    def _leading(self, ids: NDArray[Any], step: Step) -> int:
        """Count the spaces to remove at the beginning of a row."""
        count = 0
        for name in (self._names[int(number)] for number in ids if int(number) in self._names):
            count += leading(step, name)
            if name and (name != SYMBOL or step["leading"] != ALL):
                break
        return count

    def _first(self, ids: Sequence[int]) -> tuple[int, str] | None:
        """Return the position and the token of the first id that is not skipped; None if all ids are skipped."""
        return next(((place, self._names[number]) for place, number in enumerate(ids) if number in self._names), None)

    def _slowly(self, ids: Any) -> str:
        return joined(self._steps, [self._names[number] for number in row_of(ids) if number in self._names])

    @Lazy
    def _contents(self) -> ByteDecoder:
        by = self._plan or Plan((), has_bytes=False, tail=())
        return decoder_of_contents({number: by.content(name) for number, name in self._names.items()})


class StepStream(DecodeStream):
    """A stream that decodes each id when it arrives, by the steps of the decoder.

    The joined results of `write` and `close` equal the result of `fst.Tokenizer.decode` for all ids, with one exception: if a run of byte
    tokens is not UTF-8, the stream returns the complete characters before the error, and U+FFFD for each byte after these characters.
    """

    def __init__(self, names: Mapping[int, str], by: Plan) -> None:
        super().__init__()
        self._names, self._plan = names, by
        self._is_first, self._holds = True, any(step["type"] == SUFFIX for step in by.alone)
        self._has_pieces = any(step["type"] == PIECES for step in by.alone)
        self._is_greedy = any(step["type"] == PIECES and step["leading"] == ALL for step in by.alone)
        self._held: str | None = None  # the latest token, stored if a suffix is removed from the last token of a row
        self._run, self._is_spoilt = b"", False  # incomplete bytes of the current run of byte tokens; whether the run is malformed
        self._cuts = [(step["content"], step["start"]) for step in by.tail]

    def _added(self, ids: IdsLike) -> str:
        tokens = [self._names[number] for number in row_of(ids) if number in self._names]
        return self._cut("".join(map(self._following, tokens)))

    def _rest(self) -> str:
        last = "" if self._held is None else self._put(self._held, is_last=True)
        return self._cut(last + self._ended())

    def _following(self, token: str) -> str:
        """Return the text of a new token. If the text of a token depends on whether another token follows, return the text of the previous
        token instead.
        """
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
        """Return the text that a byte token completes: a character, U+FFFD for each malformed byte, or an empty string."""
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
        """End the current run of byte tokens, and return U+FFFD for each byte of an incomplete character."""
        text, self._run, self._is_spoilt = UNKNOWN * len(self._run), b"", False
        return text

    def _cut(self, text: str) -> str:
        """Strip characters from the beginning of the stream; `text` is its next part."""
        for place, (content, most) in enumerate(self._cuts):
            rest = text.lstrip(content)
            count = min(len(text) - len(rest), most)
            text = text[count:]
            self._cuts[place] = content, 0 if text else most - count
        return text
