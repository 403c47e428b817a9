"""The result of a trainer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.compilers import assembled
from fst.compile.score_merges import merges_of_scores
from fst.compile.sources.read import of_statement
from fst.compile.train import saving
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.renumbering import renumbered
from fst.metadata import CONTEXTUAL_FLAGS
from fst.reference_numbers import reference_float
from fst.table import Table

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.bridge.report import Report

UNIGRAM = "Unigram"
SIZE, NO_PAIR, MIN_FREQUENCY, DEADLINE = "size", "no pair", "min_frequency", "deadline"  # reasons why training stopped
FIELDS: Mapping[str, Mapping[str, Any]] = {  # of the models of a tokenizer.json, with their defaults
    "BPE": {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    },
    "WordPiece": {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    "WordLevel": {"unk_token": "<unk>"},
    "Unigram": {"unk_id": None, "byte_fallback": False},
}
PLAIN = {**dict.fromkeys(CONTEXTUAL_FLAGS, False), "special": True}  # flags of most special tokens


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """A trained vocabulary.

    Attributes:
        kind: the type of the model in a ``tokenizer.json``: "BPE", "WordPiece", "Unigram" or "WordLevel".
        vocabulary: token → id, in the order of the ids. Tokens over bytes are spelled with the letters of ByteLevel.
        merges: of BPE, the left and the right token of each merge, the first one first; else empty.
        scores: float64[tokens], by id, of Unigram and of SentencePiece's BPE; else empty.
        counts: int64[tokens], by id: the occurrences of a token in the words when the trainer made it; 0 of special tokens.
        stopped: "size", "no pair", "min_frequency" or "deadline".
        special_tokens: in the order of their ids.
        pipeline: the text pipeline; None if the words came without one.
        model: further fields of the model in a ``tokenizer.json``, such as ``unk_token`` and ``continuing_subword_prefix``.
        reference: "huggingface", "sentencepiece" or "exact".
        min_count: rarer words were left out of training; 1: none.
        flags: flags of a special token that differ from those of most, such as ``{"<mask>": {"lstrip": True}}``.
        further: further members of the ``tokenizer.json``: ``post_processor``, ``padding`` and ``truncation``. Their ids follow from the
            names of the tokens beside them.
        settings: settings of the table that a ``tokenizer.json`` does not state, named as in `fst.metadata.Settings`.
        outside: those of `special_tokens` that the model lacks: they are added tokens alone.
    """

    kind: str
    vocabulary: Mapping[str, int]
    counts: NDArray[np.int64]
    stopped: str
    merges: Sequence[tuple[str, str]] = ()
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, np.float64))
    special_tokens: Sequence[str] = ()
    pipeline: Pipeline | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    reference: str = "huggingface"
    min_count: int = 1
    flags: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    outside: Collection[str] = ()

    def __repr__(self) -> str:
        return f"<Trained {self.kind}: {len(self.vocabulary):,} tokens, stopped by {self.stopped!r}>"

    def to_json(self) -> dict[str, Any]:
        """The ``tokenizer.json``, as a value that `json.dumps` takes.

        Raises:
            VocabularyError: the post-processor has a token that the vocabulary lacks.
            UnsupportedError: no list of merges does the same as the scores of SentencePiece's BPE.

        Example:
            >>> ids = {"[UNK]": 0, "un": 1, "##able": 2}
            >>> trained = Trained("WordPiece", ids, counts=np.array([0, 2, 1]), stopped="size", special_tokens=["[UNK]"])
            >>> trained.to_json()["model"]["vocab"]
            {'[UNK]': 0, 'un': 1, '##able': 2}
        """
        pipeline = self.pipeline or Pipeline()
        further = {name: self.further.get(name) for name in ("truncation", "padding", "post_processor")}
        return {
            "version": "1.0",
            "truncation": further["truncation"],
            "padding": renumbered(further["padding"], self.vocabulary),
            "added_tokens": [self._added(token) for token in self.special_tokens],
            "normalizer": pipeline.normalizer,
            "pre_tokenizer": pipeline.pre_tokenizer,
            "post_processor": renumbered(further["post_processor"], self.vocabulary),
            "decoder": pipeline.decoder,
            "model": {"type": self.kind, **FIELDS[self.kind], **self.model, **self._tokens()},
        }

    def _added(self, token: str) -> dict[str, Any]:
        """A special token, as a ``tokenizer.json`` lists it."""
        return {"id": self.vocabulary[token], "content": token, **PLAIN, **self.flags.get(token, {})}

    def _tokens(self) -> dict[str, Any]:
        """The vocabulary and the merges, as the model of a ``tokenizer.json`` has them."""
        tokens = {token: number for token, number in self.vocabulary.items() if token not in self.outside}
        if self.kind == UNIGRAM:
            return {"vocab": [[token, float(self.scores[number])] for token, number in tokens.items()]}
        return {"vocab": tokens, **({"merges": [[*pair] for pair in self._all_merges()]} if self.kind == "BPE" else {})}

    def _all_merges(self) -> Sequence[tuple[str, str]]:
        """The merges; of SentencePiece, which has scores alone, all pairs that make a piece."""
        if self.reference != "sentencepiece":
            return self.merges
        pieces = self.vocabulary.keys() - {*self.special_tokens}
        scores = {piece: float(self.scores[self.vocabulary[piece]]) for piece in sorted(pieces) if len(piece) > 1}
        return merges_of_scores(scores, {piece for piece in pieces if len(piece) == 1})

    def table(self) -> Table:
        """The table, compiled in memory.

        Raises:
            VocabularyError, UnsupportedError: the vocabulary cannot be compiled; the message names the reason.
        """
        where, document = "the trained vocabulary", self.to_json()
        if self.kind == UNIGRAM:  # as the reference reads the file
            model = document["model"]
            model["vocab"] = [[token, reference_float(repr(score))] for token, score in model["vocab"]]
        return assembled(of_statement((document, self.settings), where), "auto")

    def tokenizer(self) -> Tokenizer:
        """An `fst.Tokenizer` with the compiled table.

        Raises:
            VocabularyError, UnsupportedError: as from `table`.
        """
        from fst import Tokenizer

        return Tokenizer(self.table())

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as a file, or as the files of a folder. Each file appears whole or not at all.

        ``fst.hf(result.tokenizer()).save_pretrained(folder)`` writes a folder with the settings of transformers, such as pad_token.

        Args:
            path: the name states the form. A URL is sent by fsspec.

                - a folder, or a name without an ending: ``tokenizer.json``; of BPE also ``vocab.json`` and ``merges.txt``, of WordPiece
                  also ``vocab.txt``, unless these cannot express the vocabulary. A missing folder is made.
                - ``vocab.json``, ``merges.txt``: one of these two, for BPE.
                - any other ``.json``: a ``tokenizer.json``.
                - ``vocab.txt``, or any other ``.txt``: the tokens of WordPiece, one a line.
                - ``.tiktoken``: the ranks of byte-level BPE. The pattern of the pipeline and the special tokens are not in the file.
                - ``.model``: SentencePiece, for Unigram and BPE. Special tokens become control pieces, which are found in no text. Scores
                  become float32, so of nearly equal segmentations another one may be the best. SentencePiece puts ▁ in front of every text,
                  Metaspace not in front of a blank; normalizers that strip texts, as of the splitter "sentencepiece", leave no difference.
                  Nmt and NFKC become the rule nmt_nfkc of SentencePiece, which treats 175 rare characters in another way.
                - ``.npz``: the compiled table.

        Raises:
            UnsupportedError: the form cannot express the vocabulary, or is unknown; the message names the reason. Or a package for it is
                not installed.
            VocabularyError: as from `to_json`.
            OSError: the file cannot be written.
        """
        if Path(path).suffix == saving.TABLE:
            self.table().save(path)
        else:
            saving.save(self.to_json(), self.scores.tolist() if self.reference == "sentencepiece" else None, path)

    def report(self, held_out: Any, *, column: str | None = None, field: str | None = None, by: str | None = None) -> Report:
        """Measure the vocabulary on texts that it was not trained on.

        Args:
            held_out: an iterable of texts; columns, as a mapping, a table or a data frame; or files: a path, or an iterable of paths.
            column: the column of the texts, of tables and of files of Parquet and Arrow ["text"].
            field: the field of the texts, of JSON lines ["text"].
            by: another column or field, such as the language: each of its values gets a row of its own.

        Returns:
            The figures. They print as a table, and draw themselves as SVG; see `fst.bridge.report.Report`.

        Raises:
            VocabularyError, UnsupportedError: as from `table`.
            TextError: a text is none, or a column or a field is missing.
            ReadingError, OSError: a file cannot be read.
        """
        from fst.bridge.report import report

        return report(self.table(), held_out, column=column, field=field, by=by)
