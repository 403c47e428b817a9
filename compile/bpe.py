"""Compile byte-level BPE: from a source to a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fst.affixes import NO_AFFIXES, Affixes
from fst.compile.classes import paged
from fst.compile.item_sets import close
from fst.compile.merge_rows import lay_out
from fst.compile.merges import Canonical, Merges, canonical, pairs_of_ranks
from fst.compile.sources.merges_txt import pairs
from fst.compile.sources.source import Source, TextPipeline
from fst.compile.text.components import Component, field_of, mapping, only, sequence
from fst.compile.text.rewriting import rewriting, told_apart
from fst.compile.text.separators import makes_white_space, need_without_effect, splitter_and_cuts
from fst.compile.text.sequences import in_sequence
from fst.compile.text.splits import BYTES
from fst.compile.windows import windows
from fst.compile.word_hash import hashed
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.bpe import WORD_BYTES, BpeTables
from fst.machines.bpe_metadata import PREFIX_SPACE, BpeAutomaton, BpeMetadata, BpeText
from fst.machines.bpe_metadata import BpeModel as BpeModelMetadata
from fst.machines.byte_letters import bytes_of, spelled
from fst.merging import UTF8_BYTES
from fst.metadata import AddedTokens
from fst.rewriting import NO_CUTS, NOTHING, Cuts, Rewriting, early, flagged, late
from fst.rows import WHITE_SPACE
from fst.splitting import Splitter
from fst.trie import NULL

Merge = tuple[bytes, bytes]

FIELDS = "type vocab merges dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges"


@dataclass(frozen=True)
class BpeModel:
    """A BPE model over bytes, named as in Hugging Face's ``tokenizers``.

    Attributes:
        vocabulary: the bytes of each token → id.
        merges: pairs of tokens, the lowest rank first. None, as in tiktoken: a pair may merge if its bytes are a token, and the id of this
            token is the rank.
        ignore_merges: whether a whole piece that equals a token is that token, whatever the merges say; always true in tiktoken.
        names: tokens as users see them → id. This includes tokens that no text has, such as special ones.
        unk_token: the token that the source names as unknown. It stands for bytes that are no tokens; nearly always there are none.
        fuse_unk: whether one `unk_token` stands for a whole run of such bytes.
        byte_fallback: whether tokens such as ``<0x0A>`` stand for such bytes.
        affixes: ``continuing_subword_prefix`` and ``end_of_word_suffix``, as bytes. The tokens in `vocabulary` and `merges` include them.
        dropout: the probability to skip a merge that the source states. The table tells it, and calls ignore it.
    """

    kind: ClassVar[str] = "BPE"
    vocabulary: Mapping[bytes, int]
    merges: Sequence[Merge] | None
    ignore_merges: bool
    names: Mapping[str, int]
    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    affixes: Affixes = NO_AFFIXES
    dropout: float = 0.0

    @classmethod
    def of_json(cls, model: Mapping[str, Any]) -> BpeModel:
        """The model of a ``tokenizer.json``.

        Raises:
            UnsupportedError: the model has an unknown field, or an unsupported setting that changes ids.
            ValueError: it is not laid out as a model.
        """
        only(model, "model", FIELDS)
        _refuse(model)
        names = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
        _need_ids(names)
        prefix, suffix = _affix(model, "continuing_subword_prefix"), _affix(model, "end_of_word_suffix")
        merges = _known(_pairs(sequence(field_of(model, "merges", "model"), "merges of the model")), names, prefix)
        affixes = Affixes(bytes_of(prefix) or b"", bytes_of(suffix) or b"")
        spellings = ((bytes_of(name), number) for name, number in names.items())
        return cls(
            vocabulary={token: number for token, number in spellings if token},
            merges=_ranked(merges, affixes),
            ignore_merges=_flag(model, "ignore_merges"),
            names=names,
            unk_token=model.get("unk_token"),
            fuse_unk=_flag(model, "fuse_unk"),
            byte_fallback=_flag(model, "byte_fallback"),
            affixes=affixes,
            dropout=_dropout(model),
        )

    @classmethod
    def of_ranks(cls, ranks: Mapping[bytes, int], others: Mapping[str, int]) -> BpeModel:
        """The model of tiktoken's ranks, which are ids too.

        Args:
            ranks: the bytes of each token → id.
            others: tokens that no text has → id.
        """
        names = {spelled(token): number for token, number in ranks.items()}
        return cls(vocabulary=ranks, merges=None, ignore_merges=True, names={**names, **others})

    @property
    def tokens(self) -> Mapping[str, int]:
        """Token → id, as `fst.compile.sources.source.Model` has it."""
        return self.names

    def check(self, where: str) -> None:
        """Raise an error if the model cannot be compiled; `where` begins the message."""
        if self.missing:
            count = len(self.missing)
            self._check_unknown(f"{where} has no tokens for {count} of the bytes that text may have, such as {self.missing[0]:#04x}")
        holders: dict[int, str] = {}
        for name, number in self.names.items():
            if holders.setdefault(number, name) != name:
                raise VocabularyError(f"{where}: tokens {quoted(holders[number])} and {quoted(name)} have one id, {number}")

    @cached_property
    def missing(self) -> Sequence[int]:
        """The bytes that text may have and that are no tokens, in some place of a piece."""
        names = ((byte, map(self.affixes.name, self.affixes.places(byte))) for byte in UTF8_BYTES)
        return [byte for byte, places in names if any(name not in self.vocabulary for name in places)]

    def _check_unknown(self, lacking: str) -> None:
        """Raise an error if bytes are missing and it is not clear what becomes of them; `lacking` begins the message."""
        flags = {"ignore_merges": self.ignore_merges, "byte_fallback": self.byte_fallback, "affixes": bool(self.affixes)}
        hindering = [name for name, flag in flags.items() if flag]
        if self.merges is None or hindering:
            raise UnsupportedError(f"{lacking}: with {' and '.join(hindering) or 'ranks alone'}, they must all be tokens")
        if self.unk_token is None:
            return
        if self.unk_token not in self.names:
            raise VocabularyError(f"{lacking}, and unk_token {quoted(self.unk_token)} is no token either")
        unknown = bytes_of(self.unk_token)
        if unknown and (len(unknown) == 1 or any(unknown in (left, right, left + right) for left, right in self.merges)):
            raise UnsupportedError(f"{lacking}, and their unk_token {quoted(self.unk_token)} is a byte or part of a merge")


def assemble(source: Source[BpeModel], layout: str) -> BpeTables:  # noqa: ARG001 - rows have one layout
    """The tables of a source."""
    model, trimming = source.model, source.trimming
    _need_clear(model)
    added, rewritten, split = _text(source)
    if trimming:
        _need_clear_blanks(added, model)
    listed = Merges(model.vocabulary, model.merges, model.affixes) if model.merges is not None else Merges.of_ranks(model.vocabulary)
    tokens = canonical(listed)
    words, displacements = _word_table(model, tokens)
    has_automaton = tokens.proper and not model.affixes and not model.missing
    rows, window = lay_out(tokens.tokens, close(tokens)) if has_automaton else None, windows(split)
    pages, blocks = paged(split.classes)
    names = {**model.names, **added.ids}
    others = {name: number for name, number in names.items() if model.vocabulary.get(bytes_of(name) or b"") != number}
    ids = [*model.vocabulary.values(), *others.values()]
    encoded = [*model.vocabulary, *(name.encode() for name in others)]
    metadata = BpeMetadata(
        automaton=BpeAutomaton(BpeTables.kind, len(rows.slots) if rows else 0, window.bits),
        model=_model_metadata(model, tokens, words),
        text=BpeText(source.text.normalizers, source.text.pre_tokenizers, rewritten, trimming.add_prefix_space if trimming else None),
        added_tokens=added,
        templates=source.templates,
        settings=source.settings,
    )
    return BpeTables(
        about=metadata.to_json(),
        pages=pages,
        blocks=blocks,
        moves=split.moves,
        drops=np.isin(np.arange(split.moves.shape[1] - 1), [*split.dropped]).astype(np.uint8),
        symbols=window.symbols,
        decisions=window.decisions,
        entries=rows.entries if rows else np.empty(0, np.uint32),
        depths=rows.depths if rows else np.empty(0, np.uint16),
        merges=_merges(model),
        words=words,
        displacements=displacements,
        token_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        token_ends=np.cumsum([len(token) for token in encoded], dtype=np.int64),
        token_ids=np.array(ids, np.int32),
    )


def _merges(model: BpeModel) -> NDArray[np.int32]:
    """All merges as ids, the lowest rank first: with dropout, BPE also executes those that it never does without."""
    ids, prefix = model.vocabulary, len(model.affixes.prefix)
    pairs = pairs_of_ranks(ids) if model.merges is None else model.merges
    merges = [(ids[left], ids[right], ids[left + right[prefix:]]) for left, right in pairs]
    return np.array(merges, np.int32).reshape(-1, 3)


def _adds_blank(text: TextPipeline) -> bool:
    """Whether each stretch gets a leading blank before it is split."""
    return bool(text.pre_tokenizers) and text.pre_tokenizers[0] == PREFIX_SPACE


Text = tuple[AddedTokens, Rewriting | None, Splitter]


def _text(source: Source[BpeModel]) -> Text:
    """The text pipeline of a source: its added tokens, its rewriting and its splitter.

    Raises:
        UnsupportedError: there is none.
    """
    normalizers = source.text.normalizers
    if any(map(makes_white_space, normalizers)):
        with suppress(UnsupportedError):
            return _without_white_space(source)
    return _text_by(source, normalizers)


def _without_white_space(source: Source[BpeModel]) -> Text:
    """The text pipeline without the normalizers that make white space of white space, which has no effect.

    Raises:
        UnsupportedError: it has an effect, or there is no such pipeline.
    """
    normalizers = source.text.normalizers
    kept = [part for part in normalizers if not makes_white_space(part)]
    added, by, split = _text_by(source, kept)
    whole = by or NOTHING
    late = {whole.normalized(content)[0]: token for content, token in source.added.contextual.items() if token.normalized}
    for place, part in enumerate(normalizers):
        if part not in kept:
            after = [part for part in normalizers[place:] if part in kept]
            need_without_effect(part, rewriting(after, whole.prefix_space), late, split)
    return added, by, split


def _text_by(source: Source[BpeModel], normalizers: Sequence[Component]) -> Text:
    """The text pipeline with some normalizers."""
    added, by = told_apart(source.added, rewriting(normalizers, _adds_blank(source.text)))
    split, cuts = _splitter(source.text, added, by)
    return added, replace(by, cuts=cuts) if by else None, split


def _splitter(text: TextPipeline, added: AddedTokens, by: Rewriting | None) -> tuple[Splitter, Cuts]:
    """The splitter of a text pipeline, for text without added tokens, and where it begins anew.

    Raises:
        UnsupportedError: no splitter does the same, or the pipeline has more than splits.
    """
    splits = [part for part in text.pre_tokenizers[_adds_blank(text) :] if part != BYTES]
    others = [part["type"] for part in splits if part["type"] != "Split"]
    if others:
        raise UnsupportedError(f"pre_tokenizer {others[0]} before byte-level BPE")
    if by is None:
        return in_sequence(splits, absent=[*added.specials]), NO_CUTS
    # These are cut out before. Others may come to be by rewriting.
    absent, raw = ([spelling for spelling, token in found.items() if not flagged(token)] for found in (late(added), early(added)))
    return splitter_and_cuts(splits, absent, raw)


def _need_clear_blanks(added: AddedTokens, model: BpeModel) -> None:
    """Refuse added tokens by which spans cannot be trimmed: the id of each is to tell the white space at its ends.

    It does not if a token of the model has this id and other white space, or if a token takes white space beside that of its own.
    """
    for content, token in added.contextual.items():
        (left, right), others = (_blanks(text) for text in (token.decoded, content))
        if content in model.names and (left, right) != others:
            what = f"added token {quoted(content)}, which is {quoted(token.decoded)} in normalised text"
            raise UnsupportedError(f"{what}, with trim_offsets: the vocabulary has a token of this name without this white space")
        if (left and token.lstrip) or (right and token.rstrip):
            raise UnsupportedError(f"added token {quoted(content)} with trim_offsets: it takes white space beside that of its own")


def _blanks(text: str) -> tuple[int, int]:
    """How many characters of white space a text begins and ends with."""
    return len(text) - len(text.lstrip(WHITE_SPACE)), len(text) - len(text.rstrip(WHITE_SPACE))


def _word_table(model: BpeModel, tokens: Canonical) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """``words`` and ``displacements``: the pieces that are one token, which are canonical, or with `ignore_merges` any tokens."""
    spelled, ids, left = tokens.tokens, tokens.tokens.ids, tokens.left
    is_whole = spelled.whole & ((left != NULL) | (spelled.lengths == 1) | model.ignore_merges)
    chosen = np.flatnonzero(is_whole & (spelled.lengths <= WORD_BYTES))
    chosen = chosen[np.argsort(ids[chosen], kind="stable")]
    lengths, starts = spelled.lengths[chosen], spelled.starts[chosen]
    columns = np.arange(WORD_BYTES)
    bytes_at = np.append(spelled.symbols, np.zeros(WORD_BYTES, np.uint8))[starts[:, None] + columns]
    keys = np.zeros((1 + len(chosen), WORD_BYTES), np.uint8)
    keys[1:] = np.where(columns < lengths[:, None], bytes_at, 0)
    values = np.append(0, lengths << 32 | ids[chosen]).astype(np.uint64)
    return hashed(keys.view(np.uint64), values)


def _model_metadata(model: BpeModel, tokens: Canonical, words: NDArray[np.uint64]) -> BpeModelMetadata:
    return BpeModelMetadata(
        model_tokens=len(model.vocabulary),
        dropout=model.dropout,
        ignore_merges=model.ignore_merges,
        missing_bytes=len(model.missing),
        unk_id=model.names[model.unk_token] if model.missing and model.unk_token is not None else None,
        unk_token=model.unk_token,
        fuse_unk=model.fuse_unk,
        continuing_subword_prefix=spelled(model.affixes.prefix),
        end_of_word_suffix=spelled(model.affixes.suffix),
        long_pieces=_long_pieces(model, tokens, words),
    )


def _long_pieces(model: BpeModel, tokens: Canonical, words: NDArray[np.uint64]) -> tuple[int, ...]:
    """With `ignore_merges`, the ids of tokens that no merges make and that the table of words does not hold.

    They are too long for it, or share their hash with another.
    """
    if not model.ignore_merges:
        return ()
    values = words[3::4]
    held = np.isin(tokens.tokens.ids, values[values > 0] & np.uint64((1 << 32) - 1))
    return tuple(tokens.tokens.ids[(tokens.left == NULL) & (tokens.tokens.lengths > 1) & ~held].tolist())


def _refuse(model: Mapping[str, Any]) -> None:
    """Refuse unsupported settings that change ids."""
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) and model.get("ignore_merges"):
            raise UnsupportedError(f"model BPE with ignore_merges and {name} {quoted(model[name])}")
    if not isinstance(model.get("unk_token"), str | None):
        raise ValueError(f"unk_token is {quoted(model['unk_token'])}; it is a string or null")


def _dropout(model: Mapping[str, Any]) -> float:
    """The probability to skip a merge; 0 if there is none."""
    dropout = model.get("dropout")
    if dropout is not None and not (type(dropout) in (int, float) and 0 <= dropout <= 1):
        raise ValueError(f"dropout is {quoted(dropout)}; it is a number from 0 to 1, or null")
    return float(dropout or 0)


def _affix(model: Mapping[str, Any], name: str) -> str:
    """A prefix or suffix, in GPT-2's letters for bytes; "" if there is none."""
    affix = model.get(name)
    if not isinstance(affix, str | None):
        raise ValueError(f"{name} is {quoted(affix)}; it is a string or null")
    if affix and bytes_of(affix) is None:
        raise UnsupportedError(f"model BPE with {name} {quoted(affix)}, which has letters of no byte")
    return affix or ""


def _need_clear(model: BpeModel) -> None:
    """Refuse ambiguous names: the name of a token must tell its bytes and where in a piece it stands.

    By induction, it is enough to check the single bytes and the results of merges.
    """
    affixes = model.affixes
    if not affixes:
        return
    parts = {name: affixes.part(name) for name in model.vocabulary}
    atoms = (part for byte in UTF8_BYTES for part in affixes.places(byte))
    made = (affixes.joined(parts[left], parts[right]) for left, right in model.merges or ())
    for part in (*atoms, *made):
        if part is not None and affixes.part(affixes.name(part)) != part:
            told = f"token {quoted(affixes.name(part))}: its prefix or suffix may also be text"
            raise UnsupportedError(f"{told}, so that it stands for {quoted(part.body)} and for {quoted(parts[affixes.name(part)].body)}")


def _flag(model: Mapping[str, Any], name: str) -> bool:
    flag = model.get(name, False)
    if not isinstance(flag, bool):
        raise ValueError(f"{name} is {quoted(flag)}; it is true or false")
    return flag


def _need_ids(names: Mapping[str, Any]) -> None:
    for name, number in names.items():
        if type(number) is not int:
            raise ValueError(f"token {quoted(name)} has the id {quoted(number)}; ids are whole numbers")


def _pairs(merges: Sequence[Any]) -> Sequence[tuple[str, str]]:
    """Merges as pairs. A file has either strings or lists."""
    if all(isinstance(merge, str) for merge in merges):
        return pairs(merges)
    for rank, merge in enumerate(merges, 1):
        if not (isinstance(merge, list) and len(merge) == 2 and all(isinstance(part, str) for part in merge)):
            raise ValueError(f"merge {rank} is {quoted(merge)}; merges are all strings, or all lists of two tokens")
    return [(first, second) for first, second in merges]


def _known(merges: Sequence[tuple[str, str]], names: Mapping[str, int], prefix: str) -> Sequence[tuple[str, str]]:
    """Merges, if the vocabulary has the tokens that they join and make. A merge cuts the prefix's number of bytes off its second token."""
    for rank, (first, second) in enumerate(merges, 1):
        rest = second.encode()[len(prefix.encode()) :].decode(errors="replace") if prefix else second
        for token in (first, second, first + rest):
            if token not in names:
                pair = f"{quoted(first)} and {quoted(second)}"
                raise ValueError(f"merge {rank}, {pair}, needs the token {quoted(token)}, and the vocabulary does not have it")
    return merges


def _ranked(merges: Iterable[tuple[str, str]], affixes: Affixes) -> list[Merge]:
    """Merges of bytes, the lowest rank first. If a merge is listed twice, its last rank counts.

    Merges that never apply are left out: their tokens have letters of no byte, or cannot be neighbours.
    """
    ranks: dict[Merge, int] = {}
    for rank, (first, second) in enumerate(merges):
        left, right = bytes_of(first), bytes_of(second)
        if left and right and (not affixes or affixes.joined(affixes.part(left), affixes.part(right))):
            ranks[left, right] = rank
    return sorted(ranks, key=ranks.__getitem__)
