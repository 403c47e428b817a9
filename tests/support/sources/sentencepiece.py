"""Small models of `sentencepiece`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from support.naive.sentencepiece import UNKNOWN, Piece

from fst.compile.sources.sentencepiece.model_file import KINDS
from fst.compile.text.edits.double_arrays import charsmap

sentencepiece = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

UNK = Piece("<unk>", 0, UNKNOWN)


class Spaces(NamedTuple):
    """The settings of `sentencepiece`'s normalizer that add, remove or escape spaces."""

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


BOTH_ENDS = Spaces()


def model_of(
    pieces: Sequence[Piece], kind: str, spaces: Spaces = BOTH_ENDS, replacements: Mapping[str, str] | None = None, **trainer: Any
) -> bytes:
    """The bytes of a ``.model`` file."""
    made = sentencepiece_model_pb2.ModelProto()
    for piece in pieces:
        made.pieces.add(piece=piece.text, score=piece.score, type=piece.type)
    made.trainer_spec.model_type = next(number for number, name in KINDS.items() if name == kind)
    for name, value in trainer.items():
        setattr(made.trainer_spec, name, value)
    for name, flag in spaces._asdict().items():
        setattr(made.normalizer_spec, name, flag)
    if replacements:
        made.normalizer_spec.precompiled_charsmap = charsmap(replacements)
    data: bytes = made.SerializeToString()
    return data


CHARS = [Piece(char, -8 - 0.1 * place) for place, char in enumerate("ab▁é ")]
