"""Structured output in vLLM, with masks of `fst.Guide`."""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from fst.machines.guide.vocabulary import words_of
from fst.runtime.compat.engines.grammars import Grammars
from fst.runtime.compat.engines.matcher import Matcher

NAME = "fst"  # of the tokenizer mode and of the backend

logger = logging.getLogger("vllm.fst")


class FstBackend:
    """The backend of an engine, with the methods of vLLM's ``StructuredOutputBackend``.

    Args:
        tokenizer, vocab_size: as in vLLM.
    """

    def __init__(self, _vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self._grammars = grammars_of(tokenizer)
        self._words = words_of(max(vocab_size, self._grammars.size))

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: Collection[int] | None = None) -> FstGrammar:
        """Begin the text of a request.

        Args:
            request_type: a ``StructuredOutputOptions``.
            grammar_spec: the text of the schema, pattern, grammar, list or structural tag.
            stop_token_ids: the ids that end the text; None: the tokenizer's end of text.
        """
        return FstGrammar(Matcher(self._grammars.guide(request_type.name.lower(), grammar_spec), stop_token_ids))

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Make a tensor for masks: int32[max_num_seqs, words], in which all tokens are allowed."""
        from torch import full, int32

        return full((max_num_seqs, self._words), -1, dtype=int32)

    def destroy(self) -> None:
        """Do nothing: the guides are freed with the backend."""


class FstGrammar:
    """The text of a request, with the methods of vLLM's ``StructuredOutputGrammar``.

    Args:
        matcher: the text.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Append tokens; return False if one is not allowed. Tokens after the end are ignored."""
        count = self._matcher.accept(tokens)
        if count < len(tokens) and not self._matcher.has_ended:
            logger.error("request %s: token %d is not allowed", request_id, tokens[count])
            return False
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Return the leading tokens that are allowed, without appending them."""
        return tokens[: self._matcher.validate(tokens)]

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens."""
        self._matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Write the mask of the next token into a row."""
        self._matcher.fill(bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Whether a token has ended the text."""
        return self._matcher.has_ended

    def reset(self) -> None:
        """Take back all tokens."""
        self._matcher.reset()


@lru_cache(maxsize=2)
def grammars_of(tokenizer: Any) -> Grammars:
    """The guides for a tokenizer. The checks of requests, and the backend if it is in the same process, share them."""
    return Grammars(tokenizer)
