"""Streamed text of a request, for vLLM."""

from __future__ import annotations

from functools import cache
from typing import Any

from fst.errors import UnsupportedError
from fst.runtime.decoder import DecodeStream
from fst.runtime.tokenizer import Tokenizer


def stream_of(tokenizer: Tokenizer, skip_special_tokens: bool) -> DecodeStream | None:
    """A stream for the text of one request; None if the text of a token depends on its neighbours, as in WordPiece."""
    try:
        return tokenizer.decode_stream(skip_special_tokens=skip_special_tokens)
    except UnsupportedError:
        return None


@cache
def detokenizer() -> Any:
    """The class of detokenizers. It is made at its first use, because its base class comes from vLLM."""
    from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer

    class FstDetokenizer(FastIncrementalDetokenizer):  # type: ignore[misc]
        """A detokenizer that decodes each id once.

        Args:
            tokenizer: a stand-in of `fst.hf`.
            request: the request, with the ids of its prompt.
            decoder: a new stream.
        """

        def __init__(self, tokenizer: Any, request: Any, decoder: DecodeStream) -> None:
            super().__init__(tokenizer, request)
            self._decoder = decoder
            decoder.write([number for number in request.prompt_token_ids or () if number >= 0])

        def _protected_step(self, next_token_id: int) -> str | None:
            return self._decoder.write((next_token_id,)) if next_token_id >= 0 else None

    return FstDetokenizer
