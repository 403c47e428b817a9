"""Compile an automaton over bytes and the vocabulary of a tokenizer into a table of token masks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.compose import need_acceptor
from fst.compile.algebra.connect import connect
from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import ByteAutomaton, of_builder
from fst.compile.machines.guide.mask_store import Masks
from fst.compile.machines.guide.regex import from_regex
from fst.compile.machines.guide.utf_8 import fragment
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import ENDED, FIRST, Automaton
from fst.machines.guide.network import Network
from fst.machines.guide.scanning import need_start, scanned_mask, working
from fst.machines.guide.table import GuideTable, header
from fst.machines.guide.vocabulary import Vocabulary, vocabulary_of
from fst.tables.table import Table


def from_fst(machine: Arcs) -> ByteAutomaton:
    """The automaton of all texts, in UTF-8, that an acceptor accepts with any weight.

    Args:
        machine: an acceptor over characters or bytes, such as an `fst.Fst`. A symbol is read as its text.

    Raises:
        UnsupportedError: the machine is not an acceptor, accepts nothing, or has too many states.

    Examples:
        >>> from fst.compile.algebra.machine import Fst
        >>> from_fst(Fst.from_strings(["cat", "cot"])).targets.shape
        (4, 256)
    """
    need_acceptor(machine)
    machine = connect(machine)
    if not machine.states:
        raise UnsupportedError("the machine accepts no text; expected one that does")
    builder = Builder()
    end = builder.room(machine.states + 1) + machine.states
    sources, labels, targets = (column.astype(np.int64) for column in (machine.sources, machine.ilabel, machine.target))
    silent, symbols = labels == EPSILON, labels >= FIRST_SYMBOL
    builder.silent += zip(sources[silent].tolist(), targets[silent].tolist(), strict=True)
    builder.silent += ((state, end) for state in np.flatnonzero(np.isfinite(machine.final)).tolist())
    for source, label, target in zip(*(column[symbols].tolist() for column in (sources, labels, targets)), strict=True):
        text = machine.symbols[label - FIRST_SYMBOL].encode()
        if text:
            builder.text(source, text, target)
        else:
            builder.skip(source, target)
    plain = ~silent & ~symbols
    if machine.unit == "utf-8":
        builder.blocks.append(np.stack([sources, labels, labels, targets], axis=1)[plain])
    elif plain.any():
        _add_characters(builder, sources[plain], labels[plain], targets[plain])
    return of_builder(builder, machine.start, end).over_bytes()


def _add_characters(builder: Builder, sources: NDArray[np.int64], codes: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
    """Add one or more arcs that read a character; characters between the same two states are read as one set."""
    order = np.lexsort((codes, targets, sources))
    sources, codes, targets = sources[order], codes[order], targets[order]
    begins = (np.diff(sources, prepend=-1) != 0) | (np.diff(targets, prepend=-1) != 0)
    is_first = begins | (np.diff(codes, prepend=-2) > 1)  # the first and the last code point of a run
    firsts, lasts = codes[is_first], codes[np.roll(is_first, -1)]
    edges = np.stack([firsts, lasts + 1], axis=1)
    sets = np.split(edges, np.flatnonzero(begins[is_first])[1:])
    for source, each, target in zip(sources[begins].tolist(), sets, targets[begins].tolist(), strict=True):
        builder.character(source, fragment(each.ravel()), target)


def automaton_of(*, regex: str | None = None, schema: Any = None, fst: Any = None, **options: Any) -> tuple[ByteAutomaton, str | None]:
    """The automaton of the texts, and their pattern for information only; arguments as in `fst.compile.guide`."""
    given = _given(regex, schema, fst, options)
    if schema is not None:
        from fst.compile.machines.guide.schema.compiler import from_schema  # imported late, because its module makes languages with kernels

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
    """The options that are not None; an error refuses other than one argument for the texts, and options that do not fit this argument."""
    if sum(each is not None for each in (regex, schema, fst)) != 1:
        raise ValueError("regex, schema and fst are three ways to describe texts; expected one of them")
    if regex is not None and not isinstance(regex, str):
        raise TypeError(f"regex is {type(regex).__name__}; expected a pattern, which is a str")
    given = {name: value for name, value in options.items() if value is not None}
    if given and schema is None:
        raise TypeError(f"{', '.join(given)} is for schemas only; expected no such option")
    return given


def vocabulary_for(table: Table, end_id: int | None) -> Vocabulary:
    """The vocabulary of a tokenizer's table, in which the token `end_id` ends texts; None: the token that the table determines."""
    return vocabulary_of(table).ending_with(end_id)


def compile_masks(vocabulary: Vocabulary, source: ByteAutomaton, pattern: str | None = None) -> GuideTable:
    """Compile the masks of all states. The pattern, or the schema, of the texts is stored for information only."""
    automaton = with_classes(source)
    states, masks = len(automaton.finals), Masks(vocabulary.words)
    numbers = masks.add_states(automaton, vocabulary.trie, vocabulary.end_id, np.arange(states))
    work = working(automaton, vocabulary.trie, vocabulary.words)
    others = [masks.add(scanned_mask(automaton, vocabulary, states + which, work)) for which in (FIRST, ENDED)]
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
    """The automaton with its classes of bytes numbered in the order of their first bytes."""
    _, firsts = np.unique(source.classes, return_index=True)
    order = np.argsort(firsts)
    targets = np.ascontiguousarray(source.by_class[:, order], np.int32)
    return Automaton(targets, np.argsort(order).astype(np.uint8)[source.classes], source.is_final.astype(np.uint8))
