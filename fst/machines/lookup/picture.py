"""Pictures of transducers for look-up: the arcs that reading a word passes, and those of its analyses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fst.automata.dot import need_few, visible
from fst.automata.graph import leading_to
from fst.automata.picture import Arc, Picture, labelled, need_steps, units_label
from fst.machines.lookup.arcs import Registers
from fst.machines.lookup.layout import BEGINS, EPSILON, NODE_SHIFT, ROOTS, UNITS
from fst.machines.lookup.table import LookupTable
from fst.machines.lookup.walk import Graph, Node, Step, Symbol, symbol_at, units_of

State = tuple[int, Registers]


def picture_of(table: LookupTable, text: str | None) -> Picture:
    """The states are numbered in the order in which they are reached, and have the strings that are written at the end of a word; an arc
    has its symbol, its string and its weight. Around a word, all arcs that reading it passes are shown, and the path has those of analyses.
    """
    arcs = _whole(table) if text is None else _around(table, text)
    start = _state(_root(table))
    states = [*dict.fromkeys([start, *(state for arc in arcs for state in (arc.source, arc.target))])]
    ends = {state: [step for step in _steps(table, state, ()) if step.to is None] for state in states}
    names = {state: _name(table, number, ends[state]) for number, state in enumerate(states)}
    return Picture(names, arcs, [start], [state for state in states if ends[state]])


def _root(table: LookupTable) -> Node:
    return 0, int(table.begin()[0]), (0,) * table.metadata.settings.features, False


def _state(node: Node) -> State:
    return node[1], node[2]


def _steps(table: LookupTable, state: Any, symbols: Iterable[Symbol]) -> list[Step]:
    """The steps from a state with registers on a symbol, or at the end of a word."""
    return [*Graph(table, [*symbols]).steps_of((0, *state, False))]


def _name(table: LookupTable, number: int, ends: Iterable[Step]) -> str:
    pieces = [table.pieces[step.piece] for step in ends]
    return labelled(str(number), [piece for piece in pieces if piece])


def _label(table: LookupTable, shown: str, step: Step) -> str:
    piece = table.pieces[step.piece]
    return labelled("ε" if step.is_pause else shown, [piece] if piece else [], float(step.weight))


def _whole(table: LookupTable) -> list[Arc]:
    """All arcs."""
    need_few(int(table.summary["states"]), int(table.summary["arcs"]))
    symbols, arcs, seen = _symbols(table), dict[Arc, None](), {_state(_root(table))}
    waiting = [*seen]
    for state in waiting:
        need_steps(len(seen) * len(symbols))
        for number, shown in symbols.items():
            for step in _steps(table, state, [Symbol(number, EPSILON, 1)]):
                if step.to is not None:
                    target = _state(step.to)
                    arcs[Arc(state, target, _label(table, shown, step))] = None
                    waiting += [target] if target not in seen else []
                    seen.add(target)
    return [*arcs]


def _symbols(table: LookupTable) -> Mapping[int, str]:
    """A symbol of each class."""
    records = table.units.astype(np.int64) & BEGINS - 1
    found = {int(records[unit]): visible(chr(unit)) for unit in np.flatnonzero(records).tolist()[::-1]}
    spelled = {0: "", 1: ""}
    for edge, key in enumerate(table.symbol_keys.tolist()):
        spelled[ROOTS + edge] = f"{spelled.get(key >> NODE_SHIFT, '')}{chr(key % UNITS)}"
        if table.symbol_classes[edge]:
            found[int(table.symbol_classes[edge])] = visible(spelled[ROOTS + edge])
    return found


def _around(table: LookupTable, text: str) -> list[Arc]:
    """The arcs that reading a word passes."""
    units, symbols, shown, at = units_of(text), list[Symbol](), list[str](), 0
    while at < len(units):
        symbols.append(symbol_at(table, units, at)._replace(lower=EPSILON))
        shown.append(units_label(units[at : symbols[-1].end]))
        at = symbols[-1].end
    steps = _passed(_root(table), Graph(table, symbols))
    finals = [node for node, row in steps.items() if any(step.to is None for step in row)]
    live = leading_to(finals, ((node, step.to) for node, row in steps.items() for step in row if step.to is not None))
    return [
        Arc(_state(node), _state(step.to), _label(table, [*shown, ""][node[0]], step), step.to in live)
        for node, row in steps.items()
        for step in row
        if step.to is not None
    ]


def _passed(root: Node, graph: Graph) -> Mapping[Node, list[Step]]:
    """The steps of all nodes that are reached from the root."""
    steps, waiting = dict[Node, list[Step]](), [root]
    for node in waiting:
        if node not in steps:
            need_few(len(steps), 0)
            steps[node] = [*graph.steps_of(node)]
            waiting += [step.to for step in steps[node] if step.to is not None]
    return steps
