"""Training of vocabularies from texts or from counted words."""

from fst.bridge.train import bpe, extend, like, trim, unigram, wordlevel, wordpiece, words

__all__ = ["bpe", "extend", "like", "trim", "unigram", "wordlevel", "wordpiece", "words"]


def __dir__() -> list[str]:
    return __all__
