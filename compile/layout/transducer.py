"""Lay out a transducer as rows of entries.

There are two layouts. Compact rows are overlaid with displacements. Linked rows are compact rows with failure links, which replace the
transitions that a state inherits through its link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import (
    ENTRY,
    FAIL,
    FINISH,
    LAST_OUTPUT,
    LINK,
    MANY,
    MAX_OUTPUT,
    NONE,
    ONE,
    PAGE_BITS,
    pack,
)
from fst.automata.transducer import Transducer, inherits
from fst.automata.trie import NULL, ROOT, Ints, spread
from fst.compile.layout.rows import ODD, filled, placed
from fst.errors import UnsupportedError
from fst.tables.header import LINKED

MAX_SHAPES, MAX_LABELS, ROUNDS = 1000, 2048, 3  # limits of the search for columns in `_columns`; 98 % of the rows are within these limits


@dataclass(frozen=True, eq=False)
class Rows:
    """A transducer laid out as rows of entries.

    Attributes:
        layout: "compact" or "linked".
        entries: uint64[slots].
        pool: uint32[n].
        slots: int64[states + 1], the first slot of each state's row. The last element is the slot of the dead state, so index -1 gives this
            slot.
        columns: int64[labels], the position of each label in a row; 0 if no row contains the label, so that the default always applies.
    """

    layout: str
    entries: NDArray[np.uint64]
    pool: NDArray[np.uint32]
    slots: Ints
    columns: Ints


def lay_out(transducer: Transducer, visits: NDArray[np.float64], layout: str) -> Rows:
    """Lay out a transducer as rows of entries. `transducer`: the machine; for "linked", it has only the edges of the trie. `visits`:
    float64[states], the expected number of visits of each state; the rows of the most visited states are placed next to each other.
    `layout`: "compact" or "linked".
    """
    shapes = _shapes(transducer)
    columns = _columns(transducer, shapes)
    if layout == LINKED:
        columns += columns > 0  # column 0 is for failure links
        shapes = 2 * shapes + np.append(inherits(transducer.failure), False)
    width = int(columns.max(initial=0)) + 1
    if width > FINISH:
        raise UnsupportedError(f"{width - 1} different characters inside tokens: a table has room for {FINISH - 1}")

    transitions = _Transitions.of(transducer, columns)
    if layout == LINKED:
        transitions = transitions.with_links(transducer)
    pool, finish, output, kind = _outputs(transducer, transitions)
    order = np.append(ROOT, 1 + np.argsort(-np.append(visits[1:], -1), kind="stable"))
    starts = np.searchsorted(transitions.source, np.arange(len(transducer.trie) + 2))
    slots = placed(ENTRY, starts, transitions.column, order, width, shapes)
    entries = filled(ENTRY, slots, width, finish, "the automaton of this vocabulary")
    entries[slots[transitions.source] + transitions.column] = pack(slots[transitions.target], transitions.column, output, kind)
    return Rows(layout, entries, pool, slots, columns)


@dataclass(frozen=True, eq=False)
class _Transitions:
    """The transitions that rows contain: explicit transitions on labels with a column, sorted by source."""

    source: Ints
    column: Ints
    target: Ints
    emitted: Ints

    @classmethod
    def of(cls, transducer: Transducer, columns: Ints) -> _Transitions:
        # The root has no default: labels without a transition lead to the dead state.
        lacking = np.setdiff1d(np.flatnonzero(columns), transducer.label[: transducer.row_start[1]])
        source = np.concatenate([np.full(len(lacking), ROOT), np.repeat(np.arange(len(transducer.trie)), np.diff(transducer.row_start))])
        column = columns[np.concatenate([lacking, transducer.label])]
        target = np.concatenate([np.full(len(lacking), NULL), transducer.target])
        emitted = np.concatenate([np.zeros(len(lacking), np.int64), transducer.emitted])
        kept = column > 0
        return cls(source[kept], column[kept], target[kept], emitted[kept])

    def with_links(self, transducer: Transducer) -> _Transitions:
        """Return these transitions and the failure links, sorted by source. The root has every transition, so its link is never used."""
        failure = transducer.failure
        linked = np.flatnonzero(inherits(failure))
        length = np.diff(failure.pops_start)
        targets = failure.link[linked]
        source = np.concatenate([[ROOT], linked, self.source])
        order = np.argsort(source, kind="stable")
        column = np.concatenate([np.full(1 + len(linked), LINK), self.column])
        target = np.concatenate([[NULL], targets, self.target])
        emitted = np.concatenate([[0], length[linked] - length[targets], self.emitted])
        return _Transitions(source[order], column[order], target[order], emitted[order])


def _shapes(transducer: Transducer) -> Ints:
    """A number for each state and the dead state, for `placed`; equal for rows with the same labels."""
    # The number of a row is the sum of one random number per label. If two different rows have the same sum, one of them may only get a
    # later slot than necessary.
    powers = np.cumprod(np.full(len(transducer.trie.letters), ODD))
    before = np.append(np.uint64(0), np.cumsum(powers[transducer.label]))
    sums = before[transducer.row_start[1:]] - before[transducer.row_start[:-1]]
    shapes: Ints = np.unique(np.append(sums, np.uint64(0)), return_inverse=True)[1]
    return shapes


def _columns(transducer: Transducer, shapes: Ints) -> Ints:
    """Assign a column to each label that rows contain, ignoring the rows of states that no transition enters.

    Rows with fewer gaps can be overlaid more densely. Labels are sorted by script, then by frequency; then 2-opt improves the order.
    """
    trie = transducer.trie
    sources = np.repeat(np.arange(len(trie)), np.diff(transducer.row_start))
    # If no transition enters a root, only defaults and the first symbols of words use the root's transitions.
    counts = np.bincount(transducer.label[transducer.is_entered[sources]], minlength=len(trie.letters))
    scripts = np.maximum(trie.letters, 0) >> PAGE_BITS
    order = np.lexsort((-counts, scripts, -np.bincount(scripts, counts)[scripts]))
    used = order[counts[order] > 0]
    most, rest = used[:MAX_LABELS], used[MAX_LABELS:]
    columns = np.zeros(len(trie.letters), np.int64)
    columns[np.append(_untangled(most, _differences(transducer, shapes, most)), rest)] = np.arange(1, len(used) + 1)
    return columns


def _differences(transducer: Transducer, shapes: Ints, labels: Ints) -> NDArray[np.float32]:
    """For each pair of labels, the number of rows with exactly one of the two labels; only the shapes with the most slots are counted."""
    _, first, counts = np.unique(shapes[:-1], return_index=True, return_counts=True)
    lengths = np.diff(transducer.row_start)
    most = np.argsort(-counts * lengths[first], kind="stable")[:MAX_SHAPES]
    first, lengths = first[most], lengths[first[most]]
    column = np.full(len(transducer.trie.letters), len(labels))  # the last column represents all other labels
    column[labels] = np.arange(len(labels))
    has = np.zeros((len(most), len(labels) + 1), np.float32)  # float32 counts are exact below 2^24 rows
    has[np.repeat(np.arange(len(most)), lengths), column[transducer.label[spread(transducer.row_start[first], lengths)]]] = 1
    has = has[:, :-1]
    both = (has.T * counts[most].astype(np.float32)) @ has
    own = np.diag(both)
    found: NDArray[np.float32] = own[:, None] + own - 2 * both
    return found


def _untangled(labels: Ints, differences: NDArray[np.float32]) -> Ints:
    """Reorder labels so that neighbours occur in nearly the same rows: 2-opt reverses segments if this reduces the total difference."""
    order = np.arange(len(labels) + 1)  # the last element represents the end of the order, which adds no cost
    costs = np.pad(differences, ((0, 1), (0, 1)))
    for _ in range(ROUNDS):
        for first in range(1, len(labels)):
            before, begin = order[first - 1], order[first]
            ends, after = order[first:-1], order[first + 1 :]
            gains = costs[before, begin] + costs[ends, after] - costs[before, ends] - costs[begin, after]
            best = int(gains.argmax())
            if gains[best] > 0:
                order[first : first + best + 1] = order[first : first + best + 1][::-1].copy()
    return labels[order[:-1]]


def _outputs(transducer: Transducer, transitions: _Transitions) -> tuple[NDArray[np.uint32], NDArray[np.uint64], Ints, Ints]:
    """The pool, the finish entries of all states and of the dead state, and the output and the kind of each transition."""
    failure, trie = transducer.failure, transducer.trie
    length = np.diff(failure.pops_start)
    whole = failure.whole.copy()
    whole[ROOT] = True  # between two words, no part of a word remains to be segmented
    starts = np.concatenate([failure.pops_start[:-1], failure.pops_start[transitions.source]])
    lengths = np.concatenate([np.where(whole, length, 0), transitions.emitted])
    pool, output = _share(failure.pops, starts, lengths)
    kind = np.select([lengths == 0, lengths == 1], [NONE, ONE], MANY)
    states = len(trie)
    kind[:states][~whole] = FAIL
    finish = pack(np.append(trie.level, 0), FINISH, np.append(output[:states], 0), np.append(kind[:states], FAIL))
    return pool, finish, output[states:], kind[states:]


def _share(pops: Ints, starts: Ints, lengths: Ints) -> tuple[NDArray[np.uint32], Ints]:
    """Put each distinct list of two or more ids into the pool once. Returns the pool, and a number for each list: the position in the pool;
    for a list of one id, this id; for an empty list, 0.
    """
    output = np.zeros(len(starts), np.int64)
    output[lengths == 1] = pops[starts[lengths == 1]]
    longer = np.flatnonzero(lengths > 1)
    # For each length, number the distinct pairs of a prefix's number and the next id, like the nodes on a level of a trie.
    number = pops[starts[longer]]
    pool: list[NDArray[np.uint32]] = [np.empty(0, np.uint32)]
    used, place = 0, 1
    while len(longer):
        _, number = np.unique(number << 32 | pops[starts[longer] + place], return_inverse=True)
        place += 1
        ends = lengths[longer] == place
        numbers, first = np.unique(number[ends], return_index=True)
        members = longer[ends]
        lists = pops[starts[members[first]][:, None] + np.arange(place)].astype(np.uint32)
        lists[:, -1] |= np.uint32(LAST_OUTPUT)
        output[members] = used + np.searchsorted(numbers, number[ends]) * place
        pool.append(lists.ravel())
        used += lists.size
        longer, number = longer[~ends], number[~ends]
    if used > MAX_OUTPUT:
        raise UnsupportedError(f"outputs of {used} ids: the pool has room for {MAX_OUTPUT}")
    return np.concatenate(pool), output
