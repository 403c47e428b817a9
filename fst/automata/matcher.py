"""Tries with which kernels find the longest string at each position of a text in linear time.

A walk ends where the trie has no edge. A new walk from the next position would read most items again. For example, if a token consists of
300 brackets, each bracket of a text would cost 300 steps. So each node stores the position and the node at which the next walk starts
(Knuth, Morris and Pratt 1977).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import MULTIPLIERS, Array
from fst.core.jit import Deferred

NO_NODE = (1 << 32) - 1
SKIP, REST, LENGTH, VALUE, ENDING, LEAST, IS_INNER = range(7)
FIELDS = 7
FIRST, SECOND = 1, 2  # bits of a byte's flags, by which kernels skip positions; see `fst.text.arguments.NormalizerArguments.bytes`
FEW_NODES = 1 << 9  # maximum number of nodes of a trie that is linked in Python; a kernel links larger tries
FEW_STRINGS = 1 << 9  # maximum number of strings that are searched for one by one; more strings are compared with a set of substrings
NO_STRING = -1
PARENT_SHIFT = 21  # number of bits of a label; the highest label is a code point

link_nodes = Deferred("fst.automata.kernels.matcher", "link_nodes")


class Matcher(NamedTuple):
    """A trie for `fst.runtime.kernels.tries.match_at`. Node 0 is the root, and parents come before their children.

    Attributes:
        edges: uint32[2 ** n, 3], a hash table by parent and label: parent, label, child. `NO_NODE` is the parent in a free slot.
        nodes: int32[nodes, 7]. A node represents its *path*, the labels from the root to the node. The fields of a node: `SKIP`, `REST`:
            after a walk that ends at the node, the next walk starts `SKIP` items later in the text, at the node `REST`. If `REST` is the
            root, the next walk begins without items. `LENGTH`, `VALUE`: number of items and value of the longest string that is a
            prefix of the path; 0 and -1 if no string is a prefix. `ENDING`: the value of the string that equals the path; -1 if no string
            equals it. `LEAST`: the lowest value of all strings that are prefixes of the path; -1 if no string is a prefix. `IS_INNER`: 1 if
            the node has children.
    """

    edges: NDArray[np.uint32]
    nodes: NDArray[np.int32]


def trie(strings: Iterable[tuple[Sequence[int], int]], *, overlapping: bool = False) -> Matcher:
    """Build the trie of some pairs: a string of labels, and its value, at least 0. If a string occurs twice, its first value counts. With
    `overlapping`, a walk may start inside a string that an earlier walk has found.
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
    return linked(np.array(parents), np.array(labels), np.ones(len(labels), np.int64), np.array(endings), overlapping)


def linked(parents: Array, labels: Array, sizes: Array, endings: Array, overlapping: bool) -> Matcher:
    """Build a trie from arrays over nodes: the parent, the label of the edge from the parent, the number of items that the label
    represents, and `ENDING`.
    """
    edges, depths = hashed_edges(parents, labels), _depths(parents, sizes)
    nodes = np.zeros((len(parents), FIELDS), np.int32)
    nodes[:, ENDING] = endings
    nodes[parents[1:], IS_INNER] = 1
    order = np.argsort(depths, kind="stable")
    if len(parents) > FEW_NODES:
        link_nodes.call(*(array.astype(np.uint32) for array in (parents, labels, depths)), order, overlapping, edges, nodes)
    else:
        link(parents.tolist(), labels.tolist(), depths.tolist(), order.tolist(), overlapping, nodes)
    for array in (edges, nodes):
        array.flags.writeable = False
    return Matcher(edges, nodes)


def link(
    parents: list[int], labels: list[int], depths: list[int], order: list[int], overlapping: bool, nodes: NDArray[np.int32]
) -> None:
    """Do the same as `fst.automata.kernels.matcher.link_nodes` in plain Python, which is faster for a few nodes than loading the kernel."""
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
    """Compute `SKIP` and `REST` of a node from its parent, label and depth."""
    skip, rest = linked[parent][SKIP], linked[parent][REST]
    while rest or skip == depths[parent]:
        child = children.get((rest, label), 0)
        if child or not rest:
            return skip if child else depth, child
        if linked[rest][LENGTH]:
            return skip, 0
        skip, rest = skip + linked[rest][SKIP], linked[rest][REST]
    return skip, rest


def overlapping(strings: Collection[str], known: Collection[str]) -> Iterator[str]:
    """The given strings that can overlap a string of `known` in a text.

    >>> list(overlapping(["<a>", "b", "cd"], ["a", "d<"]))
    ['<a>', 'cd']
    """
    longest, sizes, held = max(map(len, strings), default=0), {*map(len, known)}, frozenset(known)
    begins = {content[:size] for content in held for size in range(1, min(len(content), longest) + 1)}
    ends = {content[-size:] for content in held for size in range(1, min(len(content), longest) + 1)}
    inner = _inside(strings, held)
    for string in strings:
        shares = string in inner or any(string[place:] in begins or string[: place + 1] in ends for place in range(len(string)))
        if shares or not held.isdisjoint(_parts([string], sizes)):
            yield string


def _inside(strings: Collection[str], known: Collection[str]) -> set[str]:
    """The given strings that are substrings of a string of `known`."""
    if len(strings) > FEW_STRINGS:
        return {*strings}.intersection(_parts(known, {*map(len, strings)}))
    joined = "\ud800".join(known)  # the separator is a lone surrogate, which no text contains
    return {string for string in strings if string in joined}


def _parts(strings: Iterable[str], sizes: Collection[int]) -> Iterator[str]:
    """The substrings of strings with one of the given sizes."""
    return (string[place : place + size] for string in strings for size in sizes for place in range(len(string) - size + 1))


def _depths(parents: Array, sizes: Array) -> Array:
    """The number of items on the path to each node, by pointer doubling."""
    depths, above = np.where(np.arange(len(parents)) > 0, sizes, 0), parents
    while above.any():
        depths, above = depths + depths[above], above[above]
    return depths


def hashed_edges(parents: Array, labels: Array) -> NDArray[np.uint32]:
    """The hash table of edges, by linear probing. Element 0 of each argument is for the root, to which no edge leads. At most half of the
    slots are filled.
    """
    size = 2 << len(parents).bit_length()
    hashed = (parents.astype(np.uint64) << np.uint64(PARENT_SHIFT) ^ labels.astype(np.uint64)) * np.uint64(MULTIPLIERS[0])
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
