"""Arcs for any other symbol: the characters and symbols that a machine does not name.

A machine names the symbols in `Arcs.symbols`. An arc that reads and writes `OTHER` copies a symbol that the machine does not name; an arc
that reads `OTHER` and writes `ANOTHER` writes a different one, which the machine does not name either; and an arc with `OTHER` on one side
only reads, or writes, any of these symbols. The meaning of an arc thus depends on the symbols. An operation on several machines first gives
all of them the same symbols, and arcs for the symbols that are new to a machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fst.automata.flags import FLAG
from fst.compile.algebra.arcs import ANOTHER, EPSILON, FIRST_SYMBOL, OTHER, Arcs, Columns, columns_of, is_label, joined, make, relabelled
from fst.compile.algebra.kernels.room import Rows, SizeError, rows_of
from fst.errors import UnsupportedError

MAX_ARCS = 1 << 24  # maximum number of arcs that a machine has, or that all machines of an operation get, in `with_others`
FEW = 3
SAMPLE = range(ord("a"), 0xD800)  # code points for `sampled`; the first are preferred


def has_other(arcs: Arcs) -> bool:
    """Whether a machine has arcs for any other symbol."""
    label = label_of(arcs, OTHER)
    return bool((arcs.ilabel == label).any() or (arcs.olabel == label).any())


def with_alphabet(symbols: Sequence[str], alphabet: Iterable[str]) -> tuple[str, ...]:
    """The symbols of a machine in a file with an alphabet: those on arcs; if some arcs are for any other symbol, also the others."""
    named = filter(None, alphabet) if OTHER in symbols or ANOTHER in symbols else ()
    return tuple(dict.fromkeys([*symbols, *named]))


def need_closed(arcs: Arcs, task: str) -> None:
    """Raise an UnsupportedError if a machine has arcs for any other symbol."""
    if has_other(arcs):
        raise UnsupportedError(f"the machine has arcs for any other symbol, which {task} cannot read; give it an alphabet by close()")


def label_of(arcs: Arcs, name: str) -> int:
    """The label of `OTHER` or `ANOTHER` in a machine; -1 if the machine has none."""
    return FIRST_SYMBOL + arcs.symbols.index(name) if name in arcs.symbols else -1


def with_others(arcs: Arcs, named: Set[str]) -> Arcs:
    """The machine with an arc for each of its `symbols` that `named` does not contain, next to each arc for any other symbol. Flag
    diacritics get no arcs.
    """
    if not has_other(arcs):
        return arcs
    new = [(number, name) for number, name in enumerate(arcs.symbols) if name not in named and not FLAG.fullmatch(name)]
    labels = [ord(name) if is_label(name, arcs.unit) else FIRST_SYMBOL + number for number, name in new]
    if not labels:
        return arcs
    return make(*joined([columns_of(arcs), *_added(arcs, np.array(labels, np.int64))]), arcs.final, arcs.start, arcs.symbols)


def close(arcs: Arcs, alphabet: Iterable[str]) -> Arcs:
    """The machine over an alphabet: arcs for any other symbol become arcs for the symbols of the alphabet that the machine does not name.
    The symbols that the machine names stay.
    """
    named = {*arcs.symbols}
    if OTHER not in named:
        return arcs
    wide = replace(arcs, symbols=tuple(dict.fromkeys([*arcs.symbols, *filter(None, alphabet)])))
    return without_other(with_others(wide, named))


def sampled(arcs: Arcs) -> Arcs:
    """The machine over its symbols and `FEW` other characters, if it has arcs for any other symbol. This machine is functional if and only
    if the given one is: an arc that writes a different symbol can write two of these characters, and two copied characters can differ.
    """
    named = {*arcs.symbols}
    return close(arcs, islice((char for char in map(chr, SAMPLE) if char not in named), FEW))


def over_texts(arcs: Arcs) -> Arcs:
    """The machine with an arc for each character of texts in place of each arc for any other symbol."""
    return close(arcs, map(chr, [*range(1, 0xD800), *range(0xE000, FIRST_SYMBOL)])) if has_other(arcs) else arcs


def without_other(arcs: Arcs) -> Arcs:
    """The machine without its arcs for any other symbol."""
    label = label_of(arcs, OTHER)
    kept = (arcs.ilabel != label) & (arcs.olabel != label)
    names = tuple(name for name in arcs.symbols if not is_label(name, arcs.unit) and name not in (OTHER, ANOTHER))
    numbers = {name: FIRST_SYMBOL + number for number, name in enumerate(names)}
    new = np.array([numbers.get(name, EPSILON) for name in arcs.symbols], np.int64)
    columns = columns_of(arcs, kept)
    columns = columns._replace(ilabel=relabelled(columns.ilabel, new), olabel=relabelled(columns.olabel, new))
    return make(*columns, arcs.final, arcs.start, names, arcs.unit)


def _added(arcs: Arcs, labels: NDArray[np.int64]) -> list[Columns]:
    """The arcs of new symbols: what each arc for any other symbol means for them."""
    other, another = label_of(arcs, OTHER), label_of(arcs, ANOTHER)
    reads, writes = arcs.ilabel == other, (arcs.olabel == other) | (arcs.olabel == another)
    copies, differs = reads & (arcs.olabel == other), reads & (arcs.olabel == another)
    need_room(arcs.arcs + int((reads | writes).sum()) * len(labels) + int(differs.sum()) * len(labels) ** 2)
    found = [
        _spread(columns_of(arcs, copies), labels, labels),
        _spread(columns_of(arcs, reads & ~writes), labels, None),
        _spread(columns_of(arcs, writes & ~reads), None, labels),
    ]
    if differs.any():
        every = np.append(labels, other)
        first, second = np.repeat(every, len(every)), np.tile(every, len(every))
        found.append(_spread(columns_of(arcs, differs), first[first != second], second[first != second]))
    return found


def _spread(columns: Columns, read: NDArray[np.int64] | None, write: NDArray[np.int64] | None) -> Columns:
    """A copy of each arc for each label, with the labels on the given sides."""
    count = len(columns.source)
    size = max(0 if labels is None else len(labels) for labels in (read, write))
    repeated = [np.repeat(column, size) for column in columns]
    for side, labels in ((1, read), (2, write)):
        if labels is not None:
            repeated[side] = np.tile(labels, count)
    return Columns._make(repeated)


def need_room(count: int) -> None:
    """Raise a SizeError if arcs for any other symbol become too many arcs."""
    if count > MAX_ARCS:
        raise SizeError(f"the arcs for any other symbol become {count:,} arcs; expected at most {MAX_ARCS:,}", "use a smaller alphabet")


def before_composition(first: Arcs, second: Arcs) -> tuple[Rows, Rows]:
    """The arcs of two machines with equal symbols, for a composition; see `after_composition`.

    `OTHER` is the label between both machines wherever the first writes, or the second reads, any other symbol. On the outer sides,
    `OTHER` is the symbol between both machines, and `ANOTHER` is a different or any other symbol.
    """
    other, another = (label_of(first, name) for name in (OTHER, ANOTHER))
    is_free = (first.ilabel == other) & (first.olabel != other)
    read, write = np.where(is_free, another, first.ilabel), np.where(first.olabel == another, other, first.olabel)
    is_free = (second.olabel == other) & (second.ilabel != other)
    written = np.where(is_free, another, second.olabel)
    return rows_of(first)._replace(ilabel=read, olabel=write), rows_of(second)._replace(olabel=written)


def after_composition(rows: Rows, final: NDArray[np.float32], symbols: tuple[str, ...]) -> Arcs:
    """The machine of a composition: where both sides may be any other symbol, they may be equal or different. State 0 is the start."""
    other, another = (FIRST_SYMBOL + symbols.index(name) for name in (OTHER, ANOTHER))
    sources = np.repeat(np.arange(len(final)), np.diff(rows.row_start))
    arcs = Columns._make([sources, *rows[1:]])
    is_free = (arcs.ilabel == another) & (arcs.olabel == another)
    copies = Columns._make(column[is_free] for column in arcs)
    same = np.full(len(copies.ilabel), other)
    return make(*joined([arcs, copies._replace(ilabel=same, olabel=same)]), final, 0, symbols)
