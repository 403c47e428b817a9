"""Three sets of strings → the rows of a speller: their tries, in which equal ends are one state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import Ints, Strings, Trie, build, spread
from fst.compile.layout.rows import filled, placed
from fst.errors import UnsupportedError
from fst.machines.speller.layout import ENTRY

ROOTS = ("stems", "suffixes", "prefixes")
ODD = np.uint64(0x9E3779B97F4A7C15)


class Rows(NamedTuple):
    """The rows, and the number of each string among the strings of its set.

    Attributes:
        entries: uint64[slots], see `fst.machines.speller.layout`.
        roots: the state of each set.
        numbers: int64[strings] for each set.
    """

    entries: NDArray[np.uint64]
    roots: list[int]
    numbers: list[Ints]


class Merged(NamedTuple):
    """A trie in which equal ends of strings are one state; the states of roots come first.

    Attributes:
        starts: int64[states + 1], the bounds of each state's transitions.
        labels, targets: int64[transitions], sorted by label within a state.
        is_final: bool[states], whether a string ends.
        state_of: int64[nodes], the state of each node of the trie.
    """

    starts: Ints
    labels: Ints
    targets: Ints
    is_final: NDArray[np.bool_]
    state_of: Ints


def rows_of(sets: Sequence[Strings], symbols: int) -> Rows:
    """Lay out distinct strings of symbols that are not empty, of three sets. `symbols`: the number of symbols."""
    lengths = np.concatenate([some.lengths for some in sets])
    texts = Strings(np.concatenate([some.symbols for some in sets]), np.cumsum(lengths) - lengths, lengths)
    root_of = np.repeat(np.arange(len(ROOTS)), [len(some) for some in sets])
    trie = build(ROOTS, texts, root_of, np.arange(len(lengths)))
    merged = _merged(trie)
    skips = _skips(merged)
    if skips.max(initial=0) > ENTRY.max_value >> 1:
        raise UnsupportedError(f"the dictionary has {len(sets[0]):,} stems; expected at most {ENTRY.max_value >> 1:,}; split it")
    entries, slots = _laid_out(merged, skips, symbols)
    numbers = _numbers(trie, merged, skips)
    ends = np.cumsum([len(some) for some in sets])[:-1]
    return Rows(entries, slots[: len(ROOTS)].tolist(), np.split(numbers, ends))


def _merged(trie: Trie) -> Merged:
    """Merge the nodes with equal transitions, from the ends of strings to the roots."""
    nodes, width = len(trie), len(trie.letters)
    parents, labels = np.divmod(trie.edge_keys, width)
    labels = trie.letters[labels]
    starts = np.searchsorted(parents, np.arange(nodes + 1))
    is_final = trie.token >= 0
    class_of, heights = np.arange(nodes), _heights(parents, trie.edge_children, trie.level, nodes)
    order = np.argsort(heights, kind="stable")
    bounds = np.searchsorted(heights[order], np.arange(int(heights.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        some = order[first:last]
        some = some[some >= len(ROOTS)]
        if len(some):
            class_of[some] = _leaders(some, starts, labels, class_of[trie.edge_children], is_final)
    kept = np.flatnonzero(class_of == np.arange(nodes))
    numbers = np.zeros(nodes, np.int64)
    numbers[kept] = np.arange(len(kept))
    state_of = numbers[class_of]
    sizes = np.diff(starts)[kept]
    edges = spread(starts[kept], sizes)
    return Merged(np.append(0, np.cumsum(sizes)), labels[edges], state_of[trie.edge_children[edges]], is_final[kept], state_of)


def _heights(parents: Ints, children: Ints, levels: Ints, nodes: int) -> Ints:
    """The length of the longest path from each node."""
    heights = np.zeros(nodes, np.int64)
    bounds = np.searchsorted(levels[children], np.arange(1, int(levels.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1][::-1].tolist(), bounds[1:][::-1].tolist(), strict=True):
        np.maximum.at(heights, parents[first:last], heights[children[first:last]] + 1)
    return heights


def _leaders(some: Ints, starts: Ints, labels: Ints, targets: Ints, is_final: NDArray[np.bool_]) -> Ints:
    """For each of some nodes of one height, the first of them with equal transitions."""
    sizes = starts[some + 1] - starts[some]
    edges = spread(starts[some], sizes)
    mixed = (labels[edges].astype(np.uint64) << np.uint64(32) | targets[edges].astype(np.uint64)) * ODD
    mixed = (mixed ^ mixed >> np.uint64(29)) * ODD
    sums = np.append(np.uint64(0), np.cumsum(mixed ^ mixed >> np.uint64(32), dtype=np.uint64))
    ends = np.cumsum(sizes)
    hashes = (sums[ends] - sums[ends - sizes]) * np.uint64(2) + is_final[some].astype(np.uint64)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    leaders = first[inverse]
    is_same = (sizes == sizes[leaders]) & (is_final[some] == is_final[some[leaders]])
    compared = np.flatnonzero(is_same)
    own = spread(starts[some[compared]], sizes[compared])
    other = spread(starts[some[leaders[compared]]], sizes[compared])
    differs = (labels[own] != labels[other]) | (targets[own] != targets[other])
    is_same[np.repeat(compared, sizes[compared])[differs]] = False
    return np.where(is_same, some[leaders], some)  # nodes with the hash of other transitions are not merged


def _skips(merged: Merged) -> Ints:
    """For each transition, the number of strings of its state before all strings through it."""
    counts = merged.is_final.astype(np.int64)
    states = len(counts)
    sources = np.repeat(np.arange(states), np.diff(merged.starts))
    order, depth = _by_height(merged, sources)
    skips = np.zeros(len(merged.targets), np.int64)
    for some in np.split(order, depth):
        sizes = merged.starts[some + 1] - merged.starts[some]
        edges = spread(merged.starts[some], sizes)
        through = counts[merged.targets[edges]]
        sums = np.cumsum(through) - through
        firsts = np.cumsum(sizes) - sizes
        before = np.append(sums, 0)[np.minimum(firsts, len(sums))]
        skips[edges] = sums - np.repeat(before, sizes) + np.repeat(counts[some], sizes)
        np.add.at(counts, np.repeat(some, sizes), through)
    return skips


def _by_height(merged: Merged, sources: Ints) -> tuple[Ints, Ints]:
    """The states in the order of their heights, and the bounds of equal heights."""
    states = len(merged.is_final)
    heights = np.zeros(states, np.int64)
    while True:
        found = np.zeros(states, np.int64)
        np.maximum.at(found, sources, heights[merged.targets] + 1)
        if np.array_equal(found, heights):
            break
        heights = found
    order = np.argsort(heights, kind="stable")
    return order, np.flatnonzero(np.diff(heights[order])) + 1


def _laid_out(merged: Merged, skips: Ints, symbols: int) -> tuple[NDArray[np.uint64], Ints]:
    """The entries, and the slot of each state."""
    sizes = np.diff(merged.starts)
    order = np.append(0, 1 + np.argsort(-sizes[1:], kind="stable"))
    slots = placed(ENTRY, merged.starts, merged.labels, order, symbols)
    entries = filled(ENTRY, slots, ENTRY.first + symbols, ENTRY.pack(ENTRY.own, 0), "the dictionary")
    places = np.repeat(slots, sizes) + ENTRY.first + merged.labels
    entries[places] = ENTRY.pack(merged.labels, slots[merged.targets], skips << 1 | merged.is_final[merged.targets])
    return entries, slots


def _numbers(trie: Trie, merged: Merged, skips: Ints) -> Ints:
    """The number of each string: the sum of the skips on its path."""
    parents, labels = np.divmod(trie.edge_keys, len(trie.letters))
    keys = np.repeat(np.arange(len(merged.is_final)), np.diff(merged.starts)) << 32 | merged.labels
    skip = skips[np.searchsorted(keys, merged.state_of[parents] << 32 | trie.letters[labels])]
    sums = np.zeros(len(trie), np.int64)
    bounds = np.searchsorted(trie.level[trie.edge_children], np.arange(1, int(trie.level.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        sums[trie.edge_children[first:last]] = sums[parents[first:last]] + skip[first:last]
    found = np.zeros(int(trie.token.max(initial=-1)) + 1, np.int64)
    found[trie.token[trie.token >= 0]] = sums[trie.token >= 0]
    return found
