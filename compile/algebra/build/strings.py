"""Machines from arcs, from strings, and from all strings similar to a given string."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from math import inf

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs, Unit, make
from fst.compile.algebra.symbols import Symbols, labels_of
from fst.errors import UnsupportedError, VocabularyError, quoted

MAX_EDITS = 1 << 20
Label = str | int
Arc = tuple[int, int, Label, Label] | tuple[int, int, Label, Label, float]
Entry = str | tuple[str, str] | tuple[str, str, float]


def from_arcs(arcs: Iterable[Arc], final: Mapping[int, float] | Iterable[int], start: int = 0, unit: Unit = "character") -> Arcs:
    """A machine from its arcs; see `fst.Fst.from_arcs`."""
    symbols = Symbols(unit=unit)
    ends = dict(final) if isinstance(final, Mapping) else dict.fromkeys(final, 0.0)
    source, target, read, write, weight = [], [], [], [], []
    for arc in arcs:
        source.append(arc[0])
        target.append(arc[1])
        read.append(_label(arc[2], symbols))
        write.append(_label(arc[3], symbols))
        weight.append(arc[4] if len(arc) == 5 else 0.0)
    named = {start, *ends, *source, *target}
    if min(named) < 0 or max(named) > 2 * len(named) + 1000:
        wrong = min(named) if min(named) < 0 else max(named)
        raise VocabularyError(f"state {wrong} is out of range; expected states numbered from 0, without large gaps")
    finals = [ends.get(state, inf) for state in range(max(named) + 1)]
    return make(source, read, write, target, weight, finals, start, symbols.names, unit)


def _label(label: Label, symbols: Symbols) -> int:
    return symbols.label(label) if isinstance(label, str) else label


def from_strings(entries: Iterable[Entry] | Mapping[str, str], symbols: Iterable[str] = (), unit: Unit = "character") -> Arcs:
    """A tree of strings; see `fst.Fst.from_strings`."""
    if isinstance(entries, str):  # a str, whose characters would be taken as the entries
        raise VocabularyError(f"the entries are a str; expected a collection, such as [{quoted(entries)}]")
    names = tuple(symbols)
    parts = map(_parts, entries.items() if isinstance(entries, Mapping) else entries)
    return tree(((labels_of(read, names, unit), labels_of(write, names, unit), weight) for read, write, weight in parts), names, unit)


def tree(entries: Iterable[tuple[Sequence[int], Sequence[int], float]], symbols: tuple[str, ...], unit: Unit) -> Arcs:
    """A tree of strings that are read and written. The first labels of both form an arc; ε fills up the shorter side."""
    return tree_of_pairs(((zip_longest(read, write, fillvalue=EPSILON), weight) for read, write, weight in entries), symbols, unit)


def tree_of_pairs(
    paths: Iterable[tuple[Iterable[tuple[int, int]], float]], symbols: tuple[str, ...] = (), unit: Unit = "character"
) -> Arcs:
    """A tree of paths. A path is a sequence of pairs of labels, with a weight. Of equal paths, the smallest weight is kept."""
    children: dict[tuple[int, int, int], int] = {}
    final: list[float] = [inf]
    for pairs, weight in paths:
        state = 0
        for read, write in pairs:
            following = children.setdefault((state, read, write), len(final))
            if following == len(final):
                final.append(inf)
            state = following
        final[state] = min(final[state], weight)
    source, reads, writes = np.array([*children], np.int64).reshape(-1, 3).T
    return make(source, reads, writes, np.arange(1, len(final)), None, final, 0, symbols, unit)


def _parts(entry: Entry) -> tuple[str, str, float]:
    """The input, the output and the weight of an entry."""
    if isinstance(entry, str):
        return entry, entry, 0.0
    if isinstance(entry, tuple) and len(entry) in (2, 3) and isinstance(entry[0], str) and isinstance(entry[1], str):
        return entry[0], entry[1], float(entry[2]) if len(entry) == 3 else 0.0
    raise VocabularyError(f"an entry is {quoted(entry)}; expected a string, (input, output) or (input, output, weight)")


def edits(text: str, distance: int, alphabet: Iterable[str], unit: Unit = "character") -> Arcs:
    """The transducer from a text to all strings within a Levenshtein distance; see `fst.Fst.edits`."""
    if distance < 0:
        raise VocabularyError(f"distance is {distance}; expected 0 or more")
    symbols = Symbols(unit=unit)
    labels, others = labels_of(text, unit=unit), {symbols.label(name): None for name in alphabet if name}
    columns: list[tuple[int, int, int, int, float]] = []
    width = len(labels) + 1
    if 2 * width * distance * max(len(others), 1) > MAX_EDITS:
        raise UnsupportedError(f"the machine has more than {MAX_EDITS:,} arcs; expected a shorter text, a smaller distance or alphabet")
    for made in range(distance + 1):
        for place in range(width):
            state, label = made * width + place, labels[place] if place < len(labels) else EPSILON
            if label:
                columns.append((state, state + 1, label, label, 0))
            if made < distance:
                above = state + width
                columns += [(state, above, EPSILON, other, 1) for other in others]
                if label:
                    columns.append((state, above + 1, label, EPSILON, 1))
                    columns += [(state, above + 1, label, other, 1) for other in others if other != label]
    final = [0.0 if state % width == len(labels) else inf for state in range((distance + 1) * width)]
    source, target, read, write, weight = zip(*columns, strict=True) if columns else ((),) * 5
    return make(source, read, write, target, weight, final, 0, symbols.names, unit)
