"""The slow walk of look-up, which specifies the kernel. Its time does not depend on the number of paths.

The walk first makes a graph. A node is a state with the registers of features, after a number of symbols; an arc of the graph is an arc
of the table. Then it marks the nodes from which the end of the word is reached, and follows only these, so no path is a dead end. For each
symbol, the graph has at most as many nodes as the table has states, times the combinations of registers that occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.machines.lookup.arcs import Registers, arcs_of, finals_of
from fst.machines.lookup.layout import BEGINS, CUT, END, END_FOLDED, EPSILON, MAX_ANALYSES, NODE_SHIFT, ROOTS, SPARE, STEPS

MAX_NODES = 1 << 20  # maximum number of nodes of a graph; a word with more has no more analyses than those found so far
BITS = np.dtype(np.int32)

Node = tuple[int, int, Registers, bool]  # number of symbols, state, registers, whether a symbol was read in lower case


class Symbol(NamedTuple):
    """A symbol of a text: its class, its class in lower case or `EPSILON`, and its end in units."""

    number: int
    lower: int
    end: int


class Step(NamedTuple):
    """A piece with its weight, its pauses, whether it is a pause itself; and the next node, or None for a final."""

    piece: int
    weight: np.float32
    pauses: int
    is_pause: bool
    to: Node | None


class Path(NamedTuple):
    """The pieces of a path, its weight, the number of pauses before each symbol and at the end, and whether it read in lower case."""

    pieces: list[int]
    weight: np.float32
    ranks: tuple[int, ...]
    is_folded: bool

    @property
    def key(self) -> tuple[float, tuple[int, ...]]:
        """The key by which analyses are sorted: those of the smallest weight first, then those with the fewest pauses at the end."""
        return float(self.weight), self.ranks[::-1]


def analyses(table: Any, text: str, *, inverse: bool = False, limit: int = MAX_ANALYSES) -> list[int]:
    """The ids of the analyses of a word.

    Args:
        table: the table.
        text: the word.
        inverse: whether to read the word from the root for generation.
        limit: the maximum number of analyses.
    """
    units, symbols, at = units_of(text), list[Symbol](), 0
    while at < len(units):
        symbols.append(symbol_at(table, units, at, inverse=inverse)._replace(lower=EPSILON))
        at = symbols[-1].end
    if any(symbol.number == EPSILON for symbol in symbols):
        return []
    return ids_of(table, symbols, inverse=inverse, limit=limit, in_text=False)


def ids_of(table: Any, symbols: Sequence[Symbol], *, inverse: bool, limit: int, in_text: bool) -> list[int]:
    """The ids of the analyses of some symbols; `in_text` sorts analyses as in running text. For other arguments, see `analyses`."""
    graph = Graph(table, symbols)
    root: Node = (0, int(table.begin(inverse=inverse)[0]), (0,) * table.metadata.settings.features, False)
    is_cut, is_sorted = not graph.build(root), in_text or table.is_weighted
    most = MAX_ANALYSES if is_sorted else limit
    found = dict[tuple[str, bool], Path]()
    for count, path in enumerate(graph.paths(root)):
        written = "".join(table.pieces[piece] for piece in path.pieces), path.is_folded
        if written in found:
            first = found[written]
            found[written] = min(first, path._replace(pieces=first.pieces), key=lambda path: path.key) if is_sorted else first
        elif len(found) == most:
            is_cut = True
            break
        else:
            found[written] = path if in_text else path._replace(ranks=())
        if count == STEPS * (len(symbols) + SPARE):
            is_cut = True
            break
    rows = sorted(found.values(), key=lambda path: path.key) if is_sorted else [*found.values()]
    rows, is_cut = rows[:limit], is_cut or len(rows) > limit
    ids = list[int]()
    for path in rows:
        ids += [*path.pieces, END_FOLDED if path.is_folded else END]
        ids += [int(path.weight.view(BITS))] if table.is_weighted else []
    return [*ids, CUT] if is_cut else ids


def units_of(text: str) -> list[int]:
    """The UTF-16 units of a text."""
    units: list[int] = np.frombuffer(text.encode("utf-16-le"), "<u2").tolist()
    return units


def symbol_at(table: Any, units: Sequence[int], at: int, *, inverse: bool = False) -> Symbol:
    """The longest symbol that begins at a position. Only a symbol of one unit may be read in lower case."""
    record = int(table.units[units[at]])
    found, end = record & BEGINS - 1, at + 1
    node, place = int(inverse), at
    while record & BEGINS and place < len(units):
        key = node << NODE_SHIFT | units[place]
        edge = int(np.searchsorted(table.symbol_keys, np.uint64(key)))
        if edge == len(table.symbol_keys) or int(table.symbol_keys[edge]) != key:
            break
        node, place = ROOTS + edge, place + 1
        if table.symbol_classes[edge]:
            found, end = int(table.symbol_classes[edge]), place
    lower = int(table.lower_units[units[at]])
    return Symbol(found, int(table.units[lower]) & BEGINS - 1 if lower and end == at + 1 else EPSILON, end)


class Graph:
    """The graph of the paths that read some symbols."""

    def __init__(self, table: Any, symbols: Sequence[Symbol]) -> None:
        self._table, self._symbols = table, symbols
        self._steps = dict[Node, list[Step]]()

    def build(self, root: Node) -> bool:
        """Make the nodes, and drop those from which no final is reached. Return whether all nodes were made."""
        self._steps[root] = []
        pending, before = [root], dict[Node, list[Node]]()
        while pending and len(self._steps) <= MAX_NODES:
            node = pending.pop()
            self._steps[node] = [*self.steps_of(node)]
            for step in self._steps[node]:
                if step.to is not None:
                    if step.to not in self._steps:
                        self._steps[step.to] = []
                        pending.append(step.to)
                    before.setdefault(step.to, []).append(node)
        live = {node for node, steps in self._steps.items() if any(step.to is None for step in steps)}
        reached = [*live]
        while reached:
            new = {*before.get(reached.pop(), ())} - live
            live |= new
            reached += new
        self._steps = {
            node: [step for step in steps if step.to is None or step.to in live] for node, steps in self._steps.items() if node in live
        }
        return not pending

    def paths(self, root: Node) -> Iterator[Path]:
        """Yield all paths, in the order of the table."""
        pending = [(root, Path([], np.float32(0), (0,), False))]
        while pending:
            node, before = pending.pop()
            following = list[tuple[Node, Path]]()
            for step in self._steps.get(node, []):
                pieces, weight = [*before.pieces, *filter(None, [step.piece])], before.weight + step.weight
                ranks = (*before.ranks[:-1], before.ranks[-1] + step.pauses + step.is_pause)
                if step.to is None:
                    yield Path(pieces, weight, ranks, before.is_folded)
                else:
                    following.append((step.to, Path(pieces, weight, ranks if step.is_pause else (*ranks, 0), step.to[3])))
            pending += reversed(following)

    def steps_of(self, node: Node) -> Iterator[Step]:
        """Yield the steps from a node, in the order of the table."""
        at, state, registers, is_folded = node
        if at == len(self._symbols):
            for final in finals_of(self._table, state, registers):
                yield Step(final.piece, final.weight, final.pauses, False, None)
        yield from self._arcs(at, state, EPSILON, registers, is_folded, is_pause=True)
        if at < len(self._symbols):
            symbol = self._symbols[at]
            for label, folds in ((symbol.number, is_folded), (symbol.lower, True)):
                if label != EPSILON:
                    yield from self._arcs(at + 1, state, label, registers, folds, is_pause=False)

    def _arcs(self, at: int, state: int, label: int, registers: Registers, is_folded: bool, *, is_pause: bool) -> Iterator[Step]:
        """Yield the arcs of a state that read a class; `at` is the number of symbols after these arcs."""
        for arc in arcs_of(self._table, state, label, registers):
            yield Step(arc.piece, arc.weight, arc.pauses, is_pause, (at, arc.target, arc.registers, is_folded))
