"""All new texts of least weight, by a slow walk.

The walk keeps every arc by which a state of a layer is reached with its least weight. The arcs on paths to the best ends form an acyclic
graph, in which each path is a best path. The new texts are read from this graph a byte at a time, from the set of all nodes to which a
beginning of a new text leads. So each text is found once, whatever the number of its paths. Paths that differ inside a cycle of ε-arcs are
one arc of the table, see `fst.compile.machines.best_path.folding`, and give one text.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from fst.machines.best_path.table import EPSILON, NOT_FINAL, BestPathTable

Place = tuple[int, int]  # a place: the number of a layer, and a state of this layer


class Step(NamedTuple):
    """An arc of the graph: the place after it, and the bytes that it writes."""

    after: Place
    output: bytes


class Item(NamedTuple):
    """A place to which a beginning of a new text leads, and the bytes that are written after this beginning on the way to the place."""

    place: Place
    rest: bytes


def ties(table: BestPathTable, text: bytes, most: int) -> list[bytes]:
    """The new texts of least weight, in the order of their bytes; at most `most`, and none for a text without a path."""
    steps, weights = _steps(table, text)
    ends = {(len(text), state): weight + int(table.finals[state]) for state, weight in weights.items() if table.finals[state] != NOT_FINAL}
    best = {place for place, weight in ends.items() if weight == min(ends.values())}
    graph = dict[Place, list[Step]]()
    needed = {*best}
    for before, step in reversed(steps):  # each arc into a place comes before the arcs out of this place
        if step.after in needed:
            needed.add(before)
            graph.setdefault(before, []).append(step)
    start = (0, table.metadata.settings.start)
    return [text for text, _ in zip(_texts(graph, best, start), range(most), strict=False)] if best else []


def _steps(table: BestPathTable, text: bytes) -> tuple[list[tuple[Place, Step]], dict[int, int]]:
    """The arcs of least weight into all places, each before the arcs that follow it on a path; and the last layer."""
    walk = _Walk(table)
    layer = _Layer(0, {table.metadata.settings.start: 0}, {})
    for byte in text:
        walk.relax(layer)
        following = _Layer(layer.number + 1, {}, {})
        for state in sorted(layer.weights):
            walk.follow(layer, state, byte, following)
        layer = following
    walk.relax(layer)
    return walk.steps, layer.weights


class _Layer(NamedTuple):
    """The least weight of each state, and the arcs that lead into the state with this weight."""

    number: int
    weights: dict[int, int]
    tied: dict[int, list[tuple[Place, Step]]]


class _Walk:
    """A walk from layer to layer, which lists the arcs of least weight."""

    def __init__(self, table: BestPathTable) -> None:
        self._table = table
        self.steps: list[tuple[Place, Step]] = []

    def relax(self, layer: _Layer) -> None:
        """Follow the ε-arcs of a layer, which lead to higher states, and list the arcs into the states of the layer."""
        waiting = sorted(layer.weights)
        while waiting:
            state = heappop(waiting)
            self.steps += layer.tied.get(state, [])
            for target in self.follow(layer, state, EPSILON, layer):
                heappush(waiting, target)

    def follow(self, layer: _Layer, state: int, label: int, following: _Layer) -> list[int]:
        """Follow the arcs of a state with a label; return the targets that were not yet in their layer, `following`."""
        table, found = self._table, list[int]()
        start, end = table.row_start[state : state + 2].tolist()
        first, last = start + np.searchsorted(table.labels[start:end], [label, label + 1])
        for arc in range(int(first), int(last)):
            target, weight = int(table.targets[arc]), layer.weights[state] + int(table.weights[arc])
            if target not in following.weights:
                found.append(target)
            if weight < following.weights.get(target, weight + 1):
                following.weights[target], following.tied[target] = weight, []
            if weight == following.weights[target]:
                step = Step((following.number, target), table.strings[table.outputs[arc]])
                following.tied[target].append(((layer.number, state), step))
        return found


def _texts(graph: dict[Place, list[Step]], ends: set[Place], start: Place) -> Iterator[bytes]:
    """The distinct new texts of all paths from a place to the ends."""
    waiting = [(b"", frozenset([Item(start, b"")]))]
    while waiting:
        text, items = waiting.pop()
        items = _closed(items, graph)
        if any(item.place in ends and not item.rest for item in items):
            yield text
        following: dict[int, set[Item]] = {}
        for item in items:
            if item.rest:
                following.setdefault(item.rest[0], set()).add(Item(item.place, item.rest[1:]))
        waiting += [(text + bytes([byte]), frozenset(following[byte])) for byte in sorted(following, reverse=True)]


def _closed(items: frozenset[Item], graph: dict[Place, list[Step]]) -> frozenset[Item]:
    """The given items, and all items to which arcs without output, or with an output that is not read yet, lead."""
    found, waiting = {*items}, [item for item in items if not item.rest]
    while waiting:
        for after, output in graph.get(waiting.pop().place, ()):
            item = Item(after, output)
            if item not in found:
                found.add(item)
                if not output:
                    waiting.append(item)
    return frozenset(found)
