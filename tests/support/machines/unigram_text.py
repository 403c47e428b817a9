"""Unigram tables with score scope "text", and `sentencepiece` models with the same pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.naive.sentencepiece import UNKNOWN, Piece
from support.sources.sentencepiece_proto import proto

from fst.compile.machines.unigram.compiler import assemble
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources.templates import BARE
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import TEXT_SCOPE
from fst.tables.header import AddedTokens

sentencepiece = pytest.importorskip("sentencepiece")

TO_SYMBOL = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}


def model_of(pieces: Sequence[Piece], *, byte_fallback: bool = False) -> UnigramModel:
    """Make a Unigram model of the compiler from `sentencepiece` pieces."""
    names, scores, types = ([*column] for column in zip(*pieces, strict=True))
    unk_id = types.index(UNKNOWN) if UNKNOWN in types else None
    return UnigramModel(names, [float(np.float32(score)) for score in scores], unk_id, byte_fallback, TEXT_SCOPE, types)


def tables_of(model: UnigramModel, *, whitespace: bool = False) -> UnigramTable:
    """Compile a model into a table. With `whitespace`, the table's normalizer replaces spaces by ▁; otherwise texts must contain ▁."""
    model.check("it")
    text = TextPipeline([TO_SYMBOL] * whitespace, [])
    return assemble(Source(model, text, AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS), "auto")


def reference(pieces: Sequence[Piece], *, byte_fallback: bool = False) -> Any:
    """Make a `sentencepiece` processor from pieces, as the reference for their table."""
    return sentencepiece.SentencePieceProcessor(model_proto=proto([*pieces], "unigram", byte_fallback=byte_fallback).SerializeToString())
