"""Machines from arcs and from strings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from fst.compile.algebra.arcs import EPSILON, Arcs, Unit, make
from fst.compile.algebra.symbols import Symbols, labels_of
from fst.errors import VocabularyError, quoted

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


def from_strings(entries: Iterable[Entry], symbols: Iterable[str] = (), unit: Unit = "character") -> Arcs:
    """A tree of strings; see `fst.Fst.from_strings`."""
    names = tuple(symbols)
    children: list[dict[tuple[int, int], int]] = [{}]
    final: list[float] = [inf]
    for entry in entries:
        read, write, weight = _parts(entry)
        state = 0
        for pair in _aligned(labels_of(read, names, unit), labels_of(write, names, unit)):
            following = children[state].setdefault(pair, len(children))
            if following == len(children):
                children.append({})
                final.append(inf)
            state = following
        final[state] = min(final[state], weight)
    source = [state for state, row in enumerate(children) for _ in row]
    read_labels, write_labels = ([pair[side] for row in children for pair in row] for side in (0, 1))
    target = [following for row in children for following in row.values()]
    return make(source, read_labels, write_labels, target, None, final, 0, names, unit)


def _parts(entry: Entry) -> tuple[str, str, float]:
    """What an entry reads and writes, and its weight."""
    if isinstance(entry, str):
        return entry, entry, 0.0
    if isinstance(entry, tuple) and len(entry) in (2, 3) and isinstance(entry[0], str) and isinstance(entry[1], str):
        return entry[0], entry[1], float(entry[2]) if len(entry) == 3 else 0.0
    raise VocabularyError(f"an entry is {quoted(entry)}; expected a string, (input, output) or (input, output, weight)")


def _aligned(read: list[int], write: list[int]) -> Iterable[tuple[int, int]]:
    """Pairs of labels, the first with the first; the shorter string is filled up with ε."""
    length = max(len(read), len(write))
    pad = [EPSILON] * length
    return zip((read + pad)[:length], (write + pad)[:length], strict=True)


