"""Grammars as trees: rules that call each other, whatever the syntax they are read from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fst.compile.machines.guide.utf_8 import fragment
from fst.compile.patterns.tree import Characters, Choice, Leaf, Node, Repeat, Sequence, children
from fst.errors import UnsupportedError, VocabularyError, listed, quoted

KEPT_GRAMMARS = 64  # maximum number of grammars that are kept for later guides
MAX_LEVELS = 80  # maximum depth of the tree of a rule, so that recursive functions end
MAX_COUNT = (1 << 31) - 1  # maximum of the counts of a repetition


class Place(NamedTuple):
    """A position in the text of a grammar; both numbers count from 1, the column in characters. In a structural tag, the path of a format,
    and the position in its grammar, if it has one.
    """

    line: int
    column: int
    path: str = ""

    def __str__(self) -> str:
        position = f"line {self.line}, column {self.column}" if self.line else ""
        return ", ".join(filter(None, (f"the structural tag at {self.path}" if self.path else "the grammar", position)))


class Places:
    """The places of the characters of a grammar's text."""

    def __init__(self, text: str) -> None:
        self._begins = [0, *(match.end() for match in re.finditer("\n", text))]

    def of(self, position: int) -> Place:
        """The place of a character."""
        line = bisect_right(self._begins, position)
        return Place(line, position - self._begins[line - 1] + 1)


@dataclass(frozen=True, eq=False)
class Text(Leaf):
    """A literal string, in UTF-8."""

    data: bytes


@dataclass(frozen=True, eq=False)
class Call(Leaf):
    """A call of a rule."""

    name: str
    place: Place


@dataclass(frozen=True, eq=False)
class Schema(Leaf):
    """The JSON texts of a schema.

    Attributes:
        source: the schema, as JSON.
    """

    source: str
    place: Place


@dataclass(frozen=True, eq=False)
class Free(Leaf):
    """Free text, which may be empty, in which some strings lead on. Free text may end anywhere, unless one of these strings has begun what
    follows it.

    Attributes:
        stops: strings, and what follows each of them, as soon as it occurs. No stop is part of another one.
        excludes: strings that the free text does not contain.
        loops: whether free text follows what follows a stop.
        most: the largest number of characters, for texts without stops; None: any number.
    """

    stops: tuple[tuple[str, Node], ...] = ()
    excludes: tuple[str, ...] = ()
    loops: bool = True
    most: int | None = None

    @property
    def parts(self) -> tuple[Node, ...]:
        """What follows the stops."""
        return tuple(node for _, node in self.stops)


class Rule(NamedTuple):
    """A rule, or a terminal."""

    tree: Node
    place: Place


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules by name, in the order of the text, and the name of the rule of whole texts."""

    rules: Mapping[str, Rule]
    start: str


def literal(text: str) -> Node:
    """The node of a literal string."""
    return Text(text.encode()) if text else Sequence(())


def defined(rules: dict[str, Rule], name: str, rule: Rule, noun: str = "rule") -> None:
    """Add a rule, which must not be defined yet."""
    if name in rules:
        where = rules[name].place
        raise VocabularyError(f"{rule.place}: {noun} {quoted(name)} is already defined in line {where.line}; define it once")
    rules[name] = rule


def counts(least: int, most: int | None, place: Place) -> tuple[int, int | None]:
    """The counts of a repetition, after a check."""
    if max(least, most or 0) > MAX_COUNT:
        raise UnsupportedError(f"{place}: a count is {max(least, most or 0):,}; expected at most {MAX_COUNT:,}")
    if most is not None and most < least:
        raise VocabularyError(f"{place}: the counts are {least} to {most}; expected a second count that is not below the first")
    return least, most


def is_nullable(node: Node, nullable: Iterable[str]) -> bool:
    """Whether a node has an empty text, where the rules `nullable` have one."""
    return _has(node, nullable, lambda leaf: isinstance(leaf, Free))


def _has_text(node: Node, productive: set[str]) -> bool:
    """Whether a node has a text, where the rules `productive` have one."""
    return _has(node, productive, lambda leaf: not isinstance(leaf, Characters) or len(fragment(leaf.edges).arcs) > 0)


def _has(node: Node, rules: Iterable[str], of_leaf: Callable[[Node], bool]) -> bool:
    """Whether a node has a text that consists of texts of `rules` and of the leaves for which `of_leaf` is true."""
    if isinstance(node, Call):
        return node.name in rules
    if isinstance(node, Sequence):
        return all(_has(part, rules, of_leaf) for part in node.parts)
    if isinstance(node, Choice):
        return any(_has(part, rules, of_leaf) for part in node.parts)
    if isinstance(node, Repeat):
        return node.least == 0 or _has(node.body, rules, of_leaf)
    return of_leaf(node)


def _has_nonempty(node: Node, found: set[str], productive: set[str]) -> bool:
    """Whether a node has a text that is not empty, where the rules `found` have one."""
    if isinstance(node, Call):
        return node.name in found
    if isinstance(node, Sequence):
        return any(_has_nonempty(part, found, productive) for part in node.parts) and _has_text(node, productive)
    if isinstance(node, Choice):
        return any(_has_nonempty(part, found, productive) for part in node.parts)
    if isinstance(node, Repeat):
        return node.most != 0 and _has_nonempty(node.body, found, productive)
    return _has_text(node, productive)


def first_calls(node: Node, nullable: Iterable[str]) -> set[str]:
    """The rules that a node may call before it reads anything."""
    if isinstance(node, Call):
        return {node.name}
    if isinstance(node, Repeat):
        return first_calls(node.body, nullable) if node.most != 0 else set()
    if isinstance(node, Choice):
        return set().union(*(first_calls(part, nullable) for part in node.parts))
    found: set[str] = set()
    for part in node.parts if isinstance(node, Sequence) else ():
        found |= first_calls(part, nullable)
        if not is_nullable(part, nullable):
            break
    return found


class Facts(NamedTuple):
    """Sets of rules.

    Attributes:
        called: for each rule, its calls.
        nullable: the rules that have an empty text.
        nonempty: the rules that have another text.
    """

    called: dict[str, list[Call]]
    nullable: set[str]
    nonempty: set[str]


def checked(grammar: Grammar) -> Facts:
    """Refuse rules that are not defined, rules without a text, and cycles of empty rules."""
    rules = grammar.rules
    called = {name: _calls(name, rule) for name, rule in rules.items()}
    callers: dict[str, list[str]] = {name: [] for name in rules}
    for name, each in called.items():
        for call in each:
            if call.name not in rules:
                raise VocabularyError(f"{call.place}: rule {quoted(call.name)} is not defined; define it, or correct its name")
            callers[call.name].append(name)
    nullable = _least(rules, callers, is_nullable, set())
    productive = _least(rules, callers, _has_text, nullable)
    endless = {name: {call.name for call in called[name]} - productive for name in rules if name not in productive}
    for group in components(endless):  # the first group calls no other one
        name = min(group, key=lambda each: rules[each].place)
        is_recursive = len(group) > 1 or name in endless[name]
        remedy = "add an alternative that does not call it again" if is_recursive else "correct its sets of characters"
        raise VocabularyError(f"{rules[name].place}: rule {quoted(name)} has no finite text; {remedy}")
    nonempty = _least(rules, callers, lambda node, found: _has_nonempty(node, found, productive), productive - nullable)
    empty = {name: {call.name for call in called[name]} - nonempty for name in rules if name not in nonempty}
    for group in components(empty):
        if len(group) > 1 or group[0] in empty[group[0]]:
            names = sorted(group, key=lambda name: rules[name].place)
            found = f"rule {quoted(names[0])} is always empty, in a cycle of the empty rules {listed(names)}"
            raise VocabularyError(f"{rules[names[0]].place}: {found}; add a text, or remove the calls")
    return Facts(called, nullable, nonempty)


def _calls(name: str, rule: Rule) -> list[Call]:
    """The calls of a rule; an error refuses a tree with too many levels."""
    found: list[Call] = []
    work = [(rule.tree, 1)]
    while work:
        node, level = work.pop()
        if isinstance(node, Call):
            found.append(node)
        elif level > MAX_LEVELS:
            raise UnsupportedError(f"{rule.place}: rule {quoted(name)} has more than {MAX_LEVELS} levels of groups; make rules of them")
        else:
            work += [(child, level + 1) for child in children(node)]
    return found[::-1]


def _least(
    rules: Mapping[str, Rule], callers: Mapping[str, list[str]], holds: Callable[[Node, set[str]], bool], known: set[str]
) -> set[str]:
    """The least set of rules, with the rules `known`, for which a condition holds, given the rules of the set."""
    found = {*known}
    work = [*rules][::-1]
    while work:
        name = work.pop()
        if name not in found and holds(rules[name].tree, found):
            found.add(name)
            work += callers[name]
    return found


def components(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a graph, each after the components to which its edges lead (Tarjan)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in edges:
        if root in numbers:
            continue
        numbers[root] = lowest[root] = len(numbers)
        stack.append(root)
        path = [(root, iter(edges[root]))]
        while path:
            name, following = path[-1]
            for after in following:
                if after not in numbers:
                    numbers[after] = lowest[after] = len(numbers)
                    stack.append(after)
                    path.append((after, iter(edges[after])))
                    break
                if after in lowest:
                    lowest[name] = min(lowest[name], numbers[after])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    found.append([])
                    while name in lowest:
                        found[-1].append(stack.pop())
                        del lowest[found[-1][-1]]
    return found
