"""Make sources from SentencePiece's ``.model`` files. The reference is `sentencepiece` 0.2.3, without special ids around a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources.sentencepiece import model_file
from fst.compile.sources.sentencepiece.bpe import bpe_model
from fst.compile.sources.sentencepiece.model_file import BYTES, CONTROL, USER_DEFINED, SentencePieceModel
from fst.compile.sources.templates import BARE
from fst.compile.text import sentencepiece
from fst.compile.text.source import NO_SETTINGS, SENTENCEPIECE, Model, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.unigram.viterbi import TEXT_SCOPE
from fst.tables.decoder_steps import ALL, FIRST, NONE, PIECES, Step, byte_of
from fst.tables.header import AddedTokens, ContextualToken, StepsDecoder

INPUTS = ["input_ids", "attention_mask"]


def _unigram_model(model: SentencePieceModel) -> UnigramModel:
    """Convert a model of the kind unigram or word."""
    is_word_type = model.kind == "word"
    return UnigramModel(model.pieces, model.scores, model.unk_id, model.byte_fallback, TEXT_SCOPE, model.types, is_word_type)


MODELS: Mapping[str, Callable[[SentencePieceModel], Model]] = {
    "bpe": bpe_model,
    "char": bpe_model,
    "unigram": _unigram_model,
    "word": _unigram_model,
}
FINDS_OWN = ("bpe", "char")  # the kinds of model that find user-defined pieces anywhere in normalized text


def of_bytes(data: bytes, where: str) -> Source[Model]:
    """Make a source from the bytes of a ``.model`` file.

    Args:
        data: the bytes.
        where: the file's name in messages.

    Raises:
        VocabularyError: the file is not a sentencepiece model, or is damaged.
        UnsupportedError: the model needs an unsupported feature, or sentencepiece or protobuf is not installed.
    """
    model = model_file.parse(data, where)
    try:
        return of_model(model)
    except UnsupportedError as error:
        raise UnsupportedError(f"{where}: {error}") from None
    except ValueError as error:
        raise VocabularyError(f"{where}: {error}") from None


def of_model(model: SentencePieceModel) -> Source[Model]:
    """Make a source from the content of a ``.model``.

    Raises:
        UnsupportedError, VocabularyError: as in `of_bytes`.
    """
    _refuse(model)
    by = model.normalizer
    own = {piece: number for number, piece in enumerate(model.pieces) if model.types[number] == USER_DEFINED}
    normalizers = sentencepiece.components(
        by.charsmap,
        [*own],
        add_dummy_prefix=by.add_dummy_prefix,
        remove_extra_whitespaces=by.remove_extra_whitespaces,
        escape_whitespaces=by.escape_whitespaces,
        is_suffix=model.is_suffix,
        are_found=model.kind in FINDS_OWN,
    )
    control = [number for number, kind in enumerate(model.types) if kind == CONTROL]
    findable = {piece: number for piece, number in own.items() if model.kind in FINDS_OWN and not (by.escape_whitespaces and " " in piece)}
    added = AddedTokens(
        specials={},
        contextual={piece: ContextualToken(number, False, False, False, True, piece) for piece, number in findable.items()},
        context=None,
        skipped=tuple(control),
        normalized=(),
    )
    decoder = StepsDecoder((_decoder(model),))
    settings = replace(NO_SETTINGS, decoder=decoder, model_input_names=INPUTS, named_tokens={"unk_token": model.pieces[model.unk_id]})
    text = TextPipeline(normalizers, (sentencepiece.WORD_CUTS,) if model.kind == "word" else ())
    return Source(MODELS[model.kind](model), text, added, BARE, settings, reference=SENTENCEPIECE, sentencepiece=model.facts)


def _decoder(model: SentencePieceModel) -> Step:
    """The decoder step that restores texts as `sentencepiece` does."""
    by = model.normalizer
    leading = ALL if by.remove_extra_whitespaces else FIRST if by.add_dummy_prefix else NONE
    names = {"unknown": model.pieces[model.unk_id], "surface": model.unk_surface}
    return {"type": PIECES, **names, "leading": leading, "has_bytes": model.byte_fallback}


def _refuse(model: SentencePieceModel) -> None:
    """Refuse an `unk_surface` that decoding cannot use, and pieces that look like byte pieces but are not in `BYTES`."""
    if not model.unk_surface or byte_of(model.unk_surface) is not None:
        raise UnsupportedError(f"unk_surface {quoted(model.unk_surface)}")
    for piece in model.pieces if model.byte_fallback else ():
        if byte_of(piece) is not None and piece not in BYTES:
            raise UnsupportedError(f"piece {quoted(piece)} with byte_fallback, which looks like one of type BYTE")
