"""Automata over bytes from machines of the algebra."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.compose import need_acceptor
from fst.compile.algebra.connect import connect
from fst.compile.machines.guide.automaton import ByteAutomaton
from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import of_builder
from fst.compile.machines.guide.utf_8 import fragment
from fst.errors import UnsupportedError


def from_fst(machine: Arcs) -> ByteAutomaton:
    """The automaton of all texts, in UTF-8, that an acceptor accepts with any weight.

    Args:
        machine: an acceptor over characters or bytes, such as an `fst.Fst`. A symbol is read as its text.

    Raises:
        UnsupportedError: the machine has outputs of its own, accepts nothing, or has too many states.

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
    is_first = begins | (np.diff(codes, prepend=-2) > 1)  # of a run of code points
    firsts, lasts = codes[is_first], codes[np.roll(is_first, -1)]
    edges = np.stack([firsts, lasts + 1], axis=1)
    sets = np.split(edges, np.flatnonzero(begins[is_first])[1:])
    for source, each, target in zip(sources[begins].tolist(), sets, targets[begins].tolist(), strict=True):
        builder.character(source, fragment(each.ravel()), target)
