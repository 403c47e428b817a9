"""The pieces of a table: their types, scores and spans, and the decoding of pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.lazy import Lazy
from fst.errors import TableError, UnsupportedError, quoted
from fst.runtime.compat.sentencepiece.arguments import EACH_BYTE, UNKNOWN
from fst.runtime.text.decoder_steps import StepDecoder
from fst.runtime.tokenizer import Tokenizer
from fst.tables.decoder_steps import ALL, SYMBOL, Step, byte_of, changed, leading
from fst.tables.header import StepsDecoder
from fst.tables.sentencepiece_info import WORD, SentencePieceInfo
from fst.text.charsmap import Charsmap
from fst.text.edits import SPACES, Edit
from fst.text.normalizer import NOTHING, Normalizer
from fst.text.whitespace import SPACE

NO_PIECE = -1


class Normalized(NamedTuple):
    """A normalized text.

    Attributes:
        text: the normalized characters.
        places: for each normalized character, the index of its source character in the raw text. The last element is the end of the raw
            text without removed whitespace. If the normalized text is empty, the list contains only this end, or nothing if the raw text
            becomes whitespace.
    """

    text: str
    places: list[int]


class Located(NamedTuple):
    """A piece found in a text.

    Attributes:
        piece: the name of the piece; for an unknown piece, its normalized text.
        id: the id of the piece.
        begin, end: the span of the piece in the raw text, in characters.
    """

    piece: str
    id: int
    begin: int
    end: int


class Pieces:
    """The pieces of a table that was compiled from any source. Methods that need data of a ``sentencepiece`` model raise an error here, and
    are implemented in `ModelPieces`.

    Attributes:
        fst: the tokenizer of the table.
        kind: the kind of the model, see `fst.tables.sentencepiece_info`; "" for a table without a ``sentencepiece`` model.
        names: the piece of each id.
        ids: the id of each piece.
        unk_id, bos_id, eos_id, pad_id: the ids of special pieces, or `NO_PIECE`.
        control, unused, byte: the ids of all control pieces, unused pieces and byte pieces.
        scores: float32[pieces], the score of each piece; None if scores are not available.
    """

    kind = ""
    scores: Array | None = None
    unused: frozenset[int] = frozenset()

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.fst, model, settings = tokenizer, tokenizer._metadata.model, tokenizer._settings
        self.ids = tokenizer.get_vocab()
        self.names = [tokenizer.id_to_token(number) or "" for number in range(max(self.ids.values(), default=-1) + 1)]
        self.control = frozenset(tokenizer._metadata.added_tokens.skipped)
        has_bytes = getattr(model, "byte_fallback", False)
        self.byte = frozenset(number for name, number in self.ids.items() if has_bytes and byte_of(name) is not None)
        named = [self.ids.get(settings.named_tokens.get(f"{name}_token", ""), NO_PIECE) for name in ("bos", "eos", "pad")]
        self.bos_id, self.eos_id, self.pad_id = (number if number in self.control else NO_PIECE for number in named)
        self.unk_id = self.ids.get(model.unk_token or "", NO_PIECE)

    def __len__(self) -> int:
        return self.fst.vocab_size

    def spelled(self, text: str, ids: Sequence[int]) -> list[str]:  # noqa: ARG002 - used in `ModelPieces`
        """Return the pieces of a text that is encoded to `ids`."""
        return [self.names[number] for number in ids]

    def located(self, text: str, ids: Sequence[int]) -> list[Located]:  # noqa: ARG002
        """Return the pieces of a text that is encoded to `ids`, and the spans of the pieces."""
        raise _refused("offset_mapping", "tok.encode_batch(texts, offsets=True) gives offsets")

    def located_rows(self, texts: list[str], rows: list[list[int]], threads: int | None) -> list[list[Located]]:  # noqa: ARG002
        """Return the pieces of each text, and the spans of the pieces; `rows` contains the texts' ids from `encode_batch`."""
        return [self.located(text, ids) for text, ids in zip(texts, rows, strict=True)]

    def normalized(self, text: str) -> Normalized:  # noqa: ARG002
        """Return the normalized form of a text."""
        raise _refused("normalize", "tok.tokenize shows what becomes of a text")

    def need_mendable(self) -> None:
        """Raise an error if normalization may change U+FFFD, because each U+FFFD in the text represents a malformed byte."""

    def quick_text(self, ids: list[Any]) -> str | None:  # noqa: ARG002
        """Decode ids to a text without kernels; return None for ids that only `text` can decode or check."""
        return None

    def text(self, ids: Array) -> str:
        """Decode ids to a text."""
        return self.fst.decode(ids)

    def surfaces(self, pieces: Sequence[bytes], ids: Sequence[int]) -> list[bytes]:  # noqa: ARG002
        """Return the part of the text that each piece of a row adds, unknown pieces included."""
        raise _refused("decoding of pieces to offset_mapping, and of unknown pieces", "decode ids")

    def text_of_pieces(self, pieces: Sequence[bytes], ids: Sequence[int]) -> bytes:
        """Decode pieces to a text."""
        if any(self.names[number].encode() != piece for piece, number in zip(pieces, ids, strict=True)):
            self.surfaces(pieces, ids)
        return self.text(np.array(ids)).encode()

    def score_list(self) -> Array:
        """Return the score of each piece, an array."""
        if self.scores is None:
            raise _refused("get_score", "scores are in the .model file")
        return self.scores


def _refused(what: str, instead: str) -> UnsupportedError:
    table = "this table was compiled from another source than a model of sentencepiece"
    return UnsupportedError(f"{what}: {table}; compile the .model file, or take another way: {instead}")


class ModelPieces(Pieces):
    """The pieces of a ``sentencepiece`` model."""

    def __init__(self, tokenizer: Tokenizer, facts: SentencePieceInfo) -> None:
        self.fst, self.kind = tokenizer, facts.kind
        self.scores, self.unk_id, self.ids = facts.score_array, facts.unk_id, tokenizer.get_vocab()
        by_id = {number: name for name, number in self.ids.items()}
        if sorted(by_id) != [*range(len(self.scores))] or len(by_id) != len(self.ids):
            raise TableError("the ids of a table of a model of sentencepiece are not those of its pieces")
        self.names = [by_id[number] for number in range(len(by_id))]
        special = (facts.bos_id, facts.eos_id, facts.pad_id)
        self.bos_id, self.eos_id, self.pad_id = (NO_PIECE if number is None else number for number in special)
        self.control, self.unused, self.byte = frozenset(facts.control), frozenset(facts.unused), frozenset(facts.byte)
        own = sorted((self.names[number] for number in facts.user_defined), key=len, reverse=True)
        self._own = re.compile("|".join(map(re.escape, own))) if own else None

    def __len__(self) -> int:
        return len(self.names)

    def spelled(self, text: str, ids: Sequence[int]) -> list[str]:
        """Return the pieces of a text that is encoded to `ids`."""
        if self.byte or self.unk_id not in ids:
            return [self.names[number] for number in ids]
        return [piece.piece for piece in self.located(text, ids)]

    def located(self, text: str, ids: Sequence[int]) -> list[Located]:
        """Return the pieces of a text that is encoded to `ids`, and the spans of the pieces."""
        normal, places = self.normalized(text)
        found, at, left = list[Located](), 0, 0
        for place, number in enumerate(ids):
            name = self.names[number]
            if number in self.byte:
                unit = self._unit(normal, at)
                left = (left or len(unit.encode())) - 1
                after = at if left else at + len(unit)
            elif number == self.unk_id:
                after = self._end_of_unknown(normal, at, ids, place + 1)
                name = normal[at:after]
            else:
                after = at + len(name)
                if normal[at:after] != name:
                    raise _lost(text)
            found.append(Located(name, number, places[at], places[after]))
            at = after
        if at != len(normal):
            raise _lost(text)
        return found

    def located_rows(self, texts: list[str], rows: list[list[int]], threads: int | None) -> list[list[Located]]:
        """Return the pieces of each text, and the spans of the pieces, from a kernel if possible; `rows` contains the ids from
        `encode_batch`.
        """
        batch = self.fst.encode_batch(texts, add_special_tokens=False, offsets=True, threads=threads)
        assert batch.offsets is not None
        spans, ends = batch.offsets.tolist(), batch.row_splits.tolist()
        return [
            self._placed(ids, spans[start:end]) if self.kind != WORD and (self.byte or self.unk_id not in ids) else self.located(text, ids)
            for text, ids, start, end in zip(texts, rows, ends, ends[1:], strict=False)
        ]

    def _placed(self, ids: Sequence[int], spans: Sequence[Sequence[int]]) -> list[Located]:
        """Combine ids and spans into located pieces. If a character has several byte pieces, only the last byte piece has the character's
        span.
        """
        found, left = list[Located](), 0
        for number, (start, end) in zip(ids, spans, strict=True):
            if number in self.byte:
                left = left - 1 if left else _following(byte_of(self.names[number]) or 0)
                end = start if left else end
            found.append(Located(self.names[number], number, start, end))
        return found

    def normalized(self, text: str) -> Normalized:
        """Return the normalized form of a text."""
        if not text:
            return Normalized("", [])
        by = self.fst._metadata.text.normalizer or NOTHING
        normal, spans = by.normalized(text)
        if by.whitespace.symbol:
            normal = normal.replace(SPACE, by.whitespace.symbol)
        if not normal:
            return Normalized("", self._end_of_nothing(text, by))
        places = [start for start, _ in spans] + [end for _, end in spans[-1:]]
        return Normalized(normal, self._with_own(text, places) if self._own else places)

    def _end_of_nothing(self, text: str, by: Normalizer) -> list[int]:
        """Compute `Normalized.places` for a raw text whose normalized form is empty, as in ``sentencepiece``."""
        charsmap = next((edit for edit in by.edits if isinstance(edit, Charsmap)), None)
        if charsmap is None:
            return []
        whitespace = takewhile(lambda replaced: (replaced[0] if replaced[1] is None else replaced[1]) == SPACE, charsmap.longest(text))
        start = sum(len(string) for string, _ in whitespace)
        has_prefix = any(isinstance(edit, Edit) and edit.kind == SPACES and edit.left for edit in by.edits)
        return [] if start == len(text) else [start if has_prefix else len(text)]

    def _with_own(self, text: str, places: list[int]) -> list[int]:
        """Change `places` so that no position lies inside a user-defined piece of the raw text."""
        found, end = list[int](), 0
        for place in places[:-1]:
            if place >= end:
                own = self._own.match(text, place) if self._own else None
                start, end = place, own.end() if own else place
            found.append(start if place < end else place)
        return [*found, *places[-1:]]

    def need_mendable(self) -> None:
        """Raise an error if normalization may change U+FFFD, because each U+FFFD in the text represents a malformed byte."""
        if self._changes_unknown:
            raise UnsupportedError("the text is not UTF-8, and the model normalizes U+FFFD, which replaces malformed bytes; mend the text")

    @Lazy
    def _changes_unknown(self) -> bool:
        """Whether normalization replaces a string that contains U+FFFD."""
        by = self.fst._metadata.text.normalizer or NOTHING
        for charsmap in (edit for edit in by.edits if isinstance(edit, Charsmap)):
            found = charsmap.strings.characters
            while len(found.codes):
                if ord(UNKNOWN) in found.codes:
                    return True
                found, _ = charsmap.strings.seconds(found.nodes)
        return False

    def quick_text(self, ids: list[Any]) -> str | None:
        """Decode ids to a text without kernels, which is faster for few ids; return None for byte pieces and invalid ids."""
        try:
            text = "".join([self._texts[number] for number in ids])
            if min(ids) < 0:
                return None
        except (TypeError, IndexError, ValueError):
            return None
        for number in ids:
            taken = self._taken[number]
            text = text[taken:]
            if (taken and self._step["leading"] != ALL) or len(self._texts[number]) > taken:
                break
        return text

    @Lazy
    def _texts(self) -> list[Any]:
        """The text of each id's piece; None for byte pieces."""
        texts: list[Any] = [changed(self._step, name, is_first=False, is_last=False) for name in self.names]
        for number in self.control:
            texts[number] = ""
        for number in self.byte:
            texts[number] = None
        return texts

    @Lazy
    def _taken(self) -> list[int]:
        """The number of characters that are removed from each id's piece at the beginning of a text."""
        return [0 if number in self.control else leading(self._step, name) for number, name in enumerate(self.names)]

    def text(self, ids: Array) -> str:
        """Decode ids to a text."""
        numbers = ids.tolist()
        if self.control.isdisjoint(numbers) or self.byte.isdisjoint(numbers):
            return self._decoder.text(ids)
        pieces = [self.names[number].encode() for number in numbers]
        return self.text_of_pieces(pieces, numbers).decode()  # a control piece ends a run of byte pieces

    def surfaces(self, pieces: Sequence[bytes], ids: Sequence[int]) -> list[bytes]:
        """Return the part of the text that each piece of a row adds."""
        found, run, is_first, has_text = list[bytes](), bytearray(), True, False
        for piece, number in zip(pieces, ids, strict=True):
            if number in self.byte:
                run.append(byte_of(self.names[number]) or 0)
                continue
            found += _characters(run)
            has_text = has_text or bool(run)
            run.clear()
            is_first = is_first and not has_text
            found.append(self._surface(piece, number, is_first))
            has_text = has_text or bool(found[-1])
            if number not in self.control and leading(self._step, self.names[number]):
                is_first = is_first and self._step["leading"] == ALL
        return [*found, *_characters(run)]

    def _surface(self, piece: bytes, number: int, is_first: bool) -> bytes:
        """Return the part of the text that a piece adds; the piece must not be a byte piece."""
        if number in self.control:
            return b""
        name = self.names[number]
        if number == self.unk_id and piece != name.encode():
            return piece
        return changed(self._step, name, is_first=is_first, is_last=False).encode()

    def text_of_pieces(self, pieces: Sequence[bytes], ids: Sequence[int]) -> bytes:
        """Decode pieces to a text."""
        return b"".join(self.surfaces(pieces, ids))

    def _unit(self, normal: str, at: int) -> str:
        """Return the characters of the unknown piece that begins at a position: one character, or a word if pieces are words."""
        if self.kind != WORD:
            return normal[at : at + 1]
        end = normal.find(SYMBOL, at + 1)
        return normal[at : end if end > 0 else None]

    def _end_of_unknown(self, normal: str, at: int, ids: Sequence[int], following: int) -> int:
        """Find the end of a run of unknown characters or words, which is where the pieces after the run begin."""
        last = next((place for place in range(following, len(ids)) if ids[place] == self.unk_id), len(ids))
        known, ends = "".join(self.names[number] for number in ids[following:last]), list[int]()
        while (unit := self._unit(normal, at)) and unit not in self._usable:
            at += len(unit)
            if normal.startswith(known, at) and (last < len(ids) or at + len(known) == len(normal)):
                ends.append(at)
        if self.kind == WORD:
            return at
        if len(ends) != 1:
            raise UnsupportedError(f"pieces of {quoted(normal)}: the end of an unknown piece is not certain; request ids")
        return ends[0]

    @Lazy
    def _usable(self) -> frozenset[str]:
        """The pieces that encoding can find in a text."""
        others = self.control | self.unused | self.byte | {self.unk_id}
        return frozenset(name for number, name in enumerate(self.names) if number not in others)

    @property
    def _step(self) -> Step:
        """The settings of the tokenizer's decoder, which consists of one step."""
        decoder = self.fst._settings.decoder
        assert isinstance(decoder, StepsDecoder)
        return decoder.steps[0]

    @Lazy
    def _decoder(self) -> StepDecoder:
        return StepDecoder(dict(enumerate(self.names)), [self._step]).skipping(self.control)


def _lost(text: str) -> TableError:
    return TableError(f"the pieces of {quoted(text)} do not form its normalized text: the table is wrong; compile the model again")


def _following(byte: int) -> int:
    """Return the number of bytes that follow the first byte of a character."""
    return (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)


def _characters(run: bytearray) -> list[bytes]:
    """Return the part of the text that each byte of a run adds. The last byte of a character adds the character, the bytes before it add
    nothing, and a malformed byte adds U+FFFD.
    """
    found = list[bytes]()
    for char in run.decode("utf-8", EACH_BYTE):
        is_read = run.startswith(char.encode(), len(found))
        found += [b""] * (len(char.encode()) - 1 if is_read else 0)
        found.append(char.encode())
    return found


def pieces_of(tokenizer: Tokenizer) -> Pieces:
    """Make the pieces of a tokenizer."""
    facts = getattr(tokenizer._metadata.model, "sentencepiece", None)
    return ModelPieces(tokenizer, facts) if facts else Pieces(tokenizer)
