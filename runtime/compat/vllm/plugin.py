"""The function that vLLM calls in each of its processes.

vLLM 0.33 has a registry of tokenizer modes, but none of detokenizers or of backends of structured output. For these, functions of vLLM are
wrapped. A wrapped function does the same as before, unless the name ``fst`` is chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from typing import Any, Literal, get_args

from fst.errors import FstError
from fst.runtime.compat.engines.parts import add_part
from fst.runtime.compat.vllm.backend import NAME, FstBackend, FstGrammar, grammars_of
from fst.runtime.compat.vllm.detokenizer import detokenizer, stream_of
from fst.runtime.tokenizer import Tokenizer

MANAGER = "vllm.v1.structured_output"


@cache
def register() -> None:
    """Add the tokenizer mode ``fst``, the detokenizer of its streamed text, and the structured-output backend ``fst`` to vLLM.

    vLLM calls this function itself. If the installed version of vLLM lacks a class or a function that a part needs, this part is left
    out, and a warning in vLLM's log contains its name. A second call has no effect.

    Example::

        fst.vllm.register()  # before LLM(…), which reads structured_outputs_config before it loads plugins
        llm = LLM(model, tokenizer_mode="fst", structured_outputs_config={"backend": "fst"})
    """
    for name, add in (("tokenizer mode", _add_mode), ("detokenizer", _add_detokenizer), ("structured-output backend", _add_backend)):
        add_part("vllm", name, add)


def _add_mode() -> None:
    """Add the tokenizer mode."""
    from vllm.renderers.registry import RENDERER_REGISTRY
    from vllm.tokenizers import TokenizerRegistry

    RENDERER_REGISTRY.register(NAME, "vllm.renderers.hf", "HfRenderer")
    TokenizerRegistry.register(NAME, "fst.runtime.compat.vllm.tokenizer", "FstTokenizer")


def _add_detokenizer() -> None:
    """Add the detokenizer for requests whose tokenizer is a stand-in."""
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer, SlowIncrementalDetokenizer

    before = _function(IncrementalDetokenizer, "from_new_request", "tokenizer", "request")
    slow = SlowIncrementalDetokenizer

    @wraps(before)
    def from_new_request(_cls: Any, tokenizer: Any, request: Any) -> Any:
        own = getattr(tokenizer, "fst", None)
        if not isinstance(own, Tokenizer):
            return before(tokenizer, request)
        decoder = stream_of(own, request.sampling_params.skip_special_tokens)
        return slow(tokenizer, request) if decoder is None else detokenizer()(tokenizer, request, decoder)

    IncrementalDetokenizer.from_new_request = classmethod(from_new_request)


def _add_backend() -> None:
    """Add the backend of structured output."""
    from pydantic.dataclasses import rebuild_dataclass
    from vllm.config import StructuredOutputsConfig
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams

    field = StructuredOutputsConfig.__dataclass_fields__["backend"]
    check = _function(SamplingParams, "_validate_structured_outputs", "self", "model_config", "structured_outputs_config", "tokenizer")

    @wraps(check)
    def checked(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        params, config = self.structured_outputs, structured_outputs_config
        is_own = config is not None and config.backend == NAME and params is not None
        if not is_own or tokenizer is None or model_config.is_diffusion or params._backend not in (None, NAME):
            check(self, model_config, config, tokenizer)  # vLLM's own checks: the request is for another backend, or is refused
            return
        _wrap_manager()
        try:
            _need_guide(params, tokenizer)
        except (FstError, ValueError, TypeError, RecursionError) as error:
            raise VLLMValidationError(f"the request for structured output is refused: {error}") from error
        params._backend = NAME

    if MANAGER in sys.modules:  # else the first request wraps it, if the engine runs in this process
        _wrap_manager()
    field.type = Literal[(*get_args(field.type), NAME)]
    rebuild_dataclass(StructuredOutputsConfig, force=True)
    SamplingParams._validate_structured_outputs = checked


def _need_guide(params: Any, tokenizer: Any) -> None:
    """Make the guide of a request. Errors of a wrong request are raised here, before it reaches the engine."""
    from vllm.v1.structured_output.request import get_structured_output_key

    kind, text = get_structured_output_key(params)
    grammars_of(tokenizer).guide(kind.name.lower(), text)


@cache
def _wrap_manager() -> None:
    """Add the backend ``fst`` to vLLM's manager of structured output."""
    from vllm.v1.structured_output import StructuredOutputManager
    from vllm.v1.structured_output.backend_types import StructuredOutputBackend, StructuredOutputGrammar

    before = _function(StructuredOutputManager, "grammar_init", "self", "request")

    @wraps(before)
    def grammar_init(self: Any, request: Any) -> None:
        params = request.sampling_params and request.sampling_params.structured_outputs
        if self.backend is None and params is not None and params._backend == NAME:
            size = self.vllm_config.model_config.get_vocab_size()
            self.backend, self.backend_name = FstBackend(self.vllm_config, self.tokenizer, size), NAME
        before(self, request)

    StructuredOutputBackend.register(FstBackend)
    StructuredOutputGrammar.register(FstGrammar)
    StructuredOutputManager.grammar_init = grammar_init


def _function(owner: Any, name: str, *parameters: str) -> Callable[..., Any]:
    """The function of a class that will be wrapped.

    Raises:
        AttributeError, TypeError: the class lacks it, or it has other parameters.
    """
    found: Callable[..., Any] = getattr(owner, name)
    if [*signature(found).parameters] != [*parameters]:
        raise TypeError(f"{owner.__name__}.{name} takes {', '.join(signature(found).parameters)}; expected {', '.join(parameters)}")
    return found
