"""A plugin for vLLM, which finds it by the entry point of this package: the tokenizer mode ``fst`` and structured output by `fst.Guide`."""

from fst.runtime.compat.vllm.plugin import register

__all__ = ["register"]


def __dir__() -> list[str]:
    return __all__
