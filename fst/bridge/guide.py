"""Guides whose masks are made late: the compiler makes the automaton, and the runtime makes each mask at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.machines.guide.arguments import Automaton
    from fst.machines.guide.vocabulary import Vocabulary


def late(tokenizer: Any, *, regex: str | None, fst: Any, end_id: int | None) -> tuple[Automaton, Vocabulary]:
    """The automaton of the texts and the vocabulary of a tokenizer; see `fst.Guide`."""
    from fst.compile.machines.guide.compiler import automaton_of, vocabulary_for, with_classes

    vocabulary = vocabulary_for(tokenizer, end_id)
    automaton, _ = automaton_of(regex=regex, fst=fst)
    return with_classes(automaton), vocabulary
