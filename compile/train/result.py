"""The result of a trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.pipeline import Pipeline

SIZE, NO_PAIR, MIN_FREQUENCY, DEADLINE = "size", "no pair", "min_frequency", "deadline"  # reasons why training stopped


@dataclass(frozen=True, eq=False)
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
