"""Texts of a grammar by Earley's algorithm, byte by byte."""

from __future__ import annotations

from fst.compile.machines.guide.grammar.tree import Call, Grammar, Text
from fst.compile.machines.guide.utf_8 import END, START, fragment
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence

Symbol = str | tuple[int, int]  # a rule, or a range of bytes
Item = tuple[str, tuple[Symbol, ...], int]  # a rule, what is left to read of one of its alternatives, and where the rule began


class Earley:
    """The texts of a grammar.

    Args:
        grammar: the grammar, in which every rule has a text, without nested schemas.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.rules: dict[str, list[tuple[Symbol, ...]]] = {}
        self._start = grammar.start
        for name, rule in grammar.rules.items():
            self.rules[name] = [self._symbols(rule.tree)]
        self._drop_without_text()
        self._empty: set[Symbol] = set()
        for _ in self.rules:
            self._empty |= {name for name, parts in self.rules.items() if any(self._empty.issuperset(part) for part in parts)}

    def reads(self, text: bytes) -> tuple[bool, bool]:
        """Whether a text is the beginning of a text of the grammar, and whether it is a text of the grammar."""
        columns = [self._closed({(self._start, part, 0) for part in self.rules[self._start]}, [])]
        for byte in text:
            kernel = {
                (rule, left[1:], began)
                for rule, left, began in columns[-1]
                if left and not isinstance(left[0], str) and left[0][0] <= byte <= left[0][1]
            }
            if not kernel:
                return False, False
            columns.append(self._closed(kernel, columns))
        return bool(columns[-1]), any(item[0] == self._start and not item[1] and not item[2] for item in columns[-1])

    def _closed(self, kernel: set[Item], columns: list[set[Item]]) -> set[Item]:
        """A column of items with all predictions and completions."""
        here, found, work = len(columns), {*kernel}, [*kernel]
        while work:
            rule, left, began = work.pop()
            new: set[Item] = set()
            if left and isinstance(left[0], str):
                new = {(left[0], part, here) for part in self.rules[left[0]]}
                if left[0] in self._empty:
                    new.add((rule, left[1:], began))
            elif not left and began < here:
                new = {(other, rest[1:], start) for other, rest, start in columns[began] if rest and rest[0] == rule}
            work += new - found
            found |= new
        return found

    def _rule(self, *alternatives: tuple[Symbol, ...]) -> str:
        """A new rule."""
        name = f"%{len(self.rules)}"
        self.rules[name] = [*alternatives]
        return name

    def _symbols(self, node: Node) -> tuple[Symbol, ...]:
        """A node as the symbols of one alternative."""
        if isinstance(node, Call):
            return (node.name,)
        if isinstance(node, Text):
            return tuple((byte, byte) for byte in node.data)
        if isinstance(node, Sequence):
            return tuple(symbol for part in node.parts for symbol in self._symbols(part))
        if isinstance(node, Choice):
            return (self._rule(*map(self._symbols, node.parts)),)
        if isinstance(node, Characters):
            one = fragment(node.edges)
            names = [self._rule() for _ in range(one.states)]
            self.rules[names[END]].append(())
            for before, first, last, after in one.arcs.tolist():
                self.rules[names[before]].append(((first, last), names[after]))
            return (names[START],)
        assert isinstance(node, Repeat)
        body = self._symbols(node.body)
        if node.most is not None:
            return (self._rule(*(body * number for number in range(node.least, node.most + 1))),)
        star = self._rule(())
        self.rules[star].append((star, *body))
        return (*body * node.least, star)

    def _drop_without_text(self) -> None:
        """Remove alternatives that have no text, so that every item belongs to a text."""
        having: set[Symbol] = set()
        for _ in self.rules:
            for name, parts in self.rules.items():
                if any(all(symbol in having for symbol in part if isinstance(symbol, str)) for part in parts):
                    having.add(name)
        for name, parts in self.rules.items():
            self.rules[name] = [part for part in parts if all(symbol in having for symbol in part if isinstance(symbol, str))]
