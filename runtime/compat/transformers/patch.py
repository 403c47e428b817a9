"""Compiled tokenizers from `AutoTokenizer.from_pretrained`, for programs that load a model's tokenizer themselves.

Three members of libraries are replaced: the step of `from_pretrained` that makes a fast tokenizer from files, see
`fst.runtime.compat.transformers.loading`; `AutoTokenizer.from_pretrained`, for its argument ``use_fast``; and ``DecodeStream``, because
servers call it with the inner tokenizer of a fast tokenizer.
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
_replaced: list[tuple[Any, str, Any]] = []  # owner, name, and the original member; None: the member was inherited
_slow: ContextVar[bool] = ContextVar("slow", default=False)  # whether AutoTokenizer was called with use_fast=False


def patch_transformers() -> None:
    """Let `from_pretrained` of ``transformers`` return compiled tokenizers: of ``AutoTokenizer``, and of every class of fast tokenizers.

    The result is that of `fst.hf`: an object of the same class of ``transformers``, with the same ids and settings. If a tokenizer cannot
    be compiled, or its class is not in ``transformers``, as with ``trust_remote_code``, the result is that of ``transformers``, and a
    `FstWarning` contains the reason. A call with ``use_fast=False`` is not changed. Tables are cached on disk: a later process loads the
    table, and ``transformers`` does not read the vocabulary. ``tokenizers.decoders.DecodeStream`` then accepts the tokenizers of both
    libraries. Existing tokenizers do not change.

    Each process that loads tokenizers must call this function; a second call has no effect. A process that only unpickles tokenizers does
    not need it.

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
    change. Without a patch, the call has no effect.

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
    """`AutoTokenizer.from_pretrained`, with a record of ``use_fast``, because the original removes it."""

    @wraps(before.__func__)
    def from_pretrained(cls: type[Any], *given: Any, **named: Any) -> Any:
        token = _slow.set(named.get("use_fast") is False)
        try:
            return before.__func__(cls, *given, **named)
        finally:
            _slow.reset(token)

    return classmethod(from_pretrained)
