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

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache

import numpy as np

from fst.compile.machines.guide.grammar.tree import (
    KEPT_GRAMMARS,
    Call,
    Free,
    Grammar,
    Schema,
    Text,
    checked,
    components,
    first_calls,
    is_nullable,
)
from fst.compile.machines.guide.part_builder import PartBuilder, TreeWriter
from fst.compile.patterns.code_points import Set, complement, of_text
from fst.compile.patterns.tree import Choice, Node, Repeat, walk
from fst.errors import FstError
from fst.machines.guide.parts import CALL, SKIP, Part, Texts

MAX_INLINED = 16  # maximum number of nodes of a rule that is written at its calls; a string counts as the number of its bytes


class GrammarParts:
    """The parts of a grammar. Number 0 reads whole texts.

    Args:
        grammar: the grammar.
        schema_parts: returns the parts of a nested schema, which is given as JSON.

    Raises:
        VocabularyError: a rule is not defined, has no finite text, or is in a cycle of empty rules; the message contains line and column.
        UnsupportedError: a nested schema is not supported; the message contains line and column.
    """

    def __init__(self, grammar: Grammar, schema_parts: Callable[[str], Texts]) -> None:
        self.rules = rule_parts(grammar)
        # For each number after those of the rules, its maker, and the number that this maker uses.
        self._inner: list[tuple[Texts, int]] = [(_maker(node, schema_parts), 0) for node in self.rules.schemas]
        self._outer = {inner: number for number, inner in enumerate(self._inner, len(self.rules.names))}

    def part(self, number: int) -> Part:
        """The part of a number."""
        if number < len(self.rules.names):
            return self.rules.part(number)
        maker, inner = self._inner[number - len(self.rules.names)]
        part = maker.part(inner)
        moves = part.moves.copy()
        for move in np.flatnonzero(moves[:, 1] == CALL).tolist():
            moves[move, 2] = self._number(maker, int(moves[move, 2]))
        return part._replace(moves=moves)

    def _number(self, maker: Texts, number: int) -> int:
        """The number here of a part of a nested schema."""
        inner = maker, number
        if inner not in self._outer:
            self._outer[inner] = len(self.rules.names) + len(self._inner)
            self._inner.append(inner)
        return self._outer[inner]


@lru_cache(maxsize=KEPT_GRAMMARS)
def rule_parts(grammar: Grammar) -> RuleParts:
    """The parts of the rules of a grammar, which all guides of the grammar share."""
    return RuleParts(grammar)


class RuleParts:
    """The parts of the rules of a grammar, which are kept.

    Attributes:
        rules: the rules.
        names: for each number of a part, the name of its rule; number 0 is the rule of whole texts.
        schemas: the nested schemas. Their numbers follow those of the rules.
        nullable: the rules that have an empty text.
        nonempty: the rules that have another text.
        nullable_nodes: whether a node has an empty text, as far as it is known.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.rules = grammar.rules
        self._called, self.nullable, self.nonempty = checked(grammar)
        self.names = [grammar.start, *self.rules]
        self.schemas = [node for rule in self.rules.values() for node in walk(rule.tree) if isinstance(node, Schema)]
        called: list[str | Schema] = [*self.rules, *self.schemas]
        self._numbers = {each: number for number, each in enumerate(called, 1)}
        self.nullable_nodes: dict[Node, bool] = {}
        self._made: dict[int, Part] = {}

    def part(self, number: int) -> Part:
        """The part of a rule."""
        if number not in self._made:
            name = self.names[number]
            self._made[number] = _RuleWriter(self, self._groups.get(name, ())).part(name, is_whole=number == 0)
        return self._made[number]

    def number_of(self, called: str | Schema) -> int:
        """The number of the part of a rule or of a nested schema."""
        return self._numbers[called]

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


def _maker(node: Schema, schema_parts: Callable[[str], Texts]) -> Texts:
    try:
        return schema_parts(node.source)
    except FstError as error:
        raise type(error)(f"{node.place}: {error}") from None


class _RuleWriter(TreeWriter):
    """Writes the part of a rule.

    Args:
        parts: the parts of the rules.
        group: the group of the rule, if it is left-recursive.
    """

    def __init__(self, parts: RuleParts, group: Collection[str]) -> None:
        super().__init__(PartBuilder())
        self._parts, self._group = parts, group
        self._left: dict[int, list[int]] = {parts.number_of(name): [] for name in group}  # the states after the left calls of each rule

    def part(self, name: str, *, is_whole: bool) -> Part:
        """The part of a rule. The part of whole texts includes the empty text."""
        builder, rules = self.builder, self._parts.rules
        start = builder.state()
        if name not in self._parts.nullable and not self._group:
            end = builder.state()
            self.add(rules[name].tree, start, end)
            return self._made(start, [end])
        ends = {each: builder.state() for each in self._group or [name]}
        for each in ends:
            first = builder.state()
            size, moves = builder.size, len(builder.moves)
            self.add(rules[each].tree, first, ends[each])
            self._begin(start, first, size, moves)
        for each, end in ends.items():
            for state in self._left.get(self._parts.number_of(each), ()):
                builder.skip(end, state)
        finals = [ends[name], start] if is_whole and name in self._parts.nullable else [ends[name]]
        return self._made(start, finals)

    def _made(self, start: int, finals: list[int]) -> Part:
        found = self.builder.part(start, finals)
        assert found is not None, "a rule has no text"
        return found

    def _begin(self, start: int, first: int, size: tuple[int, int, int], moves: int) -> None:
        """Let a part begin as a rule does, other than by left calls or with the empty text.

        The arcs and moves are copied, and the rule's own start is not reached: its states that are reached again later keep their calls.

        Args:
            start: the start of the part.
            first: the start of the rule.
            size: the builder's size before the rule.
            moves: the place of the rule's first move in the builder's moves.
        """
        builder = self.builder
        own = np.array(builder.moves[moves:], np.int32).reshape(-1, 5).tolist()
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
        builder.branch(start, reached, size)
        for before, kind, number, second, end in own:
            if before not in reached or kind == SKIP:
                continue
            if kind == CALL and number in self._left:
                self._left[number].append(end)
            else:
                builder.moves.extend((start, kind, number, second, end))

    def add(self, node: Node, start: int, end: int) -> None:
        """Add the texts of a node; the strings of a choice become a trie."""
        if isinstance(node, Choice) and sum(isinstance(part, Text) for part in node.parts) > 1:
            self.builder.strings(start, (part.data for part in node.parts if isinstance(part, Text)), end)
            node = Choice(tuple(part for part in node.parts if not isinstance(part, Text)))
        super().add(node, start, end)

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
        elif isinstance(node, Free):
            self._free(node, start, end, self.builder.state())
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

    def add_after(self, node: Node, start: int, end: int) -> None:
        """Like `add`, where arcs may lead back to the start. An optional call of a rule that is a repetition is the repetition."""
        if isinstance(node, Repeat) and (node.least, node.most) == (0, 1) and isinstance(node.body, Call):
            tree = self._parts.rules[node.body.name].tree
            if isinstance(tree, Repeat) and (tree.least, tree.most) == (1, None) and _is_small(tree):
                node = Repeat(tree.body, 0, None)
        if isinstance(node, Free) and node.most is None:
            self._free(node, start, end, start)
        else:
            super().add_after(node, start, end)

    def _free(self, node: Free, start: int, end: int, empty: int) -> None:
        """Add free text: one state for each beginning of a stop or an excluded string (Aho and Corasick). `empty` is the state of the empty
        beginning; if it is not the start, the start is a copy of it that nothing leads to, and the free text is not empty.
        """
        builder = self.builder
        steps = steps_of([*(text for text, _ in node.stops), *node.excludes])
        states = [empty, *(builder.state() for _ in steps[1:])]
        after = [builder.state() for _ in node.stops]
        for (_, following), state in zip(node.stops, after, strict=True):
            done = builder.state()
            self.add(following, state, done)
            builder.skip(done, states[0] if node.loops else end)
        begin = start if node.most is None else builder.state()
        if node.most is not None:
            builder.enter(start, 0, node.most, begin)
        for state, (letters, others) in [*([] if begin == empty else [(begin, steps[0])]), *zip(states, steps, strict=True)]:
            if state != begin or begin == empty:
                (builder.skip if node.most is None else builder.exit)(state, end)
            before = state
            if node.most is not None:
                before = builder.state()
                builder.count(state, before)
            self.character(before, others, states[0])
            for char, (target, found) in letters.items():
                if found is None:
                    self.character(before, of_text(char), states[target])
                elif found < len(after):
                    self.character(before, of_text(char), after[found])


def _is_small(tree: Node) -> bool:
    """Whether a tree is written at its calls, without the rules that it calls."""
    return sum(len(node.data) if isinstance(node, Text) else 1 for node in walk(tree)) <= MAX_INLINED


def steps_of(strings: Sequence[str]) -> list[tuple[dict[str, tuple[int, int | None]], Set]]:
    """The automaton of Aho and Corasick, whose states are the beginnings of some strings; state 0 is the empty one.

    Returns:
        For each state, the next state after each character that continues a beginning, with the number of the string that the character
        completes, or None; and the set of all other characters, which lead to state 0.

    Examples:
        >>> [letters for letters, _ in steps_of(["ab"])]
        [{'a': (1, None)}, {'a': (1, None), 'b': (2, 0)}, {'a': (1, None)}]
    """
    children: list[dict[str, int]] = [{}]
    found: list[int | None] = [None]
    for number, text in enumerate(strings):
        state = 0
        for char in text:
            if char not in children[state]:
                children[state][char] = len(children)
                children.append({})
                found.append(None)
            state = children[state][char]
        found[state] = number if found[state] is None else found[state]
    following = [dict(each) for each in children]
    waiting = [(child, 0) for child in children[0].values()]
    for state, shorter in waiting:  # the loop appends to `waiting`
        waiting += [(child, following[shorter].get(char, 0)) for char, child in children[state].items()]
        following[state] = {**following[shorter], **children[state]}
        found[state] = found[shorter] if found[state] is None else found[state]
    return [({char: (target, found[target]) for char, target in each.items()}, complement(of_text(each))) for each in following]
