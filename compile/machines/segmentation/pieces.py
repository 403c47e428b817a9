"""Compile the vocabulary of Japanese BERT together with a dictionary of MeCab, see `fst.machines.segmentation.pieces`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.machines.segmentation.lattice import DEFAULT_GROUPING, lattice_arrays, read_dictionary
from fst.compile.machines.segmentation.unit_tries import unit_trie
from fst.compile.patterns import properties
from fst.compile.text.characters import reference
from fst.compile.text.nfkc import nfkc
from fst.compile.text.source import Source
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.segmentation.pieces import (
    CASED,
    CHARACTER,
    CONTINUES,
    IGNORABLE,
    WORDPIECE,
    MecabPieceTable,
    PieceMachine,
    PieceMetadata,
    PieceText,
)
from fst.machines.segmentation.pieces import PieceModel as PieceModelMetadata
from fst.machines.segmentation.unit_trie import MAX_VALUE
from fst.text.normalizer import NOTHING

# The characters with the property Case_Ignorable whose category does not have it: MidLetter, MidNumLet and Single_Quote.
MIDDLE = "'.:\xb7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a"
IGNORED = ("Mn", "Me", "Cf", "Lm", "Sk")


@dataclass(frozen=True)
class PieceModel:
    """A vocabulary, the settings of its words, and the folder of the dictionary.

    Attributes:
        tokens: token → id.
        unk_token: the token for a part of a word without a segmentation.
        subword, lowercase, never_split: see `fst.machines.segmentation.pieces.PieceModel`.
        dictionary: a folder, as in `fst.compile.lattice.mecab`.
        content: the digest of the files of the dictionary, by which cached tables are found.
        is_normalized: whether texts are normalized by NFKC.
        max_grouping_size: as in `fst.compile.lattice.mecab`.
    """

    kind: ClassVar[str] = "MeCab and WordPiece"
    compiler: ClassVar[str] = "fst.compile.machines.segmentation.pieces"
    continuing_subword_prefix: ClassVar[str] = "##"
    max_input_chars_per_word: ClassVar[int] = 100
    tokens: Mapping[str, int]
    unk_token: str
    dictionary: Path
    content: str = ""
    subword: str = WORDPIECE
    lowercase: bool = False
    never_split: Sequence[str] = ()
    is_normalized: bool = True
    max_grouping_size: int = DEFAULT_GROUPING

    def check(self, where: str) -> None:
        """Raise an error if the model cannot be compiled; its message begins with `where`."""
        if self.unk_token not in self.tokens:
            raise VocabularyError(f"{where} does not hold the unknown token {quoted(self.unk_token)}; add it to vocab.txt")
        if max(self.tokens.values()) >= MAX_VALUE:
            raise UnsupportedError(f"{where}: there are {len(self.tokens):,} tokens; a table has room for {MAX_VALUE:,}")

    def strings(self) -> dict[str, int]:
        """The strings of the trie → 1 + the id of the token. Tokens that no word can contain are left out."""
        if self.subword == CHARACTER:
            return {token: 1 + number for token, number in self.tokens.items() if len(token) == 1}
        prefix, most = self.continuing_subword_prefix, self.max_input_chars_per_word
        whole = {token: 1 + number for token, number in self.tokens.items() if 0 < len(token) <= most}
        rests = {token[len(prefix) :]: 1 + number for token, number in self.tokens.items() if token.startswith(prefix)}
        return {**whole, **{chr(CONTINUES) + rest: value for rest, value in rests.items() if 0 < len(rest) < most}}


def assemble(source: Source[PieceModel], layout: str) -> MecabPieceTable:  # noqa: ARG001 - the tries have one layout
    """Compile a source into a table."""
    model, path = source.model, source.model.dictionary
    arrays, longest_word = lattice_arrays(read_dictionary(path, with_features=False), path)
    strings = model.strings()
    if not strings:
        raise VocabularyError("no token of the vocabulary can be in a word; expected tokens such as ##ing or 日; check vocab.txt")
    trie = unit_trie([*strings], np.array([*strings.values()], np.int64))
    everything = {**model.tokens, **source.added.ids}
    encoded = [token.encode() for token in everything]
    metadata = PieceMetadata(
        automaton=PieceMachine(MecabPieceTable.kind, trie.longest, longest_word, model.max_grouping_size),
        model=PieceModelMetadata(
            unk_id=model.tokens[model.unk_token],
            unk_token=model.unk_token,
            model_tokens=len(model.tokens),
            continuing_subword_prefix=model.continuing_subword_prefix,
            max_input_chars_per_word=model.max_input_chars_per_word,
            subword=model.subword,
            lowercase=model.lowercase,
            never_split=list(model.never_split),
        ),
        text=PieceText(nfkc() if model.is_normalized else NOTHING, source.reference),
        added_tokens=source.added,
        templates=source.templates,
        settings=source.settings,
    )
    return MecabPieceTable(
        header=metadata.to_json(),
        units=trie.units(np.zeros(len(trie.labels), np.uint32)),
        entries=trie.entries,
        word_units=arrays.pop("units"),
        word_entries=arrays.pop("entries"),
        lowers=_lowers() if model.lowercase else np.zeros((0, 3), np.uint32),
        case=_case() if model.lowercase else np.zeros(0, np.uint8),
        token_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        token_ends=np.cumsum([len(token) for token in encoded], dtype=np.int64),
        token_ids=np.array([*everything.values()], np.int32),
        **{name: array for name, array in arrays.items() if name != "numbers"},
    )


def _lowers() -> NDArray[np.uint32]:
    """The lower case of each character that has one, see `fst.machines.segmentation.pieces.MecabPieceTable`."""
    found = reference.lower()
    images = np.zeros((len(found.sources), 2), np.int64)
    images[:, : found.images.shape[1]] = np.maximum(found.images, 0)
    return np.column_stack([found.sources, images]).astype(np.uint32)


def _case() -> NDArray[np.uint8]:
    """The case of each character, see `fst.machines.segmentation.pieces.MecabPieceTable`."""
    case = np.zeros(CODE_POINTS, np.uint8)
    ignorable = (properties.named(name) for name in IGNORED)
    for bit, sets in ((CASED, [properties.named("Cased")]), (IGNORABLE, ignorable)):
        for first, end in (run for edges in sets for run in edges.reshape(-1, 2).tolist()):
            case[first:end] |= bit
    case[[*map(ord, MIDDLE)]] |= IGNORABLE
    return case
