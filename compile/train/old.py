"""An existing vocabulary, from which another one is made: the parts of its ``tokenizer.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.merges import Merges
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.result import PLAIN, Trained
from fst.machines.byte_letters import bytes_of
from fst.rows import MAX_WORD

Json = Mapping[str, Any]

BYTE_TOKENS = frozenset(f"<0x{byte:02X}>" for byte in range(256))  # for the bytes of unknown characters
OF_TOKENS = ("type", "vocab", "merges")  # members of a model that are not options
FURTHER = ("truncation", "padding", "post_processor")
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


@dataclass(frozen=True)
class OldVocabulary:
    """A vocabulary as its ``tokenizer.json`` states it.

    Attributes:
        document: the value of the ``tokenizer.json``.
        settings: what it does not state, named as in `fst.metadata.Settings`.
    """

    document: Json
    settings: Mapping[str, Any]

    @classmethod
    def of_table(cls, document: Json, settings: Mapping[str, Any]) -> OldVocabulary:
        """The vocabulary of a table, which has WordLevel as WordPiece without tokens that continue a word."""
        model = document["model"]
        continues = model.get("continuing_subword_prefix") or ""
        is_unlimited = model["type"] == "WordPiece" and model["max_input_chars_per_word"] == MAX_WORD
        if is_unlimited and not any(token.startswith(continues) for token in model["vocab"]):
            document = {**document, "model": {"type": "WordLevel", "unk_token": model["unk_token"], "vocab": model["vocab"]}}
        return cls(document, settings)

    @classmethod
    def of_ranks(cls, document: Json, settings: Mapping[str, Any]) -> OldVocabulary:
        """The vocabulary of an encoding of tiktoken. All pairs that make a token have its rank, but only one of them merges."""
        model, added = document["model"], {token["content"] for token in document["added_tokens"]}
        contents = {token: bytes_of(token) for token in model["vocab"] if token not in added}
        names = {content: token for token, content in contents.items() if content is not None}
        merges = Merges.of_ranks({content: model["vocab"][token] for content, token in names.items()}).pairs
        listed = [[names[left], names[right]] for left, right in merges]
        return cls({**document, "model": {**model, "merges": listed}}, settings)

    @property
    def pipeline(self) -> Pipeline:
        """What happens to a text before the model, and to tokens after it."""
        return Pipeline(*(self.document[name] for name in ("normalizer", "pre_tokenizer", "decoder")))

    @property
    def kind(self) -> str:
        """The type of the model."""
        kind: str = self.document["model"]["type"]
        return kind

    @property
    def options(self) -> dict[str, Any]:
        """The members of the model except its tokens and its merges."""
        return {name: value for name, value in self.document["model"].items() if name not in OF_TOKENS}

    @property
    def prefix(self) -> str:
        """Of tokens that continue a word."""
        return self.document["model"].get("continuing_subword_prefix") or ""

    @property
    def suffix(self) -> str:
        """Of tokens that end a word."""
        return self.document["model"].get("end_of_word_suffix") or ""

    @cached_property
    def of_model(self) -> Mapping[str, int]:
        """Token → id, of the model."""
        tokens = self.document["model"]["vocab"]
        return {token: number for number, (token, _) in enumerate(tokens)} if self.kind == "Unigram" else dict(tokens)

    @cached_property
    def added(self) -> Mapping[str, int]:
        """Token → id, of the added tokens; the model may have them, too."""
        return {token["content"]: token["id"] for token in self.document["added_tokens"]}

    @property
    def tokens(self) -> dict[str, int]:
        """Token → id, of model and added tokens."""
        return {**self.of_model, **self.added}

    @property
    def digest(self) -> str:
        """A digest of the vocabulary."""
        return sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()

    @cached_property
    def scores(self) -> Sequence[float]:
        """Of Unigram, by id."""
        return [score for _, score in self.document["model"]["vocab"]] if self.kind == "Unigram" else []

    @cached_property
    def merges(self) -> Sequence[tuple[str, str]]:
        """Of BPE, the first one first."""
        return [(left, right) for left, right in self.document["model"].get("merges", ())]

    @cached_property
    def unknown(self) -> int | None:
        """The id of the unknown token."""
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
        """A ``tokenizer.json`` of the model alone: a text is a word, and added tokens are text."""
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
        """A vocabulary with the pipeline, the added tokens and the settings of this one.

        The reference numbers added tokens that the model lacks after all others. So those with other ids become tokens of the model.

        Args:
            vocabulary: token → id, of model and added tokens; every added token is in it.
            counts: int64[1 + largest id].
            stopped, merges, scores, min_count: as in `Trained`.
            options: of the model, in addition to the old ones.
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
