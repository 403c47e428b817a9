"""Canonical masks: states are found by steps, and masks are made at their first use."""

from __future__ import annotations

from threading import RLock
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.canonical import IS_PATH, LIMIT, START, Machine
from fst.machines.guide.vocabulary import Vocabulary

CAPACITY = 256  # the number of bytes after a token that are tried at once
KERNELS = "fst.runtime.machines.guide.kernels.canonical"

scan_canonical, walk_token, find_fresh = (Deferred(KERNELS, name) for name in ("scan_canonical", "walk_token", "find_fresh"))


class Work(NamedTuple):
    """The rows of a walk, one for each number of bytes.

    Attributes:
        states, cuts, chars: int32[n], the states of the automaton, of the cuts, and of the current character.
        begun: uint8[n], whether a word begins with the current character.
        is_fresh: uint8[n], whether the state of the machine is that of a word that begins with the token.
        words, counts: int32[n], the state of the machine, and the number of characters of the word.
        nodes, sums, begins: [n, longest], the column of a best path: the nodes of the trie that are reached from earlier positions, the
            best sums at these positions, and the positions.
        sizes: int32[n], the size of each column.
        lasts: int32[n], the last token of the best path; -1: none.
        leads: int32[n], lead_sums: float64[n], the position where the current character begins, and the best sum there.
    """

    states: Array
    cuts: Array
    chars: Array
    begun: Array
    is_fresh: Array
    words: Array
    counts: Array
    nodes: Array
    sums: Array
    begins: Array
    sizes: Array
    lasts: Array
    leads: Array
    lead_sums: Array

    @classmethod
    def of(cls, rows: int, columns: int) -> Work:
        """Empty rows."""
        names = "states", "cuts", "chars", "words", "counts", "sizes", "lasts", "leads"
        ints = {name: np.zeros(rows, np.int32) for name in names}
        nodes, begins = np.zeros((2, rows, columns), np.int32)
        of_paths: dict[str, Array] = {"nodes": nodes, "begins": begins, "sums": np.zeros((rows, columns)), "lead_sums": np.zeros(rows)}
        begun, is_fresh = np.zeros((2, rows), np.uint8)
        return cls(**ints, **of_paths, begun=begun, is_fresh=is_fresh)


class Column(NamedTuple):
    """The column of a best path: the bytes of its arrays, with positions relative to its own; and the last beginning of a character."""

    nodes: bytes
    sums: bytes
    begins: bytes
    lead: int
    lead_sum: float


class Place(NamedTuple):
    """One way to cut the text so far: the row of a walk."""

    state: int
    cut: int
    char: int
    begun: int
    word: int
    length: int
    column: Column | None


State = tuple[Place, ...]


class CanonicalStates:
    """The states of canonical masks. A state is the set of all ways to cut the text so far.

    Args:
        machine: the arrays.
        vocabulary: the vocabulary of the tokenizer.
    """

    def __init__(self, machine: Machine, vocabulary: Vocabulary) -> None:
        self._machine, self._vocabulary = machine, vocabulary
        longest = vocabulary.trie.longest
        self._work = Work.of(longest + CAPACITY + 1, 2 * longest + CAPACITY if machine.params[IS_PATH] else 1)
        self._twins = np.arange(vocabulary.size, dtype=np.int32)
        twins = vocabulary.trie.twins
        self._twins[twins[:, 0]] = twins[:, 1]
        self._fresh = np.empty(0 if machine.params[IS_PATH] or len(machine.fails) else len(vocabulary.trie.labels), np.uint32)
        if len(self._fresh):
            find_fresh.call(machine.entries, vocabulary.trie, np.empty(longest + 1, np.int32), self._fresh)
        self._unsure = np.empty(vocabulary.size, np.int32)
        self._lock = RLock()
        self._alive = dict[State, bool]()

    @property
    def words(self) -> int:
        """The number of 32-bit words of a mask."""
        return self._vocabulary.words

    @property
    def start(self) -> State:
        """The state before the first token."""
        return (Place(int(self._machine.params[START]), 0, 0, 0, 0, 0, None),)

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""
        machine = self._machine
        return any(machine.finals[place.state] and machine.ends[place.cut] and not place.char for place in state)

    def step(self, state: State, number: int) -> State:
        """The state after a token, which may be no beginning of a text; empty if the tokens are not canonical so far."""
        content = np.frombuffer(self._vocabulary.content(number), np.uint8)
        found = set[Place]()
        if not len(content):
            return ()
        with self._lock:
            for place in state:
                for begins in range(1 if place.char else 2):
                    self._load(place)
                    if walk_token.call(self._machine, self._work, content, number, begins):
                        found.add(self._place(len(content)))
        return tuple(sorted(found, key=lambda place: place[:6]))

    def row(self, state: State) -> Array:
        """uint32[words], the mask of a state, without the end of the text."""
        row = np.zeros(self.words, np.uint32)
        with self._lock:
            unsure = self._scan(state, row)
            for number in unsure:
                word, bit = number // 32, np.uint32(1 << number % 32)
                if not row[word] & bit and self.is_alive(self.step(state, number)):
                    row[word] |= bit
        return row

    def is_alive(self, state: State) -> bool:
        """Whether a text can end after a state; by a search in full, if need be."""
        if not state:
            return False
        known = self._alive.get(state)
        if known is not None:
            return known
        seen, queue = {state}, [state]
        for one in queue:  # the loop appends to `queue`
            row = np.zeros(self.words, np.uint32)
            unsure = self._scan(one, row)
            if self.is_final(one) or row.any() or self._alive.get(one):
                self._alive[state] = True
                return True
            for number in unsure:
                after = self.step(one, number)
                if after and after not in seen and self._alive.get(after) is not False:
                    seen.add(after)
                    queue.append(after)
        self._alive.update(dict.fromkeys(seen, False))
        return False

    def _scan(self, state: State, row: Array) -> list[int]:
        """Fill a mask; return the ids for which no later text is found at once."""
        unsure = set[int]()
        for place in state:
            self._load(place)
            count = scan_canonical.call(self._machine, self._vocabulary.trie, self._twins, self._fresh, self._work, row, self._unsure)
            unsure.update(self._unsure[:count].tolist())
        return sorted(unsure)

    def _load(self, place: Place) -> None:
        work, column = self._work, place.column
        work.states[0], work.cuts[0], work.chars[0], work.begun[0], work.words[0], work.counts[0] = place[:6]
        work.sizes[0] = 0
        if column:
            nodes = np.frombuffer(column.nodes, np.int32)
            size = work.sizes[0] = len(nodes)
            work.nodes[0, :size], work.sums[0, :size] = nodes, np.frombuffer(column.sums, np.float64)
            work.begins[0, :size] = np.frombuffer(column.begins, np.int32)
            work.leads[0], work.lead_sums[0] = column.lead, column.lead_sum

    def _place(self, depth: int) -> Place:
        """The row of a walk at a depth."""
        work, machine = self._work, self._machine
        state, cut, char, begun = (int(array[depth]) for array in (work.states, work.cuts, work.chars, work.begun))
        if not machine.params[IS_PATH]:
            length = int(work.counts[depth]) if machine.params[LIMIT] else 0
            return Place(state, cut, char, begun, int(work.words[depth]), length, None)
        size = work.sizes[depth]
        begins = work.begins[depth, :size] - np.int32(depth)
        arrays = work.nodes[depth, :size].tobytes(), work.sums[depth, :size].tobytes(), begins.tobytes()
        column = Column(*arrays, int(work.leads[depth]) - depth, float(work.lead_sums[depth]))
        return Place(state, cut, char, begun, 0, 0, column)
