"""Training of vocabularies from texts or from counted words."""

from fst.bridge.train.counting import words
from fst.bridge.train.from_old import extend, like, trim
from fst.bridge.train.vocabularies import bpe, unigram, wordlevel, wordpiece

__all__ = ["bpe", "extend", "like", "trim", "unigram", "wordlevel", "wordpiece", "words"]


def __dir__() -> list[str]:
    return __all__
