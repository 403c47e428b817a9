"""SentencePiece models are read correctly, and the naive implementations segment texts as `sentencepiece` does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive import sentencepiece as defined
from support.naive.sentencepiece import NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece
from support.shared_data import SHARED, needs_shared
from support.sources.sentencepiece_proto import proto
from support.tiers import examples

from fst import UnsupportedError, VocabularyError
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL, KINDS, parse

sentencepiece = pytest.importorskip("sentencepiece")
sentencepiece_model_pb2 = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

UNK = Piece("<unk>", 0, UNKNOWN)
SOUND = [UNK, Piece("<s>", 0, CONTROL), Piece("a", -1.5)]
MODELS = sorted(SHARED.glob("vocab_*/**/*.model"))


@needs_shared
@pytest.mark.parametrize("path", MODELS, ids=lambda path: "/".join(path.parts[-2:]))
def test_real_models_are_read(path: Any) -> None:
    """Each piece of a real model has the same id, score and type as in `sentencepiece`."""
    model, of = parse(path.read_bytes(), path.name), sentencepiece.SentencePieceProcessor(model_file=str(path))
    numbers = range(of.get_piece_size())
    assert model.pieces == [of.id_to_piece(number) for number in numbers]
    assert model.scores == [of.get_score(number) for number in numbers]
    assert model.unk_id == of.unk_id()
    tests = {CONTROL: of.is_control, UNUSED: of.is_unused, BYTE: of.is_byte, UNKNOWN: of.is_unknown}
    for kind, test in tests.items():
        assert [found == kind for found in model.types] == [test(number) for number in numbers]


@needs_shared
@pytest.mark.parametrize("path", MODELS, ids=lambda path: "/".join(path.parts[-2:]))
def test_real_models_segment_by_definition(path: Any) -> None:
    """With real models, the naive implementations give normalized texts the same ids as `sentencepiece`."""
    model, of = parse(path.read_bytes(), path.name), sentencepiece.SentencePieceProcessor(model_file=str(path))
    pieces = [*map(Piece, model.pieces, model.scores, model.types)]
    for text in ("", " ", "A (small) example - £5, xxx\n", "---- ----  ab漢字🙂é", "naïve Straße ½ ﬁ"):
        normal = of.normalize(text)
        assert defined.sentencepiece(pieces, model.kind, normal, byte_fallback=model.byte_fallback) == of.encode(text), text


SCORES = some.sampled_from([-1.0, -2.0, -2.5, -3.0, 0.1, -0.1, -7.3])
TEXTS = some.text("aab▁é", max_size=12)
TYPES = some.sampled_from([NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED])
PIECES = some.lists(some.builds(Piece, some.text("ab▁é", min_size=1, max_size=3), SCORES, TYPES), min_size=1, max_size=8)


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("kind", KINDS.values())
@examples(400)
@given(pieces=PIECES, texts=some.lists(TEXTS, max_size=5))
def test_definitions_are_those_of_sentencepiece(kind: str, byte_fallback: bool, pieces: list[Piece], texts: list[str]) -> None:
    """With any pieces, including tied scores, the naive implementations give the same ids as `sentencepiece`."""
    own = {piece.text: piece for piece in pieces if byte_fallback is False or piece.type != UNUSED}
    every = [UNK, *own.values(), *(Piece(name, 0, BYTE) for name in BYTES * byte_fallback), Piece("z", -9)]
    of = sentencepiece.SentencePieceProcessor(model_proto=proto(every, kind, byte_fallback=byte_fallback).SerializeToString())
    for text in texts:
        assert defined.sentencepiece(every, kind, text, byte_fallback=byte_fallback) == of.encode(text), text


@pytest.mark.parametrize(
    ("pieces", "trainer", "message"),
    [
        ([Piece("a", -1)], {}, "no pieces are of type UNKNOWN; there is one"),
        ([UNK, Piece("b", 0, UNKNOWN)], {}, "2 pieces are of type UNKNOWN; there is one"),
        ([UNK, Piece("", 0)], {}, "piece 1 is empty"),
        ([UNK, Piece("a\0", 0)], {}, r"piece 1 is 'a\x00', which has a NUL"),
        ([*SOUND, Piece("a", -2)], {}, "pieces 2 and 3 are both 'a'; pieces must be distinct"),
        ([UNK, Piece("a", float("nan"))], {}, "piece 1, 'a', has the score nan; scores are finite"),
        ([UNK, Piece("a", float("inf"))], {}, "piece 1, 'a', has the score inf; scores are finite"),
        ([*SOUND, Piece("<0x00>", 0, BYTE)], {}, "piece '<0x00>' is of type BYTE, and the model has no byte_fallback"),
        ([*SOUND, Piece("<0>", 0, BYTE)], {"byte_fallback": True}, "piece '<0>' is of type BYTE; these are called <0x00> to <0xFF>"),
        (SOUND, {"byte_fallback": True}, "the model has byte_fallback, and the piece <0x00> is missing"),
        ([*SOUND, Piece("<0x00>", 0)], {"byte_fallback": True}, "the model has byte_fallback, and the piece <0x00> is of another type"),
    ],
)
def test_unsound_models_are_refused(pieces: list[Piece], trainer: dict[str, Any], message: str) -> None:
    """A model that `sentencepiece` refuses is refused with the reason."""
    data = proto(pieces, "unigram", **trainer).SerializeToString()
    with pytest.raises(RuntimeError):
        sentencepiece.SentencePieceProcessor(model_proto=data)
    with pytest.raises(VocabularyError) as refused:
        parse(data, "x.model")
    assert str(refused.value) == f"x.model: {message}"


@pytest.mark.parametrize("part", ["model", "trainer_spec", "normalizer_spec"])
def test_unknown_fields_are_refused(part: str) -> None:
    """A field that `sentencepiece` does not define is refused; the message contains its number and the part of the model."""
    made, field = proto(SOUND, "unigram"), bytes([100 << 3 & 127 | 128, 100 >> 4, 1])  # field number 100, whose value is an integer
    parts = {"trainer_spec": made.trainer_spec, "normalizer_spec": made.normalizer_spec}
    (parts.get(part) or made).MergeFromString(field)
    with pytest.raises(UnsupportedError, match=rf"x\.model: {'' if part == 'model' else 'its '}.*{part} has the field 100"):
        parse(made.SerializeToString(), "x.model")


@pytest.mark.parametrize("size", [1, 10, 20])
def test_damaged_files_are_refused(size: int) -> None:
    """A file that is cut short, or that is not a SentencePiece model, is refused."""
    data = proto(SOUND, "unigram").SerializeToString()
    for damaged in (data[:-size], b"\xff" * size):
        with pytest.raises(VocabularyError, match=r"x\.model"):
            parse(damaged, "x.model")
