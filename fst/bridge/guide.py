"""Guides without stored masks: the compiler makes the automaton, and the runtime makes each mask at its first use."""

from __future__ import annotations

from typing import Any

from fst.bridge.from_live import table_for
from fst.machines.guide.vocabulary import Vocabulary
from fst.runtime.machines.guide.canonical_completions import CanonicalCompletions
from fst.runtime.machines.guide.late_states import LateStates
from fst.tables.table import Table


def late(
    source: Any, *, end_id: int | None, canonical: bool = False, **texts: Any
) -> tuple[Table, CanonicalCompletions | LateStates, Vocabulary]:
    """The table of a tokenizer, the states that steps find, and the vocabulary; see `fst.Guide`."""
    from fst.compile.guides import canonical_machine
    from fst.compile.machines.guide.compiler import vocabulary_for
    from fst.compile.machines.guide.texts import automaton_of, texts_of

    tokenizer = table_for(source, "fst.Guide")
    vocabulary = vocabulary_for(tokenizer, end_id)
    if not canonical:
        return tokenizer, LateStates(texts_of(**texts), vocabulary), vocabulary
    states = CanonicalCompletions(canonical_machine(tokenizer, vocabulary, automaton_of(**texts)[0]), vocabulary)
    states.need_text()
    return tokenizer, states, vocabulary
