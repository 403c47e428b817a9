"""Guides whose masks are made late: the compiler makes the automaton, and the runtime makes each mask at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.machines.guide.arguments import Automaton
    from fst.machines.guide.canonical import Machine
    from fst.machines.guide.vocabulary import Vocabulary


def late(tokenizer: Any, *, end_id: int | None, **texts: Any) -> tuple[Automaton, Vocabulary]:
    """The automaton of the texts and the vocabulary of a tokenizer; see `fst.Guide`."""
    from fst.compile.machines.guide.compiler import automaton_of, vocabulary_for, with_classes

    vocabulary = vocabulary_for(tokenizer, end_id)
    automaton, _ = automaton_of(**texts)
    return with_classes(automaton), vocabulary


def canonical_guide() -> Any:
    """The class of guides with canonical masks."""
    from fst.runtime.machines.guide.canonical_masks import CanonicalGuide

    return CanonicalGuide


def canonical(tokenizer: Any, *, end_id: int | None = None, **texts: Any) -> tuple[Machine, Vocabulary]:
    """The arrays of canonical masks and the vocabulary of a tokenizer; see `fst.Guide`, whose other arguments are `texts`.

    Raises:
        UnsupportedError: as in `fst.compile.guide`.
    """
    from fst.compile.guides import canonical_machine
    from fst.compile.machines.guide.compiler import automaton_of, vocabulary_for

    vocabulary = vocabulary_for(tokenizer, end_id)
    automaton, _ = automaton_of(**texts)
    return canonical_machine(tokenizer, vocabulary, automaton), vocabulary
