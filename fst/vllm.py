"""A plugin for vLLM: the tokenizer mode ``fst``, and structured output with `fst.Guide`. vLLM finds it by the package's entry point."""

from fst.runtime.compat.vllm.plugin import register

__all__ = ["register"]


def __dir__() -> list[str]:
    return __all__
