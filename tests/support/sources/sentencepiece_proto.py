"""Models of `sentencepiece` without normalization, as protocol buffers."""

from __future__ import annotations

from typing import Any

import pytest
from support.naive.sentencepiece import Piece

from fst.compile.sources.sentencepiece.model_file import KINDS

sentencepiece = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")


def proto(pieces: list[Piece], kind: str, **trainer: Any) -> Any:
    """Make a `sentencepiece` model without normalization from pieces."""
    made = sentencepiece_model_pb2.ModelProto()
    for piece in pieces:
        made.pieces.add(piece=piece.text, score=piece.score, type=piece.type)
    made.trainer_spec.model_type = next(number for number, name in KINDS.items() if name == kind)
    for name, value in trainer.items():
        setattr(made.trainer_spec, name, value)
    made.normalizer_spec.add_dummy_prefix = made.normalizer_spec.remove_extra_whitespaces = False
    return made
