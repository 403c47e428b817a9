"""Compile an automaton over bytes and the vocabulary of a tokenizer into a table of token masks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.compose import need_acceptor
from fst.compile.algebra.connect import connect
from fst.compile.algebra.other import over_texts
from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import ByteAutomaton, of_builder
from fst.compile.machines.guide.mask_store import Masks
from fst.compile.machines.guide.utf_8 import fragment
from fst.errors import UnsupportedError, quoted
from fst.machines.guide.arguments import ENDED, FIRST, TEXTS, Automaton
from fst.machines.guide.scanning import need_start, scanned_mask, working
from fst.machines.guide.table import GuideTable, header
from fst.machines.guide.vocabulary import Vocabulary, vocabulary_of
from fst.tables.table import Table

OPTIONS = {"schema": ("whitespace", "depth", "formats", "order", "strict"), "grammar": ("syntax",)}  # of the arguments in `TEXTS`
SURROGATE = re.compile("[\ud800-\udfff]")


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
    machine = connect(over_texts(machine))
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


def described(**arguments: Any) -> tuple[str, Any, dict[str, Any]]:
    """The argument that describes the texts, its name first, and the options that are not None.

    Raises:
        ValueError: none, or more than one, of `TEXTS` is given, or `choice` is empty.
        TypeError: an option belongs to another argument, or the argument has a wrong type.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    ways = [name for name in TEXTS if name in given]
    if len(ways) != 1:
        found = f"{' and '.join(ways)} are given" if ways else "no texts are given"
        raise ValueError(f"{found}; expected one of {', '.join(TEXTS)}")
    (way,) = ways
    texts = given.pop(way)
    wrong = [name for name in given if name not in OPTIONS.get(way, ())]
    if wrong:
        owner = next(owner for owner, names in OPTIONS.items() if wrong[0] in names)
        raise TypeError(f"{', '.join(wrong)} is given with {way}; expected it only with {owner}")
    return way, _checked(way, texts), given


def _checked(way: str, texts: Any) -> Any:
    """The argument `way`; a model of pydantic, or an adapter of types, as the schema of its values."""
    if way in ("regex", "grammar") and not isinstance(texts, str):
        raise TypeError(f"{way} is {type(texts).__name__}; expected a str")
    if way == "choice":
        found = [texts] if isinstance(texts, str) else [*texts]
        if not found or isinstance(texts, str) or not all(isinstance(each, str) for each in found):
            raise (TypeError if found else ValueError)(f"choice is {quoted(texts)}; expected a list of one or more str")
        broken = next(filter(SURROGATE.search, found), None)
        if broken is not None:
            raise ValueError(f"choice contains {quoted(broken)}, with a lone surrogate; expected texts that UTF-8 can express")
        return found
    if way == "schema":
        for name in ("model_json_schema", "json_schema"):  # pydantic's BaseModel and TypeAdapter
            if callable(getattr(texts, name, None)):
                return getattr(texts, name)()
    return texts


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
