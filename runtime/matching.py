"""Tries of strings, laid out for kernels that find the longest string at each place of a text in linear time.

A walk from a place ends where the trie has no edge. What it has read may hold the beginning of another string, so that to start anew one
item further would read it again, and a token of three hundred brackets would make each bracket cost three hundred steps. Each node
therefore says where the next walk starts and which node it starts from, as in Knuth, Morris and Pratt 1977.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.jit import Deferred
from fst.tables import MULTIPLIERS, Array, parents_of

NO_NODE = (1 << 32) - 1  # as in `fst.runtime.kernels`, like all that follows
SKIP, REST, LENGTH, VALUE, ENDING, LEAST, IS_INNER = range(7)
FIELDS = 7
FEW = 1 << 9  # nodes
NO_STRING = -1
GRAM_MULTIPLIER, *_ = MULTIPLIERS
PARENT_SHIFT = 21  # a label is a code point, or less

link_nodes = Deferred("fst.runtime.kernels", "link_nodes")


class Trie(NamedTuple):
    """A trie as `fst.runtime.kernels.match_at` walks it. Node 0 is the root; of each node the parent comes before it.

    Attributes:
        edges: uint32[2 ** n, 3], a hash table by parent and label: parent, label, child. `NO_NODE` is the parent in a free slot.
        nodes: int32[nodes, 7]. `SKIP` and `REST`: how many items after the start of a walk that ended here the next one starts, and the
            node that it starts from; from the root it reads from its start on. `LENGTH` and `VALUE`: items and value of the longest
            string that the node's own begins with; 0 and -1: none. `ENDING`: the value of the node's own string, -1: it is none. `LEAST`:
            the lowest value of all strings that its own begins with, -1: none. `IS_INNER`: whether it has children.
    """

    edges: NDArray[np.uint32]
    nodes: NDArray[np.int32]


def trie(strings: Iterable[tuple[Sequence[int], int]], *, overlapping: bool = False) -> Trie:
    """The trie of strings of labels, each with its value, 0 or more; of equal strings the first counts.

    With `overlapping`, walks may start inside a string that one before has found.
    """
    children: list[dict[int, int]] = [{}]
    parents, labels, endings = [0], [0], [NO_STRING]
    for string, value in strings:
        node = 0
        for label in string:
            following = children[node].setdefault(label, len(children))
            if following == len(children):
                children.append({})
                parents.append(node)
                labels.append(label)
                endings.append(NO_STRING)
            node = following
        if endings[node] == NO_STRING:
            endings[node] = value
    return _linked(np.array(parents), np.array(labels), np.ones(len(labels), np.int64), np.array(endings), overlapping)


def special_trie(specials: Array) -> Trie:
    """The trie of ``specials`` of `fst.tables.Tables`, over units of UTF-16, with classes for values."""
    labels = np.maximum(specials[:, 0], 0).astype(np.int64)
    return _linked(parents_of(specials), labels, 1 + (labels >> 16 > 0), specials[:, 3], False)


def _linked(parents: Array, labels: Array, sizes: Array, endings: Array, overlapping: bool) -> Trie:
    """The trie of nodes: the parent of each, the label that leads to it, the items that the label takes, and the value of its string."""
    edges, depths = _edges(parents, labels), _depths(parents, sizes)
    nodes = np.zeros((len(parents), FIELDS), np.int32)
    nodes[:, ENDING] = endings
    nodes[parents[1:], IS_INNER] = 1
    order = np.argsort(depths, kind="stable")
    if len(parents) > FEW:
        link_nodes.call(*(array.astype(np.uint32) for array in (parents, labels, depths)), order, overlapping, edges, nodes)
    else:
        link(parents.tolist(), labels.tolist(), depths.tolist(), order.tolist(), overlapping, nodes)
    for array in (edges, nodes):
        array.flags.writeable = False
    return Trie(edges, nodes)


def link(
    parents: list[int], labels: list[int], depths: list[int], order: list[int], overlapping: bool, nodes: NDArray[np.int32]
) -> None:
    """What `fst.runtime.kernels.link_nodes` does, in plain Python: for a few nodes it is done before the kernel would be loaded."""
    children = {(parents[node], labels[node]): node for node in order[1:]}
    linked = nodes.tolist()
    linked[0][VALUE] = linked[0][LEAST] = NO_STRING
    for node in order[1:]:
        parent, ending = parents[node], linked[node][ENDING]
        length, value, least = (linked[parent][field] for field in (LENGTH, VALUE, LEAST))
        if ending >= 0:
            length, value, least = depths[node], ending, ending if least < 0 else min(least, ending)
        skip, rest = depths[node], 0
        if parent and (ending < 0 or overlapping):
            skip, rest = _start(children, linked, depths, parent, labels[node], depths[node])
        linked[node][: LEAST + 1] = skip, rest, length, value, ending, least
    nodes[:] = linked


def _start(
    children: Mapping[tuple[int, int], int], linked: Sequence[Sequence[int]], depths: Sequence[int], parent: int, label: int, depth: int
) -> tuple[int, int]:
    """Where the walk after one that ended at a node starts, by the node's parent, label and depth."""
    skip, rest = linked[parent][SKIP], linked[parent][REST]
    while rest or skip == depths[parent]:
        child = children.get((rest, label), 0)
        if child or not rest:
            return skip if child else depth, child
        if linked[rest][LENGTH]:
            return skip, 0
        skip, rest = skip + linked[rest][SKIP], linked[rest][REST]
    return skip, rest


def _depths(parents: Array, sizes: Array) -> Array:
    """The items of each node's string, in as many steps as the longest has bits."""
    depths, above = np.where(np.arange(len(parents)) > 0, sizes, 0), parents
    while above.any():
        depths, above = depths + depths[above], above[above]
    return depths


def _edges(parents: Array, labels: Array) -> NDArray[np.uint32]:
    """The edges to all nodes but the root, each in the first free slot from that of its hash on; at most half of the slots are filled."""
    size = 2 << len(parents).bit_length()
    hashed = (parents.astype(np.uint64) << np.uint64(PARENT_SHIFT) ^ labels.astype(np.uint64)) * np.uint64(GRAM_MULTIPLIER)
    slots = (hashed >> np.uint64(32)).astype(np.int64) & size - 1
    taken = np.zeros(size, np.int64)
    waiting = np.arange(1, len(parents))
    while len(waiting):
        free = waiting[taken[slots[waiting]] == 0]
        taken[slots[free]] = free
        waiting = waiting[taken[slots[waiting]] != waiting]
        slots[waiting] = slots[waiting] + 1 & size - 1
    edges = np.full((size, 3), NO_NODE, np.uint32)
    filled = np.flatnonzero(taken)
    edges[filled] = np.stack([parents[taken[filled]], labels[taken[filled]], taken[filled]], axis=1)
    return edges
