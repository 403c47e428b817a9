"""Regular languages over bytes: minimal deterministic automata over classes of bytes, and the operations on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import Pool, hashes_of, longer, slots_of
from fst.automata.refinement import classes_of, grouped
from fst.compile.algebra.connect import leads_to
from fst.compile.machines.guide.builder import BYTES, Block, Builder
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

MAX_STATES = 1 << 17  # maximum number of states of a deterministic automaton, unless the caller allows more
MAX_PAIRS = 1 << 19  # maximum number of states of a product of two automata
FIRST_SETS = 1 << 8
MANY_MEMBERS = 16  # average number of states of a set
FEW_MERGED = 64  # rounds end when one merges less than one state in 64
MANY_CELLS = 1 << 24  # maximum number of next states for full minimization; larger automata may keep some equivalent states

determinize, products = (Deferred("fst.compile.machines.guide.kernels.subsets", name) for name in ("determinize", "products"))


@dataclass(frozen=True, eq=False)
class ByteAutomaton:
    """A deterministic automaton over the bytes of UTF-8. State 0 is the start; a final state is reachable from every state.

    Attributes:
        classes: uint8[256], the class of each byte: in every state, all bytes of a class lead to the same state.
        by_class: int32[states, classes], the next state for each state and class; -1: none.
        is_final: bool[states].
    """

    classes: NDArray[np.uint8]
    by_class: NDArray[np.int32]
    is_final: NDArray[np.bool_]

    @cached_property
    def targets(self) -> NDArray[np.int32]:
        """int32[states, 256], the next state for each state and byte; -1: none."""
        return np.ascontiguousarray(self.by_class[:, self.classes])


class Language(NamedTuple):
    """A set of strings of bytes, as the deterministic automaton with the fewest states; with more than `MANY_CELLS` next states, it may
    have some states more. State 0 is the start.

    Attributes:
        classes: uint8[256], the class of each byte: in every state, all bytes of a class lead to the same state.
        targets: int32[states, classes], the next state for each state and class; -1: none. A final state is reachable from every
            state, so the empty set has no states.
        is_final: bool[states].
    """

    classes: NDArray[np.uint8]
    targets: NDArray[np.int32]
    is_final: NDArray[np.bool_]

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no string."""
        return len(self.is_final) == 0

    def __contains__(self, text: object) -> bool:
        """Whether the set contains a string of bytes."""
        assert isinstance(text, bytes)
        state = -1 if self.is_empty else 0
        for byte in text:
            if state < 0:
                return False
            state = int(self.targets[state, self.classes[byte]])
        return state >= 0 and bool(self.is_final[state])

    def over_bytes(self) -> ByteAutomaton:
        """The automaton for the compilation of masks."""
        return ByteAutomaton(self.classes, self.targets, self.is_final)


class _Machine(NamedTuple):
    """See the kernel."""

    row_start: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    target: NDArray[np.int64]
    silent_start: NDArray[np.int64]
    silent_target: NDArray[np.int64]
    end: NDArray[np.int64]


class _Work(NamedTuple):
    stamps: NDArray[np.int64]
    found: NDArray[np.int64]
    alone: NDArray[np.int64]
    marks: NDArray[np.bool_]


def of_builder(builder: Builder, start: int, end: int, most: int = MAX_STATES) -> Language:
    """The language of all texts that lead from one state to another. The deterministic automaton has at most `most` states."""
    count = builder.states
    arcs = np.concatenate([np.array(builder.arcs, np.int64).reshape(-1, 4), *builder.blocks])
    silent = np.array(builder.silent, np.int64).reshape(-1, 2)
    row_start, order = grouped(arcs[:, 0].astype(np.int32), count)
    silent_start, silent_order = grouped(silent[:, 0].astype(np.int32), count)
    runs, classes = _runs(arcs)
    first, last, target = classes[arcs[order, 1]], classes[arcs[order, 2]], np.ascontiguousarray(arcs[order, 3])
    machine = _Machine(row_start, first, last, target, silent_start, np.ascontiguousarray(silent[silent_order, 1]), np.array([end]))
    sets = min(max(FIRST_SETS, 1 << (2 * count).bit_length()), most)
    pool, counts = Pool.of(sets, MANY_MEMBERS * sets + count, np.int64), np.zeros(2, np.int64)
    work = _Work(np.zeros(count, np.int64), np.empty(count, np.int64), np.full(count, -1), np.zeros(runs + 1, np.bool_))
    targets, is_final = np.empty((sets, runs), np.int32), np.empty(sets, np.bool_)
    while not determinize.call(start, machine, pool, work, counts, targets, is_final):
        _need_less(pool.room, most)
        pool = pool.larger(most)
        targets, is_final = longer(targets, pool.room), longer(is_final, pool.room)
    sets = int(pool.counts[0])
    merged, first = _classes(targets[:sets])
    return minimal(merged[classes], targets[:sets, first], is_final[:sets])


def _runs(arcs: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """The number of runs of bytes that have the same arcs, and int64[256], the run of each byte."""
    begins = np.zeros(BYTES + 1, np.int64)
    begins[arcs[:, 1]] = begins[arcs[:, 2] + 1] = 1
    begins[0] = 0
    classes = np.cumsum(begins[:BYTES])
    return int(classes[-1]) + 1, classes


def _classes(targets: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Classes of equal columns, in the order of first columns: uint8[columns], and int64[classes], the first column of each class."""
    columns, size = targets.T.tobytes(), targets.itemsize * len(targets)
    numbers: dict[bytes, int] = {}
    firsts, classes = list[int](), np.empty(targets.shape[1], np.uint8)
    for column in range(len(classes)):
        number = numbers.setdefault(columns[column * size : (column + 1) * size], len(numbers))
        if number == len(firsts):
            firsts.append(column)
        classes[column] = number
    return classes, np.array(firsts, np.int64)


def minimal(classes: NDArray[np.uint8], targets: NDArray[np.int32], is_final: NDArray[np.bool_]) -> Language:
    """The language of a deterministic automaton whose states can all be reached. The arrays are those of `Language`, but a final state need
    not be reachable from every state.
    """
    targets, is_final = _trimmed(targets, is_final)
    if targets.size > MANY_CELLS:
        targets, is_final = _merged_by_ranges(targets, is_final)
    if 0 < targets.size <= MANY_CELLS:
        targets, is_final = _merged(targets, is_final, *_arcs(targets))
    merged, first = _classes(targets)
    return Language(merged[classes], np.ascontiguousarray(targets[:, first]), is_final)


def _trimmed(targets: NDArray[np.int32], is_final: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The states from which a final state can be reached; none if the start is not among them."""
    states, _, following = _arcs(targets)
    row_start = np.searchsorted(states, np.arange(len(targets) + 1))
    kept = leads_to(row_start, following.astype(np.int32), is_final)
    if kept.all():
        return targets, is_final
    if not kept[0]:
        return targets[:0], is_final[:0]
    numbers = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    return numbers[targets[kept]], is_final[kept]


def _merged_by_ranges(targets: NDArray[np.int32], is_final: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The automaton with equivalent states merged. It has fewer arcs than one for each class: an arc reads all adjacent classes that lead
    to the same state. States whose ranges become equal by a merge are merged in the next round, until a round merges few states. Some
    equivalent states that lead to themselves are not merged.
    """
    before = 2 * len(targets)
    while len(targets) < before - before // FEW_MERGED:
        before = len(targets)
        targets, is_final = _merged(targets, is_final, *_arcs(targets))
    return targets, is_final


def _arcs(targets: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The sources, labels and next states of arcs over classes; of large automata, over ranges of classes, as in `ranges_of`."""
    if targets.size <= MANY_CELLS:
        sources, columns = np.nonzero(targets >= 0)
        return sources, columns, targets[sources, columns]
    sources, first, last, following = ranges_of(targets, np.arange(targets.shape[1] + 1)).T
    return sources, first << 8 | last, following.astype(np.int32)


def _merged(
    targets: NDArray[np.int32], is_final: NDArray[np.bool_], *arcs: NDArray[np.int64] | NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The automaton in which states are merged if their arcs have the same labels and lead to merged states; `arcs`: sources, labels, next
    states.
    """
    firsts, numbers = classes_of(is_final.astype(np.int32), *(each.astype(np.int32) for each in arcs))
    return np.append(numbers, np.int32(-1))[targets[firsts]], is_final[firsts]


def intersection(first: Language, second: Language, most: int = MAX_PAIRS) -> Language:
    """The strings that are in both languages; `most`: the maximum number of pairs of states."""
    return _product(first, second, False, False, np.logical_and, most)


def difference(first: Language, second: Language, most: int = MAX_PAIRS) -> Language:
    """The strings of the first language that are not in the second; `most` as in `intersection`."""
    return _product(first, second, True, False, np.greater, most)


def union(first: Language, second: Language) -> Language:
    """The strings that are in either language."""
    return _product(first, second, True, True, np.logical_or, MAX_PAIRS)


def _product(first: Language, second: Language, keeps_first: bool, keeps_second: bool, is_final: np.ufunc, most: int) -> Language:
    """The strings that lead to final pairs of states; `is_final` combines whether each of the two states is final."""
    pairs, classes = np.unique(first.classes.astype(np.int64) << 8 | second.classes, return_inverse=True)
    columns = np.stack([pairs >> 8, pairs & 0xFF], axis=1)
    count, counts = FIRST_SETS, np.zeros(2, np.int64)
    keys, slots, targets = np.empty(count, np.int64), np.zeros(2 * count, np.int32), np.empty((count, len(columns)), np.int32)
    keys[0] = int(not first.is_empty) << 32 | int(not second.is_empty)
    while not products.call(first.targets, second.targets, columns, keeps_first, keeps_second, keys, slots, counts, targets):
        _need_less(count, most)
        count = min(2 * count, most)
        keys, targets = longer(keys, count), longer(targets, count)
        slots = slots_of(hashes_of(keys[: counts[0]]), 2 * len(slots))
    keys, targets = keys[: counts[0]], targets[: counts[0]]
    finals = [np.append(False, each.is_final)[states] for each, states in ((first, keys >> 32), (second, keys & 0xFFFFFFFF))]
    return minimal(classes.astype(np.uint8), targets, is_final(*finals))


def _need_less(states: int, most: int) -> None:
    if states >= most:
        raise UnsupportedError(f"the automaton has more than {most:,} states; make it smaller")


def concatenation(first: Language, second: Language) -> Language:
    """The strings of the first language, each followed by a string of the second."""
    builder = Builder()
    start, middle, end = builder.state(), builder.state(), builder.state()
    builder.block(start, block_of(first), middle)
    builder.block(middle, block_of(second), end)
    return of_builder(builder, start, end)


def block_of(language: Language) -> Block:
    """The states and arcs of a language."""
    return Block(len(language.is_final), ranges_of(*by_range(language)), np.flatnonzero(language.is_final).tolist())


def by_range(language: Language, alone: Sequence[int] = ()) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The next states of a language for ranges of bytes with the same next states: int32[states, ranges], a copy; and int64[ranges + 1],
    the first byte of each range, and 256. Each byte of `alone` gets a range of its own.
    """
    begins = np.diff(language.classes.astype(np.int64), prepend=-1, append=-1) != 0
    begins[[*alone, *(byte + 1 for byte in alone)]] = True
    firsts = np.flatnonzero(begins)
    return language.targets[:, language.classes[firsts[:-1]]], firsts


def ranges_of(targets: NDArray[np.int32], firsts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The arcs of a table over ranges of bytes, see `by_range`; adjacent ranges with the same target are one arc, as in `Block`."""
    changes = np.ones((len(targets), targets.shape[1] + 1), np.bool_)
    changes[:, 1:-1] = targets[:, 1:] != targets[:, :-1]
    states, first = np.nonzero(changes[:, :-1])
    last = np.nonzero(changes[:, 1:])[1]
    found = np.stack([states, firsts[first], firsts[last + 1] - 1, targets[states, first]], axis=1).astype(np.int64)
    return found[found[:, 3] >= 0]
