"""Training of vocabularies from texts or from counted words."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.train.bpe_trainer import bpe
    from fst.train.counting import merge_words, words
    from fst.train.extending import extend
    from fst.train.retraining import like
    from fst.train.trimming import trim
    from fst.train.unigram_trainer import unigram
    from fst.train.wordlevel_trainer import wordlevel
    from fst.train.wordpiece_trainer import wordpiece

__all__ = ["bpe", "extend", "like", "merge_words", "trim", "unigram", "wordlevel", "wordpiece", "words"]

# Each function → its module, which is imported at the first use.
_MODULES = {
    "bpe": "fst.train.bpe_trainer",
    "extend": "fst.train.extending",
    "like": "fst.train.retraining",
    "merge_words": "fst.train.counting",
    "trim": "fst.train.trimming",
    "unigram": "fst.train.unigram_trainer",
    "wordlevel": "fst.train.wordlevel_trainer",
    "wordpiece": "fst.train.wordpiece_trainer",
    "words": "fst.train.counting",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'fst.train' has no attribute {name!r}")
    return resolve_name(f"{_MODULES[name]}:{name}")


def __dir__() -> list[str]:
    return __all__
