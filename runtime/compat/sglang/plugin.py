"""The function that SGLang calls in each of its processes. It uses SGLang's own registries of grammar backends and of hooks."""

from __future__ import annotations

from functools import cache
from typing import Any

from fst.runtime.compat.engines.parts import add_part
from fst.runtime.compat.sglang.backend import backend
from fst.runtime.compat.transformers.hf import hf

NAME = "fst"  # of both backends
LOADER = "sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer"


@cache
def register() -> None:
    """Add the tokenizer backend and the grammar backend ``fst`` to SGLang.

    SGLang calls this function itself. If the installed version of SGLang lacks a class or a function that a part needs, this part is
    left out, and a warning in SGLang's log contains its name. A second call has no effect.

    Example::

        fst.sglang.register()  # only for programs that make a ServerArgs before SGLang loads plugins
    """
    for name, add in (("tokenizer backend", _add_tokenizer), ("grammar backend", _add_grammars)):
        add_part("sglang", name, add)


def _add_tokenizer() -> None:
    """Add the tokenizer backend: SGLang loads a tokenizer, and `_compiled` replaces it."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    from sglang.srt.server_args import ServerArgs

    option = ServerArgs.__annotations__["tokenizer_backend"].__metadata__[0]
    HookRegistry.register(LOADER, _compiled, HookType.AFTER)
    option.choices.append(NAME)


def _compiled(loaded: Any, *_args: Any, tokenizer_backend: str = "", **_settings: Any) -> Any:
    """The stand-in for a tokenizer that SGLang has loaded; None, which keeps the tokenizer, if another backend is chosen."""
    if tokenizer_backend != NAME:
        return None
    made: Any = hf(loaded, truncation_side=loaded.truncation_side)
    made.additional_stop_token_ids = loaded.additional_stop_token_ids
    return made


def _add_grammars() -> None:
    """Add the grammar backend."""
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
    from sglang.srt.server_args import add_grammar_backend_choices

    register_grammar_backend(NAME, backend)
    add_grammar_backend_choices([NAME])
