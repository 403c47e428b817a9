"""Make sources from SentencePiece's ``.model`` files. The reference is `sentencepiece` 0.2.3, without special ids around a text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.bpe.score_merges import merges_of_scores
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources.sentencepiece import model_file
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, CONTROL, NORMAL, UNUSED, USER_DEFINED, SentencePieceModel
from fst.compile.sources.templates import BARE
from fst.compile.text import sentencepiece
from fst.compile.text.sentencepiece import SYMBOL
from fst.compile.text.source import NO_SETTINGS, SENTENCEPIECE, Model, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.unigram.viterbi import TEXT_SCOPE
from fst.pretokens.token_letters import Letters
from fst.tables.decoder_steps import ALL, FIRST, NONE, PIECES, Step, byte_of
from fst.tables.header import AddedTokens, ContextualToken, StepsDecoder
from fst.text.whitespace import SPACE

INPUTS = ["input_ids", "attention_mask"]
MOST_SQUARES = 1 << 33  # maximum sum of the squared lengths of pieces, because finding merges takes this many steps


def bpe_model(model: SentencePieceModel) -> BpeModel:
    """Convert a model of the kind bpe or char. A char model makes only pieces of one character."""
    letters = Letters(are_bytes=False, symbol=SYMBOL if model.normalizer.escape_whitespaces else "")
    pieces = {piece: number for number, piece in enumerate(model.pieces) if model.types[number] == NORMAL and letters.bytes_of(piece)}
    characters = {piece for piece in pieces if len(piece) == 1}
    merges = merges_of(model, pieces) if model.kind == "bpe" else []
    made = {left + right for left, right in merges}
    vocabulary = {letters.bytes_of(piece) or b"": number for piece, number in pieces.items() if piece in characters or piece in made}
    alone = _bytes_alone(model, vocabulary)
    if not vocabulary and not alone:
        raise VocabularyError("no normal piece of the model can be in a text")
    return BpeModel(
        vocabulary={**vocabulary, **alone},
        merges=[(letters.bytes_of(left) or b"", letters.bytes_of(right) or b"") for left, right in merges],
        ignore_merges=False,
        names={piece: number for number, piece in enumerate(model.pieces)},
        unk_token=model.pieces[model.unk_id],
        fuse_unk=True,
        byte_fallback=model.byte_fallback,
        letters=letters,
        fallbacks=len(alone),
    )


def merges_of(model: SentencePieceModel, pieces: Mapping[str, int]) -> list[tuple[str, str]]:
    """The merge list of a model of the kind bpe, the lowest rank first. `pieces`: the pieces that merges may make or use, and their ids.

    Raises:
        UnsupportedError: merges may make a piece from unknown characters, or a piece of type UNUSED; or pieces are too long.
    """
    squares = sum(len(piece) ** 2 for piece in model.pieces)
    if squares > MOST_SQUARES:
        raise UnsupportedError(f"the squared lengths of pieces have the sum {squares:,}; expected at most {MOST_SQUARES:,}")
    characters = {piece for piece in pieces if len(piece) == 1}
    scores = {piece: model.scores[number] for piece, number in pieces.items() if piece not in characters}
    _need_known_parts(model, characters, scores)
    return merges_of_scores(scores, characters)


def _bytes_alone(model: SentencePieceModel, vocabulary: Mapping[bytes, int]) -> dict[bytes, int]:
    """The bytes whose only token is a fallback piece → the id of this piece."""
    if not model.byte_fallback:
        return {}
    space = SYMBOL if model.normalizer.escape_whitespaces else SPACE
    types = dict(zip(model.pieces, model.types, strict=True))
    if types.get(space) not in (NORMAL, USER_DEFINED) and space == SYMBOL:
        raise UnsupportedError(f"byte_fallback, and {quoted(SYMBOL)}, which represents a space, is not a piece")
    ids = {piece: number for number, piece in enumerate(model.pieces) if model.types[number] == BYTE}
    return {bytes([byte]): ids[name] for byte, name in enumerate(BYTES) if bytes([byte]) not in vocabulary}


def _need_known_parts(model: SentencePieceModel, characters: Collection[str], scores: Collection[str]) -> None:
    """Refuse pieces that merges may make from unknown characters, and pieces of type UNUSED that merges may make and `sentencepiece` splits
    again.

    User-defined pieces are allowed, because merges do not use them.
    """
    unused = {piece for piece, kind in zip(model.pieces, model.types, strict=True) if kind == UNUSED and len(piece) > 1}
    own = {piece for piece, kind in zip(model.pieces, model.types, strict=True) if kind == USER_DEFINED}
    made = set[str]()
    for piece in sorted((*scores, *unused), key=len):
        for left, right in _pairs(piece):
            if not all((len(part) == 1 or part in made) and part not in own for part in (left, right)):
                continue
            if piece in unused:
                raise UnsupportedError(f"piece {quoted(piece)} is of type UNUSED, and merges may make it")
            unknown = [part for part in (left, right) if len(part) == 1 and part not in characters]
            if unknown:
                raise UnsupportedError(f"merges may make piece {quoted(piece)} of {quoted(unknown[0])}, which is not a piece")
            made.add(piece)


def _pairs(piece: str) -> Iterator[tuple[str, str]]:
    return ((piece[:place], piece[place:]) for place in range(1, len(piece)))


def _unigram_model(model: SentencePieceModel) -> UnigramModel:
    is_word_type = model.kind == "word"
    return UnigramModel(model.pieces, model.scores, model.unk_id, model.byte_fallback, TEXT_SCOPE, model.types, is_word_type=is_word_type)


MODELS: Mapping[str, Callable[[SentencePieceModel], Model]] = {
    "bpe": bpe_model,
    "char": bpe_model,
    "unigram": _unigram_model,
    "word": _unigram_model,
}
FINDS_OWN = ("bpe", "char")  # the kinds of model that find user-defined pieces anywhere in normalized text


def of_bytes(data: bytes, where: str) -> Source[Model]:
    """Make a source from the bytes of a ``.model`` file. `data`: the bytes. `where`: the file's name in messages."""
    model = model_file.parse(data, where)
    try:
        return of_model(model)
    except UnsupportedError as error:
        raise UnsupportedError(f"{where}: {error}") from None
    except ValueError as error:
        raise VocabularyError(f"{where}: {error}") from None


def of_model(model: SentencePieceModel) -> Source[Model]:
    """Make a source from the content of a ``.model``."""
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
