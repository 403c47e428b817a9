"""Pictures of transducers for look-up: the arcs that are reached when a word is read, and the arcs of its analyses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fst.automata import flags
from fst.automata.dot import need_few, visible
from fst.automata.graph import leading_to
from fst.automata.picture import Arc, Picture, labelled, need_steps, units_label
from fst.machines.lookup.arcs import Registers
from fst.machines.lookup.layout import BEGINS, EPSILON, NODE_SHIFT, ROOTS, UNITS
from fst.machines.lookup.table import LookupTable
from fst.machines.lookup.walk import Move, Symbol, moves_of, symbol_at, units_of

State = tuple[int, Registers]
Node = tuple[int, State]  # a node: the number of symbols read, and a state with registers


def picture_of(table: LookupTable, text: str | None) -> Picture:
    """The states are numbered in the order in which they are reached, and labelled with the strings that are written at the end of a word;
    an arc has its symbol, its string and its weight. Around a word, all arcs that are reached when it is read are shown; the arcs of
    analyses are the path.
    """
    arcs = _whole(table) if text is None else _around(table, text)
    start = _root(table)[1]
    states = [*dict.fromkeys([start, *(state for arc in arcs for state in (arc.source, arc.target))])]
    ends = {state: [move for move, target in _steps(table, (), (0, state)) if target is None] for state in states}
    names = {state: _name(table, number, ends[state]) for number, state in enumerate(states)}
    return Picture(names, arcs, [start], [state for state in states if ends[state]])


def _root(table: LookupTable) -> Node:
    return 0, (int(table.begin()[0]), (0,) * table.metadata.settings.features)


def _steps(table: LookupTable, symbols: Sequence[Symbol], node: tuple[int, Any]) -> Iterator[tuple[Move, Node | None]]:
    """Yield the moves from a node whose conditions hold, each with the node after the move; after a final, with None."""
    at, (state, registers) = node
    for move in moves_of(table, symbols, (at, state, False)):
        after = flags.applied(move.operations, registers).registers
        if after is not None:
            yield move, None if move.to is None else (move.to[0], (move.to[1], after))


def _name(table: LookupTable, number: int, ends: Iterable[Move]) -> str:
    pieces = [table.pieces[move.piece] for move in ends]
    return labelled(str(number), [piece for piece in pieces if piece])


def _label(table: LookupTable, shown: str, move: Move) -> str:
    piece = table.pieces[move.piece]
    return labelled("ε" if move.is_pause else shown, [piece] if piece else [], float(move.weight))


def _whole(table: LookupTable) -> list[Arc]:
    """All arcs."""
    need_few(int(table.summary["states"]), int(table.summary["arcs"]))
    symbols, arcs, seen = _symbols(table), dict[Arc, None](), {_root(table)[1]}
    waiting = [*seen]
    for state in waiting:
        need_steps(len(seen) * len(symbols))
        for number, shown in symbols.items():
            for move, node in _steps(table, [Symbol(number, EPSILON, 1)], (0, state)):
                if node is not None:
                    target = node[1]
                    arcs[Arc(state, target, _label(table, shown, move))] = None
                    waiting += [target] if target not in seen else []
                    seen.add(target)
    return [*arcs]


def _symbols(table: LookupTable) -> Mapping[int, str]:
    """One symbol of each class."""
    records = table.units.astype(np.int64) & BEGINS - 1
    found = {int(records[unit]): visible(chr(unit)) for unit in np.flatnonzero(records).tolist()[::-1]}
    spelled = {0: "", 1: ""}
    for edge, key in enumerate(table.symbol_keys.tolist()):
        spelled[ROOTS + edge] = f"{spelled.get(key >> NODE_SHIFT, '')}{chr(key % UNITS)}"
        if table.symbol_classes[edge]:
            found[int(table.symbol_classes[edge])] = visible(spelled[ROOTS + edge])
    return found


def _around(table: LookupTable, text: str) -> list[Arc]:
    """The arcs that are reached when a word is read."""
    units, symbols, shown, at = units_of(text), list[Symbol](), list[str](), 0
    while at < len(units):
        symbols.append(symbol_at(table, units, at)._replace(lower=EPSILON))
        shown.append(units_label(units[at : symbols[-1].end]))
        at = symbols[-1].end
    steps = _passed(table, symbols)
    finals = [node for node, row in steps.items() if any(target is None for _, target in row)]
    live = leading_to(finals, ((node, target) for node, row in steps.items() for _, target in row if target is not None))
    return [
        Arc(node[1], target[1], _label(table, [*shown, ""][node[0]], move), target in live)
        for node, row in steps.items()
        for move, target in row
        if target is not None
    ]


def _passed(table: LookupTable, symbols: Sequence[Symbol]) -> Mapping[Node, list[tuple[Move, Node | None]]]:
    """The steps of all nodes that are reached from the root."""
    steps, waiting = dict[Node, list[tuple[Move, "Node | None"]]](), [_root(table)]
    for node in waiting:
        if node not in steps:
            need_few(len(steps), 0)
            steps[node] = [*_steps(table, symbols, node)]
            waiting += [target for _, target in steps[node] if target is not None]
    return steps
