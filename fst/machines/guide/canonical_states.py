"""The states of canonical masks, and the steps between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import RLock, local
from typing import NamedTuple

import numpy as np

from fst.automata.hashing import slots_of
from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.canonical import Counts, Machine, Places
from fst.machines.guide.vocabulary import Vocabulary

CAPACITY = 256  # maximum number of bytes after a token that a kernel reads in search of a later text
MAX_SEARCH = 1 << 14  # the largest number of states that a search for a later text visits
FULL, DONE = -2, -1
PLACE_BITS, PLACE = 32, (1 << 32) - 1
NO_ARRAY, NO_ROW, NO_IDS = (np.empty(0, dtype) for dtype in (np.int64, np.uint32, np.int32))
KERNELS = "fst.machines.guide.kernels.canonical"
NAMES = "scan_canonical", "walk_token", "put_start", "find_fresh"

scan_canonical, walk_token, put_start, find_fresh = (Deferred(KERNELS, name) for name in NAMES)


class Work(NamedTuple):
    """The rows of a walk, one for each number of bytes.

    Attributes:
        states, cuts, chars, norms: int32[n], the states of the automaton, of the cuts, of the current character, and of the normalizer.
        begun: uint8[n], whether a word begins with the current character.
        is_fresh: uint8[n], whether the state of the machine is the state of a word that begins with the token.
        words, counts: int32[n], the state of the machine, and the number of characters of the word.
        nodes, sums, begins: [n, longest], the column of a best path: for each earlier position from which tokens may still be read, the
            node of the trie, the best sum at the position, and the position.
        sizes: int32[n], the size of each column.
        lasts: int32[n], the last token of the best path; -1: none.
        leads: int32[n], lead_sums: float64[n], the position where the current character begins, and the best sum there.
    """

    states: Array
    cuts: Array
    chars: Array
    norms: Array
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
        names = "states", "cuts", "chars", "norms", "words", "counts", "sizes", "lasts", "leads"
        ints = {name: np.zeros(rows, np.int32) for name in names}
        nodes, begins = np.zeros((2, rows, columns), np.int32)
        of_paths: dict[str, Array] = {"nodes": nodes, "begins": begins, "sums": np.zeros((rows, columns)), "lead_sums": np.zeros(rows)}
        begun, is_fresh = np.zeros((2, rows), np.uint8)
        return cls(**ints, **of_paths, begun=begun, is_fresh=is_fresh)


State = tuple[int, ...]  # a state: the numbers of its places, in ascending order


class Steps(NamedTuple):
    """The steps from a state.

    Attributes:
        tokens: int64[n], the tokens, in ascending order.
        states: int64[n], the number of the state after each token.
    """

    tokens: Array
    states: Array


class CanonicalStates:
    """The states of canonical masks. A state is a set of *places*, one for each way to cut the text so far.

    Args:
        machine: the arrays.
        vocabulary: the vocabulary of the tokenizer.
    """

    kind = "canonical"

    def __init__(self, machine: Machine, vocabulary: Vocabulary) -> None:
        self._machine, self._vocabulary = machine, vocabulary
        longest, is_path = vocabulary.trie.longest, bool(machine.scalars.is_path)
        self._twins = np.arange(vocabulary.size, dtype=np.int32)
        twins = vocabulary.trie.twins
        self._twins[twins[:, 0]] = twins[:, 1]
        self._fresh = np.empty(0 if is_path or len(machine.fails) else len(vocabulary.trie.labels), np.uint32)
        if len(self._fresh):
            find_fresh.call(machine.entries, vocabulary.trie, np.empty(longest + 1, np.int32), self._fresh)
        self._rows = longest + CAPACITY + 1, 2 * longest + CAPACITY if is_path else 1
        self._places = _no_places()
        self._local, self._lock = local(), RLock()
        self._alive = dict[State, bool]()
        work = self._work()
        work.states[0], work.sizes[0] = machine.scalars.start, 0
        self.start: State = (self._stored(lambda: put_start.call(machine, work, self._places)),)

    @property
    def places(self) -> int:
        """The number of places that have been found."""
        return int(self._places.counts.places)

    def need_text(self) -> None:
        """Refuse a pattern of which no text is canonical.

        Raises:
            UnsupportedError: no text of the pattern is canonical.
        """
        if not self.is_alive(self.start):
            raise UnsupportedError("no text of the pattern is decoded from the tokens that it is encoded into; use canonical=False")

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state, given by its places."""
        machine = self._machine
        found = (self._numbers(place) for place in state)
        return any(machine.finals[at] and machine.ends[cut] and not char for at, cut, char, *_ in found)

    def step(self, state: State, number: int) -> State:
        """The state after a token; empty if the tokens so far are not canonical. These may begin no text of the pattern."""
        content, work = np.frombuffer(self._vocabulary.content(number), np.uint8), self._work()
        found = set[int]()
        with self._lock:
            for place in state if len(content) else ():
                for begins in (0, 1):

                    def walk(place: int = place, begins: int = begins) -> int:
                        return int(walk_token.call(self._machine, work, self._places, place, content, number, begins))

                    found.add(self._stored(walk))
        return tuple(sorted(found - {DONE}))

    def mask(self, state: State, beginning: bytes = b"") -> Array:
        """uint32[words], the mask of a state, without the end of the text, and only with tokens that begin with the bytes `beginning`."""
        row = np.zeros(self._vocabulary.words, np.uint32)
        for number in self._scan(state, row, beginning):
            word, bit = number // 32, np.uint32(1 << number % 32)
            if not row[word] & bit and self.is_alive(self.step(state, number)):
                row[word] |= bit
        return row

    def is_alive(self, state: State) -> bool:
        """Whether some text continues a state to its end; if no later text is found at once, by a full search.

        Raises:
            UnsupportedError: the search visits too many states.
        """
        if not state:
            return False
        with self._lock:
            if state not in self._alive:
                self._search(state)
            return self._alive[state]

    def _search(self, start: State) -> None:
        """Find whether some text continues a state to its end, and the same for all states that the search visits."""
        found = Exploration(self, start)
        for number, state in found.searched("a text that continues some tokens"):
            if self._alive.get(state) is False:
                continue
            if self._alive.get(state) or self.is_final(state) or self._is_continued(state):
                self._alive.update((found.states[one], True) for one in found.path(number))
                return
            found.steps(number)
        self._alive.update(dict.fromkeys(found.states, False))

    def _is_continued(self, state: State) -> bool:
        """Whether a text that continues a state is found without a search."""
        row = np.zeros(self._vocabulary.words, np.uint32)
        self._scan(state, row)
        return bool(row.any())

    def steps(self, state: State, text: bytes = b"") -> Array:
        """int64[n], ``token << 32 | place`` for each token that the tokenizer may give next and that no later text can change, and each
        place after it; with a `text`, only for tokens with which this text begins.
        """
        out, work = np.empty(2 * (len(text) or self._vocabulary.size), np.int64), self._work()
        parts = [NO_ARRAY]
        with self._lock:
            for place in state:

                def scan(place: int = place) -> int:
                    return self._scanned(work, place, text, NO_ROW, NO_IDS, out)

                parts.append(out[: self._stored(scan)].copy())
        keys = np.sort(np.concatenate(parts))
        return keys[_are_new(keys)]

    def _scan(self, state: State, row: Array, beginning: bytes = b"") -> list[int]:
        """Fill a mask with tokens that begin with some bytes; return the ids for which no later text is found without a search."""
        found, work = set[int](), self._work()
        unsure = np.empty(self._vocabulary.size, np.int32)
        for place in state:
            found.update(unsure[: self._scanned(work, place, beginning, row, unsure, NO_ARRAY)].tolist())
        return sorted(found)

    def _scanned(self, work: Work, place: int, beginning: bytes, row: Array, unsure: Array, steps: Array) -> int:
        arrays = self._machine, self._vocabulary.trie, self._twins, self._fresh, work, self._places
        return int(scan_canonical.call(*arrays, place, np.frombuffer(beginning, np.uint8), row, unsure, steps))

    def _work(self) -> Work:
        """The working arrays of this thread: the rows of its walks."""
        if not hasattr(self._local, "work"):
            self._local.work = Work.of(*self._rows)
        work: Work = self._local.work
        return work

    def _numbers(self, place: int) -> list[int]:
        places = self._places
        begin = int(places.ends[place - 1]) if place else 0
        found: list[int] = places.numbers[begin : int(places.ends[place])].tolist()
        return found

    def _stored(self, put: Callable[[], int]) -> int:
        """Call a kernel that stores places, each time with larger arrays, until it has room; return the result. The lock must be held."""
        while (found := put()) == FULL:
            self._places = _larger(self._places)
        return found


class Exploration:
    """States that are numbered in the order in which they are found.

    Args:
        by: the states.
        start: the first state, with the number 0.

    Attributes:
        states: the states.
        parents: for each state, the state and the token by which it was found; (-1, -1) for the first.
    """

    def __init__(self, by: CanonicalStates, start: State) -> None:
        self._by = by
        self.states, self.parents = [start], [(-1, -1)]
        self._numbers = {start: 0}
        self._alone = np.full(1, -1)  # for each place, the number of the state that consists of this place

    def searched(self, aim: str) -> Iterator[tuple[int, State]]:
        """Each state and its number, with the states that are found meanwhile.

        Args:
            aim: what is searched for, as a part of a message.

        Raises:
            UnsupportedError: the search visits too many states.
        """
        for number, state in enumerate(self.states):  # the caller adds to the states
            yield number, state
            if len(self.states) > MAX_SEARCH:
                found = f"more than {MAX_SEARCH:,} states are visited in search of {aim}"
                raise UnsupportedError(f"{found}; make the pattern smaller, or use canonical=False")

    def steps(self, number: int) -> Steps:
        """The steps from a state; new states are added."""
        keys = self._by.steps(self.states[number])
        tokens, places = keys >> PLACE_BITS, keys & PLACE
        firsts = np.flatnonzero(_are_new(tokens))
        if len(firsts) == len(keys):
            return Steps(tokens, self._of_places(places, tokens, number))
        sizes = np.append(firsts[1:], len(keys)) - firsts
        found = np.empty(len(firsts), np.int64)
        for at in np.flatnonzero(sizes > 1).tolist():
            state = tuple(places[firsts[at] : firsts[at] + sizes[at]].tolist())
            found[at] = self._number(state, number, int(tokens[firsts[at]]))
        alone = np.flatnonzero(sizes == 1)
        found[alone] = self._of_places(places[firsts[alone]], tokens[firsts[alone]], number)
        return Steps(tokens[firsts], found)

    def path(self, number: int) -> list[int]:
        """The states by which a state was found, from this state to the first."""
        found = []
        while number >= 0:
            found.append(number)
            number = self.parents[number][0]
        return found

    def _of_places(self, places: Array, tokens: Array, parent: int) -> Array:
        most = int(places.max(initial=0))
        if most >= len(self._alone):
            self._alone = np.append(self._alone, np.full(most + 1, -1))
        for at in np.flatnonzero(self._alone[places] < 0).tolist():
            place = int(places[at])
            self._alone[place] = self._number((place,), parent, int(tokens[at]))
        return self._alone[places]

    def _number(self, state: State, parent: int, token: int) -> int:
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self.parents.append((parent, token))
        return number


def _are_new(numbers: Array) -> Array:
    """Whether each of some sorted numbers differs from the number before it."""
    found = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found


def _no_places() -> Places:
    room = 1 << 4
    return Places(
        Counts(),
        np.empty(room, np.uint64),
        np.zeros(4 * room, np.int32),
        np.empty(room, np.int64),
        np.empty(16 * room, np.int64),
        np.empty(16 * room),
    )


def _larger(places: Places) -> Places:
    """A copy of places in larger arrays. The old arrays are left alone, for threads that read them."""
    count, filled = int(places.counts.places), int(places.counts.numbers)
    is_many = count == len(places.ends)
    room, size = len(places.ends) * (2 if is_many else 1), len(places.numbers) * (1 if is_many else 2)
    slots = slots_of(places.hashes[:count], 4 * room)
    hashes, ends, numbers, sums = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(size, np.int64), np.empty(size)
    hashes[:count], ends[:count] = places.hashes[:count], places.ends[:count]
    numbers[:filled], sums[:filled] = places.numbers[:filled], places.sums[:filled]
    return Places(places.counts.copy(), hashes, slots, ends, numbers, sums)
