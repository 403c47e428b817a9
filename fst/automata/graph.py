"""Search in graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Node = TypeVar("Node")


def leading_to(ends: Iterable[Node], edges: Iterable[tuple[Node, Node]]) -> set[Node]:
    """The given nodes, and all nodes from which a path of edges leads to a given node; an edge is a pair of a node and the next node.

    Examples:
        >>> sorted(leading_to(["c"], [("a", "b"), ("b", "c"), ("c", "d")]))
        ['a', 'b', 'c']
    """
    before: dict[Node, list[Node]] = {}
    for source, target in edges:
        before.setdefault(target, []).append(source)
    found = {*ends}
    waiting = [*found]
    while waiting:
        new = {*before.get(waiting.pop(), ())} - found
        found |= new
        waiting += new
    return found
