"""Parts of grammars. A part is made when a walk first calls its rule.

No part calls itself before it reads anything. A *left call* is a call at the start of a rule, and rules that left-call each other are one
*group*. The part of a rule of a group reads from the left corner upwards: it begins as any rule of the group begins, other than by a left
call. When a rule is complete, the part goes on after each left call of this rule; it ends when its own rule is complete.

Example: ``sum: sum "+" product | product`` and ``product: "x"``. The part of ``sum`` begins with a call of ``product``, after which ``sum``
is complete. It goes on after the left call of ``sum``, with ``"+"`` and a call of ``product``, after which ``sum`` is complete again::

    state   arcs and moves
    0       calls product → 1
    1       the end; skips → 2
    2       reads "+" → 3
    3       calls product → 1
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Protocol

from fst.compile.machines.guide.grammar.bnf import read_ebnf, read_gbnf
from fst.compile.machines.guide.grammar.lark import read_lark
from fst.compile.machines.guide.grammar.tree import Call, Grammar, Schema, Text, checked, components, first_calls, is_nullable
from fst.compile.machines.guide.part_builder import PartBuilder, TreeWriter
from fst.compile.patterns.tree import Node, Repeat, walk
from fst.errors import FstError, not_one_of
from fst.machines.guide.parts import CALL, SKIP, Move, Part

MAX_INLINED = 16  # maximum number of nodes of a rule that is written at its calls; a string counts as the number of its bytes


READERS = {"lark": read_lark, "gbnf": read_gbnf, "ebnf": read_ebnf}


def grammar_parts(text: str, syntax: str | None, schema_parts: Callable[[str], Maker]) -> GrammarParts:
    """The parts of a grammar in one of the syntaxes of `READERS`. Errors are those of `GrammarParts` and of the readers.

    Examples:
        >>> parts = grammar_parts('root ::= "a" root | "b"', "gbnf", lambda schema: ...)
        >>> parts.part(0).arcs
        [(0, 97, 97, 2), (0, 98, 98, 1)]
    """
    if syntax not in READERS:
        raise ValueError(not_one_of("syntax", syntax, READERS))
    return GrammarParts(READERS[syntax](text), schema_parts)


class Maker(Protocol):
    """Makes parts; number 0 reads whole texts."""

    def part(self, number: int) -> Part:
        """The part of number 0, or of a number that a part made before calls."""
        ...


class GrammarParts:
    """The parts of a grammar. Number 0 reads whole texts.

    Args:
        grammar: the grammar.
        schema_parts: returns the parts of a nested schema, which is given as JSON.

    Raises:
        VocabularyError: a rule is not defined, has no finite text, or is in a cycle of empty rules; the message contains line and column.
        UnsupportedError: a nested schema is not supported; the message contains line and column.
    """

    def __init__(self, grammar: Grammar, schema_parts: Callable[[str], Maker]) -> None:
        self.rules, self._start = grammar.rules, grammar.start
        self._called, self.nullable, self.nonempty = checked(grammar)
        self.nullable_nodes: dict[Node, bool] = {}  # what is known
        self._names = [*self.rules]
        self._numbers = {name: number for number, name in enumerate(self._names, 1)}
        self._inner: list[tuple[Maker, int]] = []  # for each number after those of the rules: its maker, and its number there
        self._outer: dict[tuple[Maker, int], int] = {}
        self._schemas: dict[Schema, int] = {}
        for node in (node for rule in self.rules.values() for node in walk(rule.tree) if isinstance(node, Schema)):
            self._schemas[node] = self._numbered(_maker(node, schema_parts), 0)

    def part(self, number: int) -> Part:
        """The part of a number."""
        if number > len(self._names):
            maker, inner = self._inner[number - len(self._names) - 1]
            part = maker.part(inner)
            return part._replace(moves=[self._renumbered(maker, move) for move in part.moves])
        name = self._names[number - 1] if number else self._start
        return _RuleWriter(self, self._groups.get(name, ())).part(name, is_whole=number == 0)

    def number_of(self, called: str | Schema) -> int:
        """The number of the part of a rule or of a nested schema."""
        return self._numbers[called] if isinstance(called, str) else self._schemas[called]

    def is_inlined(self, name: str) -> bool:
        """Whether a rule is so small that it is written at its calls."""
        return self._sizes[name] <= MAX_INLINED

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        """For each left-recursive rule, its group."""
        left = {name: first_calls(rule.tree, self.nullable) for name, rule in self.rules.items()}
        return {name: group for group in components(left) for name in group if len(group) > 1 or name in left[name]}

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """For each rule, the number of nodes in it and in the rules that it calls; more than `MAX_INLINED` if it calls itself."""
        called = {name: [call.name for call in each] for name, each in self._called.items()}
        sizes = dict.fromkeys(self.rules, MAX_INLINED + 1)
        for group in components(called):
            if len(group) == 1 and group[0] not in called[group[0]]:
                nodes = (len(node.data) if isinstance(node, Text) else 1 for node in walk(self.rules[group[0]].tree))
                sizes[group[0]] = sum(nodes) + sum(sizes[name] for name in called[group[0]])
        return sizes

    def _numbered(self, maker: Maker, inner: int) -> int:
        """The number of a part of a nested schema."""
        key = maker, inner
        if key not in self._outer:
            self._inner.append(key)
            self._outer[key] = len(self._names) + len(self._inner)
        return self._outer[key]

    def _renumbered(self, maker: Maker, move: Move) -> Move:
        start, kind, first, second, end = move
        return (start, kind, self._numbered(maker, first), second, end) if kind == CALL else move


def _maker(node: Schema, schema_parts: Callable[[str], Maker]) -> Maker:
    try:
        return schema_parts(node.source)
    except FstError as error:
        raise type(error)(f"{node.place}: {error}") from None


class _RuleWriter(TreeWriter):
    """Writes the part of a rule.

    Args:
        parts: the parts of the grammar.
        group: the group of the rule, if it is left-recursive.
    """

    def __init__(self, parts: GrammarParts, group: Collection[str]) -> None:
        super().__init__(PartBuilder())
        self._parts, self._group = parts, group
        self._left: dict[int, list[int]] = {parts.number_of(name): [] for name in group}  # the states after the left calls of each rule

    def part(self, name: str, *, is_whole: bool) -> Part:
        """The part of a rule. The part of whole texts includes the empty text."""
        builder, rules = self.builder, self._parts.rules
        start = builder.state()
        ends: dict[str, int] = {}
        for each in self._group or [name]:
            first, ends[each] = builder.state(), builder.state()
            arcs, moves = len(builder.arcs), len(builder.moves)
            self.add(rules[each].tree, first, ends[each])
            self._begin(start, first, arcs, moves)
        for each, end in ends.items():
            for state in self._left.get(self._parts.number_of(each), ()):
                builder.skip(end, state)
        finals = [ends[name], start] if is_whole and name in self._parts.nullable else [ends[name]]
        found = builder.part(start, finals)
        assert found is not None, f"rule {name!r} has no text"
        return found

    def _begin(self, start: int, first: int, arcs: int, moves: int) -> None:
        """Let a part begin as a rule does, other than by left calls or with the empty text.

        The arcs and moves are copied, and the rule's own start is not reached: its states that are reached again later keep their calls.

        Args:
            start: the start of the part.
            first: the start of the rule.
            arcs, moves: the numbers of the rule's first arc and move.
        """
        builder = self.builder
        own = builder.moves[moves:]
        skips: dict[int, list[int]] = {}
        for before, kind, _, _, end in own:
            if kind == SKIP:
                skips.setdefault(before, []).append(end)
        reached, work = {first}, [first]
        while work:
            for end in skips.get(work.pop(), ()):
                if end not in reached:
                    reached.add(end)
                    work.append(end)
        builder.arcs += [(start, low, high, end) for before, low, high, end in builder.arcs[arcs:] if before in reached]
        for before, kind, number, second, end in own:
            if before not in reached or kind == SKIP:
                continue
            if kind == CALL and number in self._left:
                self._left[number].append(end)
            else:
                builder.moves.append((start, kind, number, second, end))

    def is_nullable(self, node: Node) -> bool:
        """Whether a node has an empty text."""
        known = self._parts.nullable_nodes
        if node not in known:
            known[node] = is_nullable(node, self._parts.nullable)
        return known[node]

    def leaf(self, node: Node, start: int, end: int) -> None:
        """Add the nonempty texts of a string, a rule or a schema."""
        if isinstance(node, Text):
            self.builder.text(start, node.data, end)
        elif isinstance(node, Schema):
            self.builder.call(start, self._parts.number_of(node), end)
        else:
            assert isinstance(node, Call)
            if self._parts.is_inlined(node.name):
                self.add_nonempty(self._parts.rules[node.name].tree, start, end)
            elif node.name in self._parts.nonempty:
                self.builder.call(start, self._parts.number_of(node.name), end)

    def _repeat(self, node: Repeat, least: int, start: int, end: int) -> None:
        """A repetition that may begin with a left call has its first copy before the tally, because the part goes on after left calls."""
        if node.most in (0, 1) or not self._group or first_calls(node.body, self._parts.nullable).isdisjoint(self._group):
            super()._repeat(node, least, start, end)
            return
        if least == 0:
            self.builder.skip(start, end)
        following = self.builder.state()
        self.add_nonempty(node.body, start, following)
        most = None if node.most is None else node.most - 1
        super()._repeat(Repeat(node.body, 0, most), max(least - 1, 0), following, end)
