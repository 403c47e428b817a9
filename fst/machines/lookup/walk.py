"""The slow walk of look-up, which specifies the kernel. Its time does not depend on the number of paths.

The walk first makes a graph. A node is a state with the registers of features, after a number of symbols; an arc of the graph is an arc
of the table. Then it marks the nodes from which the end of the word is reached, and follows only these, so no path is a dead end. For each
symbol, the graph has at most as many nodes as the table has states, times the combinations of registers that occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.lookup import flags
from fst.machines.lookup.layout import (
    BEGINS,
    CUT,
    END,
    ENTRY,
    EPSILON,
    HAS_EPSILON,
    MAX_ANALYSES,
    NODE_SHIFT,
    OUTPUT_SHIFT,
    ROOTS,
    SPARE,
    STEPS,
)

MAX_NODES = 1 << 20  # maximum number of nodes of a graph; a word with more has no more analyses than those found so far
STATE = (1 << HAS_EPSILON) - 1
BITS = np.dtype(np.int32)

Registers = tuple[int, ...]
Node = tuple[int, int, Registers]  # number of symbols, state, registers


class Step(NamedTuple):
    """A piece with its weight; and the next node, or None for a final."""

    piece: int
    weight: np.float32
    to: Node | None


def analyses(table: Any, text: str, *, inverse: bool = False, limit: int = MAX_ANALYSES) -> list[int]:
    """The ids of the analyses of a word.

    Args:
        table: the table.
        text: the word.
        inverse: whether to read the word from the root for generation.
        limit: the maximum number of analyses.
    """
    classes = classes_of(table, text, inverse=inverse)
    if EPSILON in classes:
        return []
    root: Node = (0, int(table.begin(inverse=inverse)[0]), (0,) * table.metadata.settings.features)
    graph = _Graph(table, classes)
    whole = graph.build(root)
    most = limit if not table.is_weighted else MAX_ANALYSES
    found = dict[str, tuple[list[int], np.float32]]()
    is_cut = not whole
    for paths, (pieces, weight) in enumerate(graph.paths(root)):
        written = "".join(table.pieces[piece] for piece in pieces)
        if written in found:
            same, best = found[written]
            found[written] = same, min(best, weight)
        elif len(found) == most:
            is_cut = True
            break
        else:
            found[written] = pieces, weight
        if paths == STEPS * (len(classes) + SPARE):
            is_cut = True
            break
    rows = [*found.values()]
    if table.is_weighted:
        rows.sort(key=lambda row: row[1])
        rows, is_cut = rows[:limit], is_cut or len(rows) > limit
    ids = [number for pieces, weight in rows for number in (*pieces, END, *([int(weight.view(BITS))] if table.is_weighted else []))]
    return [*ids, CUT] if is_cut else ids


def classes_of(table: Any, text: str, *, inverse: bool = False) -> list[int]:
    """Split a word into symbols, the longest first, and return the class of each symbol."""
    data = text.encode("utf-16-le")
    units, classes, at = np.frombuffer(data, "<u2").tolist(), list[int](), 0
    while at < len(units):
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
        classes.append(found)
        at = end
    return classes


class _Graph:
    """The graph of the paths that read the classes of a word."""

    def __init__(self, table: Any, classes: list[int]) -> None:
        self._table, self._classes = table, classes
        self._steps = dict[Node, list[Step]]()

    def build(self, root: Node) -> bool:
        """Make the nodes, and drop those from which no final is reached. Return whether all nodes were made."""
        self._steps[root] = []
        pending, before = [root], dict[Node, list[Node]]()
        while pending:
            node = pending.pop()
            self._steps[node] = [*self._steps_of(node)]
            for step in self._steps[node]:
                if step.to is not None:
                    if step.to not in self._steps:
                        self._steps[step.to] = []
                        pending.append(step.to)
                    before.setdefault(step.to, []).append(node)
            if len(self._steps) > MAX_NODES:
                break
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

    def paths(self, root: Node) -> Iterator[tuple[list[int], np.float32]]:
        """Yield the pieces and the weight of each path."""
        pending = [(root, list[int](), np.float32(0))]
        while pending:
            node, pieces, weight = pending.pop()
            steps = self._steps.get(node, [])
            for step in steps:
                if step.to is None:
                    yield [*pieces, *filter(None, [step.piece])], weight + step.weight
            pending += [
                (step.to, [*pieces, *filter(None, [step.piece])], weight + step.weight) for step in reversed(steps) if step.to is not None
            ]

    def _steps_of(self, node: Node) -> Iterator[Step]:
        table, (at, state, registers) = self._table, node
        if at == len(self._classes):
            own = ENTRY.unpack(table.entries[state])
            for final in range(own.target, own.target + own.value):
                if self._after(table.final_conditions, final, registers) is not None:
                    yield Step(int(table.final_pieces[final]), _weight(table.final_weights, final), None)
        yield from self._arcs(at, state, EPSILON, registers)
        if at < len(self._classes):
            yield from self._arcs(at + 1, state, self._classes[at], registers)

    def _arcs(self, at: int, state: int, label: int, registers: Registers) -> Iterator[Step]:
        """Yield the arcs of a state that read a class; `at` is the number of symbols after these arcs."""
        entry = ENTRY.step(self._table.entries, state, label)
        for arc in range(entry.target, entry.target + entry.value) if entry else ():
            after = self._after(self._table.arc_conditions, arc, registers)
            if after is not None:
                packed = int(self._table.arcs[arc])
                yield Step(packed >> OUTPUT_SHIFT, _weight(self._table.arc_weights, arc), (at, packed & STATE, after))

    def _after(self, conditions: Array, place: int, registers: Registers) -> Registers | None:
        if not len(conditions):
            return registers
        condition, ends = int(conditions[place]), self._table.condition_ends
        operations = self._table.operations[ends[condition - 1] if condition else 0 : ends[condition]]
        return flags.applied(operations.tolist(), registers)


def _weight(weights: Array, place: int) -> np.float32:
    return np.float32(weights[place] if len(weights) else 0)
