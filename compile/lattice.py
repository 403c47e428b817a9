"""Compilers of dictionaries for the best path through a lattice of words, as in jieba and MeCab."""

from fst.compile.machines.segmentation.lattice import jieba, mecab

__all__ = ["jieba", "mecab"]


def __dir__() -> list[str]:
    return __all__
