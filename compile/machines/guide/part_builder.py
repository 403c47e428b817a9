"""A builder of parts, the automata of the texts of guides: `fst.machines.guide.parts.Part`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.compile.machines.guide.builder import MAX_STATES, Block
from fst.compile.machines.guide.utf_8 import END, START, Fragment, fragment
from fst.compile.patterns.code_points import Set
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence, matches_nothing, walk
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.parts import CALL, COUNT, ENTER, EXIT, FINAL, FREE, MISS, OPEN, SKIP, UNLIMITED, USE, Part

MAX_COPIES = 4  # maximum number of copies of a repeated node; above, the repetitions are counted
MAX_COPIED = 64  # maximum number of states in all copies of a repeated node
NO_ARCS = np.empty((0, 4), np.int32)
AddCharacter = Callable[[int, Set, int], None]  # the state before, the set, the state after

make_part = Deferred("fst.compile.machines.guide.kernels.parts", "make_part")


class Drawn(NamedTuple):
    """The states, arcs and moves of a builder.

    Attributes:
        arcs, moves: as in `fst.machines.guide.parts.Part`, in any order.
        texts: int32[n, 4], for each text: the state before it, its first inner state, the state after it, and its length, at least 1.
        data: uint8[n], the bytes of all texts.
        copies: int32[n, 4], for each copy of an automaton: the states that its states 0, 1 and 2 become, and the number of its arcs. Its
            states above 2 become the states after that of state 2.
        copied: int32[n, 4], the arcs of the automata of all copies.
        flags: uint8[states], see `fst.machines.guide.parts.Part`.
    """

    arcs: Array
    moves: Array
    texts: Array
    data: Array
    copies: Array
    copied: Array
    flags: Array


class Work(NamedTuple):
    """Working arrays.

    Attributes:
        arcs: int32[n, 4], all arcs.
        heads, links: int32[states], int32[arcs and moves], for each state the first of its arcs and moves, and for each of these the next.
        queue: int32[states].
        marks: uint8[states], initially 0.
        numbers: int32[states], the new numbers.
        places: int32[states + 2], for each new state the number of rows before its rows.
    """

    arcs: Array
    heads: Array
    links: Array
    queue: Array
    marks: Array
    numbers: Array
    places: Array


class Made(NamedTuple):
    """A part in arrays that have room for more; `sizes`: int64[2], the numbers of arcs and moves."""

    arcs: Array
    moves: Array
    flags: Array
    sizes: Array


class PartBuilder:
    """States, arcs and moves that are added one by one. Without the optional argument `end`, a method leads to a new state.

    Example: the texts ``ab``, ``aab``, ``aaab`` and so on.

        >>> builder = PartBuilder()
        >>> start, loop, end = builder.state(), builder.state(), builder.state()
        >>> builder.read(start, 97, 97, loop)
        >>> builder.read(loop, 97, 97, loop)
        >>> builder.read(loop, 98, 98, end)
        >>> builder.part(start, [end]).arcs.tolist()
        [[0, 97, 97, 1], [1, 97, 97, 1], [1, 98, 98, 2]]
    """

    def __init__(self) -> None:
        self.states = 0
        self.moves = array("i")  # five numbers for each move; of an arc, a text and a copy, four numbers
        self._arcs, self._texts, self._copies = array("i"), array("i"), array("i")
        self._blocks: list[Array] = []  # more arcs
        self._data: list[bytes] = []
        self._copied: list[Array] = [NO_ARCS]

    def state(self) -> int:
        """Add a state."""
        return self._room(1)

    def _room(self, states: int) -> int:
        """Add a number of states; return the first of these states."""
        first = self.states
        self.states = first + states
        if self.states > MAX_STATES:
            raise UnsupportedError(f"the texts need an automaton of more than {MAX_STATES:,} states; make their description smaller")
        return first

    def read(self, start: int, first: int, last: int, end: int) -> None:
        """Add an arc that reads a byte of a range."""
        self._arcs.extend((start, first, last, end))

    def skip(self, start: int, end: int) -> None:
        """Add a move that goes on without reading."""
        self.moves.extend((start, SKIP, 0, 0, end))

    def call(self, start: int, part: int, end: int) -> None:
        """Add a move that reads a text of another part, which must have a text."""
        self.moves.extend((start, CALL, part, 0, end))

    def enter(self, start: int, least: int, most: int, end: int) -> None:
        """Add a move that begins a tally; `most` may be `UNLIMITED`."""
        self.moves.extend((start, ENTER, least, most, end))

    def count(self, start: int, end: int) -> None:
        """Add a move that adds 1 to the count of the tally. Add it before what is counted: after it, a full count is a dead end."""
        self.moves.extend((start, COUNT, 0, 0, end))

    def exit(self, start: int, end: int) -> None:
        """Add a move that ends the tally."""
        self.moves.extend((start, EXIT, 0, 0, end))

    def miss(self, start: int, number: int, end: int) -> None:
        """Add a move that sets the number of missing keys."""
        self.moves.extend((start, MISS, number, 0, end))

    def use(self, start: int, key: int, is_missing: bool, end: int) -> None:
        """Add a move that uses a key which the tally has not used."""
        self.moves.extend((start, USE, key, int(is_missing), end))

    def text(self, start: int, text: bytes, end: int | None = None) -> int:
        """Add the arcs of a text, which may be empty; return the state after it."""
        if not text:
            if end is None:
                return start
            self.skip(start, end)
            return end
        inner = len(text) - 1
        base = self._room(inner + (end is None))
        following = base + inner if end is None else end
        self._texts.extend((start, base, following, len(text)))
        self._data.append(text)
        return following

    def character(self, start: int, edges: Set, end: int) -> None:
        """Add the arcs of one character of a set, in UTF-8."""
        self.fragment(start, fragment(edges), end)

    def fragment(self, start: int, one: Fragment, end: int) -> None:
        """Add the arcs of a character between two states."""
        self._copies.extend((start, end, self._room(one.states - 2), len(one.arcs)))
        self._copied.append(one.arcs)

    def add(self, states: int, arcs: Array) -> None:
        """Add a number of states, and arcs, int32[n, 4], between any states."""
        self._room(states)
        self._blocks.append(arcs)

    def block(self, start: int, block: Block, end: int) -> None:
        """Add a block between two states."""
        base = self.states
        self.add(block.states, block.arcs + np.array([base, 0, 0, base]))
        if block.states:
            self.skip(start, base)
        for state in block.final:
            self.skip(base + state, end)

    def branch(self, start: int, states: Collection[int], since: tuple[int, int, int]) -> None:
        """Let a state begin like each of some states: copy the arcs that leave these states, except those of `add` and `block`. Moves are
        not copied.

        Args:
            start: the state.
            states: the states.
            since: the value of `size` before these arcs were added; older arcs are not copied.
        """
        arcs, texts, copies = since
        for state, low, high, end in _rows(self._arcs, 4)[arcs:].tolist():
            if state in states:
                self.read(start, low, high, end)
        for (state, inner, end, length), text in zip(_rows(self._texts, 4)[texts:].tolist(), self._data[texts:], strict=True):
            if state in states:
                self.read(start, text[0], text[0], end if length == 1 else inner)
        for (first, last, inner, _), copied in zip(_rows(self._copies, 4)[copies:].tolist(), self._copied[copies + 1 :], strict=True):
            if first in states:
                begins = copied[copied[:, 0] == START].tolist()
                for _, low, high, after in begins:
                    self.read(start, low, high, last if after == END else inner + after - 2)

    @property
    def size(self) -> tuple[int, int, int]:
        """The numbers of arcs, texts and copies so far."""
        return len(self._arcs) // 4, len(self._texts) // 4, len(self._copies) // 4

    def strings(self, start: int, texts: Iterable[bytes], end: int) -> None:
        """Add a trie of texts, whose last bytes lead to `end`."""
        arcs, states = self._arcs, self.states
        path, before = [start], b""  # the states after each beginning of the last text, which is `before`
        for text in sorted({*texts}):
            if not text:
                self.skip(start, end)
                continue
            shared = 0
            for byte, other in zip(before, text, strict=False):
                if byte != other:
                    break
                shared += 1
            del path[shared + 1 :]
            state = path[-1]
            for byte in text[len(path) - 1 : -1]:
                arcs.extend((state, byte, byte, states))
                state = states
                path.append(state)
                states += 1
            arcs.extend((state, text[-1], text[-1], end))
            before = text
        self._room(states - self.states)

    def node(self, tree: Node, start: int, character: AddCharacter | None = None) -> int:
        """Add the texts of a tree of characters, sequences, choices and repeats.

        Args:
            tree: the tree of a pattern.
            start: the state before the texts.
            character: adds one character of a set between two states; default: `PartBuilder.character`.

        Returns:
            A new state after the texts, to which no other arcs lead.
        """
        end = self.state()
        TreeWriter(self, character).add(tree, start, end)
        return end

    def part(self, start: int, ends: Collection[int], free: Iterable[int] = (), opened: Iterable[int] = ()) -> Part | None:
        """The part of all texts between a state and one of the ends, without states that are on no path from the start to an end.

        The start of the part is a state of its own if anything leads to `start`.

        Args:
            start: the start.
            ends: the final states.
            free: the states with the flag `FREE`.
            opened: the states with the flag `OPEN`.

        Returns:
            None if there is no text.
        """
        flags = bytearray(self.states)
        for flag, states in ((FINAL, ends), (FREE, free), (OPEN, opened)):
            for state in states:
                flags[state] |= flag
        drawn = self._drawn(flags)
        arcs, moves = len(drawn.arcs) + len(drawn.data) + len(drawn.copied), len(drawn.moves)
        work = Work(
            arcs=np.empty((arcs, 4), np.int32),
            heads=np.empty(self.states, np.int32),
            links=np.empty(arcs + moves, np.int32),
            queue=np.empty(self.states, np.int32),
            marks=np.zeros(self.states, np.uint8),
            numbers=np.empty(self.states, np.int32),
            places=np.empty(self.states + 2, np.int32),
        )
        made = Made(
            arcs=np.empty((arcs, 4), np.int32),
            moves=np.empty((moves + 1, 5), np.int32),
            flags=np.empty(self.states + 1, np.uint8),
            sizes=np.empty(2, np.int64),
        )
        states = make_part.call(start, drawn, work, made)
        return Part(made.arcs[: made.sizes[0]], made.moves[: made.sizes[1]], made.flags[:states]) if states else None

    def _drawn(self, flags: bytearray) -> Drawn:
        arcs, copied = _rows(self._arcs, 4), self._copied
        return Drawn(
            arcs=np.concatenate([arcs, *self._blocks]).astype(np.int32, copy=False) if self._blocks else arcs,
            moves=_rows(self.moves, 5),
            texts=_rows(self._texts, 4),
            data=np.frombuffer(b"".join(self._data), np.uint8),
            copies=_rows(self._copies, 4),
            copied=np.concatenate(copied) if len(copied) > 1 else NO_ARCS,
            flags=np.frombuffer(flags, np.uint8),
        )


def _rows(numbers: array[int], width: int) -> Array:
    """int32[n, width], a view of rows of numbers. The array cannot grow while there is a view."""
    return np.frombuffer(numbers, np.int32).reshape(-1, width)


class TreeWriter:
    """Adds the texts of trees to a builder. More than a few repetitions are counted by a tally.

    Repetitions are never empty, so that no cycle of moves arises: ``(a?){5,9}``, for example, is written as ``a{0,9}``.
    """

    def __init__(self, builder: PartBuilder, character: AddCharacter | None = None) -> None:
        self.builder = builder
        self.character = character or builder.character

    def add(self, node: Node, start: int, end: int) -> None:
        """Add the texts of a node between two states, without arcs or moves that lead to the start or leave the end."""
        if isinstance(node, Characters):
            self.character(start, node.edges, end)
        elif isinstance(node, Sequence):
            self._chain(node.parts, start, end)
        elif isinstance(node, Choice):
            for part in node.parts:
                self.add(part, start, end)
        elif isinstance(node, Repeat):
            self._repeat(node, 0 if self.is_nullable(node.body) else node.least, start, end)
        else:
            if self.is_nullable(node):
                self.builder.skip(start, end)
            self.leaf(node, start, end)

    def add_nonempty(self, node: Node, start: int, end: int) -> None:
        """Like `add`, without the empty text."""
        if not self.is_nullable(node):
            self.add(node, start, end)
        elif isinstance(node, Sequence):
            self._nonempty_chain(node.parts, start, end)
        elif isinstance(node, Choice):
            for part in node.parts:
                self.add_nonempty(part, start, end)
        elif isinstance(node, Repeat):
            if node.most != 0:
                self._repeat(node, 1, start, end)
        else:
            self.leaf(node, start, end)

    def leaf(self, node: Node, start: int, end: int) -> None:
        """Add the texts, except the empty text, of a node of another kind."""
        raise AssertionError(f"{type(node).__name__} between states {start} and {end}")

    def is_nullable(self, node: Node) -> bool:
        """Whether a node has an empty text."""
        return matches_nothing(node)

    def _chain(self, parts: tuple[Node, ...], start: int, end: int, *, is_after: bool = False) -> None:
        if not parts:
            self.builder.skip(start, end)
        for place, part in enumerate(parts, 1):
            following = self.builder.state() if place < len(parts) else end
            (self.add_after if is_after or place > 1 else self.add)(part, start, following)
            start = following

    def add_after(self, node: Node, start: int, end: int) -> None:
        """Like `add`, for a start that only the text before the node leads to: arcs may lead back to it. The places before and after
        each repetition of an unbounded node are then one state, so that they share their masks.
        """
        if isinstance(node, Repeat) and node.most is None and self.is_nullable(node):
            self.add_nonempty(node.body, start, start)
            self.builder.skip(start, end)
        elif isinstance(node, Sequence):
            self._chain(node.parts, start, end, is_after=True)
        else:
            self.add(node, start, end)

    def _nonempty_chain(self, parts: tuple[Node, ...], start: int, end: int) -> None:
        """Add the nonempty texts of parts that may all be empty: each part may be the first one that is not empty."""
        begun = None  # the state before a part, after something was read
        for place, part in enumerate(parts, 1):
            following = self.builder.state() if place < len(parts) else end
            self.add_nonempty(part, start, following)
            if begun is not None:
                self.add(part, begun, following)
            begun = following

    def _repeat(self, node: Repeat, least: int, start: int, end: int) -> None:
        """Add `least` to `node.most` nonempty texts of the body.

        The moves to `end` begin after a repetition, not before it, so that no state after the node is reached if the body has no text. Only
        zero repetitions skip from `start` to `end`.
        """
        builder, most = self.builder, node.most
        if least == 0:
            builder.skip(start, end)
        if most == 0:
            return
        if not self._is_copied(node.body, least if most is None else most):
            loop, before, after = builder.state(), builder.state(), builder.state()
            builder.enter(start, max(least, 1), UNLIMITED if most is None else most, loop)
            builder.count(loop, before)
            self.add_nonempty(node.body, before, after)
            builder.skip(after, loop)
            builder.exit(after, end)
            return
        for _ in range(least - 1):
            following = builder.state()
            self.add_nonempty(node.body, start, following)
            start = following
        if most is None:
            loop, after = builder.state(), builder.state()
            builder.skip(start, loop)
            self.add_nonempty(node.body, loop, after)
            builder.skip(after, loop)
            builder.skip(after, end)
            return
        for _ in range(max(least, 1), most):
            following = builder.state()
            self.add_nonempty(node.body, start, following)
            builder.skip(following, end)
            start = following
        self.add_nonempty(node.body, start, end)

    def _is_copied(self, body: Node, copies: int) -> bool:
        """Whether repetitions are written out: at most one, or few copies that have few states together."""
        if copies <= 1:
            return True
        return copies <= MAX_COPIES and copies * _states(body) <= MAX_COPIED


def _states(node: Node) -> int:
    """About the number of states of a node in a part."""
    return sum(fragment(each.edges).states if isinstance(each, Characters) else 1 for each in walk(node))
