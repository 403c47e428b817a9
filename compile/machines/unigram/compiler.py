"""Compile a Unigram source into a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import MAX_OUTPUT
from fst.automata.trie import Ints
from fst.compile.machines.unigram import aho_corasick
from fst.compile.machines.unigram.aho_corasick import byte_trie, trie_of
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.pretokens import metaspace
from fst.compile.pretokens.arrays import more_tokens, splitter_arrays, word_table
from fst.compile.pretokens.forced_boundaries import between_paths
from fst.compile.pretokens.metaspace import Pipeline
from fst.compile.text.source import Source
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.unigram.header import UnigramMetadata, UnigramTrie
from fst.machines.unigram.header import UnigramModel as UnigramModelMetadata
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import (
    BEFORE_SPACE,
    ENTRY,
    MAX_DEPTH,
    NORMAL,
    PIECE,
    RUN_BYTE,
    STRETCH,
    TEXT_SCOPE,
    WORD,
    WORD_SCOPE,
    are_certain,
)
from fst.pretokens.header import PretokenText
from fst.pretokens.token_letters import fallback
from fst.tables.header import AddedTokens
from fst.text.splitter import Splitter
from fst.text.whitespace import BREAKS

Usable = Sequence[tuple[str, int]]  # spellings and ids, see `_usable`
find_whole = Deferred("fst.compile.machines.unigram.kernels", "find_whole")


@dataclass(frozen=True, eq=False)
class _Spelled:
    """The tokens that can occur in texts, in the spelling of the text pipeline.

    Attributes:
        symbols: uint8[n], the bytes of the tokens, concatenated.
        starts, lengths, ids: int64[tokens], the position of each token in `symbols`, its length, and its id.
    """

    symbols: NDArray[np.uint8]
    starts: Ints
    lengths: Ints
    ids: Ints

    @property
    def characters(self) -> Ints:
        """The number of characters of each token."""
        return np.add.reduceat(self.symbols & 0xC0 != 0x80, self.starts, dtype=np.int64)

    def with_runs(self, runs: _Spelled) -> _Spelled:
        """These tokens, and tokens of the type `RUN`, each after the byte `RUN_BYTE`."""
        symbols = np.insert(runs.symbols, runs.starts, RUN_BYTE)
        lengths = runs.lengths + 1
        more = _Spelled(symbols, np.cumsum(lengths) - lengths + len(self.symbols), lengths, runs.ids)
        return _Spelled(
            np.append(self.symbols, more.symbols),
            np.append(self.starts, more.starts),
            np.append(self.lengths, more.lengths),
            np.append(self.ids, more.ids),
        )

    @classmethod
    def of(cls, usable: Usable) -> _Spelled:
        """Encode the spellings of tokens."""
        kept = [(spelling.encode(), number) for spelling, number in usable]
        lengths = np.array([len(spelling) for spelling, _ in kept], np.int64)
        if len(kept) and lengths.max() > MAX_DEPTH:
            raise UnsupportedError(f"a token of {lengths.max()} bytes: there is room for {MAX_DEPTH}")
        symbols = np.frombuffer(b"".join(spelling for spelling, _ in kept), np.uint8)
        return cls(symbols, np.cumsum(lengths) - lengths, lengths, np.array([number for _, number in kept], np.int64))


def _usable(model: UnigramModel, line: Pipeline) -> Usable:
    """The spelling and the id of each token that can occur in the ids of a text. The text pipeline spells tokens in the same way as texts.

    Without an unknown token, the reference refuses a text if an unknown node is the best node that ends at any position, even at a position
    off the best path. A character that is not a token, and with which no token ends, always makes such a node; so tokens with this
    character never occur, and other tokens that end with a character of these tokens may become unusable, too.
    """
    kept = _spelled(line, ((model.names[number], number) for number in model.in_text))
    if model.unk_id is None:
        known = {spelling for spelling, _ in kept if len(spelling) == 1}
        size = len(kept) + 1
        while len(kept) < size:
            size = len(kept)
            ends = known | {spelling[-1] for spelling, _ in kept}
            kept = [(spelling, number) for spelling, number in kept if ends.issuperset(spelling)]
        for spelling, number in kept:
            lacks = next((char for char in spelling if char not in known), None)
            if lacks is None:
                continue
            found = f"token {quoted(model.names[number])} contains {quoted(lacks)}, which is not a token, and the model has no unk_id"
            raise UnsupportedError(f"{found}; expected tokens for all characters; add the character, or name an unknown token as unk_id")
    return kept


def _spelled(line: Pipeline, names: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The spelling in texts of each token, with its number, without the tokens that no text contains."""
    return [(spelling, number) for spelling, number in ((line.spelled(name), number) for name, number in names) if spelling]


def assemble(source: Source[UnigramModel], layout: str) -> UnigramTable:  # noqa: ARG001 - tries have one layout
    """Compile a source into a table."""
    model = source.model
    line = metaspace.pipeline(source.text.normalizers, source.text.pre_tokenizers)
    added, by = line.normalizer(source.added)
    first_unnamed = 1 + max(len(model.names) - 1, *added.ids.values()) if added.ids else len(model.names)
    if model.unnamed and first_unnamed + len(model.unnamed) - 1 > MAX_OUTPUT:
        has = f"{len(model.unnamed):,} pieces have no id, and the highest id is {first_unnamed - 1:,}"
        raise UnsupportedError(f"{has}; expected a sum of at most {MAX_OUTPUT:,}; add the pieces to the vocabulary, or lower the id")
    unnamed = _spelled(line, ((name, first_unnamed + number) for number, (name, _) in enumerate(model.unnamed)))
    usable = [*_usable(model, line), *unnamed]
    split, restarts = _splitter(model, line, usable)
    arrays, window_bits = splitter_arrays(split)
    spelled = _Spelled.of(usable)
    _need_known_space(model, line)
    if not len(spelled.ids):
        raise VocabularyError("no token of the model can be in a text")
    nodes = trie_of(spelled.symbols, spelled.starts, spelled.lengths, spelled.ids)
    (steps, lists), runs = aho_corasick.automaton(nodes), _spelled(line, ((model.names[number], number) for number in model.runs))
    found = spelled.with_runs(_Spelled.of(runs)) if runs else spelled
    trie = byte_trie(trie_of(found.symbols, found.starts, found.lengths, found.ids) if runs else nodes)
    others = {name: number for name, number in added.ids.items() if name not in model.tokens}
    contents = [*(name.encode() for name in model.names), *(name.encode() for name in others)]
    metadata = UnigramMetadata(
        automaton=UnigramTrie(
            UnigramTable.kind, int(ENTRY.are_states(trie).sum()), int(found.lengths.max()), window_bits, restarts
        ),
        model=UnigramModelMetadata(
            len(model.names),
            model.unk_id,
            model.unk_token,
            model.byte_fallback,
            model.scope,
            source.sentencepiece,
            model.unknown_score,
        ),
        text=PretokenText(source.text.normalizers, source.text.pre_tokenizers, by, None, source.reference),
        added_tokens=added,
        templates=source.templates,
        settings=source.settings,
    )
    tables = UnigramTable(
        header=metadata.to_json(),
        **arrays,
        words=np.zeros(0, np.uint64),
        displacements=np.zeros(0, np.uint16),
        token_bytes=np.frombuffer(b"".join(contents), np.uint8),
        token_ends=np.cumsum([len(content) for content in contents], dtype=np.int64),
        token_ids=np.array([*range(len(model.names)), *others.values()], np.int32),
        trie=trie,
        steps=steps,
        lists=lists,
        scores=np.array([*model.scores, *(score for _, score in model.unnamed)], np.float64),
        types=np.array([*model.types, *[NORMAL] * len(model.unnamed)] if model.scope == TEXT_SCOPE else (), np.uint8),
        unnamed=_sizes(unnamed, first_unnamed, len(model.unnamed)),
    )
    words, displacements = _word_table(tables, spelled, first_unnamed)
    return replace(tables, words=words, displacements=displacements)


def with_added(table: UnigramTable, added: AddedTokens) -> UnigramTable:
    """A copy of the table with different added tokens. The trie and the splitter do not change."""
    stated = table.metadata.text
    found, by = metaspace.pipeline(stated.normalizers or (), stated.pre_tokenizers or ()).normalizer(added)
    metadata = replace(table.metadata, text=replace(stated, normalizer=by), added_tokens=found)
    return replace(table, header=metadata.to_json(), **more_tokens(table, found.ids))


def _splitter(model: UnigramModel, line: Pipeline, usable: Usable) -> tuple[Splitter, str]:
    """Compile the splitter, and the positions where sums of scores restart.

    The splitter cuts texts at positions that no token can cross. If spaces do not separate words, or if tokens are whole words, the
    splitter makes the same splits as the source's pipeline.
    """
    if model.is_word_type:
        return line.splitter(), WORD
    if line.splits or line.before or line.whitespace.separator == BREAKS or (line.cuts and model.scope == TEXT_SCOPE):
        if model.scope == TEXT_SCOPE:
            raise UnsupportedError("a pre_tokenizer that cuts texts, and sums of scores over whole texts")
        return line.splitter(), PIECE
    spellings = [spelling for spelling, _ in usable]
    known = {spelling for spelling in spellings if len(spelling) == 1}
    if model.scope == WORD_SCOPE:  # adjacent unknown characters become one unknown token
        known -= {*(line.spelled(model.unk_token or "") or "")}
    return between_paths(spellings, known, before_spaces=line.cuts), BEFORE_SPACE if line.cuts else STRETCH


def _sizes(unnamed: Usable, first: int, count: int) -> NDArray[np.uint16]:
    """The number of bytes of each token without an id; 0 for a token that no text contains. `first`: the number of the first one."""
    sizes = np.zeros(count, np.uint16)
    for spelling, number in unnamed:
        sizes[number - first] = len(spelling.encode())
    return sizes


def _word_table(tables: UnigramTable, spelled: _Spelled, first_unnamed: int) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The word table: the tokens that are the best path through their own bytes or, if tokens are whole words, all tokens."""
    if tables.is_word_type:
        return word_table(spelled.symbols, spelled.starts, spelled.lengths, spelled.ids)
    found, gaps, longest = np.zeros(len(spelled.ids), np.uint8), np.zeros(len(spelled.ids)), int(spelled.lengths.max())
    sums, sizes = np.zeros(1 << longest.bit_length(), np.float64), np.zeros(2 * longest, np.uint8)
    scores, unknown = tables.path_scores.astype(np.float64), np.float64(tables.unknown)
    find_whole.call(spelled.symbols, spelled.starts, spelled.lengths, spelled.ids, tables.trie, scores, unknown, sums, sizes, found, gaps)
    if tables.restarts != PIECE:
        found &= are_certain(gaps, spelled.characters, tables.most, tables.metadata.model.scope)
    whole = np.flatnonzero(found.astype(np.bool_) & (spelled.ids < first_unnamed))
    return word_table(spelled.symbols, spelled.starts[whole], spelled.lengths[whole], spelled.ids[whole])


def _need_known_space(model: UnigramModel, line: Pipeline) -> None:
    """Refuse a model in which byte fallbacks replace the symbol for spaces: a space in a text is one byte, but the symbol has several
    bytes.

    A model of whole words is not refused, because its kernel writes the fallbacks of the symbol; see `UnigramArguments.space`.
    """
    symbol = line.whitespace.symbol
    number = model.tokens.get(symbol, model.unk_id)
    is_unknown = symbol and (number == model.unk_id or (model.scope == WORD_SCOPE and symbol in (model.unk_token or "")))
    is_unknown = (is_unknown or (symbol and number not in model.in_text)) and not model.is_word_type
    falls_back = model.byte_fallback and model.unk_id is not None
    if falls_back and is_unknown and all(fallback(byte) in model.tokens for byte in symbol.encode()):
        raise UnsupportedError(f"byte_fallback, and {quoted(symbol)}, which represents a space, is unknown")
