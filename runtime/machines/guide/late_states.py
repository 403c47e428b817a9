"""The states of late guides: sets of items of parts, which are made when a walk reaches them; see the kernels in `kernels.items`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import Pool, longer
from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.parts import CALL, Part
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import Vocabulary
from fst.runtime.machines.guide.string_tokens import string_tokens

ROOT = 0  # the part that reads whole texts
START = -1  # the state before the first token, if tokens have other bytes at the start of a text
DEAD = 0  # the empty set
OUTERMOST = 1  # the frame of whole texts
FINAL, RETURNS, FREE, OPEN = 1, 2, 4, 8
NO_ROOM, NO_WORK, NO_ROW, NO_PART = -2, -3, -4, -5
FIRST_ROOM = 1 << 8
MAX_ROWS = 1 << 10  # of steps, 1 MiB; more rows replace all
MAX_ITEMS = 1 << 22  # in one set
KERNELS = "fst.runtime.machines.guide.kernels.late"

walk_items, mask_items, is_accepting = (Deferred(KERNELS, name) for name in ("walk_items", "mask_items", "is_accepting"))
BEGUN = 0  # the phase of a new mask


class Texts(Protocol):
    """The texts of a guide, as parts. Part `ROOT` reads whole texts, and may be empty."""

    def part(self, number: int) -> Part:
        """A part; it is asked for once, when a walk reaches a call of it."""


class Parts(NamedTuple):
    """The parts that are made. The arrays have room for more.

    Attributes:
        starts: int32[parts, 2], for each part, the position of its start, or -1 if it is not made; and its rank: of two parts that can be
            called one from the other without reading a byte, the caller has the higher rank.
        positions: int32[positions + 1, 3], the first arc and the first move of each position, and its flags. The arcs of a position end
            where those of the next position begin.
        arcs: int32[n, 3], the first and the last byte, and the next position.
        moves: int32[n, 4], the kind, the two numbers and the next position; see `fst.machines.guide.parts.Part`.
    """

    starts: Array
    positions: Array
    arcs: Array
    moves: Array


class Steps(NamedTuple):
    """The steps from the sets that a walk has reached.

    Attributes:
        rows: int32[room of the pool], the row of each set; -1: none yet.
        targets: int32[rows, 256], the set after each byte; -1: none.
        finals: uint8[rows], 1 if a text may end in the set.
    """

    rows: Array
    targets: Array
    finals: Array


class Counts(Fields, dtype=np.int64):
    """Numbers that kernels change."""

    stamp: Scalar  # the number of closed sets
    found: Scalar  # number of items in `Work.found`
    calls: Scalar  # number of calls in `Work.calls`
    needed: Scalar  # the part to make
    rows: Scalar  # number of rows of `Steps`
    phase: Scalar  # of a mask, see `kernels.late`
    node: Scalar  # the node where a scan goes on


class Work(NamedTuple):
    """Working arrays.

    Attributes:
        counts: numbers.
        found: int64[n], the items of a set that is closed; stamps, slots: int64[2ᵐ], at least twice as long, a table of hashes of them.
        calls: int64[n, 2], the called part, and the item after the call.
        row: int64[n], items or cells of a new set.
        marks: bool[257], the bytes where a range begins.
        path: int64[longest token + 1], the set after each number of bytes.
    """

    counts: Counts
    found: Array
    stamps: Array
    slots: Array
    calls: Array
    row: Array
    marks: Array
    path: Array


class LateStates:
    """The states of a guide, which are the numbers of sets of items.

    Args:
        texts: the parts.
        vocabulary: the vocabulary of the tokenizer.
    """

    kind = "items"

    def __init__(self, texts: Texts, vocabulary: Vocabulary) -> None:
        self._texts, self._vocabulary, self._strings = texts, vocabulary, string_tokens(vocabulary)
        none = np.empty((0, 3), np.int32)
        self._parts = Parts(np.full((1, 2), -1, np.int32), np.zeros((2, 3), np.int32), none, np.empty((0, 4), np.int32))
        self._used = {"positions": 1, "arcs": 0, "moves": 0}  # position 0 accepts a text
        self._pool = Pool.of(FIRST_ROOM, 4 * FIRST_ROOM, np.int64)
        self._lock = RLock()
        self._work = _work(FIRST_ROOM, max(vocabulary.trie.longest, vocabulary.first.longest))
        self._steps = Steps(np.full(FIRST_ROOM, -1, np.int32), np.empty((16, 256), np.int32), np.empty(16, np.uint8))
        self._pool.counts[:], self._pool.starts[:3] = (2, 1), (0, 0, 1)  # the sets DEAD and OUTERMOST
        self._pool.cells[0] = 0
        self._make(ROOT)
        first = self._interned(int(self._parts.starts[ROOT, 0]) << 32 | OUTERMOST)
        self._first = first
        self.start = START if len(vocabulary.tokens.first_ends) else first

    def _interned(self, item: int) -> int:
        """Add the first set, which contains one item."""
        number, cells = (int(count) for count in self._pool.counts)
        self._pool.cells[cells], self._pool.starts[number + 1] = item, cells + 1
        self._pool.counts[:] = number + 1, cells + 1
        return number

    def is_alive(self, state: int) -> bool:
        """Whether a text can end after a state, possibly after more tokens: parts have no dead positions."""
        return state != DEAD

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        state = self._first if state == START else state
        return bool(self._until(lambda: is_accepting.call(state, self._parts, self._pool, self._steps, self._work)))

    def step(self, state: int, number: int) -> int:
        """The state after a token; `DEAD` if the token is not allowed."""
        content, is_first = self._vocabulary.content(number), state == START
        if state == DEAD or not content:
            return DEAD
        if is_first:
            content, state = self._vocabulary.content(number, is_first=True), self._first
            if not content and self._vocabulary.tokens.keeps_first[0]:
                return START
        data = np.frombuffer(content, np.uint8)
        found = self._until(lambda: walk_items.call(state, data, self._parts, self._pool, self._steps, self._work))
        return max(found, DEAD)

    def mask(self, state: int) -> Array:
        """uint32[words], the mask of a state, without the end of the text."""
        row = np.zeros(self._vocabulary.words + 1, np.uint32)
        trie, number = (self._vocabulary.first, self._first) if state == START else (self._vocabulary.trie, state)
        with self._lock:
            self._work.counts.phase = BEGUN
            self._until(lambda: mask_items.call(number, trie, self._strings, self._parts, self._pool, self._steps, self._work, row))
        if state == START:
            add_bits(row, self._vocabulary.silent)
        return row[:-1]

    def _until(self, kernel: Callable[[], int]) -> int:
        """Call a kernel until it has what it needs; return its result."""
        with self._lock:
            while (found := kernel()) <= NO_ROOM:
                self._provide(found)
            return found

    def _provide(self, failed: int) -> None:
        """Provide what a kernel lacks."""
        if failed == NO_PART:
            self._make(int(self._work.counts.needed))
        elif failed == NO_ROW:
            self._free_rows()
        elif failed == NO_WORK:
            self._enlarge_work()
        else:
            self._pool = self._pool.larger()
            self._steps = self._steps._replace(rows=_grown(self._steps.rows, self._pool.room, -1))

    def _free_rows(self) -> None:
        rows = len(self._steps.targets)
        if rows < MAX_ROWS:
            self._steps = self._steps._replace(targets=longer(self._steps.targets, 2 * rows), finals=longer(self._steps.finals, 2 * rows))
        else:
            self._steps.rows[:], self._work.counts.rows = -1, 0

    def _enlarge_work(self) -> None:
        room = 2 * len(self._work.found)
        if room > MAX_ITEMS:
            found = f"a text can be read in more than {MAX_ITEMS:,} ways at once"
            raise UnsupportedError(f"{found}; make the pattern or the grammar less ambiguous")
        larger = _work(room, len(self._work.path) - 1)
        larger.counts[:], larger.path[:] = self._work.counts, self._work.path
        larger.counts.stamp = 0
        self._work = larger

    # Parts.

    def _make(self, number: int) -> None:
        """Make a part, and the parts that are called where it begins."""
        made, callees, waiting = dict[int, Part](), dict[int, list[int]](), [number]
        while waiting:  # a part is finished after the parts that it calls, when it is on top again
            each = waiting[-1]
            if each not in callees:
                made[each] = self._texts.part(each)
                callees[each] = _called_first(made[each])
                waiting += (callee for callee in callees[each] if not self._is_made(callee) and callee not in callees)
                continue
            waiting.pop()
            if not self._is_made(each):
                self._add(each, made[each], 1 + max((int(self._parts.starts[callee, 1]) for callee in callees[each]), default=0))

    def _is_made(self, number: int) -> bool:
        return number < len(self._parts.starts) and self._parts.starts[number, 0] >= 0

    def _add(self, number: int, part: Part, rank: int) -> None:
        """Add the positions, arcs and moves of a part."""
        base = self._used["positions"]
        arcs, moves = _sorted(part.arcs, 4), _sorted(part.moves, 5)
        most = max([number, *(move[2] for move in part.moves if move[1] == CALL)])
        if most >= len(self._parts.starts):
            self._parts = self._parts._replace(starts=_grown(self._parts.starts, 2 * most + 1, -1))
        positions = self._room("positions", part.states + 1)  # one more row contains the ends
        states = np.arange(part.states + 1)
        positions[:, 0] = self._used["arcs"] + np.searchsorted(arcs[:, 0], states)
        positions[:, 1] = self._used["moves"] + np.searchsorted(moves[:, 0], states)
        is_last = (positions[1:, :2] == positions[:-1, :2]).all(axis=1)
        for flag, flagged in ((FINAL, part.finals), (FREE, part.free), (OPEN, part.open)):
            positions[[*flagged], 2] |= flag
        positions[:-1, 2] |= np.where(is_last & (positions[:-1, 2] == FINAL), RETURNS, 0)
        arcs[:, 3] += base
        moves[:, 4] += base
        self._room("arcs", len(arcs))[:] = arcs[:, 1:]
        self._room("moves", len(moves))[:] = moves[:, 1:]
        self._used["positions"] += part.states
        self._used["arcs"] += len(arcs)
        self._used["moves"] += len(moves)
        self._parts.starts[number] = base, rank

    def _room(self, name: str, count: int) -> NDArray[np.int32]:
        """The free rows of an array after the used ones, enlarged if necessary."""
        used, array = self._used[name], getattr(self._parts, name)
        if used + count > len(array):
            array = longer(array, 2 * (used + count))
            self._parts = self._parts._replace(**{name: array})
        found: NDArray[np.int32] = array[used : used + count]
        return found


def _called_first(part: Part) -> list[int]:
    """The parts that a part calls before it reads a byte."""
    moves = dict[int, list[tuple[int, int, int]]]()
    for state, kind, first, _, target in part.moves:
        moves.setdefault(state, []).append((kind, first, target))
    called, seen = dict[int, None](), {0}
    waiting = [0]
    for state in waiting:  # the loop appends to `waiting`
        for kind, first, target in moves.get(state, ()):
            if kind == CALL:
                called[first] = None
            elif target not in seen:
                seen.add(target)
                waiting.append(target)
    return [*called]


def _sorted(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int32]:
    """int32[n, width], rows sorted by their first number."""
    found = np.array(rows, np.int32).reshape(-1, width)
    return found[np.argsort(found[:, 0], kind="stable")]


def _grown(array: Array, length: int, filler: int) -> Array:
    """A longer copy, with `filler` after the old elements."""
    grown = np.full((length, *array.shape[1:]), filler, array.dtype)
    grown[: len(array)] = array
    return grown


def _work(room: int, longest: int) -> Work:
    """Working arrays for sets of at most `room` items."""
    slots = 1 << (2 * room - 1).bit_length()
    arrays = np.empty(room, np.int64), np.zeros(slots, np.int64), np.empty(slots, np.int64), np.empty((room, 2), np.int64)
    return Work(Counts(), *arrays, np.empty(room, np.int64), np.zeros(257, np.bool_), np.zeros(longest + 1, np.int64))
