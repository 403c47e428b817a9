"""An existing vocabulary from which a new vocabulary is derived: the parts of its ``tokenizer.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import MAX_WORD
from fst.compile.machines.bpe.canonical_tokens import Merges
from fst.pretokens.byte_letters import bytes_of
from fst.train.pipeline import Pipeline
from fst.train.result import PLAIN, Trained

Json = Mapping[str, Any]

OF_TOKENS = ("type", "vocab", "merges")  # members of a model that are not options; all other members are options
FURTHER = ("truncation", "padding", "post_processor")
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


@dataclass(frozen=True)
class BaseVocabulary:
    """A vocabulary in the form of a ``tokenizer.json``."""

    document: Json  # the value of the ``tokenizer.json``
    settings: Mapping[str, Any]  # settings outside the ``tokenizer.json``, with the names in `fst.tables.header.Settings`

    @classmethod
    def of_table(cls, document: Json, settings: Mapping[str, Any]) -> BaseVocabulary:
        """The vocabulary from which a table was compiled.

        A table represents WordLevel as WordPiece without tokens that continue a word; this function converts such a model back to
        WordLevel.
        """
        model = document["model"]
        continues = model.get("continuing_subword_prefix") or ""
        is_unlimited = model["type"] == "WordPiece" and model["max_input_chars_per_word"] == MAX_WORD
        if is_unlimited and not any(token.startswith(continues) for token in model["vocab"]):
            document = {**document, "model": {"type": "WordLevel", "unk_token": model["unk_token"], "vocab": model["vocab"]}}
        return cls(document, settings)

    @classmethod
    def of_ranks(cls, document: Json, settings: Mapping[str, Any]) -> BaseVocabulary:
        """The vocabulary of a tiktoken encoding. If several pairs make the same token, the merge is the pair that BPE merges."""
        model, added = document["model"], {token["content"] for token in document["added_tokens"]}
        contents = {token: bytes_of(token) for token in model["vocab"] if token not in added}
        names = {content: token for token, content in contents.items() if content is not None}
        merges = Merges.of_ranks({content: model["vocab"][token] for content, token in names.items()}).pairs
        listed = [[names[left], names[right]] for left, right in merges]
        return cls({**document, "model": {**model, "merges": listed}}, settings)

    @property
    def pipeline(self) -> Pipeline:
        """The text pipeline: normalizer, pre-tokenizer and decoder, and the added tokens."""
        return Pipeline.of_document(self.document)

    @property
    def kind(self) -> str:
        """The type of the model."""
        kind: str = self.document["model"]["type"]
        return kind

    @property
    def options(self) -> dict[str, Any]:
        """The members of the model except tokens and merges."""
        return {name: value for name, value in self.document["model"].items() if name not in OF_TOKENS}

    @property
    def prefix(self) -> str:
        """The prefix of tokens that continue a word."""
        return self.document["model"].get("continuing_subword_prefix") or ""

    @property
    def suffix(self) -> str:
        """The suffix of tokens that end a word."""
        return self.document["model"].get("end_of_word_suffix") or ""

    @cached_property
    def of_model(self) -> Mapping[str, int]:
        """Token → id, for the tokens of the model."""
        tokens = self.document["model"]["vocab"]
        return {token: number for number, (token, _) in enumerate(tokens)} if self.kind == "Unigram" else dict(tokens)

    @cached_property
    def added(self) -> Mapping[str, int]:
        """Token → id, for the added tokens, which may also be in the model."""
        return {token["content"]: token["id"] for token in self.document["added_tokens"]}

    @property
    def tokens(self) -> dict[str, int]:
        """Token → id, for the tokens of the model and the added tokens."""
        return {**self.of_model, **self.added}

    @property
    def digest(self) -> str:
        """A digest of the vocabulary, for checkpoints."""
        return sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()

    @cached_property
    def scores(self) -> Sequence[float]:
        """The scores of Unigram, by id; empty for other models."""
        return [score for _, score in self.document["model"]["vocab"]] if self.kind == "Unigram" else []

    @cached_property
    def merges(self) -> Sequence[tuple[str, str]]:
        """The merges of BPE, in order; empty for other models."""
        return [(left, right) for left, right in self.document["model"].get("merges", ())]

    @cached_property
    def unknown(self) -> int | None:
        """The id of the unknown token; None if there is none."""
        if self.kind == "Unigram":
            number: int | None = self.document["model"].get("unk_id")
            return number
        return self.of_model.get(self.document["model"].get("unk_token"))

    @property
    def size(self) -> int:
        """1 + the largest id."""
        return 1 + max([*self.of_model.values(), *self.added.values()])

    def joined(self, left: str, right: str) -> str:
        """The token that a merge makes."""
        return left + right.removeprefix(self.prefix)

    def alone(self) -> Json:
        """A ``tokenizer.json`` with only the model. It encodes each text as one word, and treats added tokens as ordinary text."""
        are_bytes = Pipeline(pre_tokenizer=self.document["pre_tokenizer"]).are_bytes
        cut = dict.fromkeys(("normalizer", "decoder", *FURTHER)) | {"added_tokens": []}
        return {**self.document, **cut, "pre_tokenizer": BYTES if are_bytes else None}

    def trained(
        self,
        vocabulary: Mapping[str, int],
        counts: NDArray[np.int64],
        stopped: str,
        *,
        merges: Sequence[tuple[str, str]] = (),
        scores: Sequence[float] = (),
        options: Mapping[str, Any] = {},
        min_count: int = 1,
    ) -> Trained:
        """A trained vocabulary with the pipeline, the added tokens and the settings of the base vocabulary.

        In `tokenizers`, added tokens outside the model always get the last ids. Therefore, added tokens with other ids become tokens of the
        model.

        Args:
            vocabulary: token → id, for the tokens of the model and all added tokens.
            counts: int64[1 + largest id], the number of occurrences of each id, as in `fst.train.result.Trained`.
            stopped, merges, scores, min_count: as in `fst.train.result.Trained`.
            options: further options of the model, which override the base options.
        """
        outside = self.added.keys() - self.of_model.keys() - {self.joined(*pair) for pair in merges}
        last = max((number for token, number in vocabulary.items() if token not in outside), default=-1)
        specials = [token for token in self.document["added_tokens"] if token["content"] in vocabulary]
        flags = {token["content"]: {name: token[name] for name in PLAIN if token[name] != PLAIN[name]} for token in specials}
        return Trained(
            kind=self.kind,
            vocabulary=dict(sorted(vocabulary.items(), key=lambda item: item[1])),
            counts=counts,
            stopped=stopped,
            merges=merges,
            scores=np.array(scores, np.float64),
            special_tokens=sorted(flags, key=vocabulary.__getitem__),
            pipeline=self.pipeline,
            model={**self.options, **options},
            min_count=min_count,
            flags={token: changed for token, changed in flags.items() if changed},
            further={name: self.document[name] for name in FURTHER},
            settings=self.settings,
            outside=frozenset(token for token in outside if vocabulary[token] > last),
        )
