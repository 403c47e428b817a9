"""Compile a WordPiece vocabulary into a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.links import Failure, link
from fst.automata.rows import CODE_POINTS, WHITE_SPACE
from fst.automata.transducer import Transducer, count_explicit, fold, unfolded
from fst.automata.trie import Strings, Trie, build
from fst.compile.layout.transducer import Rows, lay_out
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.added_tokens import completed, may_hold, patterns, runs
from fst.compile.text.alphabets import Folded, folded, of_normalized
from fst.compile.text.classes import Classes, Letters, classify
from fst.compile.text.components import Component
from fst.compile.text.normalizer import steps_of
from fst.compile.text.source import Source, TextPipeline, Trimming
from fst.compile.text.word_table import renumbered, word_table
from fst.errors import TableError, UnsupportedError, quoted, reason
from fst.machines.wordpiece.header import Metadata, Normalizer, Suspects
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables.header import COMPACT, FLAGS, LINKED, AddedTokens, Automaton, Model, PreTokenizer
from fst.text.alphabet import BREAK, Alphabet
from fst.text.normalizer import NormalizerSteps

MOST_A_STATE = 16  # maximum average of transitions per state for "auto" to replace failure links; multilingual BERT: 11
FEW = 1 << 16  # "auto" always replaces failure links up to this number of transitions: 512 KiB, the private cache of a core


def automaton(source: Source[WordPieceModel]) -> tuple[Alphabet, Transducer]:
    """The alphabet, and the transducer with its trie and failure links, before they are laid out as a table."""
    alphabet, failure = _linked(source)
    return alphabet, fold(failure)


def _linked(source: Source[WordPieceModel]) -> tuple[Alphabet, Failure]:
    """The alphabet, and the trie with failure links, before the links are replaced by transitions."""
    alphabet = replace(_folded(source).alphabet, specials=source.added.specials)
    model = source.model
    trie = vocabulary_trie(model.tokens, model.continuing_subword_prefix, alphabet.readable(), model.max_input_chars_per_word)
    return alphabet, link(trie)


def _is_linked(failure: Failure, layout: str) -> bool:
    """Whether failure links are kept in the layout; with "auto", they are kept if too many transitions would replace them."""
    if layout != "auto":
        return layout == LINKED
    return count_explicit(failure) > max(MOST_A_STATE * len(failure.trie), FEW)


def vocabulary_trie(tokens: Mapping[str, int], indicator: str, readable: NDArray[np.bool_], max_length: int) -> Trie:
    """Build the trie of a vocabulary. Below the root r are the tokens that begin a word; below r♯, the tokens that continue a word, without
    ♯.

    Tokens that no word can match are omitted. In the paper, there is one trie in which r♯ is the node of the string ♯, so a word that
    literally begins with ♯ reaches the same node. This is correct only if no prefix of ♯ is a token, because otherwise "♯ was read" and "a
    token was matched, continue" are different states. If a prefix of ♯ is a token, or if no word can contain ♯, r♯ is a separate root.

    Args:
        tokens: V, with token ids.
        indicator: ♯, the suffix indicator.
        readable: bool[0x110000], whether each character can be in words.
        max_length: the maximum number of characters of a word that is looked up.
    """
    beginnings = {indicator[:end] for end in range(1, len(indicator) + 1)}
    is_word = len(indicator) <= max_length and all(readable[ord(char)] for char in indicator)
    joined = bool(indicator) and is_word and beginnings.isdisjoint(tokens)
    words = [(token, number) for token, number in tokens.items() if not (joined and token.startswith(indicator))]
    suffixes = [(token[len(indicator) :], number) for token, number in tokens.items() if token.startswith(indicator)] if indicator else []
    texts, ids = zip(*words, *suffixes, strict=True) if words or suffixes else ((), ())
    strings = Strings.of(texts)
    root_of = np.repeat([0, 1], [len(words), len(suffixes)])
    kept = strings.within(readable) & (strings.lengths > 0) & (strings.lengths <= max_length)
    return build(
        ("", indicator) if indicator else ("",),
        Strings(strings.symbols, strings.starts[kept], strings.lengths[kept]),
        root_of[kept],
        np.array(ids, np.int64)[kept],
        tuple(map(ord, indicator)) if joined else (),
    )


def assemble(source: Source[WordPieceModel], layout: str) -> WordPieceTable:
    """Compile a vocabulary into a table."""
    if source.trimming:
        _need_untrimmed([*source.model.tokens, *source.added.ids])
    alphabet, failure = _linked(source)
    is_linked = _is_linked(failure, layout)
    transducer = unfolded(failure) if is_linked else fold(failure)
    rows = lay_out(transducer, _visits(transducer.trie), LINKED if is_linked else COMPACT)
    strings = _strings(source)
    classes, inside = _classes(source, alphabet, Letters.of_machine(transducer, rows), strings or ())
    text = _texts(source, finds_symbols=strings is not None)
    words, displacements = word_table(transducer.trie, classes.of_letter, inside)
    return WordPieceTable(
        header=metadata_of(WordPieceTable.kind, _metadata(source), source, rows, text).to_json(),
        entries=rows.entries,
        pool=rows.pool,
        words=words,
        displacements=displacements,
        **_arrays(source, classes),
    )


def with_added(tables: WordPieceTable, added: AddedTokens) -> WordPieceTable:
    """A copy of the table with different added tokens. The trie and the transitions do not change."""
    source = replace(source_of(tables), added=added)
    if source.trimming:
        _need_untrimmed([*added.ids])
    alphabet, strings = replace(_folded(source).alphabet, specials=added.specials), _strings(source)
    classes, inside = _classes(source, alphabet, Letters.of_table(tables, alphabet), strings or ())
    numbers, words, displacements = np.append(0, classes.of_letter), tables.words, tables.displacements
    if inside or not np.array_equal(numbers, np.arange(len(numbers))):
        words, displacements = renumbered(words, numbers, inside)
    normalizer, completed_tokens = _texts(source, finds_symbols=strings is not None)
    metadata = replace(tables.metadata, normalizer=normalizer, added_tokens=completed_tokens)
    return replace(tables, header=metadata.to_json(), words=words, displacements=displacements, **_arrays(source, classes))


def _folded(source: Source[WordPieceModel]) -> Folded:
    """The alphabet of a source's text pipeline, without added tokens."""
    return folded(source.text.normalizers, source.text.pre_tokenizers, is_cut=len(source.text.splitters) > 0)


def _strings(source: Source[WordPieceModel]) -> list[tuple[int, ...]] | None:
    """The symbols of contextual tokens; None if symbols do not decide where they are."""
    by, contextual = _folded(source), source.added.contextual
    return patterns(by.alphabet, contextual, by.normalization) if by.is_whole or not contextual else None


def _classes(
    source: Source[WordPieceModel], alphabet: Alphabet, letters: Letters, strings: Sequence[tuple[int, ...]]
) -> tuple[Classes, list[tuple[int, ...]]]:
    """Compute the classes of characters, and spell the contextual tokens that can occur in a word as strings of classes. `strings`: the
    symbols of the tokens.
    """
    model, contextual = source.model, source.added.contextual
    other_ids = [model.unk_id, *(token.id for token in contextual.values())]
    apart = {symbol for string in strings for symbol in string}.difference([BREAK])
    is_cut = len(source.text.splitters) > 0
    normalized = of_normalized(source.text.pre_tokenizers, is_cut=is_cut) if _is_stepwise(source) else None
    classes = classify(alphabet, letters, model.words_of_one(), other_ids, apart, normalized)
    return classes, [tuple(classes.of_symbol[list(string)].tolist()) for string in strings if max(string) < BREAK]


def _arrays(source: Source[WordPieceModel], classes: Classes) -> dict[str, NDArray[Any]]:
    """The arrays of the table that depend on added tokens, except the word table."""
    everything = {**source.model.tokens, **source.added.ids}
    encoded = [token.encode() for token in everything]
    return {
        **{name: getattr(classes, name) for name in ("pages", "blocks", "classes", "symbols", "specials")},
        "token_bytes": np.frombuffer(b"".join(encoded), np.uint8),
        "token_ends": np.cumsum([len(token) for token in encoded], dtype=np.int64),
        "token_ids": np.array(list(everything.values()), np.int32),
    }


def _need_untrimmed(tokens: list[str]) -> None:
    """Refuse tokens that ``trim_offsets`` would shorten, because it trims whitespace and the letter Ġ."""
    for token in tokens:
        if token.strip(WHITE_SPACE + "Ġ") != token:
            raise UnsupportedError(f"post_processor with trim_offsets, which would shorten the token {quoted(token)}: set it to false")


SETTINGS = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")


def _metadata(source: Source[WordPieceModel]) -> Model:
    model, trims = source.model, source.trimming is not None
    settings = {name: getattr(model, name) for name in SETTINGS}
    return Model(unk_id=model.unk_id, model_tokens=len(model.tokens), trims_offsets=trims, **settings)


def source_of(tables: WordPieceTable) -> Source[WordPieceModel]:
    """The source of a compiled table."""
    metadata = tables.metadata
    tokens = dict(list(zip(tables.tokens, tables.token_ids.tolist(), strict=True))[: metadata.model.model_tokens])
    model = WordPieceModel(tokens, **{name: getattr(metadata.model, name) for name in SETTINGS})
    trimming = Trimming(add_prefix_space=False) if metadata.model.trims_offsets else None
    return Source(model, text_pipeline(metadata), metadata.added_tokens, metadata.templates, metadata.settings, trimming)


def _visits(trie: Trie) -> NDArray[np.float64]:
    """The expected number of visits of each state by Zipf's law, where more frequent tokens have lower ids."""
    tokens = np.flatnonzero(trie.token >= 0)
    visits = np.zeros(len(trie))
    visits[tokens] = 1 / (1 + np.argsort(np.argsort(trie.token[tokens])))
    for level in range(int(trie.level[-1]), 0, -1):
        nodes = np.flatnonzero(trie.level == level)
        visits += np.bincount(trie.parent[nodes], visits[nodes], minlength=len(trie))
    return visits


def metadata_of(kind: str, model: Model, source: Source[Any], rows: Rows, text: tuple[Normalizer, AddedTokens]) -> Metadata:
    """The metadata of a table.

    Args:
        kind: the kind of machine.
        model: the metadata of the source's model.
        source: the source.
        rows: the rows of the table.
        text: the normalizer and the added tokens.
    """
    columns = int(rows.columns.max(initial=0)) + 1
    return Metadata(
        automaton=Automaton(kind, rows.layout, len(rows.slots), columns, int(rows.slots[-1])),
        model=model,
        normalizer=text[0],
        pre_tokenizer=_pre_tokenizer(source.text.pre_tokenizers),
        added_tokens=text[1],
        templates=source.templates,
        settings=source.settings,
    )


def _texts(source: Source[WordPieceModel], *, finds_symbols: bool) -> tuple[Normalizer, AddedTokens]:
    """The normalizer and the added tokens of a table. `finds_symbols`: whether symbols decide where contextual tokens are."""
    parts, by = source.text.normalizers, _folded(source)
    steps = steps_of(parts, source.text.splitters) if _is_stepwise(source) else None
    added = completed(source.added, by.alphabet, by.normalization, None if finds_symbols else steps)
    if not steps:
        return _normalizer(parts, None, None), added
    everything = np.ones(CODE_POINTS, bool)
    found = everything if not by.is_whole else ~everything if finds_symbols else may_hold(added, by.alphabet)
    return _normalizer(parts, steps, _suspects(by.alphabet, found)), added


def _normalizer(parts: Sequence[Component], steps: NormalizerSteps | None, suspects: Suspects | None) -> Normalizer:
    """The settings of a single BertNormalizer. For other normalizers, the settings are a summary, and `parts` contains the components."""
    berts = [part for part in parts if part["type"] == "BertNormalizer"]
    is_bert = len(parts) == len(berts) == 1
    return Normalizer(
        **({name: parts[0][name] for name in FLAGS} if is_bert else _summary(parts, berts)),
        parts=None if is_bert else parts or None,
        steps=steps,
        suspects=suspects,
    )


def _is_stepwise(source: Source[WordPieceModel]) -> bool:
    """Whether some texts must be normalized one component at a time, because the alphabet cannot express their normalization."""
    by = _folded(source)
    return bool(not by.is_whole or source.added.contextual or by.alphabet.composition or len(by.alphabet.placed))


def _suspects(alphabet: Alphabet, found: NDArray[np.bool_]) -> Suspects:
    """Characters whose occurrence means that a text must be normalized one component at a time: those of the alphabet, and `found`."""
    ids, spans = found.copy(), np.zeros(CODE_POINTS, np.bool_)
    ids[[*alphabet.composition.suspects] if alphabet.composition else []] = True
    for first, last in alphabet.placed:
        spans[first : last + 1] = True
    return Suspects(runs(ids), runs(spans))


def _summary(parts: Sequence[Component], berts: Sequence[Component]) -> dict[str, bool]:
    """Summarize normalizers in the settings of one BertNormalizer."""
    settings = {name: any(bert[name] for bert in berts) for name in FLAGS}
    settings["lowercase"] |= any(part["type"] == "Lowercase" for part in parts)
    settings["strip_accents"] = any(part["type"] == "StripAccents" or folding.strips(part) for part in parts)
    return settings


def _pre_tokenizer(parts: Sequence[Component]) -> PreTokenizer:
    """The pre-tokenizer in metadata: a name if it is common, otherwise a list of components."""
    name = {(): "none", ("BertPreTokenizer",): "bert"}.get(tuple(part["type"] for part in parts), "other")
    return PreTokenizer(name, parts if name == "other" else None)


def text_pipeline(metadata: Metadata) -> TextPipeline:
    """The text pipeline of a table."""
    steps = metadata.normalizer.steps
    splitters = [by.splitter for by in steps.normalizers if by.splitter] if steps else []
    return TextPipeline(_normalizers(metadata.normalizer), _pre_tokenizers(metadata.pre_tokenizer), splitters)


def _normalizers(normalizer: Normalizer) -> Sequence[Component]:
    if normalizer.parts is None:
        return ({"type": "BertNormalizer", **{name: getattr(normalizer, name) for name in FLAGS}},)
    return _components(partial(folding.components, known=folding.WITH_PREPEND), "normalizers", normalizer.parts)


def _pre_tokenizers(pre_tokenizer: PreTokenizer) -> Sequence[Component]:
    if pre_tokenizer.name == "other":
        return _components(pre_tokenizers.components, "pretokenizers", pre_tokenizer.parts)
    return ({"type": "BertPreTokenizer"},) if pre_tokenizer.name == "bert" else ()


def _components(of: Callable[[Component], Sequence[Component]], inside: str, parts: Any) -> Sequence[Component]:
    """Parse components of a table, which is not trusted."""
    try:
        return of({"type": "Sequence", inside: parts})
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{inside}: {reason(error)}") from None
