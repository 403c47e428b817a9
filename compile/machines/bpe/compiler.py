"""Compile a source with a BPE model into a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import NULL
from fst.compile.layout.rows import TooLargeError
from fst.compile.machines.bpe import longest_match
from fst.compile.machines.bpe.canonical_tokens import CanonicalTokens, Merges, canonical_tokens, pairs_of_ranks
from fst.compile.machines.bpe.item_sets import MergeRows, States, close, lay_out
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.bpe.score_merges import over_bytes, stand_ins
from fst.compile.machines.bpe.text import is_cut_by_tokens, need_clear_spaces, text_of, text_of_bytes, without_cuts
from fst.compile.pretokens import metaspace
from fst.compile.pretokens.arrays import more_tokens, splitter_arrays, word_table
from fst.compile.text.source import Source, TextPipeline
from fst.errors import UnsupportedError, quoted
from fst.machines.bpe.header import BpeAutomaton, BpeMetadata
from fst.machines.bpe.header import BpeModel as BpeModelMetadata
from fst.machines.bpe.table import BpeTable
from fst.pretokens.header import PretokenText
from fst.tables.header import AddedTokens
from fst.tables.strings import stored_bytes


def assemble(source: Source[BpeModel], layout: str) -> BpeTable:  # noqa: ARG001 - rows have one layout
    """Compile a source into a table."""
    keeps_text = all(part["type"] == "NFC" for part in source.text.normalizers)
    spoken = source.model.spoken(source.added, keeps_text=keeps_text)
    model, trimming = _numbered(without_cuts(spoken, source.text.pre_tokenizers), source.added), source.trimming
    _need_clear(model)
    added, rewritten, split = text_of(source)
    if trimming:
        need_clear_spaces(added, model.names)
    listed = _listed(model)
    tokens = canonical_tokens(listed)
    words, displacements = _word_table(model, tokens)
    rows = _rows(model, listed, tokens)
    arrays, window_bits = splitter_arrays(split)
    named = {name: number for name, number in model.names.items() if not model.spells(name, number)}
    others = named | {name: number for name, number in added.ids.items() if name not in model.names}
    tokens_of_model = {} if model.subword_ids else model.vocabulary
    ids = [*tokens_of_model.values(), *others.values()]
    encoded = [*tokens_of_model, *(name.encode() for name in others)]
    metadata = BpeMetadata(
        automaton=BpeAutomaton(BpeTable.kind, len(rows.slots) if rows else 0, window_bits),
        model=_model_metadata(replace(source, model=model), tokens, words, len(named)),
        text=PretokenText(
            source.text.normalizers,
            source.text.pre_tokenizers,
            rewritten,
            trimming.add_prefix_space if trimming else None,
            source.reference,
        ),
        added_tokens=added,
        templates=source.templates,
        settings=source.settings,
    )
    return BpeTable(
        header=metadata.to_json(),
        **arrays,
        entries=rows.entries if rows else np.empty(0, np.uint32),
        depths=rows.depths if rows else np.empty(0, np.uint16),
        merges=_merges(model),
        words=words,
        displacements=displacements,
        token_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        token_ends=np.cumsum([len(token) for token in encoded], dtype=np.int64),
        token_ids=np.array(ids, np.int32),
        **_subwords(model),
    )


def _numbered(model: BpeModel, added: AddedTokens) -> BpeModel:
    """The model with a number for each subword, from the highest id on, see `fst.machines.bpe.subwords`."""
    if not model.subword_ids:
        return model
    first = 1 + max(*model.names.values(), *added.ids.values())
    return replace(model, vocabulary={subword: first + place for place, subword in enumerate(model.vocabulary)})


def _subwords(model: BpeModel) -> dict[str, NDArray[Any]]:
    """The arrays of the subwords, by name; none if merges work on tokens."""
    if not model.subword_ids:
        return {}
    data, ends = stored_bytes(model.vocabulary)
    return {"subword_bytes": data, "subword_ends": ends, "subword_ids": np.array(model.subword_ids, np.int32)}


def _shifted(table: BpeTable, by: int) -> dict[str, NDArray[Any]]:
    """The arrays that contain numbers of subwords, by name, after the highest id of the table grew."""
    if not len(table.subword_ids):
        return {}
    words = table.words.copy()
    words[3::4] += np.where(words[3::4] > 0, by, 0).astype(np.uint64)
    return {"merges": table.merges + np.int32(by), "words": words}


def with_added(table: BpeTable, added: AddedTokens) -> BpeTable:
    """A copy of the table with different added tokens. The merges do not change; the splitter changes if it depends on added tokens."""
    stated, names = table.metadata.text, table.tokens
    text = TextPipeline(tuple(stated.normalizers or ()), tuple(stated.pre_tokenizers or ()))
    metadata, arrays = table.metadata, dict[str, NDArray[Any]]()
    if metadata.model.letters.are_bytes:
        longest = table.contents[: metadata.model.model_tokens] if metadata.model.longest_match else None
        found, by, split = text_of_bytes(text, added, longest)
        arrays, window_bits = splitter_arrays(split, table)
        metadata = replace(metadata, automaton=replace(metadata.automaton, window_bits=window_bits))
    else:
        found, by = metaspace.pipeline(text.normalizers, text.pre_tokenizers).normalizer(added)
    if stated.trimming is not None:
        need_clear_spaces(found, {*names[: metadata.model.vocabulary_tokens]})
    metadata = replace(metadata, text=replace(stated, normalizer=by), added_tokens=found)
    tokens = more_tokens(table, found.ids)
    arrays |= _shifted(table, int(tokens["token_ids"].max() - table.token_ids.max()))
    return replace(table, header=metadata.to_json(), **arrays, **tokens)


def _listed(model: BpeModel) -> Merges:
    """Convert the merges of a model to a merge list over bytes."""
    if model.merges is None:
        return Merges.of_ranks(model.vocabulary)
    own = Merges(model.vocabulary, model.merges, model.affixes)
    return own if model.letters.are_bytes else over_bytes(own)


def _rows(model: BpeModel, listed: Merges, tokens: CanonicalTokens) -> MergeRows | None:
    """The rows of the automaton. None if no automaton is exact, or if it is too large: the table then runs the merges."""
    if not tokens.proper or model.affixes or model.missing:
        return None
    try:
        return lay_out(tokens.tokens, _states(model, listed, tokens))
    except TooLargeError:
        if model.longest_match:
            raise
        return None


def _states(model: BpeModel, listed: Merges, tokens: CanonicalTokens) -> States:
    """The automaton of the merges, or of the longest match. A partial character is represented by the number of its last byte."""
    if model.longest_match:
        return longest_match.states_of(tokens.tokens)
    states = close(tokens)
    if model.letters.are_bytes:
        return states
    return replace(states, last=stand_ins(listed.tokens, len(model.vocabulary))[states.last])


def _merges(model: BpeModel) -> NDArray[np.int32]:
    """All merges as ids, the lowest rank first. With dropout, even merges are executed that BPE never executes without dropout."""
    ids, prefix = model.vocabulary, len(model.affixes.prefix)
    pairs = pairs_of_ranks(ids) if model.merges is None else model.merges
    merges = [(ids[left], ids[right], ids[left + right[prefix:]]) for left, right in pairs]
    return np.array(merges, np.int32).reshape(-1, 3)


def _word_table(model: BpeModel, tokens: CanonicalTokens) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The arrays ``words`` and ``displacements``, a hash table of the pre-tokens that become a single token.

    The table contains only canonical tokens; with `ignore_merges` or with a longest match, it contains all tokens.
    """
    spelled, left = tokens.tokens, tokens.left
    is_whole = spelled.whole & ((left != NULL) | (spelled.lengths == 1) | model.ignore_merges | model.longest_match)
    is_whole[len(model.vocabulary) :] = False
    return word_table(spelled.symbols, spelled.starts[is_whole], spelled.lengths[is_whole], spelled.ids[is_whole])


def _model_metadata(source: Source[BpeModel], tokens: CanonicalTokens, words: NDArray[np.uint64], named: int) -> BpeModelMetadata:
    """The metadata of a model. `named` is the number of names in the vocabulary that are not tokens of the model."""
    model = source.model
    known = 0 if model.subword_ids else len(model.vocabulary)
    return BpeModelMetadata(
        model_tokens=known or named,
        vocabulary_tokens=known + named,
        dropout=model.dropout,
        ignore_merges=model.ignore_merges,
        letters=model.letters,
        fallbacks=model.fallbacks,
        joins_words=model.longest_match or is_cut_by_tokens(source),
        missing_bytes=len(model.missing),
        unk_id=model.names[model.unk_token] if model.missing and model.unk_token is not None else None,
        unk_token=model.unk_token,
        fuse_unk=model.fuse_unk,
        byte_fallback=model.byte_fallback,
        continuing_subword_prefix=model.letters.spelled(model.affixes.prefix),
        end_of_word_suffix=model.letters.spelled(model.affixes.suffix),
        long_pretokens=_long_pretokens(model, tokens, words),
        sentencepiece=source.sentencepiece,
        longest_match=model.longest_match or None,
    )


def _long_pretokens(model: BpeModel, tokens: CanonicalTokens, words: NDArray[np.uint64]) -> tuple[int, ...]:
    """With `ignore_merges`, the ids of tokens that no merges make and that are not in the table of words.

    Such a token is too long for the table of words, or its hash equals that of another token.
    """
    if not model.ignore_merges:
        return ()
    values = words[3::4]
    held = np.isin(tokens.tokens.ids, values[values > 0] & np.uint64((1 << 32) - 1))
    return tuple(tokens.tokens.ids[(tokens.left == NULL) & (tokens.tokens.lengths > 1) & ~held].tolist())


def _need_clear(model: BpeModel) -> None:
    """Refuse ambiguous names of tokens. A name must determine the token's bytes and the token's position in a pre-token.

    Only single symbols and the results of merges are checked. By induction over the merges, all other tokens are then unambiguous, too.
    """
    affixes = model.affixes
    if not affixes:
        return
    parts = {name: affixes.part(name) for name in model.vocabulary}
    atoms = (part for symbol in model.symbols for part in affixes.everywhere(symbol))
    made = (affixes.joined(parts[left], parts[right]) for left, right in model.merges or ())
    for part in (*atoms, *made):
        if part is not None and affixes.name(part) in parts and affixes.part(affixes.name(part)) != part:
            reason = f"token {quoted(affixes.name(part))}: its prefix or suffix may also be text"
            raise UnsupportedError(f"{reason}, so the token means both {quoted(part.body)} and {quoted(parts[affixes.name(part)].body)}")
