"""OpenFst's choice among paths of equal weight, ``shortestpath(text @ machine)``, by a slow walk.

OpenFst composes the text with the machine, and drops the arcs that are on no path. A depth-first search follows the arcs of each node in
the order of the machine, first the arcs that read nothing. Nodes are relaxed in the reverse of the order in which the search leaves them,
and a path replaces another only if its weight, a sum in single precision, is smaller. So of equal paths to a node, OpenFst keeps the path
whose last arc leaves the node that is relaxed first. A composition without weights is relaxed from a stack instead. OpenFst's treatment of
cycles is not copied.

Weights do not change the place of a node in this order. This place is that of the first path to the node, if paths are ordered by their
arcs from the start of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs

Node = tuple[int, int]  # number of bytes that were read, state


class Step(NamedTuple):
    """An arc of a composition: its output label, its weight, and the node after it."""

    output: int
    weight: np.float32
    after: Node


Graph = dict[Node, list[Step]]


def best(machine: Arcs, text: str) -> str | None:
    """The new text that OpenFst chooses, for a machine over bytes; None for a text without a path."""
    data, start = text.encode(), (0, machine.start)
    found: Graph = {}
    left(start, lambda node: (step.after for step in found.setdefault(node, [*steps(machine, node, data)])))
    ends = {node: machine.final[node[1]] for node in found if node[0] == len(data) and machine.final[node[1]] < np.inf}
    before: dict[Node, list[Node]] = {}
    for node, row in found.items():
        for step in row:
            before.setdefault(step.after, []).append(node)
    useful = {node for end in ends for node in left(end, lambda node: before.get(node, ()))}
    graph = {node: [step for step in row if step.after in useful] for node, row in found.items() if node in useful}
    return relaxed(start, graph, ends) if ends else None


def steps(machine: Arcs, node: Node, data: bytes) -> Iterator[Step]:
    """The arcs of a node that read nothing, and then those that read the next byte."""
    at, state = node
    begin, end = machine.row_start[state : state + 2].tolist()
    for label in (EPSILON, *data[at : at + 1]):
        first, last = begin + np.searchsorted(machine.ilabel[begin:end], [label, label + 1])
        for arc in range(int(first), int(last)):
            weight = np.float32(0) if machine.weight is None else machine.weight[arc]
            yield Step(int(machine.olabel[arc]), weight, (at + (label != EPSILON), int(machine.target[arc])))


def left(start: Node, following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes that can be reached, in the order in which a depth-first search leaves them."""
    found, order, path = {start}, list[Node](), [(start, iter(following(start)))]
    while path:
        node, rest = path[-1]
        new = next((after for after in rest if after not in found), None)
        if new is None:
            order.append(node)
            path.pop()
        else:
            found.add(new)
            path.append((new, iter(following(new))))
    return order


def relaxed(start: Node, graph: Graph, ends: Mapping[Node, np.float32]) -> str:
    """The output of the best path through a composition that has at least one path."""
    weights, backs = {start: np.float32(0)}, dict[Node, tuple[Node, int]]()
    least, end = np.float32(np.inf), start
    has_weights = any(step.weight for row in graph.values() for step in row)
    waiting = left(start, lambda node: (step.after for step in graph[node])) if has_weights else [start]
    while waiting:
        node = waiting.pop()
        total = weights[node] + ends.get(node, np.float32(np.inf))
        if total < least:
            least, end = total, node
        for step in graph[node]:
            total = weights[node] + step.weight
            if total < weights.get(step.after, np.inf):
                weights[step.after], backs[step.after] = total, (node, step.output)
                waiting += [] if has_weights else [step.after]
    written = bytearray()
    while end in backs:
        end, output = backs[end]
        written += bytes([output] if output else [])
    return written[::-1].decode()
