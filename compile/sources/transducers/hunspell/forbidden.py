"""Remove words from the words that a transducer reads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fst.automata.graph import leading_to
from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.kernels.room import SizeError

MAX_PAIRS, MAX_READ = 1 << 20, 1 << 23  # maximum numbers of pairs, and of the arcs of their states
Pair = tuple[int, int]


def without_words(arcs: Arcs, words: Iterable[str]) -> Arcs:
    """The machine without the paths that read one of some words.

    A pair of a node in the tree of the words and a state is a new state, if a path from it reads the rest of a word. Paths that leave the
    tree, or can no more read a word, continue in the old states.
    """
    tree, ends = _tree(words)
    following = _pairs(arcs, tree)
    doomed = _doomed(arcs, following, ends)
    if (0, arcs.start) not in doomed:
        return arcs
    numbers = {pair: arcs.states + number for number, pair in enumerate(sorted(doomed))}
    columns: list[list[int]] = [[], [], [], []]
    final = np.concatenate([arcs.final, np.full(len(numbers), np.inf, np.float32)])
    for (node, state), number in numbers.items():
        if node not in ends:
            final[number] = arcs.final[state]
        for read, write, target, _ in arcs.arcs_of(state):
            pair = (node if read == EPSILON else tree[node].get(read, -1), target)
            for column, value in zip(columns, (number, read, write, numbers.get(pair, target)), strict=True):
                column.append(value)
    old = arcs.sources, arcs.ilabel, arcs.olabel, arcs.target
    source, read_labels, write_labels, targets = (np.concatenate([*pair]) for pair in zip(old, map(np.array, columns), strict=True))
    return connect(make(source, read_labels, write_labels, targets, None, final, numbers[0, arcs.start]))


def _tree(words: Iterable[str]) -> tuple[list[dict[int, int]], set[int]]:
    """The children of each node by label, and the nodes at which words end."""
    tree: list[dict[int, int]] = [{}]
    ends = set()
    for word in words:
        node = 0
        for char in word:
            child = tree[node].setdefault(ord(char), len(tree))
            if child == len(tree):
                tree.append({})
            node = child
        ends.add(node)
    return tree, ends


def _pairs(arcs: Arcs, tree: list[dict[int, int]]) -> dict[Pair, list[Pair]]:
    """The pairs of a node and a state that a path reaches, and the pairs after each."""
    found: dict[Pair, list[Pair]] = {}
    waiting, sizes, read_arcs = [(0, arcs.start)], np.diff(arcs.row_start).tolist(), 0
    while waiting:
        pair = waiting.pop()
        if pair in found:
            continue
        node, state = pair
        read_arcs += sizes[state]
        found[pair] = [
            (node if read == EPSILON else tree[node][read], target)
            for read, _, target, _ in arcs.arcs_of(state)
            if read == EPSILON or read in tree[node]
        ]
        waiting += found[pair]
        if len(found) > MAX_PAIRS or read_arcs > MAX_READ:
            fault = f"the forbidden words pass more than {MAX_PAIRS:,} states or {MAX_READ:,} arcs; expected fewer"
            raise SizeError(fault, "split the dictionary")
    return found


def _doomed(arcs: Arcs, following: dict[Pair, list[Pair]], ends: set[int]) -> set[Pair]:
    """The pairs from which a path reads the rest of a word, to a final state."""
    last = [(node, state) for node, state in following if node in ends and np.isfinite(arcs.final[state])]
    return leading_to(last, ((pair, other) for pair, others in following.items() for other in others))
