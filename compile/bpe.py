"""Compile byte-level BPE: the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fst.affixes import NO_AFFIXES, Affixes
from fst.compile.classes import paged
from fst.compile.item_sets import close
from fst.compile.merge_rows import lay_out
from fst.compile.merges import Canonical, Merges, canonical
from fst.compile.sources.merges_txt import pairs
from fst.compile.sources.source import Source, TextPipeline
from fst.compile.text.components import Component, field_of, mapping, only, sequence
from fst.compile.text.rewriting import rewriting, told_apart
from fst.compile.text.separators import makes_white_space, need_without_effect, splitter_and_cuts
from fst.compile.text.sequences import in_sequence
from fst.compile.text.splits import BYTES, PREFIX_SPACE
from fst.compile.windows import windows
from fst.compile.word_hash import hashed
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.bpe import WORD_BYTES, BpeTables
from fst.machines.bpe_metadata import BpeAutomaton, BpeMetadata, BpeText
from fst.machines.bpe_metadata import BpeModel as BpeModelMetadata
from fst.machines.byte_letters import bytes_of, spelled
from fst.merge_list import no_merges
from fst.metadata import AddedTokens
from fst.rewriting import NO_CUTS, NOTHING, Cuts, Rewriting, early, flagged, late
from fst.rows import WHITE_SPACE
from fst.splitting import Splitter
from fst.trie import NULL

Merge = tuple[bytes, bytes]

FIELDS = "type vocab merges dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges"
# UTF-8 has no other bytes.
BYTES_OF_TEXT = (*range(0x80), *range(0x80, 0xC0), *range(0xC2, 0xF5))


@dataclass(frozen=True)
class BpeModel:
    """A BPE model over bytes, named as in Hugging Face's ``tokenizers``.

    Attributes:
        vocabulary: the bytes of each token → id. A piece is a string of bytes.
        merges: pairs of tokens, the lowest rank first. None: each pair may merge whose bytes are a token, and the id of that token is the
            rank, as in tiktoken.
        ignore_merges: whether a whole piece that is a token is that token, whatever the merges say; always so in tiktoken.
        names: tokens as users see them → id. This includes tokens that no text has, such as special ones.
        unk_token: the token that the source names as unknown. No text has it: every byte is a token.
        affixes: ``continuing_subword_prefix`` and ``end_of_word_suffix``, as bytes. Keys of `vocabulary` and parts of `merges` have them.
    """

    kind: ClassVar[str] = "BPE"
    vocabulary: Mapping[bytes, int]
    merges: Sequence[Merge] | None
    ignore_merges: bool
    names: Mapping[str, int]
    unk_token: str | None = None
    affixes: Affixes = NO_AFFIXES

    @classmethod
    def of_json(cls, model: Mapping[str, Any]) -> BpeModel:
        """The model of a ``tokenizer.json``.

        Raises:
            UnsupportedError: it has a field that is not known, or asks for something that changes ids and is not supported.
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
            affixes=affixes,
        )

    @classmethod
    def of_ranks(cls, ranks: Mapping[bytes, int], others: Mapping[str, int]) -> BpeModel:
        """The model of tiktoken's ranks, which are ids too.

        Args:
            ranks: the bytes of each token → id.
            others: tokens that no text has, and their ids.
        """
        names = {spelled(token): number for token, number in ranks.items()}
        return cls(vocabulary=ranks, merges=None, ignore_merges=True, names={**names, **others})

    @property
    def tokens(self) -> Mapping[str, int]:
        """Token → id, as `fst.compile.sources.source.Model` has it."""
        return self.names

    def check(self, where: str) -> None:
        """Raise an error if the model cannot be compiled; `where` begins the message."""
        single = {self.affixes.name(part): byte for byte in BYTES_OF_TEXT for part in self.affixes.places(byte)}
        missing = [byte for name, byte in single.items() if name not in self.vocabulary]
        if missing:
            lacking = f"{len(missing)} of the bytes that text may have, such as {missing[0]:#04x}"
            raise UnsupportedError(f"{where} has no tokens for {lacking}: only a BPE vocabulary that has them all can be compiled")
        holders: dict[int, str] = {}
        for name, number in self.names.items():
            if holders.setdefault(number, name) != name:
                raise VocabularyError(f"{where}: tokens {quoted(holders[number])} and {quoted(name)} have one id, {number}")


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
    rows, window = lay_out(tokens.tokens, close(tokens)) if tokens.proper and not model.affixes else None, windows(split)
    pages, blocks = paged(split.classes)
    contents = _by_rank(tokens, model.vocabulary)
    names = {**model.names, **added.ids}
    others = {name: number for name, number in names.items() if contents.get(bytes_of(name) or b"") != number}
    ids = [*contents.values(), *others.values()]
    encoded = [*contents, *(name.encode() for name in others)]
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
        merges=no_merges() if rows else _merges(tokens),
        words=words,
        displacements=displacements,
        token_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        token_ends=np.cumsum([len(token) for token in encoded], dtype=np.int64),
        token_ids=np.array(ids, np.int32),
    )


def _by_rank(tokens: Canonical, vocabulary: Mapping[bytes, int]) -> Mapping[bytes, int]:
    """The vocabulary in the order of merges, the lowest rank first, so that a table tells its merges; before them what no merge makes."""
    items = list(vocabulary.items())
    return dict(items[place] for place in np.argsort(tokens.rank, kind="stable").tolist())


def _merges(tokens: Canonical) -> NDArray[np.int32]:
    """The merges that make canonical tokens, the lowest rank first: BPE executes no others."""
    made = tokens.made[np.argsort(tokens.rank[tokens.made], kind="stable")]
    merges: NDArray[np.int32] = tokens.tokens.ids[np.stack([tokens.left[made], tokens.right[made], made], axis=1)].astype(np.int32)
    return merges


def _adds_blank(text: TextPipeline) -> bool:
    """Whether a blank goes before each stretch, before it is split."""
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
        UnsupportedError: there is none, or the pipeline has something else, too.
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
    """The pieces that are one token: canonical tokens, and with `ignore_merges` all others."""
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
        ignore_merges=model.ignore_merges,
        unk_token=model.unk_token,
        continuing_subword_prefix=spelled(model.affixes.prefix),
        end_of_word_suffix=spelled(model.affixes.suffix),
        long_pieces=_long_pieces(model, tokens, words),
    )


def _long_pieces(model: BpeModel, tokens: Canonical, words: NDArray[np.uint64]) -> tuple[int, ...]:
    """The ids of tokens that pieces are with `ignore_merges`, although no merges make them, and that the table of words does not hold.

    They are too long for it, or two of them have one hash.
    """
    if not model.ignore_merges:
        return ()
    values = words[3::4]
    held = np.isin(tokens.tokens.ids, values[values > 0] & np.uint64((1 << 32) - 1))
    return tuple(tokens.tokens.ids[(tokens.left == NULL) & (tokens.tokens.lengths > 1) & ~held].tolist())


def _refuse(model: Mapping[str, Any]) -> None:
    """Refuse what changes ids and is not supported. A vocabulary with all bytes knows no unknown text, so the rest has no effect."""
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) and model.get("ignore_merges"):
            raise UnsupportedError(f"model BPE with ignore_merges and {name} {quoted(model[name])}")
    if model.get("dropout"):
        raise UnsupportedError(f"model BPE with dropout {quoted(model['dropout'])}, by which ids are random: set it to null")
    for name in ("fuse_unk", "byte_fallback"):
        _flag(model, name)
    if not isinstance(model.get("unk_token"), str | None):
        raise ValueError(f"unk_token is {quoted(model['unk_token'])}; it is a string or null")


def _affix(model: Mapping[str, Any], name: str) -> str:
    """A prefix or suffix, if letters of bytes spell it; "" if there is none."""
    affix = model.get(name)
    if not isinstance(affix, str | None):
        raise ValueError(f"{name} is {quoted(affix)}; it is a string or null")
    if affix and bytes_of(affix) is None:
        raise UnsupportedError(f"model BPE with {name} {quoted(affix)}, which has letters of no byte")
    return affix or ""


def _need_clear(model: BpeModel) -> None:
    """Refuse names that stand for one thing here and for another there: a token is to say by its name where it stands.

    All bytes do, and so do the tokens that merges make of those that do.
    """
    affixes = model.affixes
    if not affixes:
        return
    parts = {name: affixes.part(name) for name in model.vocabulary}
    atoms = (part for byte in BYTES_OF_TEXT for part in affixes.places(byte))
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
    """Merges as pairs. A file has strings or lists, not both."""
    if all(isinstance(merge, str) for merge in merges):
        return pairs(merges)
    for rank, merge in enumerate(merges, 1):
        if not (isinstance(merge, list) and len(merge) == 2 and all(isinstance(part, str) for part in merge)):
            raise ValueError(f"merge {rank} is {quoted(merge)}; merges are all strings, or all lists of two tokens")
    return [(first, second) for first, second in merges]


def _known(merges: Sequence[tuple[str, str]], names: Mapping[str, int], prefix: str) -> Sequence[tuple[str, str]]:
    """Merges, if the vocabulary has the tokens that they join and make. Of the second, as many bytes are cut as the prefix has."""
    for rank, (first, second) in enumerate(merges, 1):
        rest = second.encode()[len(prefix.encode()) :].decode(errors="replace") if prefix else second
        for token in (first, second, first + rest):
            if token not in names:
                pair = f"{quoted(first)} and {quoted(second)}"
                raise ValueError(f"merge {rank}, {pair}, needs the token {quoted(token)}, and the vocabulary does not have it")
    return merges


def _ranked(merges: Iterable[tuple[str, str]], affixes: Affixes) -> list[Merge]:
    """Merges of bytes, the lowest rank first. A merge that is listed twice has its last rank.

    Merges that never apply are left out: those of other letters, and those whose parts cannot stand side by side.
    """
    ranks: dict[Merge, int] = {}
    for rank, (first, second) in enumerate(merges):
        left, right = bytes_of(first), bytes_of(second)
        if left and right and (not affixes or affixes.joined(affixes.part(left), affixes.part(right))):
            ranks[left, right] = rank
    return sorted(ranks, key=ranks.__getitem__)
