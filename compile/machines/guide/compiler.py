"""Compile an automaton over bytes and the vocabulary of a tokenizer into a table of token masks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fst.compile.machines.guide.automaton import ByteAutomaton
from fst.compile.machines.guide.machine import from_fst
from fst.compile.machines.guide.regex import from_regex
from fst.compile.machines.guide.store import Masks
from fst.machines.guide.arguments import ENDED, FIRST, Automaton
from fst.machines.guide.network import Network
from fst.machines.guide.scanning import need_start, row_of, working
from fst.machines.guide.table import GuideTable, header
from fst.machines.guide.vocabulary import Vocabulary, vocabulary_of
from fst.tables.table import Table


def automaton_of(*, regex: str | None = None, schema: Any = None, fst: Any = None, **options: Any) -> tuple[ByteAutomaton, str | None]:
    """The automaton of the texts, and their pattern for information; arguments as in `fst.compile.guide`."""
    given = _given(regex, schema, fst, options)
    if schema is not None:
        from fst.compile.machines.guide.schema.compiler import from_schema  # its module makes languages, by kernels

        return from_schema(schema, **given), schema if isinstance(schema, str) else json.dumps(schema)
    return (from_fst(fst), None) if regex is None else (from_regex(regex), regex)


def late_automaton_of(*, schema: Any = None, regex: str | None = None, fst: Any = None, **options: Any) -> ByteAutomaton | Network:
    """The automaton of the texts, or a network if it would have too many states; arguments as in `fst.compile.guide`."""
    if schema is None:
        return automaton_of(regex=regex, fst=fst, **options)[0]
    given = _given(regex, schema, fst, options)
    from fst.compile.machines.guide.schema.compiler import late_schema

    return late_schema(schema, **given)


def _given(regex: Any, schema: Any, fst: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not None, after other arguments than one that describes texts, and its options, are refused."""
    if sum(each is not None for each in (regex, schema, fst)) != 1:
        raise ValueError("regex, schema and fst are three ways to describe texts; expected one of them")
    if regex is not None and not isinstance(regex, str):
        raise TypeError(f"regex is {type(regex).__name__}; expected a pattern, which is a str")
    given = {name: value for name, value in options.items() if value is not None}
    if given and schema is None:
        raise TypeError(f"{', '.join(given)} is for schemas only; expected no such option")
    return given


def vocabulary_for(table: Table, end_id: int | None) -> Vocabulary:
    """The vocabulary of a tokenizer's table, in which the token `end_id` ends texts; None: the token of the table."""
    return vocabulary_of(table).ending_with(end_id)


def compile_masks(vocabulary: Vocabulary, source: ByteAutomaton, pattern: str | None = None) -> GuideTable:
    """Compile the masks of all states.

    Args:
        vocabulary: the vocabulary of a tokenizer.
        source: the automaton of the texts.
        pattern: the pattern or the schema of the texts, for information.

    Raises:
        UnsupportedError: the masks take more memory than a table may have, or no token begins a text.
    """
    automaton = with_classes(source)
    states, masks = len(automaton.finals), Masks(vocabulary.words)
    numbers = masks.add_states(automaton, vocabulary.trie, vocabulary.end_id, np.arange(states))
    work = working(automaton, vocabulary.trie, vocabulary.words)
    others = [masks.add(row_of(automaton, vocabulary, states + which, work)) for which in (FIRST, ENDED)]
    tokens = vocabulary.tokens
    table = GuideTable(
        header(pattern, vocabulary.end_id, keeps_first=bool(tokens.keeps_first[0])),
        **automaton._asdict(),
        mask_of=np.append(numbers, np.array(others, np.uint32)),
        **masks.arrays(),
        **{name: getattr(tokens, name) for name in ("token_bytes", "token_ends", "first_bytes", "first_ends")},
    )
    need_start(table, vocabulary)
    return table


def with_classes(source: ByteAutomaton) -> Automaton:
    """The automaton with its classes of bytes in the order of their first bytes."""
    _, firsts = np.unique(source.classes, return_index=True)
    order = np.argsort(firsts)
    targets = np.ascontiguousarray(source.by_class[:, order], np.int32)
    return Automaton(targets, np.argsort(order).astype(np.uint8)[source.classes], source.is_final.astype(np.uint8))
