"""Make sources from a model of SentencePiece and a map of pieces to ids.

The reference encodes the text between two added tokens with `sentencepiece`, and looks up each piece as a string. So a run of unknown
characters may be a token, a piece that the map lacks becomes the unknown token, and neighbouring unknown tokens stay apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.sources.sentencepiece import source as sentencepiece
from fst.compile.sources.sentencepiece.model_file import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, SentencePieceModel
from fst.compile.text.added_tokens import numbered
from fst.compile.text.source import Model, Source
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.unigram.viterbi import RUN, TEXT_SCOPE
from fst.tables.decoder_steps import MAX_CUTS, SPACE, STRIP
from fst.tables.header import AddedTokens, Settings, StepsDecoder, Templates
from fst.tables.leading_codes import LeadingCodes

Ids = Mapping[str, int]


@dataclass(frozen=True)
class Vocabulary:
    """The ids of tokens, which replace those of a model's pieces.

    Attributes:
        ids: token → id; ids are 0 to n - 1.
        unknown: the token for pieces that are not tokens.
        added: the strings that are cut out of raw texts, and their ids.
        skipped: the ids that decoding leaves out.
        codes: the strings around codes that are tokens at the start of a text; None if there are none.
    """

    ids: Ids
    unknown: str
    added: Ids
    skipped: tuple[int, ...]
    codes: tuple[str, str] | None = None

    @property
    def leading(self) -> LeadingCodes | None:
        """The codes at the start of a text, with their ids."""
        if self.codes is None:
            return None
        empty = LeadingCodes(*self.codes, {}, self.ids[self.unknown])
        return replace(empty, ids={token: number for token, number in self.ids.items() if empty.size(token) == len(token) > 0})


def of_model(model: SentencePieceModel, by: Vocabulary, templates: Templates, settings: Settings, reference: str) -> Source[Model]:
    """Make a source from the content of a ``.model``, with other ids.

    Raises:
        VocabularyError: the unknown token has no id.
        UnsupportedError: a table of this model cannot have these ids.
    """
    if by.unknown not in by.ids:
        raise VocabularyError(f"the vocabulary lacks {quoted(by.unknown)}, the unknown token; expected an id for it")
    source = sentencepiece.of_model(model)
    made = _unigram(model, by) if model.kind == "unigram" else _bpe(model, by, source.model)
    assert isinstance(source.settings.decoder, StepsDecoder)
    strip = {"type": STRIP, "content": SPACE, "start": MAX_CUTS, "stop": MAX_CUTS}
    settings = replace(settings, decoder=StepsDecoder((*source.settings.decoder.steps, strip)))
    added = _added(source.added, by)
    return Source(made, source.text, added, templates, settings, reference=reference)


def _added(own: AddedTokens, by: Vocabulary) -> AddedTokens:
    """The added tokens, and the model's user-defined pieces that are found in texts."""
    both = sorted(own.contextual.keys() & by.added.keys())
    if both:
        raise UnsupportedError(f"added token {quoted(both[0])} is also a user-defined piece of the model; expected other strings")
    added = numbered(by.added)
    found = {piece: replace(token, id=by.ids[piece]) for piece, token in own.contextual.items()}
    return replace(added, contextual={**found, **added.contextual}, skipped=tuple(sorted(by.skipped)), leading=by.leading)


def _types(model: SentencePieceModel, by: Vocabulary) -> list[int]:
    """The type of each token by its id."""
    own = dict(zip(model.pieces, model.types, strict=True))
    if own.get(by.unknown, UNKNOWN) not in (UNKNOWN, CONTROL):
        raise UnsupportedError(f"the unknown token {quoted(by.unknown)} is a piece of texts; a table would differ for its text")
    own = {**own, model.pieces[model.unk_id]: CONTROL, by.unknown: UNKNOWN}
    known = {piece for piece, kind in own.items() if kind in (NORMAL, USER_DEFINED) and len(piece) == 1}
    types = [UNUSED] * len(by.ids)
    for token, number in by.ids.items():
        kind = own.get(token, UNUSED)
        is_run = kind in (UNUSED, CONTROL) and token != "" and known.isdisjoint(token) and not model.byte_fallback
        types[number] = RUN if is_run else kind
    _need_ids(model, by)
    return types


def _need_ids(model: SentencePieceModel, by: Vocabulary) -> None:
    """Refuse user-defined pieces and bytes without an id."""
    for piece, kind in zip(model.pieces, model.types, strict=True):
        if piece not in by.ids and kind in (USER_DEFINED, BYTE):
            found = "a user-defined piece" if kind == USER_DEFINED else "a piece for a byte"
            raise UnsupportedError(f"{quoted(piece)}, {found}, has no id in the vocabulary; expected an id; add it")


def _unigram(model: SentencePieceModel, by: Vocabulary) -> UnigramModel:
    types, scores = _types(model, by), dict(zip(model.pieces, model.scores, strict=True))
    normal = [piece for piece, kind in zip(model.pieces, model.types, strict=True) if kind == NORMAL]
    names = sorted(by.ids, key=by.ids.__getitem__)
    return UnigramModel(
        names=names,
        scores=[scores.get(name, 0.0) for name in names],
        unk_id=by.ids[by.unknown],
        byte_fallback=model.byte_fallback,
        scope=TEXT_SCOPE,
        types=types,
        unnamed=[(piece, scores[piece]) for piece in normal if piece not in by.ids],
    )


def _bpe(model: SentencePieceModel, by: Vocabulary, made: Model) -> BpeModel:
    """The model of the kind bpe or char with other ids."""
    if not isinstance(made, BpeModel):
        raise UnsupportedError(f"a model of the kind {model.kind} with a vocabulary of its own; expected unigram, bpe or char")
    types = _types(model, by)
    run = next((token for token, number in by.ids.items() if types[number] == RUN), None)
    if run is not None:
        found = f"token {quoted(run)} of the vocabulary consists of characters that are unknown to the model"
        raise UnsupportedError(f"{found}, whose kind is {model.kind}; a table would differ for the text {quoted(run)}")
    names = {number: piece for piece, number in made.names.items()}
    lacking = next((names[number] for number in made.vocabulary.values() if names[number] not in by.ids), None)
    if lacking is not None:
        found = f"piece {quoted(lacking)} has no id in the vocabulary, and the model's kind is {model.kind}"
        raise UnsupportedError(f"{found}; a table would differ for the text {quoted(lacking)}; add it")
    ids = {content: by.ids[names[number]] for content, number in made.vocabulary.items()}
    return replace(made, vocabulary=ids, names=by.ids, unk_token=by.unknown)
