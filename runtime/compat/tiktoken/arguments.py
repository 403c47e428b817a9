"""Checks of arguments, with the errors and messages of ``tiktoken`` and its extension module."""

from __future__ import annotations

from operator import index
from typing import Any

from fst.runtime.decoder import MAX_ID


def number_of(token: Any) -> int:
    """Convert an id to int. Raise a TypeError if the id is not a whole number, and an OverflowError if the number is out of range."""
    number = index(token)
    if not -1 << 63 <= number < 1 << 63:
        raise OverflowError("Python int too large to convert to C long")
    if not 0 <= number <= MAX_ID:
        raise OverflowError("out of range integral type conversion attempted")
    return number


def need(value: Any, kind: type) -> None:
    """Raise a TypeError if a value is not of the type `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{_named(value)} is not an instance of {kind.__name__!r}")


def need_strings(allowed: Any) -> None:
    """Raise a TypeError if a value is not a set of strings."""
    if not isinstance(allowed, set | frozenset):
        raise TypeError(f"{_named(allowed)} is not an instance of 'set'")
    for token in allowed:
        need(token, str)


def need_sequence(tokens: Any) -> None:
    """Raise a TypeError if a value is not a sequence."""
    if isinstance(tokens, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if isinstance(tokens, dict) or not hasattr(type(tokens), "__getitem__"):
        raise TypeError(f"{_named(tokens)} is not an instance of 'Sequence'")


def need_threads(threads: int | None) -> None:
    """Raise a ValueError if the number of threads is not positive."""
    if threads is not None and threads <= 0:
        raise ValueError("max_workers must be greater than 0")


def refusal(token: str) -> str:
    """Make the error message for a disallowed special token."""
    return (
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        "If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n"
    )


def _named(value: Any) -> str:
    return "'None'" if value is None else f"{type(value).__name__!r} object"
