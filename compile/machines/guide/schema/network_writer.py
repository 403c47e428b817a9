"""The texts of a set of JSON values as a recursive transition network: each string, array and object is a part that is made only once.

The text of a string, an array or an object is never the beginning of another such text, so its part can be called. If a part calls another
part and may also read something else that begins with the same byte, the arcs of the called part are copied into it instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from graphlib import TopologicalSorter

import numpy as np

from fst.compile.machines.guide.builder import BYTES, Block, Builder
from fst.compile.machines.guide.languages import Language, of_builder
from fst.compile.machines.guide.network import Part, Parts, conflicts
from fst.compile.machines.guide.schema.patterns import nothing
from fst.compile.machines.guide.schema.text import MOST_BUILT, Writer, any_escape, written_strings
from fst.compile.machines.guide.schema.values import ANY, Algebra, Arrays, Objects, Others, Values
from fst.compile.machines.guide.utf_8 import fragment
from fst.errors import UnsupportedError

MAX_COPIED = 1 << 15  # maximum number of states of a part that contains copies; they multiply with the levels of values without a schema
LONG = np.array([0x80, 0x110000])  # the characters whose UTF-8 has two or more bytes

Key = tuple[str, int]  # a kind of part, and the id of its set or the number of levels of its values
Write = Callable[[int, int], None]  # adds the texts of a part between two states
TEXTS, FREE, STRINGS, CHARACTERS = "texts", "free", "strings", "characters"


class NetworkWriter(Writer):
    """A builder of networks. Parts are kept, so later sets and other depths that use the same parts are quick. All parts together have at
    most `most` states.
    """

    def __init__(self, algebra: Algebra, whitespace: str, most: int) -> None:
        super().__init__(algebra, whitespace, 0, most)
        self._sets: dict[Key, tuple[object, Write]] = {}  # the set is kept, so that no other set gets its id
        self._parts: dict[Key, tuple[Language, list[Key]] | UnsupportedError] = {}
        self._copied: set[Key] = set()  # parts that are copied, not called
        self._callees: dict[Key, int] = {}  # the callees of the part that is being made
        self._is_mixed = False  # whether the part that is being made contains copies of other parts
        self._chosen_items: dict[tuple[int, int, int], tuple[Arrays, list[tuple[int, Values]]]] = {}
        self._chosen_properties: dict[tuple[int, int], tuple[Objects, list[tuple[int, Others]]]] = {}

    @property
    def has_copies(self) -> bool:
        """Whether parts are copied because they cannot be called."""
        return bool(self._copied)

    def at_depth(self, depth: int) -> None:
        """Change the number of levels of a value without a schema."""
        self._depth = depth
        self._parts = {key: part for key, part in self._parts.items() if key[0] != TEXTS}

    def parts(self, values: Values) -> Parts:
        """The network of a set of values."""
        root = TEXTS, -id(values)
        self._sets[root] = values, partial(self.add, values)
        while True:
            found = self._reached(root)
            numbers = {key: number for number, key in enumerate(found)}
            parts = [Part(automaton, [numbers[key] for key in callees]) for automaton, callees in found.values()]
            if parts[0].automaton.is_empty:
                raise UnsupportedError("the schema allows no value; expected one that does")
            copied = {key for key, (automaton, _) in found.items() if automaton.is_empty}
            if not copied:
                copied = {key for part, (_, callees) in zip(parts, found.values(), strict=True) for key in _clashes(part, callees, parts)}
            if not copied:
                return parts
            self._copied |= copied
            for key, (_, callees) in found.items():
                if not copied.isdisjoint(callees):
                    del self._parts[key]

    def _reached(self, root: Key) -> dict[Key, tuple[Language, list[Key]]]:
        """The parts that a part calls, directly or through others; each part comes before the parts that it calls."""
        found = {root: self._part(root)}
        waiting = [root]
        for key in waiting:  # the loop appends to `waiting`
            for callee in found[key][1]:
                if callee not in found:
                    found[callee] = self._part(callee)
                    waiting.append(callee)
            if sum(len(automaton.is_final) for automaton, _ in found.values()) > self._most:
                raise UnsupportedError(f"the automata have more than {self._most:,} states; make them smaller")
        order = [*TopologicalSorter({key: callees for key, (_, callees) in found.items()}).static_order()]
        return {key: found[key] for key in reversed(order)}

    def _part(self, key: Key) -> tuple[Language, list[Key]]:
        """A part, and the parts that it calls."""
        if key not in self._parts:
            self.builder, self._callees, self._is_mixed = Builder(MOST_BUILT * self._most), {}, False
            start, end = self.builder.state(), self.builder.state()
            try:
                self._sets[key][1](start, end)
                most = MAX_COPIED if self._is_mixed else self._most
                self._parts[key] = of_builder(self.builder, start, end, most), [*self._callees]
            except UnsupportedError as error:
                self._parts[key] = error
        found = self._parts[key]
        if isinstance(found, UnsupportedError):
            raise found
        return found

    def add(self, values: Values, start: int, end: int) -> None:
        """Add the texts of a set of values between two states; strings, arrays and objects are called."""
        self._add_types(replace(values, strings=nothing(), arrays=(), objects=()), start, end)
        if not values.strings.is_empty:
            key = STRINGS, id(values.strings)
            self._call(key, values.strings, partial(self._add_called_string, values.strings, key), start, end)
        if values is ANY and self._depth:
            self._call((FREE, self._depth), ANY, partial(self._add_free, self._depth), start, end)
        elif values is not ANY and (values.arrays or values.objects):
            self._call((TEXTS, id(values)), values, partial(self._add_nested, values), start, end)

    def _contained(self, term: Arrays, place: int, met: int) -> Iterator[tuple[int, Values]]:
        """See `Writer`; a call with the same arguments returns the same set, so that it is the same part."""
        key = id(term), place, met
        if key not in self._chosen_items:
            self._chosen_items[key] = term, [*super()._contained(term, place, met)]
        yield from self._chosen_items[key][1]

    def _within(self, term: Objects, met: int) -> Iterator[tuple[int, Others]]:
        """See `Writer`; a call with the same arguments returns the same set, so that it is the same part."""
        key = id(term), met
        if key not in self._chosen_properties:
            self._chosen_properties[key] = term, [*super()._within(term, met)]
        yield from self._chosen_properties[key][1]

    def _call(self, key: Key, kept: object, write: Write, start: int, end: int) -> None:
        """Add a call of a part; or its arcs, if the part is not called."""
        if key in self._copied:
            self._is_mixed = True
            write(start, end)
        else:
            symbol = self._symbol(key, kept, write)
            self.builder.read(start, symbol, symbol, end)

    def _symbol(self, key: Key, kept: object, write: Write) -> int:
        """The symbol for calls of a part, in the part that is being made."""
        self._sets.setdefault(key, (kept, write))
        number = self._callees.setdefault(key, len(self._callees))
        self.builder.symbols = BYTES + len(self._callees)
        return BYTES + number

    def _add_called_string(self, language: Language, key: Key, start: int, end: int) -> None:
        """Add a string; its characters are called if they are a part of their own."""
        if key in self._copied:
            self._add_string(language, start, end)
            return
        first, last = self.builder.text(start, b'"'), self.builder.state()
        symbol = self._symbol((CHARACTERS, 0), None, self._add_character)
        self.builder.block(first, written_strings(language, symbol), last)
        self.builder.text(last, b'"', end)

    def _add_character(self, start: int, end: int) -> None:
        """Add the texts of all characters except the unescaped characters of one byte."""
        self.builder.character(start, fragment(LONG), end)
        inner, arcs = any_escape()
        self.builder.block(start, Block(inner + 2, arcs, [1]), end)

    def _add_free(self, depth: int, start: int, end: int) -> None:
        """Add arrays and objects of at most `depth` levels; their values have no schema."""
        outer, self._depth = self._depth, depth - 1
        self._add_nested(ANY, start, end)
        self._depth = outer

    def _add_nested(self, values: Values, start: int, end: int) -> None:
        """Add the arrays and objects of a set."""
        self._add_types(replace(values, literals=frozenset(), numbers=nothing(), strings=nothing()), start, end)


def _clashes(part: Part, callees: list[Key], parts: Parts) -> Iterator[Key]:
    """The callees whose texts begin with the same byte as other texts at the same state."""
    if callees:
        yield from (callees[call] for call in conflicts(part, [parts[callee] for callee in part.callees]))
