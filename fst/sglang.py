"""A plugin for SGLang: the tokenizer backend and the grammar backend ``fst``. SGLang finds it by the package's entry point."""

from fst.runtime.compat.sglang.plugin import register

__all__ = ["register"]


def __dir__() -> list[str]:
    return __all__
