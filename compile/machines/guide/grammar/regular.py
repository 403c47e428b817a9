"""Automata of grammars, for tables: a table has a finite number of states, so rules may call themselves only at one end of their texts.

Rules that call each other are a *group*. The automaton of a rule contains the rules of its group once. If all calls within the group are at
the right end of the texts, a call leads to the state before the rule; if all are at the left end, the state after the rule leads on after
the call. Other calls are replaced by the minimal automaton of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import numpy as np

from fst.compile.machines.guide.builder import MAX_STATES, Block, Builder
from fst.compile.machines.guide.grammar.parts import steps_of
from fst.compile.machines.guide.grammar.tree import Call, Free, Grammar, Rule, Schema, Text, checked, components
from fst.compile.machines.guide.languages import ByteAutomaton, of_builder, ranges_of
from fst.compile.machines.guide.regex import add, size
from fst.compile.machines.guide.utf_8 import fragment
from fst.compile.patterns.code_points import of_text
from fst.compile.patterns.tree import Choice, Leaf, Node, Repeat, Sequence
from fst.errors import UnsupportedError, quoted


class _Group(NamedTuple):
    """A group of rules.

    Attributes:
        rules: the rules by name.
        is_right: whether the calls within the group are at the right end; otherwise they are at the left end.
    """

    rules: dict[str, Rule]
    is_right: bool


def from_grammar(grammar: Grammar, schema_automaton: Callable[[str], ByteAutomaton]) -> ByteAutomaton:
    """The automaton of the texts of a grammar.

    Args:
        grammar: the grammar.
        schema_automaton: returns the automaton of a nested schema, which is given as JSON.

    Raises:
        VocabularyError: as in `fst.compile.machines.guide.grammar.parts.GrammarParts`.
        UnsupportedError: a rule calls itself other than at the left or right end of its text, or has too many states; the message contains
            the rule, line and column.

    Examples:
        >>> from fst.compile.machines.guide.grammar.bnf import read_gbnf
        >>> grammar = read_gbnf('root ::= "a" root | "b"')
        >>> from_grammar(grammar, lambda schema: ...).targets.shape
        (2, 256)
    """
    called, _, _ = checked(grammar)
    names, reached = {name: [call.name for call in each] for name, each in called.items()}, [grammar.start]
    for name in reached:  # the loop appends to `reached`
        reached += {*names[name]}.difference(reached)
    automata: dict[str, ByteAutomaton] = {}
    for members in components({name: names[name] for name in reached}):
        group = _grouped({name: grammar.rules[name] for name in members})
        for name in members:
            automata[name] = _automaton(name, group, automata, schema_automaton)
    return automata[grammar.start]


def _grouped(rules: dict[str, Rule]) -> _Group:
    """The group of some rules; an error names a rule that calls itself at neither end."""
    ends = [(name, *found) for name, rule in rules.items() for found in _calls(rule.tree, rules, True, True)]
    if all(is_last for _, _, _, is_last in ends):
        return _Group(rules, is_right=True)
    if all(is_first for _, _, is_first, _ in ends):
        return _Group(rules, is_right=False)
    name, call, *_ = min(ends, key=lambda found: (found[2] or found[3], found[1].place))
    found = f"rule {quoted(name)} calls {quoted(call.name)}, and so itself, other than at one end of its text"
    raise UnsupportedError(f"{call.place}: {found}; a table has a finite number of states: use fst.Guide(tokenizer, grammar=…)")


def _calls(node: Node, names: Collection[str], is_first: bool, is_last: bool) -> Iterator[tuple[Call, bool, bool]]:
    """The calls of some rules in a node, whether each begins the text, and whether it ends the text."""
    if isinstance(node, Call):
        if node.name in names:
            yield node, is_first, is_last
    elif isinstance(node, Choice):
        for part in node.parts:
            yield from _calls(part, names, is_first, is_last)
    elif isinstance(node, Repeat):
        yield from _calls(node.body, names, is_first and node.most == 1, is_last and node.most == 1)
    elif isinstance(node, Sequence):
        parts = [part for part in node.parts if not (isinstance(part, Sequence) and not part.parts)]
        for place, part in enumerate(parts, 1):
            yield from _calls(part, names, is_first and place == 1, is_last and place == len(parts))


def _automaton(
    name: str, group: _Group, automata: dict[str, ByteAutomaton], schema_automaton: Callable[[str], ByteAutomaton]
) -> ByteAutomaton:
    """The automaton of a rule, given those of the rules that the group calls."""
    builder = Builder()
    start, end = builder.state(), builder.state()
    states = {each: builder.state() for each in group.rules}

    def leaf(node: Leaf, before: int) -> int:
        if isinstance(node, Text):
            return builder.text(before, node.data)
        after = builder.state()
        if isinstance(node, Free):
            _add_free(builder, node, before, after, leaf)
            return after
        if isinstance(node, Schema):
            builder.block(before, _block(schema_automaton(node.source)), after)
            return after
        assert isinstance(node, Call)
        if node.name not in group.rules:
            builder.block(before, _block(automata[node.name]), after)
        elif group.is_right:
            builder.skip(before, states[node.name])
        else:
            builder.skip(states[node.name], after)
        return after

    place = group.rules[name].place
    try:
        for each, rule in group.rules.items():
            if size(rule.tree) > MAX_STATES:
                raise UnsupportedError(f"a rule has more than {MAX_STATES:,} states; lower its counts")
            if group.is_right:
                builder.skip(add(builder, rule.tree, states[each], leaf), end)
            else:
                builder.skip(add(builder, rule.tree, start, leaf), states[each])
        builder.skip(*((start, states[name]) if group.is_right else (states[name], end)))
        return of_builder(builder, start, end).over_bytes()
    except UnsupportedError as error:
        raise UnsupportedError(f"{place}: rule {quoted(name)}: {error}") from None


def _block(automaton: ByteAutomaton) -> Block:
    firsts = np.flatnonzero(np.diff(automaton.classes.astype(np.int64), prepend=-1, append=-1))
    arcs = ranges_of(automaton.targets[:, firsts[:-1]], firsts)
    return Block(len(automaton.is_final), arcs, np.flatnonzero(automaton.is_final).tolist())


def _add_free(builder: Builder, node: Free, start: int, end: int, leaf: Callable[[Leaf, int], int]) -> None:
    """Add free text, as `fst.compile.machines.guide.grammar.parts` does."""
    if node.most is not None:
        raise UnsupportedError(f"free text of at most {node.most:,} characters is for fst.Guide(tokenizer, grammar=…) only")
    steps = steps_of([*(text for text, _ in node.stops), *node.excludes])
    states = [builder.state() for _ in steps]
    stops = [builder.state() for _ in node.stops]
    builder.skip(start, states[0])
    for (_, following), stop in zip(node.stops, stops, strict=True):
        builder.skip(add(builder, following, stop, leaf), states[0] if node.loops else end)
    for state, (letters, others) in zip(states, steps, strict=True):
        builder.skip(state, end)
        builder.character(state, fragment(others), states[0])
        for char, (target, found) in letters.items():
            if found is None or found < len(stops):
                builder.character(state, fragment(of_text(char)), states[target] if found is None else stops[found])
