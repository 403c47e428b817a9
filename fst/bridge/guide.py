"""Guides whose masks are made late: the compiler makes the automaton, and the runtime makes each mask at its first use."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fst.errors import UnsupportedError, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fst.machines.guide.arguments import Automaton
    from fst.machines.guide.canonical import Machine
    from fst.machines.guide.vocabulary import Vocabulary
    from fst.tables.header import AddedTokens


def late(tokenizer: Any, *, end_id: int | None, **texts: Any) -> tuple[Automaton, Vocabulary]:
    """The automaton of the texts and the vocabulary of a tokenizer; see `fst.Guide`."""
    from fst.compile.machines.guide.compiler import automaton_of, vocabulary_for, with_classes

    vocabulary = vocabulary_for(tokenizer, end_id)
    automaton, _ = automaton_of(**texts)
    return with_classes(automaton), vocabulary


SEGMENTERS = {kind: f"fst.compile.machines.{kind}.segmenter" for kind in ("bpe", "unigram", "wordpiece")}


def canonical_guide() -> Any:
    """The class of guides with canonical masks."""
    from fst.runtime.machines.guide.canonical_masks import CanonicalGuide

    return CanonicalGuide


def canonical(tokenizer: Any, *, end_id: int | None = None, **texts: Any) -> tuple[Machine, Vocabulary]:
    """The arrays of canonical masks and the vocabulary of a tokenizer; see `fst.Guide`, whose other arguments are `texts`.

    Raises:
        UnsupportedError: as in `fst.compile.guide`; or the tokenizer changes texts in a way that canonical masks do not cover.
    """
    from fst.compile.machines.guide.canonical import machine_of
    from fst.compile.machines.guide.compiler import automaton_of, vocabulary_for

    table = getattr(tokenizer, "_table", tokenizer)
    vocabulary = vocabulary_for(tokenizer, end_id)
    automaton, _ = automaton_of(**texts)
    segmenter = import_module(SEGMENTERS[table.kind]).segmenter(table)
    _need_first_spaces(vocabulary, segmenter.begins_with_space)
    return machine_of(automaton, segmenter, _added(table.metadata.added_tokens)), vocabulary


def _added(tokens: AddedTokens) -> Collection[str]:
    """The added tokens that `encode` finds in texts.

    Raises:
        UnsupportedError: not every occurrence is found.
    """
    words = [content for content, token in tokens.contextual.items() if token.single_word]
    if words:
        raise UnsupportedError(f"the added tokens {listed(words)} are found only as whole words; use canonical=False")
    return {*tokens.specials, *tokens.contextual}


def _need_first_spaces(vocabulary: Vocabulary, begins_with_space: bool) -> None:
    """Refuse a decoder that changes the first token in another way than by removing a space."""
    tokens = vocabulary.tokens
    has_first = len(tokens.first_ends) > 0
    if has_first != begins_with_space or tokens.keeps_first[0]:
        raise UnsupportedError("the decoder writes the first token in a way that canonical masks do not cover; use canonical=False")
    if has_first:
        later, first = _strings(tokens.token_bytes, tokens.token_ends), _strings(tokens.first_bytes, tokens.first_ends)
        if any(content[1:] != other for content, other in zip(later, first, strict=True) if content.startswith(b" ")):
            raise UnsupportedError("the decoder changes more of the first token than its space; use canonical=False")


def _strings(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[bytes]:
    return [data[begin:end].tobytes() for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]
