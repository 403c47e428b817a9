"""A plugin for SGLang, which finds it by the entry point of this package: the tokenizer backend and the grammar backend ``fst``."""

from fst.runtime.compat.sglang.plugin import register

__all__ = ["register"]


def __dir__() -> list[str]:
    return __all__
