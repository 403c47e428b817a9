"""The grammars of tables: a table has a finite number of states, so rules may call themselves only at one end of their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from fst.compile.machines.guide.exploration import TableTexts
from fst.compile.machines.guide.grammar.parts import GrammarParts
from fst.compile.machines.guide.grammar.tree import Call, Grammar, Rule, checked, components
from fst.compile.patterns.tree import Choice, Node, Repeat, Sequence
from fst.errors import UnsupportedError, quoted


class RegularParts(GrammarParts):
    """The parts of a grammar in a table.

    Args:
        grammar: the grammar.
        schema_parts: returns the parts of a nested schema, which is given as JSON.

    Raises:
        VocabularyError: as in `GrammarParts`.
        UnsupportedError: as in `GrammarParts` and `need_regular`.
    """

    def __init__(self, grammar: Grammar, schema_parts: Callable[[str], TableTexts]) -> None:
        need_regular(grammar)
        self._schemas: list[TableTexts] = []

        def kept(source: str) -> TableTexts:
            self._schemas.append(schema_parts(source))
            return self._schemas[-1]

        super().__init__(grammar, kept)

    def place(self, number: int) -> str:
        """The rule, or the path in a nested schema, that a part comes from."""
        if number < len(self.rules.names):
            name = self.rules.names[number]
            return f"{self.rules.rules[name].place}: rule {quoted(name)}"
        maker, inner = self._inner[number - len(self.rules.names)]
        nested = zip(self.rules.schemas, self._schemas, strict=True)
        return next(f"{node.place}: {each.place(inner)}" for node, each in nested if each is maker)

    @property
    def cut(self) -> str:
        """See `fst.compile.machines.guide.exploration.TableTexts`."""
        nested = zip(self.rules.schemas, self._schemas, strict=True)
        return next((f"{node.place}: {each.cut}" for node, each in nested if each.cut), "")


def need_regular(grammar: Grammar) -> None:
    """Refuse rules that call themselves, directly or through others, other than at one end of their texts.

    Args:
        grammar: the grammar.

    Raises:
        VocabularyError: as in `fst.compile.machines.guide.grammar.parts.GrammarParts`.
        UnsupportedError: there is such a rule; the message contains its name, line and column.

    Examples:
        >>> from fst.compile.machines.guide.grammar.bnf import read_gbnf
        >>> need_regular(read_gbnf('root ::= "a" root | "b"'))
        >>> need_regular(read_gbnf('root ::= "(" root ")" | "a"'))
        Traceback (most recent call last):
        fst.errors.UnsupportedError: the grammar, line 1, column 14: rule 'root' calls 'root', and so itself, other than at one end of its \
text; a table has a finite number of states: use fst.Guide(tokenizer, grammar=…)
    """
    called = {name: [call.name for call in each] for name, each in checked(grammar).called.items()}
    reached = [grammar.start]
    for name in reached:  # the loop appends to `reached`
        reached += {*called[name]}.difference(reached)
    for members in components({name: called[name] for name in reached}):
        _need_one_end({name: grammar.rules[name] for name in members})


def _need_one_end(rules: Mapping[str, Rule]) -> None:
    """Refuse rules that call each other, unless all these calls are at the right end, or all at the left end."""
    ends = [(name, *found) for name, rule in rules.items() for found in _calls(rule.tree, rules, True, True)]
    if all(is_last for _, _, _, is_last in ends) or all(is_first for _, _, is_first, _ in ends):
        return
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
