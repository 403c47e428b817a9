"""The options of ``spm_train`` that its trainers of Unigram, characters and words share, by their names there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fst.compile.text.sentencepiece import SYMBOL
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
UNIGRAM, BPE, CHAR, WORD = "unigram", "bpe", "char", "word"  # values of ``model_type``
LEAST_SAMPLE = 101  # SentencePiece refuses smaller values of ``input_sentence_size``, except 0


@dataclass(frozen=True)
class Options:
    """Options with the names, the defaults and the meaning of ``spm_train`` of `sentencepiece` 0.2.3."""

    model_type: str = UNIGRAM
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
    input_sentence_size: int = 0  # the maximum number of sentences; 0: all
    shuffle_input_sentence: bool = True
    use_all_vocab: bool = False
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
        if made.use_all_vocab and made.model_type == UNIGRAM:
            raise VocabularyError("use_all_vocab is for model_type 'char' or 'word'; leave it out")
        return made

    @property
    def symbols(self) -> list[str]:
        """The user-defined symbols. In a vocabulary of words, a symbol is also a word, which begins with ▁."""
        own = [*self.user_defined_symbols]
        if self.model_type != WORD:
            return own
        return [form for symbol in own for form in ([symbol] if symbol.startswith(SYMBOL) else [symbol, SYMBOL + symbol])]

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
    elif not isinstance(value, type(default)) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise VocabularyError(f"{name} is {quoted(value)}; expected {type(default).__name__}")
    elif name == "model_type" and value == BPE:
        raise UnsupportedError("model_type is 'bpe', which is the trainer fst.train.bpe; train with it")
    elif name == "model_type" and value not in (UNIGRAM, CHAR, WORD):
        raise VocabularyError(f"model_type is {quoted(value)}; expected 'unigram', 'char' or 'word'")
    elif name == "input_sentence_size" and value and value < LEAST_SAMPLE:
        raise VocabularyError(f"input_sentence_size is {value}; expected 0 or at least {LEAST_SAMPLE}, as in SentencePiece")
