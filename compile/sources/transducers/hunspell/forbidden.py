"""Remove words from the words that a transducer reads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fst.automata.graph import leading_to
from fst.compile.algebra.arcs import EPSILON, NOWHERE, Arcs, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.kernels.room import SizeError

MAX_PAIRS, MAX_READ = 1 << 18, 1 << 22  # maximum numbers of pairs, and of the arcs of their states; Catalan has the most pairs, 1,436
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
    starts, labels, goals = arcs.row_start.tolist(), arcs.ilabel.tolist(), arcs.target.tolist()
    copied, targets = list[int](), list[int]()  # the arcs of new states: each is an old arc with a new target
    final = np.concatenate([arcs.final, np.full(len(numbers), np.inf, np.float32)])
    for (node, state), number in numbers.items():
        if node not in ends:
            final[number] = arcs.final[state]
        row = range(starts[state], starts[state + 1])
        children = {**tree[node], EPSILON: node}
        copied += row
        targets += [numbers.get((children.get(labels[arc], NOWHERE), goals[arc]), goals[arc]) for arc in row]
    sources = np.repeat([*numbers.values()], [starts[state + 1] - starts[state] for _, state in numbers])
    before = np.concatenate([arcs.sources, sources])
    read, write = (np.concatenate([column, column[copied]]) for column in (arcs.ilabel, arcs.olabel))
    after = np.concatenate([arcs.target, targets])
    return connect(make(before, read, write, after, None, final, numbers[0, arcs.start]))


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
    starts, labels, targets = arcs.row_start.tolist(), arcs.ilabel.tolist(), arcs.target.tolist()
    waiting, read_arcs = [(0, arcs.start)], 0
    while waiting:
        pair = waiting.pop()
        if pair in found:
            continue
        node, state = pair
        row = slice(starts[state], starts[state + 1])
        read_arcs += row.stop - row.start
        children = {**tree[node], EPSILON: node}
        some = zip(labels[row], targets[row], strict=True)
        found[pair] = [(children[read], target) for read, target in some if read in children]
        waiting += found[pair]
        if len(found) > MAX_PAIRS or read_arcs > MAX_READ:
            fault = f"the forbidden words pass more than {MAX_PAIRS:,} states or {MAX_READ:,} arcs; expected fewer"
            raise SizeError(fault, "split the dictionary")
    return found


def _doomed(arcs: Arcs, following: dict[Pair, list[Pair]], ends: set[int]) -> set[Pair]:
    """The pairs from which a path reads the rest of a word, to a final state."""
    last = [(node, state) for node, state in following if node in ends and np.isfinite(arcs.final[state])]
    return leading_to(last, ((pair, other) for pair, others in following.items() for other in others))
