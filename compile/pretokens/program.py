"""Patterns as programs, whose instructions read classes of code points. A *place* in a program is the index of an instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fst.compile.patterns.tree import Atomic, Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence
from fst.errors import UnsupportedError

NOWHERE, MATCH = -1, 0  # values of places: no instruction; and the instruction `Match`, with which every program ends
MAX_INSTRUCTIONS = 20_000
LATE = "the pattern has an atomic group or possessive repetition whose end depends on more than one character after it"


@dataclass(frozen=True)
class Match:
    """A match ends here."""


@dataclass(frozen=True)
class Read:
    """Read one symbol whose class is in `classes`."""

    classes: frozenset[int]
    following: int


@dataclass(frozen=True)
class Fork:
    """Continue at one of `places`, which are in order of preference."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class Ahead:
    """Continue if the instructions from `start` match the text that follows; if negative, continue if they do not match."""

    start: int
    negative: bool
    following: int


@dataclass(frozen=True)
class Behind:
    """Continue if the class of the previous symbol is in `classes` or, if negative, is not in it."""

    classes: frozenset[int]
    negative: bool
    name: str
    following: int


@dataclass(frozen=True)
class Inner:
    """A state of an atomic group's automaton. The class of the next symbol determines how to continue.

    Attributes:
        reads: the place after reading the symbol, or NOWHERE.
        leaves: whether the group ends before the symbol.
        following: the place after the group.
    """

    reads: tuple[int, ...]
    leaves: tuple[bool, ...]
    following: int


Instruction = Match | Read | Fork | Ahead | Behind | Inner
# The automaton of an atomic group: for each state and class, the next state, and whether a match ends. State 0 is dead; a match begins in
# state 1.
Moves = list[list[tuple[int, bool]]]


@dataclass(frozen=True)
class Program:
    """Instructions, and the place at which the program starts."""

    instructions: tuple[Instruction, ...]
    start: int


def program(tree: Node, classes_of: Callable[[Node], frozenset[int]], automaton: Callable[[Program], Moves]) -> Program:
    """Compile a tree into a program. `classes_of` returns the classes in the set of a node, and `automaton` converts the program of an
    atomic group.
    """
    compiler = _Compiler(classes_of, automaton)
    start = compiler.place_of(tree, MATCH)
    return Program(tuple(compiler.instructions), start)


class _Compiler:
    """Builds the instructions from the end of a pattern to its start, so that the successors of an instruction are added before it."""

    def __init__(self, classes_of: Callable[[Node], frozenset[int]], automaton: Callable[[Program], Moves]) -> None:
        self.instructions: list[Instruction] = [Match()]
        self._classes_of, self._automaton = classes_of, automaton

    def place_of(self, node: Node, following: int) -> int:
        """Add a node; return the place at which it begins."""
        if isinstance(node, Characters):
            return self._add(Read(self._classes_of(node), following))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                following = self.place_of(part, following)
            return following
        if isinstance(node, Choice):
            return self._add(Fork(tuple(self.place_of(part, following) for part in node.parts)))
        if isinstance(node, Repeat):
            return self._repeat(node, following)
        if isinstance(node, LookAhead):
            return self._add(Ahead(self.place_of(node.body, MATCH), node.negative, following))
        if isinstance(node, LookBehind):
            return self._add(Behind(self._classes_of(node), node.negative, node.name, following))
        assert isinstance(node, Atomic)
        return self._atomic(node, following)

    def _repeat(self, node: Repeat, following: int) -> int:
        start = following
        if node.most is None:
            start = self._add(Fork(()))
            self.instructions[start] = _fork(node, self.place_of(node.body, start), following)
        else:
            for _ in range(node.most - node.least):
                start = self._add(_fork(node, self.place_of(node.body, start), following))
        for _ in range(node.least):
            start = self.place_of(node.body, start)
        return start

    def _atomic(self, node: Atomic, following: int) -> int:
        """Add an atomic group as its automaton.

        A group at the end of the pattern is added as a normal group, because nothing backtracks into it.
        """
        if following == MATCH:
            return self.place_of(node.body, following)
        moves = self._automaton(program(node.body, self._classes_of, self._automaton))
        settled = _settled(moves)
        if any(ends and target and target not in settled for row in moves for target, ends in row):
            raise UnsupportedError(LATE)
        before = len(self.instructions) - 1
        for row in moves[1:]:
            reads = tuple(before + target if target else NOWHERE for target, _ in row)
            self._add(Inner(reads, tuple(ends and not target for target, ends in row), following))
        return before + 1

    def _add(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        if len(self.instructions) > MAX_INSTRUCTIONS:
            raise UnsupportedError(f"the pattern needs more than {MAX_INSTRUCTIONS:,} instructions")
        return len(self.instructions) - 1


def _fork(node: Repeat, again: int, following: int) -> Fork:
    return Fork((following, again) if node.lazy else (again, following))


def _settled(moves: Moves) -> set[int]:
    """The states after which a further match ends, for every text that follows."""
    sources: list[list[int]] = [[] for _ in moves]  # sources of the transitions on which no match ends
    for state, row in enumerate(moves):
        for target in {target for target, ends in row if not ends}:
            sources[target].append(state)
    unsettled, stack = {0}, [0]
    while stack:
        more = [state for state in sources[stack.pop()] if state not in unsettled]
        unsettled.update(more)
        stack += more
    return set(range(len(moves))) - unsettled
