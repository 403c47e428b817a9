"""Three sets of strings → the rows of a speller: their tries, in which equal ends are one state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.refinement import classes_of
from fst.automata.trie import Ints, Strings, Trie, build, spread
from fst.compile.layout.rows import filled, placed
from fst.errors import UnsupportedError
from fst.machines.speller.layout import ENTRY

ROOTS = ("stems", "suffixes", "prefixes")


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
        heights: int64[states], the length of the longest path from each state.
        state_of: int64[nodes], the state of each node of the trie.
    """

    starts: Ints
    labels: Ints
    targets: Ints
    is_final: NDArray[np.bool_]
    heights: Ints
    state_of: Ints


def rows_of(sets: Sequence[Strings], symbols: int) -> Rows:
    """Lay out distinct strings of symbols that are not empty, of three sets. `symbols`: the number of symbols."""
    lengths, sizes = np.concatenate([some.lengths for some in sets]), [*map(len, sets)]
    texts = Strings(np.concatenate([some.symbols for some in sets]), np.cumsum(lengths) - lengths, lengths)
    del sets  # the next steps need the memory
    trie = build(ROOTS, texts, np.repeat(np.arange(len(ROOTS)), sizes), np.arange(len(lengths)))
    del texts
    merged = _merged(trie)
    skips = _skips(merged)
    if skips.max(initial=0) > ENTRY.max_value >> 1:
        raise UnsupportedError(f"the dictionary has {sizes[0]:,} stems; expected at most {ENTRY.max_value >> 1:,}; split it")
    entries, slots = _laid_out(merged, skips, symbols)
    numbers = _numbers(trie, merged, skips)
    return Rows(entries, slots[: len(ROOTS)].tolist(), np.split(numbers, np.cumsum(sizes)[:-1]))


def _merged(trie: Trie) -> Merged:
    """Merge the nodes from which the same strings are read."""
    parents, labels = np.divmod(trie.edge_keys, len(trie.letters))
    kinds = (trie.token >= 0).astype(np.int32)
    kinds[: len(ROOTS)] = 2 + np.arange(len(ROOTS))  # no root is merged
    kept, numbers = classes_of(kinds, *(column.astype(np.int32) for column in (parents, labels, trie.edge_children)))
    state_of = numbers.astype(np.int64)
    starts = np.searchsorted(parents, np.arange(len(trie) + 1))
    sizes = np.diff(starts)[kept]
    edges = spread(starts[kept], sizes)
    return Merged(
        starts=np.append(0, np.cumsum(sizes)),
        labels=trie.letters[labels[edges]],
        targets=state_of[trie.edge_children[edges]],
        is_final=trie.token[kept] >= 0,
        heights=_heights(trie, parents)[kept],
        state_of=state_of,
    )


def _heights(trie: Trie, parents: Ints) -> Ints:
    """The length of the longest path from each node; `parents`: the parent of each edge."""
    heights, children = np.zeros(len(trie), np.int64), trie.edge_children
    bounds = np.searchsorted(trie.level[children], np.arange(1, int(trie.level.max(initial=0)) + 2))
    for first, last in zip(bounds[:-1][::-1].tolist(), bounds[1:][::-1].tolist(), strict=True):
        np.maximum.at(heights, parents[first:last], heights[children[first:last]] + 1)
    return heights


def _skips(merged: Merged) -> Ints:
    """For each transition, the number of strings of its state before all strings through it."""
    counts = merged.is_final.astype(np.int64)
    skips = np.zeros(len(merged.targets), np.int64)
    order = np.argsort(merged.heights, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(merged.heights[order])) + 1):
        sizes = merged.starts[some + 1] - merged.starts[some]
        edges = spread(merged.starts[some], sizes)
        through = counts[merged.targets[edges]]
        sums = np.cumsum(through) - through
        firsts = np.cumsum(sizes) - sizes
        before = np.append(sums, 0)[np.minimum(firsts, len(sums))]
        skips[edges] = sums - np.repeat(before, sizes) + np.repeat(counts[some], sizes)
        np.add.at(counts, np.repeat(some, sizes), through)
    return skips


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
