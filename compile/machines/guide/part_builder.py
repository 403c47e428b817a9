"""A builder of the automata of late texts, `fst.machines.guide.parts.Part`, in plain Python: a small part takes some 50 µs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from fst.compile.machines.guide.builder import MAX_STATES
from fst.compile.machines.guide.utf_8 import fragment
from fst.compile.patterns.code_points import Set
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence, matches_nothing, walk
from fst.errors import UnsupportedError
from fst.machines.guide.parts import CALL, COUNT, ENTER, EXIT, MISS, SKIP, UNLIMITED, USE, Arc, Move, Part

MAX_COPIES = 4  # maximum number of copies of a repeated node; above, the repetitions are counted
MAX_COPIED = 64  # maximum number of states in all copies of a repeated node
MAX_PASSES = 2  # maximum number of passes over all edges before a search from state to state

AddCharacter = Callable[[int, Set, int], None]  # the state before, the set, the state after


class PartBuilder:
    """States, arcs and moves that are added one by one. A method with an optional argument `end` leads to a new state without it.

    Example: the texts ``ab``, ``aab``, ``aaab`` and so on.

        >>> builder = PartBuilder()
        >>> start, loop, end = builder.state(), builder.state(), builder.state()
        >>> builder.read(start, 97, 97, loop)
        >>> builder.read(loop, 97, 97, loop)
        >>> builder.read(loop, 98, 98, end)
        >>> builder.part(start, [end])
        Part(states=3, arcs=[(0, 97, 97, 1), (1, 97, 97, 1), (1, 98, 98, 2)], moves=[], finals=[2], free=(), open=())
    """

    def __init__(self) -> None:
        self.states = 0
        self.arcs: list[Arc] = []
        self.moves: list[Move] = []
        self._chains: list[tuple[int, list[int]]] = []  # for each text, the second arc and the states from there on

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
        self.arcs.append((start, first, last, end))

    def skip(self, start: int, end: int) -> None:
        """Add a move that goes on without reading."""
        self.moves.append((start, SKIP, 0, 0, end))

    def call(self, start: int, part: int, end: int) -> None:
        """Add a move that reads a text of another part, which must have a text."""
        self.moves.append((start, CALL, part, 0, end))

    def enter(self, start: int, least: int, most: int, end: int) -> None:
        """Add a move that begins a tally; `most` may be `UNLIMITED`."""
        self.moves.append((start, ENTER, least, most, end))

    def count(self, start: int, end: int) -> None:
        """Add a move that adds 1 to the count of the tally, before what is counted: after it, a full count would be a dead end."""
        self.moves.append((start, COUNT, 0, 0, end))

    def exit(self, start: int, end: int) -> None:
        """Add a move that ends the tally."""
        self.moves.append((start, EXIT, 0, 0, end))

    def miss(self, start: int, number: int, end: int) -> None:
        """Add a move that sets the number of missing keys."""
        self.moves.append((start, MISS, number, 0, end))

    def use(self, start: int, key: int, is_missing: bool, end: int) -> None:
        """Add a move that uses a key which the tally has not used."""
        self.moves.append((start, USE, key, int(is_missing), end))

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
        states = [start, *range(base, base + inner), following]
        if inner > 1:
            self._chains.append((len(self.arcs) + 1, states[1:]))
        self.arcs += zip(states, text, text, states[1:], strict=False)
        return following

    def character(self, start: int, edges: Set, end: int) -> None:
        """Add the arcs of one character of a set, in UTF-8."""
        one = fragment(edges)
        if one.states == 2:  # ASCII
            self.arcs += [(start, first, last, end) for _, first, last, _ in one.arcs]
            return
        base = self._room(one.states - 2)
        numbers = [start, end, *range(base, self.states)]
        self.arcs += [(numbers[before], first, last, numbers[after]) for before, first, last, after in one.arcs]

    def strings(self, start: int, texts: Iterable[bytes], end: int) -> None:
        """Add a trie of texts, whose last bytes lead to `end`."""
        arcs, states = self.arcs, self.states
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
                arcs.append((state, byte, byte, states))
                state = states
                path.append(state)
                states += 1
            arcs.append((state, text[-1], text[-1], end))
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

        The start of the part is a state of its own if anything leads to `start`. The builder must not be used any more: the part may share
        its lists.

        Args:
            start: the start.
            ends: the final states.
            free: the states of `Part.free`.
            opened: the states of `Part.open`.

        Returns:
            None if there is no text.
        """
        following = self._edges()
        reached = _reached(self.states, following, [start])
        ending = _reached(self.states, [(after, before) for before, after in reversed(following)], ends)
        for _, states in self._chains:
            reached[states[1] : states[-2] + 1] = bytes([reached[states[0]]]) * (len(states) - 2)
            ending[states[1] : states[-2] + 1] = bytes([ending[states[-1]]]) * (len(states) - 2)
        if not ending[start]:
            return None
        whole = Part(self.states, self.arcs, self.moves, [*ends], (*free,), (*opened,))
        if start or any(after == start for _, after in following) or 0 in reached or 0 in ending:
            return _renumbered(whole, start, bytes(map(min, reached, ending)))
        return whole

    def _edges(self) -> list[tuple[int, int]]:
        """The states before and after each arc and move; the arcs of a text from the second on count as one."""
        found: list[tuple[int, int]] = []
        place = 0
        for first, states in self._chains:
            found += [(arc[0], arc[3]) for arc in self.arcs[place:first]]
            found.append((states[0], states[-1]))
            place = first + len(states) - 1
        return found + [(arc[0], arc[3]) for arc in self.arcs[place:]] + [(move[0], move[4]) for move in self.moves]


def _renumbered(whole: Part, start: int, kept: bytes) -> Part:
    """The part of the states with 1 in `kept`, uint8[states], where the start may be any state of `whole`."""
    is_entered = any(arc[3] == start for arc in whole.arcs) or any(move[4] == start for move in whole.moves)
    numbers = [-1] * whole.states
    numbers[start], states = int(is_entered), 1 + is_entered
    for state, is_kept in enumerate(kept):
        if is_kept and state != start:
            numbers[state], states = states, states + 1
    arcs = [(numbers[before], first, last, numbers[after]) for before, first, last, after in whole.arcs if kept[before] and kept[after]]
    moves = [(numbers[move[0]], move[1], move[2], move[3], numbers[move[4]]) for move in whole.moves if kept[move[0]] and kept[move[4]]]
    if is_entered:
        moves.append((0, SKIP, 0, 0, 1))
    finals, free, opened = ([numbers[state] for state in each if kept[state]] for each in (whole.finals, whole.free, whole.open))
    return Part(states, arcs, moves, finals, (*free,), (*opened,))


def _reached(states: int, edges: list[tuple[int, int]], seeds: Iterable[int]) -> bytearray:
    """uint8[states]: 1 for each state to which edges lead from the seeds."""
    found = bytearray(states)
    for state in seeds:
        found[state] = 1
    for _ in range(MAX_PASSES):  # most builders add edges in the order of their paths: then one or two passes reach all states
        for before, after in edges:
            if found[before]:
                found[after] = 1
        if 0 not in found:
            return found
    following: dict[int, list[int]] = {}
    for before, after in edges:
        if not found[after]:
            following.setdefault(before, []).append(after)
    work = [state for state in following if found[state]]
    while work:
        for after in following.get(work.pop(), ()):
            if not found[after]:
                found[after] = 1
                work.append(after)
    return found


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
        """Like `add`, for a start that only the text before the node leads to: arcs may lead back to it. The place before the first of any
        number of repetitions is then the place after each of them, so that they share their masks.
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
        """Add nonempty texts of the body, at least `least` of them.

        The end of a repetition leads on, so that nothing leads on if the body has no text.
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
        """Whether repetitions are written out: few, or few states."""
        if copies <= 1:
            return True
        return copies <= MAX_COPIES and copies * _states(body) <= MAX_COPIED


def _states(node: Node) -> int:
    """About the number of states of a node in a part."""
    return sum(fragment(each.edges).states if isinstance(each, Characters) else 1 for each in walk(node))
