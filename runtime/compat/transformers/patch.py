"""Compiled tokenizers from `AutoTokenizer.from_pretrained`, for programs that load a model's tokenizer themselves.

Three members of libraries are replaced: the step of `from_pretrained` at which a fast tokenizer is made from files that are found, see
`fst.runtime.compat.transformers.loading`; `AutoTokenizer.from_pretrained`, for its argument ``use_fast``; and ``DecodeStream``, which
servers call with the tokenizer in Rust.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from threading import Lock
from typing import Any

from fst.runtime.compat.transformers.decode_stream import decode_stream_of
from fst.runtime.compat.transformers.hf import checked_library, library_class, stand_in
from fst.runtime.compat.transformers.loading import loaded, own

_LOCK = Lock()
_replaced: list[tuple[Any, str, Any]] = []  # owner, name, and the member before; None: the member was inherited
_slow: ContextVar[bool] = ContextVar("slow", default=False)  # whether AutoTokenizer was called with use_fast=False


def patch_transformers() -> None:
    """Let `from_pretrained` of ``transformers`` return compiled tokenizers: of ``AutoTokenizer``, and of every class of fast tokenizers.

    The result is that of `fst.hf`: an object of the same class of ``transformers``, with the same ids and settings. A tokenizer that cannot
    be compiled stays a tokenizer of ``transformers``, with a `FstWarning` that names the reason; so do tokenizers of classes outside
    ``transformers``, such as those of ``trust_remote_code``. With ``use_fast=False``, a call is not patched. Tables are cached on disk: a
    later process loads the table, and ``transformers`` does not read the vocabulary. ``tokenizers.decoders.DecodeStream`` accepts the
    tokenizers of both libraries. Existing tokenizers do not change.

    Each process that loads tokenizers calls this function itself; a second call does nothing. A process that receives a pickled tokenizer
    does not need it.

    Raises:
        ImportError: ``transformers`` is not installed.
        UnsupportedError: ``transformers`` is older than version 5.

    Example::

        fst.patch_transformers()
        tok = AutoTokenizer.from_pretrained("Qwen/Qwen3-8B")    # compiled
    """
    library, decoders = checked_library(), import_module("tokenizers.decoders")
    with _LOCK:
        if not _replaced:
            _replace(library.TokenizersBackend, "_from_pretrained", lambda _before: classmethod(_from_pretrained))
            _replace(library.AutoTokenizer, "from_pretrained", _with_use_fast)
            _replace(decoders, "DecodeStream", decode_stream_of)


def unpatch_transformers() -> None:
    """Undo `patch_transformers`: later calls of `from_pretrained` return tokenizers of ``transformers``. Existing tokenizers do not
    change. Without a patch, nothing happens.

    Example::

        fst.unpatch_transformers()
    """
    with _LOCK:
        while _replaced:
            owner, name, before = _replaced.pop()
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    before = vars(owner).get(name)
    setattr(owner, name, make(before))
    _replaced.append((owner, name, before))


def _from_pretrained(cls: type[Any], *given: Any, **named: Any) -> Any:
    if _slow.get() or named.get("use_fast") is False:
        return own(cls, *given, **named)
    return loaded(stand_in, library_class(cls), *given, **named)


def _with_use_fast(before: Any) -> Any:
    """`AutoTokenizer.from_pretrained`, which removes ``use_fast`` from the arguments."""

    @wraps(before.__func__)
    def from_pretrained(cls: type[Any], *given: Any, **named: Any) -> Any:
        token = _slow.set(named.get("use_fast") is False)
        try:
            return before.__func__(cls, *given, **named)
        finally:
            _slow.reset(token)

    return classmethod(from_pretrained)
