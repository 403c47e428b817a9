"""The options of ``spm_train`` that its trainers of Unigram, characters and words share, by their names there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fst.core.json_fields import is_text
from fst.errors import UnsupportedError, VocabularyError, listed, quoted

ELSEWHERE = {  # names of spm_train → arguments of `fst.train.unigram`
    "max_sentencepiece_length": "max_piece_length",
    "num_sub_iterations": "n_sub_iterations",
    "seed_sentencepiece_size": "seed_size",
    "normalization_rule_name": "normalizer",
    "control_symbols": "special_tokens",
    "unk_piece": "unk_token",
    "required_chars": "initial_alphabet",
    **{name: name for name in ("vocab_size", "shrinking_factor")},
}
RANGES = {"character_coverage": (0.98, 1.0), "max_sentence_length": (10, 1 << 30), "num_threads": (1, 1024)}


@dataclass(frozen=True)
class Options:
    """Options with the names, the defaults and the meaning of ``spm_train`` of `sentencepiece` 0.2.3."""

    character_coverage: float = 0.9995
    byte_fallback: bool = False
    split_digits: bool = False
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    allow_whitespace_only_pieces: bool = False
    hard_vocab_limit: bool = True
    user_defined_symbols: tuple[str, ...] = ()
    max_sentence_length: int = 4192
    num_threads: int = 16

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> Options:
        """The options of a mapping; None: the defaults.

        Raises:
            UnsupportedError: an option is unknown, or cannot be followed exactly.
            VocabularyError: a value is not allowed.
        """
        names = [each.name for each in fields(cls)]
        if not isinstance(given, Mapping | None):
            raise UnsupportedError(f"options are {quoted(given)}; expected names with values, such as {{'character_coverage': 1.0}}")
        for name in given or ():
            if name in ELSEWHERE:
                raise UnsupportedError(f"options have {quoted(name)}, which is the argument {ELSEWHERE[name]}; pass it as such")
            if name not in names:
                raise UnsupportedError(f"options have {quoted(name)}; expected options that are followed exactly: {listed(names)}")
        found = dict(given or {})
        if "user_defined_symbols" in found:
            found["user_defined_symbols"] = _symbols(found["user_defined_symbols"])
        made = cls(**found)
        for each in fields(cls):
            _check(each.name, getattr(made, each.name), each.default)
        return made

    @property
    def coverage(self) -> np.float32:
        """The character coverage as SentencePiece stores it."""
        return np.float32(self.character_coverage)


def _symbols(given: Any) -> Any:
    """The value of ``user_defined_symbols``: a text with commas between the symbols becomes a tuple of symbols."""
    if isinstance(given, str) and '"' in given:  # SentencePiece reads quotes as in CSV
        raise UnsupportedError(f"user_defined_symbols are {quoted(given)}; expected text without quotes; pass a list of symbols")
    if isinstance(given, str):
        return tuple(given.split(",")) if given else ()
    return tuple(given) if isinstance(given, list | tuple) else given


def _check(name: str, value: Any, default: Any) -> None:
    if name in RANGES:
        least, most = RANGES[name]
        is_number = isinstance(value, type(default) | int) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:
            raise VocabularyError(f"{name} is {quoted(value)}; expected a number from {least} to {most:,}")
    elif name == "user_defined_symbols":
        if not isinstance(value, tuple) or not all(is_text(each) and each for each in value):
            raise VocabularyError(f"user_defined_symbols are {quoted(value)}; expected a list of texts that are not empty")
    elif not isinstance(value, type(default)):
        raise VocabularyError(f"{name} is {quoted(value)}; expected {type(default).__name__}")
