"""Read SentencePiece's ``.model`` files, with the protobuf schema in the package `sentencepiece`.

The reference is `sentencepiece` 0.2.3. This module refuses unsupported features by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.tables.sentencepiece_info import SCORE, SentencePieceInfo

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # the types of pieces
KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SELF_TEST_DATA = 4  # a field of older models, with texts and their pieces, which `sentencepiece` 0.2.3 skips
DAMAGED = "is not a model of sentencepiece, or is damaged or cut short: download it again"
EXTRA = "pip install sentencepiece protobuf"
_BEGINNING = re.compile(rb"\n.\n.{1,200}?\x18[\x01-\x06]", re.DOTALL)  # the first bytes of a model, which are a piece with a type


@dataclass(frozen=True)
class Normalizer:
    """The normalizer of a SentencePiece model."""

    charsmap: bytes  # the replacements of strings, see `fst.compile.text.edits.charsmaps`; empty if there are none
    add_dummy_prefix: bool  # whether a space is added before each text or, with `SentencePieceModel.is_suffix`, after each text
    remove_extra_whitespaces: bool  # whether spaces at the ends of texts are removed, and runs of spaces become one space
    escape_whitespaces: bool  # whether ▁ replaces a space


@dataclass(frozen=True)
class SentencePieceModel:
    """A SentencePiece model."""

    kind: str  # unigram, bpe, word or char
    pieces: Sequence[str]  # the pieces, in the order of their ids
    scores: Sequence[float]  # the score of each piece, an exact float32 value
    types: Sequence[int]  # the type of each piece, such as `NORMAL`
    byte_fallback: bool  # whether pieces such as ``<0x0A>`` represent characters that no piece contains
    is_suffix: bool  # whether ▁ ends a word instead of beginning it
    unk_surface: str  # the decoded text of an unknown piece
    special: Mapping[str, str]  # the model's names for ``unk``, ``bos``, ``eos`` and ``pad``; some names may not be pieces
    normalizer: Normalizer  # the normalization of texts

    @property
    def unk_id(self) -> int:
        """The id of the unknown piece."""
        return self.types.index(UNKNOWN)

    @property
    def facts(self) -> SentencePieceInfo:
        """Properties of pieces that tables store in addition to ids and texts."""
        return SentencePieceInfo(
            kind=self.kind,
            unk_id=self.unk_id,
            bos_id=self._control("bos"),
            eos_id=self._control("eos"),
            pad_id=self._control("pad"),
            control=self._of_type(CONTROL),
            user_defined=self._of_type(USER_DEFINED),
            unused=self._of_type(UNUSED),
            byte=self._of_type(BYTE),
            scores=np.array(self.scores, SCORE).tobytes(),
        )

    def _control(self, name: str) -> int | None:
        """The id of a special piece; None if the piece does not exist or is not a control piece."""
        number = self.pieces.index(self.special[name]) if self.special[name] in self.pieces else self.unk_id
        return number if self.types[number] == CONTROL else None

    def _of_type(self, kind: int) -> tuple[int, ...]:
        """The ids of all pieces of a type, such as `CONTROL`."""
        return tuple(number for number, found in enumerate(self.types) if found == kind)


def begins_model(data: bytes) -> bool:
    """Whether bytes look like the beginning of a model."""
    return _BEGINNING.match(data) is not None


def parse(data: bytes, where: str) -> SentencePieceModel:
    """Parse the model of a file. `data`: the bytes of the file. `where`: the name of the file in messages."""
    proto = _proto(data, where)
    try:
        _need_known(proto)
        model = _of_proto(proto)
        check(model)
    except UnsupportedError as error:
        raise UnsupportedError(f"{where}: {error}") from None
    except ValueError as error:
        raise VocabularyError(f"{where}: {error}") from None
    return model


def description(where: str) -> Any:
    """The protobuf schema of a ``.model``. `where`: the name of the file, for the message if a package is not installed."""
    try:
        from sentencepiece import sentencepiece_model_pb2
    except ImportError:
        raise UnsupportedError(f"{where}: models of sentencepiece take the packages sentencepiece and protobuf: {EXTRA}") from None
    return sentencepiece_model_pb2  # importing it creates the protobuf classes


def _proto(data: bytes, where: str) -> Any:
    proto = description(where).ModelProto()
    from google.protobuf.message import DecodeError

    try:
        proto.ParseFromString(data)
    except DecodeError:
        raise VocabularyError(f"{where} {DAMAGED}") from None
    if not (proto.HasField("trainer_spec") and proto.HasField("normalizer_spec")):  # the last fields may be incomplete
        raise VocabularyError(f"{where} {DAMAGED}")
    return proto


def _need_known(proto: Any) -> None:
    """Refuse fields that are not in the schema, because they may change ids."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    parts = {"the model": proto, "its trainer_spec": proto.trainer_spec, "its normalizer_spec": proto.normalizer_spec}
    for name, part in parts.items():
        for field in UnknownFieldSet(part):
            if part is proto and field.field_number == SELF_TEST_DATA:
                continue
            raise UnsupportedError(f"{name} has the field {field.field_number}, which is unknown to sentencepiece 0.2.3")
    if proto.denormalizer_spec.precompiled_charsmap:
        raise UnsupportedError("the model has a denormalizer_spec, which changes text when it is decoded")


def _of_proto(proto: Any) -> SentencePieceModel:
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    return SentencePieceModel(
        kind=KINDS[trainer.model_type],
        pieces=[piece.piece for piece in proto.pieces],
        scores=[piece.score for piece in proto.pieces],
        types=[piece.type for piece in proto.pieces],
        byte_fallback=trainer.byte_fallback,
        is_suffix=trainer.treat_whitespace_as_suffix,
        unk_surface=trainer.unk_surface,
        special={name: getattr(trainer, f"{name}_piece") for name in ("unk", "bos", "eos", "pad")},
        normalizer=Normalizer(
            normalizer.precompiled_charsmap,
            normalizer.add_dummy_prefix,
            normalizer.remove_extra_whitespaces,
            normalizer.escape_whitespaces,
        ),
    )


def check(model: SentencePieceModel) -> None:
    """Refuse models that `sentencepiece` refuses, and scores that cannot be compared."""
    if not isinstance(model.unk_surface, str):
        raise ValueError(f"unk_surface is {quoted(model.unk_surface)}, which is not UTF-8")
    first: dict[str, int] = {}
    for number, piece in enumerate(model.pieces):
        if not isinstance(piece, str):  # protobuf does not decode bytes that are not UTF-8
            raise ValueError(f"piece {number} is {quoted(piece)}, which is not UTF-8")
        if not piece or "\0" in piece:
            raise ValueError(f"piece {number} is {'empty' if not piece else f'{quoted(piece)}, which has a NUL'}")
        if first.setdefault(piece, number) != number:
            raise ValueError(f"pieces {first[piece]} and {number} are both {quoted(piece)}; pieces must be distinct")
        if not isfinite(model.scores[number]):
            raise ValueError(f"piece {number}, {quoted(piece)}, has the score {model.scores[number]}; scores are finite")
    unknown = [number for number, kind in enumerate(model.types) if kind == UNKNOWN]
    if len(unknown) != 1:
        raise ValueError(f"{len(unknown) or 'no'} pieces are of type UNKNOWN; there is one")
    named = model.special["unk"]
    if first.get(named, model.unk_id) != model.unk_id:
        raise UnsupportedError(f"the model names the piece {quoted(named)} as unknown, which is of another type")
    _check_bytes(model, first)


def _check_bytes(model: SentencePieceModel, numbers: Mapping[str, int]) -> None:
    """Refuse byte_fallback without all byte pieces, and byte pieces without byte_fallback."""
    of_bytes = {piece for piece, kind in zip(model.pieces, model.types, strict=True) if kind == BYTE}
    if not of_bytes <= {*BYTES}:
        raise ValueError(f"piece {quoted(min(of_bytes - {*BYTES}))} is of type BYTE; these are called {BYTES[0]} to {BYTES[-1]}")
    if of_bytes and not model.byte_fallback:
        raise ValueError(f"piece {quoted(min(of_bytes))} is of type BYTE, and the model has no byte_fallback")
    lacking = [piece for piece in BYTES if piece not in of_bytes] if model.byte_fallback else []
    if lacking:
        reason = "of another type" if lacking[0] in numbers else "missing"
        raise ValueError(f"the model has byte_fallback, and the piece {lacking[0]} is {reason}")
