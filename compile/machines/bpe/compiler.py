"""Compile a source with a BPE model into a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import WHITE_SPACE
from fst.automata.trie import NULL
from fst.compile.machines.bpe.canonical import Canonical, Merges, canonical, pairs_of_ranks
from fst.compile.machines.bpe.item_sets import States, close, lay_out
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.bpe.score_merges import over_bytes, stand_ins
from fst.compile.patterns import code_points, parser
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.tree import Characters, LookAhead, LookBehind, walk
from fst.compile.pretokens import metaspace
from fst.compile.pretokens.arrays import more_tokens, splitter_arrays, word_table
from fst.compile.pretokens.automata import at_edges
from fst.compile.pretokens.forced_boundaries import between_merges
from fst.compile.pretokens.sequences import chained, in_sequence
from fst.compile.pretokens.splits import BYTES
from fst.compile.pretokens.whitespace_splits import makes_white_space, need_without_effect, splitter_and_cuts
from fst.compile.text.components import Component, field_of, mapping
from fst.compile.text.normalizer import normalizer, told_apart
from fst.compile.text.source import Source, TextPipeline
from fst.errors import UnsupportedError, quoted
from fst.machines.bpe.header import BpeAutomaton, BpeMetadata
from fst.machines.bpe.header import BpeModel as BpeModelMetadata
from fst.machines.bpe.table import BpeTable
from fst.pretokens.digit_cuts import DIGITS, are_apart, kinds_of_bytes
from fst.pretokens.header import PREFIX_SPACE, PretokenText
from fst.pretokens.token_letters import Letters
from fst.tables.header import AddedTokens
from fst.text.normalizer import NOTHING, Normalizer, early, flagged, late
from fst.text.splitter import Splitter
from fst.text.whitespace import ALWAYS, BREAKS, NEVER, SPACE, Whitespace


def model_of_json(model: Mapping[str, Any], text: TextPipeline) -> BpeModel:
    """Read the model of a ``tokenizer.json``. The text pipeline determines whether symbols are bytes or characters.

    Raises:
        UnsupportedError, ValueError: as for `BpeModel.of_json`.
    """
    if BYTES in text.pre_tokenizers:
        return BpeModel.of_json(model)
    symbol = metaspace.pipeline(text.normalizers, text.pre_tokenizers).whitespace.symbol
    falls_back = model.get("byte_fallback") and symbol not in mapping(field_of(model, "vocab", "model"), "vocab of the model")
    return BpeModel.of_json(model, Letters(are_bytes=False, symbol=symbol if symbol != SPACE and not falls_back else ""))


def assemble(source: Source[BpeModel], layout: str) -> BpeTable:  # noqa: ARG001 - rows have one layout
    """Compile a source into a table."""
    model, trimming = without_cuts(source.model, source.text.pre_tokenizers), source.trimming
    _need_clear(model)
    added, rewritten, split = _text(source)
    if trimming:
        _need_clear_spaces(added, model.names)
    listed = _listed(model)
    tokens = canonical(listed)
    words, displacements = _word_table(model, tokens)
    has_automaton = tokens.proper and not model.affixes and not model.missing
    rows = lay_out(tokens.tokens, _states(model, listed, tokens)) if has_automaton else None
    arrays, window_bits = splitter_arrays(split)
    named = {name: number for name, number in model.names.items() if not model.spells(name, number)}
    others = named | {name: number for name, number in added.ids.items() if name not in model.names}
    ids = [*model.vocabulary.values(), *others.values()]
    encoded = [*model.vocabulary, *(name.encode() for name in others)]
    metadata = BpeMetadata(
        automaton=BpeAutomaton(BpeTable.kind, len(rows.slots) if rows else 0, window_bits),
        model=_model_metadata(source, tokens, words, len(named)),
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
    )


def with_added(table: BpeTable, added: AddedTokens) -> BpeTable:
    """A copy of the table with different added tokens. The merges do not change; the splitter changes only if it depends on added tokens.

    Raises:
        UnsupportedError: as from `assemble`.
    """
    stated, names = table.metadata.text, table.tokens
    text = TextPipeline(tuple(stated.normalizers or ()), tuple(stated.pre_tokenizers or ()))
    metadata, arrays = table.metadata, dict[str, NDArray[Any]]()
    if metadata.model.letters.are_bytes:
        found, by, split = _text_of_bytes(text, added)
        arrays, window_bits = splitter_arrays(split, table)
        metadata = replace(metadata, automaton=replace(metadata.automaton, window_bits=window_bits))
    else:
        found, by = metaspace.pipeline(text.normalizers, text.pre_tokenizers).normalizer(added)
    if stated.trimming is not None:
        _need_clear_spaces(found, {*names[: metadata.model.vocabulary_tokens]})
    metadata = replace(metadata, text=replace(stated, normalizer=by), added_tokens=found)
    return replace(table, header=metadata.to_json(), **arrays, **more_tokens(table, found.ids))


def _listed(model: BpeModel) -> Merges:
    """Convert the merges of a model to a merge list over bytes."""
    if model.merges is None:
        return Merges.of_ranks(model.vocabulary)
    own = Merges(model.vocabulary, model.merges, model.affixes)
    return own if model.letters.are_bytes else over_bytes(own)


def _states(model: BpeModel, listed: Merges, tokens: Canonical) -> States:
    """The automaton of the merges. A partial character is represented by the number of its last byte."""
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


def _around_space(text: TextPipeline) -> tuple[Sequence[Component], bool, Sequence[Component]]:
    """Divide the splits into those before and after the step that adds a leading space.

    Returns the splits before the step, whether the step exists, and the splits after the step. If the step does not exist, all splits are
    in the last part.
    """
    parts = [*text.pre_tokenizers]
    count = parts.index(BYTES) if BYTES in parts else len(parts)
    splits = [*parts[:count], *splits_of_text(parts[count + 1 :])]
    place = splits.index(PREFIX_SPACE) if PREFIX_SPACE in splits else -1
    return splits[: max(place, 0)], place >= 0, splits[place + 1 :]


Text = tuple[AddedTokens, Normalizer | None, Splitter]


def _text(source: Source[BpeModel]) -> Text:
    """Compile the text pipeline of a source: added tokens, normalizer and splitter.

    Raises:
        UnsupportedError: a table cannot express the pipeline.
    """
    return _text_of_bytes(source.text, source.added) if source.model.letters.are_bytes else _text_of_characters(source)


def _text_of_bytes(text: TextPipeline, added: AddedTokens) -> Text:
    """Compile the text pipeline of a byte-level BPE.

    Raises:
        UnsupportedError: a table cannot express the pipeline.
    """
    if any(map(makes_white_space, text.normalizers)):
        with suppress(UnsupportedError):
            return _without_white_space(text, added)
    return _text_by(text, added, text.normalizers)


def _text_of_characters(source: Source[BpeModel]) -> Text:
    """Compile the text pipeline of a BPE over characters. If the source does not split texts, the positions of cuts are derived from the
    tokens.

    Raises:
        UnsupportedError: a table cannot express the pipeline.
    """
    line = _line(source)
    added, by = line.normalizer(source.added)
    split = between_merges(source.model.made, source.model.characters) if _is_cut_by_tokens(source) else line.splitter()
    return added, by, split


def _line(source: Source[BpeModel]) -> metaspace.Pipeline:
    """The text pipeline of a BPE over characters. If no token contains the symbol for spaces, texts keep this symbol."""
    return metaspace.pipeline(source.text.normalizers, source.text.pre_tokenizers, keeps_symbol=not source.model.letters.symbol)


def _is_cut_by_tokens(source: Source[BpeModel]) -> bool:
    """Whether the positions of cuts are derived from the tokens, that is, the source does not cut or split texts, and the model allows
    cuts.
    """
    if source.model.letters.are_bytes or not source.model.may_be_cut:
        return False
    line = _line(source)
    return not (line.cuts or line.splits or line.whitespace.separator == BREAKS)


def _without_white_space(text: TextPipeline, given: AddedTokens) -> Text:
    """The text pipeline without the normalizers that replace whitespace by other whitespace, if these normalizers do not change ids.

    Raises:
        UnsupportedError: a normalizer that replaces whitespace by other whitespace changes ids, or a table cannot express the pipeline.
    """
    kept = [part for part in text.normalizers if not makes_white_space(part)]
    added, by, split = _text_by(text, given, kept)
    whole = by or NOTHING
    if whole.splitter:
        raise UnsupportedError("a normalizer that replaces white space by white space, together with splits before add_prefix_space")
    late = {whole.normalized(content)[0]: token for content, token in given.contextual.items() if token.normalized}
    for place, part in enumerate(text.normalizers):
        if part not in kept:
            after = [part for part in text.normalizers[place:] if part in kept]
            need_without_effect(part, normalizer(after, whole.whitespace), late, split)
    return added, by, split


def _text_by(text: TextPipeline, given: AddedTokens, normalizers: Sequence[Component]) -> Text:
    """The text pipeline, with `normalizers` instead of the source's normalizers."""
    before, adds_space, splits = _around_space(text)
    added, by = told_apart(given, normalizer(normalizers, Whitespace(ALWAYS if adds_space else NEVER)))
    if by is None:
        return added, None, in_sequence(splits, absent=[*added.specials])
    # Texts between added tokens contain no string of `absent`, but normalization may produce a string of `raw` again.
    absent, raw = ([spelling for spelling, token in found.items() if not flagged(token)] for found in (late(added), early(added)))
    if before:
        return added, replace(by, splitter=in_sequence(before, absent)), chained([at_edges(), in_sequence(splits)], Budget())
    split, cuts = splitter_and_cuts(splits, absent, raw)
    return added, replace(by, cuts=cuts), split


def _need_clear_spaces(added: AddedTokens, names: Collection[str]) -> None:
    """Refuse added tokens whose spans cannot be trimmed, because the id does not determine the whitespace at the ends of the token.

    The id does not determine the whitespace if a token of the model has the same id and different whitespace, or if an added token that
    begins or ends with whitespace also strips the whitespace next to the token.
    """
    for content in added.ids:
        if content.strip("Ġ") != content:
            raise UnsupportedError(f"added token {quoted(content)} with trim_offsets, which takes Ġ for white space: leave it out")
    for content, token in added.contextual.items():
        (left, right), others = (_spaces(text) for text in (token.decoded, content))
        if content in names and (left, right) != others:
            what = f"added token {quoted(content)}, which is {quoted(token.decoded)} in normalised text"
            raise UnsupportedError(f"{what}, with trim_offsets: the vocabulary has a token of this name without this white space")
        if (left and token.lstrip) or (right and token.rstrip):
            raise UnsupportedError(f"added token {quoted(content)} with trim_offsets: it takes white space beside that of its own")


def _spaces(text: str) -> tuple[int, int]:
    """The number of whitespace characters at the start of a text, and at its end."""
    return len(text) - len(text.lstrip(WHITE_SPACE)), len(text) - len(text.rstrip(WHITE_SPACE))


def _word_table(model: BpeModel, tokens: Canonical) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The arrays ``words`` and ``displacements``, a hash table of the pre-tokens that become a single token.

    Without `ignore_merges`, the table contains only canonical tokens; with `ignore_merges`, it contains all tokens.
    """
    spelled, left = tokens.tokens, tokens.left
    is_whole = spelled.whole & ((left != NULL) | (spelled.lengths == 1) | model.ignore_merges)
    is_whole[len(model.vocabulary) :] = False
    return word_table(spelled.symbols, spelled.starts[is_whole], spelled.lengths[is_whole], spelled.ids[is_whole])


def _model_metadata(source: Source[BpeModel], tokens: Canonical, words: NDArray[np.uint64], named: int) -> BpeModelMetadata:
    """The metadata of a model. `named` is the number of names in the vocabulary that are not tokens of the model."""
    model = source.model
    return BpeModelMetadata(
        model_tokens=len(model.vocabulary),
        vocabulary_tokens=len(model.vocabulary) + named,
        dropout=model.dropout,
        ignore_merges=model.ignore_merges,
        letters=model.letters,
        fallbacks=model.fallbacks,
        joins_words=_is_cut_by_tokens(source),
        missing_bytes=len(model.missing),
        unk_id=model.names[model.unk_token] if model.missing and model.unk_token is not None else None,
        unk_token=model.unk_token,
        fuse_unk=model.fuse_unk,
        byte_fallback=model.byte_fallback,
        continuing_subword_prefix=model.letters.spelled(model.affixes.prefix),
        end_of_word_suffix=model.letters.spelled(model.affixes.suffix),
        long_pretokens=_long_pretokens(model, tokens, words),
        sentencepiece=source.sentencepiece,
    )


def _long_pretokens(model: BpeModel, tokens: Canonical, words: NDArray[np.uint64]) -> tuple[int, ...]:
    """With `ignore_merges`, the ids of tokens that no merges make and that the table of words does not contain.

    The table lacks a token that is too long, or whose hash equals that of another token.
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


PRINTABLE, ASCII_DIGITS = range(0x21, 0x7F), np.arange(0x30, 0x3A)  # PRINTABLE: ASCII characters that ByteLevel does not replace


def without_cuts(model: BpeModel, parts: Sequence[Component]) -> BpeModel:
    """The model without merges across the positions where pre-tokenizers after ``ByteLevel`` split texts.

    Args:
        model: the model.
        parts: the pre-tokenizers, in the form of `fst.compile.pretokens.splits`.

    Raises:
        UnsupportedError: there are such splits, and the model also has `ignore_merges`, affixes or missing bytes.
    """
    kinds = kinds_of_bytes(parts)
    if not len(kinds):
        return model
    others = {"ignore_merges": model.ignore_merges, "affixes": bool(model.affixes), "missing bytes": bool(model.missing)}
    found = [name for name, is_there in others.items() if is_there]
    if found:
        raise UnsupportedError(f"pre_tokenizer Digits after ByteLevel, where it splits bytes, and {' and '.join(found)}")
    merges = [(left, right) for left, right in model.merges or () if not are_apart(kinds[left[-1]], kinds[right[0]])]
    return replace(model, merges=merges)


def splits_of_text(parts: Sequence[Component]) -> Iterator[Component]:
    """Convert splits of the letters by which ``ByteLevel`` represents bytes to splits of the text, with the same result.

    Args:
        parts: the pre-tokenizers after ``ByteLevel``, in the form of `fst.compile.pretokens.splits`.

    Raises:
        UnsupportedError: a Split may have different matches in the text than in the letters.
    """
    has_cuts = False
    for part in parts:
        if part["type"] == DIGITS:
            has_cuts = True
            continue
        ((form, pattern),) = part["pattern"].items()
        nodes = [*walk(parser.literal(pattern) if form == "String" else parser.parse(pattern, "oniguruma"))]
        sets = [node.edges for node in nodes if isinstance(node, Characters)]
        is_same = all(len(edges) and edges[0] >= PRINTABLE.start and edges[-1] <= PRINTABLE.stop for edges in sets)
        if not is_same or any(isinstance(node, LookAhead | LookBehind) for node in nodes):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after ByteLevel, unless it is of ASCII characters alone")
        has_digits, has_others = (any(map(find, sets)) for find in (_has_digits, _has_others))
        if has_cuts and (part["behavior"] == "Removed" or (has_digits and has_others)):
            raise UnsupportedError(f"pre_tokenizer Split by {quoted(pattern)} after Digits after ByteLevel: its matches may be cut")
        yield part


def _has_digits(edges: code_points.Set) -> bool:
    return bool(code_points.has(edges, ASCII_DIGITS).any())


def _has_others(edges: code_points.Set) -> bool:
    return bool(edges[0] < ASCII_DIGITS[0] or edges[-1] > ASCII_DIGITS[-1] + 1)
