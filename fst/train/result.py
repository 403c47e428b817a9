"""The result of a trainer: a vocabulary that can be saved, compiled and measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.bpe.score_merges import merges_of_scores
from fst.compile.sources.inputs import PIECES
from fst.compile.sources.kinds import STOPPED
from fst.compile.sources.sentencepiece.model_file import SentencePieceModel
from fst.core.json_numbers import reference_float
from fst.errors import UnsupportedError, counted
from fst.tables.header import CONTEXTUAL_FLAGS
from fst.tables.table import Table
from fst.train import saving
from fst.train.pipeline import SENTENCEPIECE, Pipeline
from fst.train.renumbering import renumbered
from fst.train.report import Report, report
from fst.train.saving import OF_PIECES
from fst.train.sentencepiece.model_file import model_of
from fst.train.settings import checked, files_of, usual

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.counting.words import Words

UNIGRAM = "Unigram"
SIZE, NO_PAIR, MIN_FREQUENCY, DEADLINE = "size", "no pair", "min_frequency", "deadline"  # values of `Trained.stopped`
FIELDS: Mapping[str, Mapping[str, Any]] = {  # type of model → further fields in a tokenizer.json, with their defaults
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
    **{kind: {"unk_id": None, "byte_fallback": False} for kind in ("Unigram", *OF_PIECES)},
}
INEXACT = (
    "a tokenizer.json cannot express the normalizer of sentencepiece: tokenizers replaces strings by grapheme clusters, so half-width "
    "kana, Hangul jamo and letters with several marks may get other ids than from the table; save a .model or .npz for equal ids"
)
PLAIN = {**dict.fromkeys(CONTEXTUAL_FLAGS, False), "special": True}  # default flags of special tokens


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """A trained vocabulary.

    Attributes:
        kind: the type of the model in a ``tokenizer.json``: "BPE", "WordPiece", "Unigram" or "WordLevel"; or "Char" or "Word", the types
            of SentencePiece that only a ``.model`` can contain.
        vocabulary: token → id, in the order of ids. Tokens over bytes are spelled with the letters of ByteLevel.
        merges: the left and the right token of each merge of BPE, in order; empty for other models.
        scores: float64[tokens], the score of each id, for the kinds of SentencePiece, and for BPE only as there; empty for other models.
        counts: int64[tokens], for each id, the number of occurrences of the token in the words when the trainer created the token; 0 for
            special tokens.
        stopped: the reason for the end of training. "size": `vocab_size` is reached; "no pair": no pair or word remains to be added;
            "min_frequency": all remaining pairs or words are rarer; "deadline": the time limit was reached.
        special_tokens: special tokens and other added tokens, in the order of their ids.
        pipeline: the text pipeline, or None if it is unknown.
        model: further fields of the model in a ``tokenizer.json``, such as ``unk_token`` and ``continuing_subword_prefix``.
        reference: "huggingface", "sentencepiece" or "exact".
        min_count: rarer words were left out of training; 1: all words were used.
        flags: special token → its flags that differ from the default, such as ``{"<mask>": {"lstrip": True}}``.
        further: further members of the ``tokenizer.json``: ``post_processor``, ``padding`` and ``truncation``. The ids in these members are
            replaced by the ids of `vocabulary`.
        settings: settings of the table outside the ``tokenizer.json``, with the names in `fst.tables.header.Settings`.
        outside: the tokens of `special_tokens` that are only added tokens, not tokens of the model.
        config: the ``tokenizer_config.json`` of the base tokenizer; empty if there is no base tokenizer, or if it has no such file.
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
    config: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Trained {self.kind}: {counted(len(self.vocabulary), 'token')}, stopped by {self.stopped!r}>"

    def of(self, words: Words) -> Trained:
        """The vocabulary as the result of training on `words`: `stopped` is "deadline" if the words are partial."""
        return replace(self, stopped=DEADLINE) if words.is_partial else self

    def with_settings(self, **settings: Any) -> Trained:
        """The vocabulary with other settings, for ``fst.hf`` and for ``AutoTokenizer`` of transformers.

        `save` writes the settings into a folder, and tables contain them. By default, the settings are the settings of the base tokenizer,
        or the roles of special tokens with usual spellings, such as ``[PAD]``.

        Args:
            settings: roles of tokens: ``bos_token``, ``eos_token``, ``unk_token``, ``sep_token``, ``pad_token``, ``cls_token``,
                ``mask_token`` or other names that end with ``_token``; None: no token has the role. Further settings, as in transformers:
                ``chat_template``, ``extra_special_tokens``, ``model_max_length``, ``model_input_names``, ``padding_side``,
                ``truncation_side``, ``clean_up_tokenization_spaces``.

        Raises:
            VocabularyError: a setting is unknown, has a wrong value, or names a string that is not a token.

        Examples:
            >>> trained = Trained("BPE", {"<end>": 0, "a": 1}, counts=np.array([0, 1]), stopped="size", special_tokens=["<end>"])
            >>> trained.with_settings(eos_token="<end>", model_max_length=512).settings
            {'model_max_length': 512, 'named_tokens': {'eos_token': '<end>'}}
        """
        given = dict(checked(settings, self.vocabulary))
        if "named_tokens" in given:
            named = {**{**usual(self._document()), **self.settings}["named_tokens"], **given["named_tokens"]}
            given["named_tokens"] = {role: token for role, token in named.items() if token is not None}
        return replace(self, settings={**self.settings, **given})

    def to_json(self) -> dict[str, Any]:
        """The ``tokenizer.json``, as a value for `json.dumps`.

        Warns:
            UserWarning: as in `save`.

        Raises:
            VocabularyError: the post-processor contains a token that is not in the vocabulary.
            UnsupportedError: the model is BPE with SentencePiece's scores, and no list of merges results in the same tokens; or the kind is
                "Char" or "Word".

        Examples:
            >>> ids = {"[UNK]": 0, "un": 1, "##able": 2}
            >>> trained = Trained("WordPiece", ids, counts=np.array([0, 2, 1]), stopped="size", special_tokens=["[UNK]"])
            >>> trained.to_json()["model"]["vocab"]
            {'[UNK]': 0, 'un': 1, '##able': 2}
        """
        if self.kind in OF_PIECES:
            raise UnsupportedError(
                f"the vocabulary is of SentencePiece's type {self.kind.lower()}, which no tokenizer.json has; save a .model or .npz"
            )
        if self._model() is not None:
            warn(INEXACT, UserWarning, stacklevel=2)
        return self._document()

    def _document(self) -> dict[str, Any]:
        pipeline = self.pipeline or Pipeline()
        further = {name: self.further.get(name) for name in ("truncation", "padding", "post_processor")}
        return {
            "version": "1.0",
            "truncation": further["truncation"],
            "padding": renumbered(further["padding"], self.vocabulary),
            "added_tokens": [self._added(token) for token in self.special_tokens],
            "normalizer": pipeline.stated,
            "pre_tokenizer": pipeline.pre_tokenizer,
            "post_processor": renumbered(further["post_processor"], self.vocabulary),
            "decoder": pipeline.decoder,
            "model": {"type": self.kind, **FIELDS[self.kind], **self.model, **self._mark(), **self._tokens()},
        }

    def _added(self, token: str) -> dict[str, Any]:
        """The entry of a special token in the ``added_tokens`` of a ``tokenizer.json``."""
        return {"id": self.vocabulary[token], "content": token, **PLAIN, **self.flags.get(token, {})}

    def _mark(self) -> dict[str, str]:
        """The fields that mark a model whose training a deadline ended. `tokenizers` ignores unknown fields only in models."""
        return {STOPPED: DEADLINE} if self.stopped == DEADLINE else {}

    def _tokens(self) -> dict[str, Any]:
        tokens = {token: number for token, number in self.vocabulary.items() if token not in self.outside}
        if self.kind in (UNIGRAM, *OF_PIECES):
            return {"vocab": [[token, float(self.scores[number])] for token, number in tokens.items()]}
        return {"vocab": tokens, **({"merges": [[*pair] for pair in self._all_merges()]} if self.kind == "BPE" else {})}

    def _all_merges(self) -> Sequence[tuple[str, str]]:
        """The merges; with the reference "sentencepiece", whose files contain scores instead of merges, all pairs that make a piece."""
        if self.reference != SENTENCEPIECE:
            return self.merges
        pieces = self.vocabulary.keys() - {*self.special_tokens}
        scores = {piece: float(self.scores[self.vocabulary[piece]]) for piece in sorted(pieces) if len(piece) > 1}
        return merges_of_scores(scores, {piece for piece in pieces if len(piece) == 1})

    def table(self) -> Table:
        """The table, compiled in memory.

        If the splitter was "sentencepiece", and a ``.model`` can express the vocabulary, the table has the ids of the ``.model``.

        Raises:
            VocabularyError, UnsupportedError: the vocabulary cannot be compiled; the message is the reason.
        """
        from fst.compile.sources.read import of_exported
        from fst.compile.sources.sentencepiece.source import of_model

        model = self._model()
        if model is not None:
            return of_model(model).table()
        where, document = "the trained vocabulary", self._document()
        if self.kind == UNIGRAM:  # round scores as `tokenizers` does when it reads a file
            model = document["model"]
            model["vocab"] = [[token, reference_float(repr(score))] for token, score in model["vocab"]]
        return of_exported((document, self.settings), where).table()

    @property
    def _table(self) -> Table:
        """The table, for the functions that take a tokenizer in any form, see `fst.bridge.from_live.table_for`."""
        return self.table()

    def _model(self) -> SentencePieceModel | None:
        """The content of the ``.model``, if SentencePiece's normalizer made the words and a ``.model`` can express the vocabulary."""
        if self.pipeline is None or self.pipeline.rule is None:
            return None
        with suppress(ValueError):
            return model_of(self._document(), self._scores, self.pipeline.rule)
        return None

    @property
    def _scores(self) -> Sequence[float] | None:
        """The scores of BPE in a ``.model``; None if the order of the merges determines the scores."""
        return self.scores.tolist() if self.reference == SENTENCEPIECE else None

    def tokenizer(self) -> Tokenizer:
        """An `fst.Tokenizer` with the compiled table.

        Raises:
            VocabularyError, UnsupportedError: as in `table`.
        """
        from fst import Tokenizer

        return Tokenizer(self.table())

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as one file, or as several files in a folder. Each file is written completely or not at all.

        Args:
            path: a path, or a URL for fsspec. The name determines the format:

                - a folder, or a name without an ending: ``tokenizer.json``; ``tokenizer_config.json`` and, for a chat template,
                  ``chat_template.jinja``, with the class, the roles of tokens and the settings of the base tokenizer, or of
                  `with_settings`; for BPE also ``vocab.json`` and ``merges.txt``, for WordPiece also ``vocab.txt``, unless these files
                  cannot represent the vocabulary. A missing folder is created.
                - ``vocab.json`` or ``merges.txt``: this file alone, for BPE.
                - any other ``.json``: a ``tokenizer.json``.
                - ``vocab.txt``, or any other ``.txt``: the tokens of WordPiece, one per line.
                - ``.tiktoken``: the ranks of byte-level BPE. The file does not contain the pattern of the pipeline or the special tokens.
                - ``.model``: SentencePiece, for Unigram and BPE. After training with the splitter "sentencepiece", the ids are the same as
                  in the table. With other splitters, the ids may differ: special tokens become control pieces, which are not recognized in
                  texts; scores are rounded to float32, which may change the result if two segmentations have nearly equal scores;
                  SentencePiece puts ▁ before every text, but Metaspace puts it only before texts that do not begin with a space; and a
                  normalizer Precompiled replaces grapheme clusters in ``tokenizers``, but longest strings in SentencePiece.
                - ``.npz``: the compiled table.

        Warns:
            UserWarning: the splitter was "sentencepiece", and the format is ``tokenizer.json``, which gives rare texts other ids.

        Raises:
            UnsupportedError: the format is unknown or cannot represent the vocabulary (the message contains the reason), or a required
                package is not installed.
            VocabularyError: as in `to_json`.
            OSError: the file cannot be written.
        """
        if Path(path).suffix == saving.TABLE:
            self.table().save(path)
        else:
            is_model = Path(path).suffix == PIECES
            rule = None if self.pipeline is None else self.pipeline.rule
            document = self._document() if is_model else self.to_json()
            saving.save(document, self._scores, path, rule, {} if is_model else files_of(document, self.settings, self.config))

    def report(self, held_out: Any, *, column: str | None = None, field: str | None = None, by: str | None = None) -> Report:
        """Measure the vocabulary on texts that were not used for training.

        Args:
            held_out: an iterable of texts; columns, as a mapping, a table or a data frame; or files, as a path or an iterable of paths.
            column: the column of texts, in tables (default: "text") and in files of Parquet and Arrow (no default).
            field: the field of texts in JSON lines (no default).
            by: another column or field, such as the language: the report has a row for each of its values.

        Returns:
            The measurements. `print` shows the figures as a table, and ``svg()`` draws them as a chart; see `fst.train.report.Report`.

        Raises:
            VocabularyError, UnsupportedError: as in `table`.
            TextError: a text is not str or bytes, or a column or a field is missing.
            ReadingError, OSError: a file cannot be read.
        """
        return report(self.table(), held_out, column=column, field=field, by=by)
