"""Compile patterns into splitters, in the steps pattern → tree → program → automaton with the fewest states and classes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns import code_points, parser
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.sets import ANY, Dialect
from fst.compile.patterns.tree import Characters, Choice, LookAhead, LookBehind, Node, Repeat, Sequence, reads_nothing, walk
from fst.compile.pretokens.automata import Automaton
from fst.compile.pretokens.counted_runs import Counting
from fst.compile.pretokens.program import Moves, Program, program
from fst.compile.pretokens.subsets import Construction, minimal
from fst.compile.pretokens.threads import Pending, Stepper
from fst.errors import UnsupportedError, quoted
from fst.text.splitter import BEHAVIORS, MAX_CLASSES, START, Behavior, Splitter


def splitter(
    pattern: str,
    behavior: str = "isolated",
    invert: bool = False,
    *,
    dialect: Dialect = "oniguruma",
    literal: bool = False,
    absent: Collection[str] = (),
    budget: Budget | None = None,
) -> Splitter:
    r"""Compile a pattern into a splitter.

    Args:
        behavior: how matches and gaps become pre-tokens, one of `fst.text.splitter.BEHAVIORS`.
        invert: whether matches are treated as gaps, and gaps as matches.
        absent: strings that no text contains. An alternative of the pattern is dropped if it matches only strings that contain an absent
            string.

    Raises:
        UnsupportedError: the behavior is unknown, or the pattern contains an unsupported construct, which the message names.

    Examples:
        >>> words = splitter(r" ?\w+|\s+")
        >>> [("see you, Ann"[start:end]) for start, end in words.pretokens("see you, Ann")]
        ['see', ' you', ',', ' Ann']
    """
    if behavior not in BEHAVIORS:
        raise UnsupportedError(f"the behavior of a split is {quoted(behavior)}; known are {', '.join(BEHAVIORS)}")
    tree = parser.literal(pattern) if literal else _without(absent, parser.parse(pattern, dialect))
    if dialect == "oniguruma" and not literal and reads_nothing(tree) and (behavior, invert) != ("removed", True):
        tree, behavior, invert = _pieces(tree), "isolated", False
    budget = budget or Budget()
    alphabet = Alphabet.of(tree, budget)
    counting = alphabet.counting(tree)
    if counting:
        tree, tests = counting.replaced(tree)
        alphabet = alphabet.divided(counting, tests)
    automaton = Automaton(*_arrays(alphabet.automaton(alphabet.program(tree))))
    if automaton.ends[START].any():
        raise UnsupportedError("the pattern can match nothing: an empty match cuts without a piece")
    automaton = counting.consistent(automaton, budget) if counting else automaton
    targets, ends = minimal(automaton.targets, automaton.ends)
    moves = (targets * 2 + ends).astype(np.uint16)
    merged, columns = code_points.distinct(moves[:, :-1])
    if columns.shape[1] > MAX_CLASSES:
        raise UnsupportedError(f"the pattern tells apart {columns.shape[1]} classes of characters; at most {MAX_CLASSES} are supported")
    moves = np.column_stack([columns, moves[:, -1]])
    if not counting:
        return Splitter(alphabet.classes.renumbered(merged), moves, cast(Behavior, behavior), invert)
    codes = alphabet.classes.renumbered(np.arange(len(counting.first) - 1))
    classes = merged[np.append(counting.first[codes], counting.virtual_classes())].astype(np.uint8)
    return Splitter(classes, moves, cast(Behavior, behavior), invert, runs=counting.runs(codes))


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The classes of code points that the sets of a pattern distinguish.

    Attributes:
        classes: the classes, as runs of code points.
        held: `id` of a node → the classes in the node's set.
        count: the number of classes.
        budget: the budget of the pipeline.
    """

    classes: code_points.Classes
    held: dict[int, frozenset[int]]
    count: int
    budget: Budget

    @classmethod
    def of(cls, tree: Node, budget: Budget) -> Alphabet:
        """Compute the alphabet of a pattern's tree."""
        nodes = [node for node in walk(tree) if isinstance(node, Characters | LookBehind)]
        distinct = {node.edges.tobytes(): node.edges for node in nodes}
        classes = code_points.Classes.of([*distinct.values()])
        held = dict(zip(distinct, (frozenset(np.flatnonzero(row).tolist()) for row in classes.held), strict=True))
        return cls(classes, {id(node): held[node.edges.tobytes()] for node in nodes}, classes.held.shape[1], budget)

    def counting(self, tree: Node) -> Counting | None:
        """The division of the classes for look-aheads that count; None if the tree has no such look-ahead."""
        by_set = {node.edges.tobytes(): self.held[id(node)] for node in walk(tree) if isinstance(node, Characters)}
        programs = dict[int, Program]()  # by the `id` of a tail

        def holds(tail: Node, before: int, symbol: int) -> bool | None:
            instructions = programs.get(id(tail)) or programs.setdefault(id(tail), self.program(tail))
            pending = Pending(frozenset([instructions.start]), negative=False)
            left = Stepper(instructions, self.budget).advance(frozenset([pending]), before, symbol)
            return None if left else left is not None

        return Counting.of(tree, lambda edges: by_set[edges.tobytes()], holds, self.count)

    def divided(self, counting: Counting, tests: dict[int, frozenset[int]]) -> Alphabet:
        """The alphabet with the divided classes. `tests` contains the new classes of new nodes."""
        return replace(self, held={node: counting.divided(held) for node, held in self.held.items()} | tests, count=counting.size)

    def program(self, tree: Node) -> Program:
        """Compile a tree into a program. The alphabet must contain all nodes of the tree."""
        return program(tree, lambda node: self.held[id(node)], self.automaton)

    def automaton(self, instructions: Program) -> Moves:
        """Compile a program into an automaton."""
        return Construction(instructions, self.count, self.budget).moves()


def _without(absent: Collection[str], tree: Node) -> Node:
    """A pattern without the alternatives that contain an absent string."""
    if not isinstance(tree, Choice):
        return tree
    spellings = map(spelled, tree.parts)
    kept = tuple(part for part, spelling in zip(tree.parts, spellings, strict=True) if not any(string in spelling for string in absent))
    return Choice(kept) if kept else tree


def _pieces(tree: Node) -> Node:
    """The pattern of the text between two matches of a pattern that reads nothing."""
    any_character = Characters(ANY)
    apart = LookAhead(tree.body, not tree.negative) if isinstance(tree, LookAhead) else LookAhead(tree, negative=True)
    return Sequence((any_character, Repeat(Sequence((apart, any_character)), 0, None)))


def spelled(node: Node) -> str:
    """The string that a node matches, if it is the only one and has at least two characters; otherwise empty."""
    letters = [_letter(part) for part in node.parts] if isinstance(node, Sequence) else []
    return "".join(letters) if all(letters) else ""


def _letter(node: Node) -> str:
    """The character that a node matches, if it is the only matched string; otherwise empty."""
    edges = node.edges.tolist() if isinstance(node, Characters) else []
    return chr(edges[0]) if len(edges) == 2 and edges[1] == edges[0] + 1 else ""


def _arrays(moves: Moves) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    pairs = np.array(moves, np.int64)
    return pairs[:, :, 0], pairs[:, :, 1] > 0
