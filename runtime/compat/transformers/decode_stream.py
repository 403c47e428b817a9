"""``tokenizers.decoders.DecodeStream`` for tokenizers of ``tokenizers`` and for their stand-ins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.runtime.compat.transformers.backend import Backend

INVALID = "Invalid prefix encountered while decoding stream"  # servers recognise the error by this beginning of its message


def decode_stream_of(library: type[Any]) -> type[Any]:
    """A class with the members of ``DecodeStream``. `library`, the class of ``tokenizers``, decodes with tokenizers in Rust."""

    class DecodeStream:
        """The text of ids that arrive one by one. All calls of `step` must pass the same tokenizer.

        Args:
            ids: ids before the stream; their text is not returned.
            skip_special_tokens: whether special tokens are left out of the text.
        """

        def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
            self._own = library(ids, skip_special_tokens)
            self._ids, self._skips = list(ids or ()), skip_special_tokens
            self._prefix, self._read = "", 0  # the text of the first `_read` ids; it was returned before

        def step(self, tokenizer: Any, id: int | Sequence[int]) -> str | None:
            """Return the new text after one or more new ids; None if they do not complete a character."""
            if not isinstance(tokenizer, Backend):
                return self._own.step(tokenizer, id)  # type: ignore[no-any-return]
            if not self._prefix and self._ids:
                self._start(tokenizer)
            self._ids = [*self._ids, *([id] if isinstance(id, int) else id)]
            text = tokenizer.decode(self._ids, self._skips)
            if len(text.encode()) <= len(self._prefix.encode()) or text.endswith("\ufffd"):
                return None
            if not text.startswith(self._prefix):
                raise ValueError(f"{INVALID}: {self._prefix!r} is not the beginning of {text!r}")
            new = text[len(self._prefix) :]
            self._ids, self._read = self._ids[self._read :], len(self._ids) - self._read
            self._prefix = tokenizer.decode(self._ids, self._skips)
            return new

        def _start(self, tokenizer: Backend) -> None:
            """Decode the ids before the stream."""
            text = tokenizer.decode(self._ids, self._skips)
            if not text.endswith("\ufffd"):
                self._prefix, self._read = text, len(self._ids)

    return DecodeStream
