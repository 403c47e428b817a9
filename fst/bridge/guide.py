"""Guides without stored masks: the compiler makes the automaton, and the runtime makes each mask at its first use."""

from __future__ import annotations

from typing import Any

from fst.bridge.from_live import table_for
from fst.errors import UnsupportedError
from fst.machines.guide.vocabulary import Vocabulary, vocabulary_of
from fst.runtime.machines.guide.canonical_completions import CanonicalCompletions
from fst.runtime.machines.guide.covers import CoverSearch
from fst.runtime.machines.guide.late_states import LateStates
from fst.runtime.sessions.covers import REMEDY
from fst.tables.table import Table

ANY_TEXT = r"[\s\S]*"
NOT_CANONICAL = "; use canonical=False"  # the end of messages about canonical masks


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


def cover_search(table: Table) -> CoverSearch:
    """The search of `fst.Tokenizer.covers`.

    Args:
        table: the table of a tokenizer.

    Raises:
        UnsupportedError: the tokenizer has no canonical masks, see `fst.Guide`.
    """
    from fst.compile.guides import canonical_machine
    from fst.compile.machines.guide.texts import automaton_of

    vocabulary = vocabulary_of(table)
    try:
        return CoverSearch(canonical_machine(table, vocabulary, automaton_of(regex=ANY_TEXT)[0]), vocabulary)
    except UnsupportedError as error:
        raise UnsupportedError(f"covers: {str(error).removesuffix(NOT_CANONICAL)}; {REMEDY}") from None
