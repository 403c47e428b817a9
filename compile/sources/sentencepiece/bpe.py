"""Convert SentencePiece models of the kinds bpe and char to byte-pair encoding over characters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.bpe.score_merges import merges_of_scores
from fst.compile.sources.sentencepiece.model_file import BYTE, BYTES, NORMAL, UNUSED, USER_DEFINED, SentencePieceModel
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.pretokens.token_letters import Letters
from fst.text.whitespace import SPACE


def bpe_model(model: SentencePieceModel) -> BpeModel:
    """Convert a model of the kind bpe or char. A char model makes only pieces of one character.

    Raises:
        UnsupportedError: no list of merges gives the same pieces.
        VocabularyError: none of the model's pieces can occur in a text.
    """
    letters = Letters(are_bytes=False, symbol=SYMBOL if model.normalizer.escape_whitespaces else "")
    pieces = {piece: number for number, piece in enumerate(model.pieces) if model.types[number] == NORMAL and letters.bytes_of(piece)}
    characters = {piece for piece in pieces if len(piece) == 1}
    merges = []
    if model.kind == "bpe":
        scores = {piece: model.scores[number] for piece, number in pieces.items() if piece not in characters}
        _need_known_parts(model, characters, scores)
        merges = merges_of_scores(scores, characters)
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
    """Refuse pieces that merges may make from unknown characters, and pieces of type UNUSED that merges may make and that `sentencepiece`
    splits again.

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
