"""Parts of late guides for the texts of the values that a schema allows, see `fst.machines.guide.parts`. A part is made, and the schemas
that it needs are evaluated, when a walk first enters it.

An object is written with its properties in the order of the schema, followed by other properties, or in any order. In a table, recursive
schemas and values without a schema have bounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from fst.compile.machines.guide.languages import difference
from fst.compile.machines.guide.regex import Pattern, whole
from fst.compile.machines.guide.schema.array_builder import ArrayBuilder
from fst.compile.machines.guide.schema.document import Document, LocatedError
from fst.compile.machines.guide.schema.lazy_values import ANY, Arrays, Objects, Values, is_all, levels
from fst.compile.machines.guide.schema.object_builder import ObjectBuilder
from fst.compile.machines.guide.schema.reader import Reader
from fst.compile.machines.guide.schema.recursion import Bounds, Recursion
from fst.compile.machines.guide.schema.value_builder import ValueBuilder
from fst.compile.patterns.tree import Node
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted
from fst.machines.guide.parts import Part

MAX_MADE = 1_000  # number of parts that are made at once if a part may be refused, so that the error comes before the first text
ORDERS = ("schema", "any")
WHITESPACE = "[ ]?"


class SchemaParts:
    """The parts of a schema. Part 0 reads whole texts; other parts get their numbers when a part that calls them is made.

    Args:
        schema: a JSON Schema, or its JSON; draft 2020-12, or an earlier one.
        whitespace: a pattern of the whitespace allowed between two tokens of JSON.
        formats: whether ``format`` restricts strings; None: as the draft says.
        order: the order of properties: that of the schema, followed by other properties; or any.
        strict: whether objects have only properties that their schemas mention.
        bounds: the bounds of a table; None: there are none.

    Attributes:
        cut: the path of a schema below which the bounds leave out values without a schema; empty if they leave out nothing.

    Raises:
        UnsupportedError: a keyword is not covered, or the schema allows no value; the message contains the path in the schema.
        VocabularyError: the schema is malformed; the message contains the path in the schema.

    Examples:
        >>> parts = SchemaParts({"type": "array", "items": {"$ref": "#"}}, whitespace="")
        >>> parts.part(0).moves.tolist()  # calls part 1
        [[0, 1, 1, 0, 1]]
    """

    def __init__(
        self,
        schema: Mapping[str, Any] | bool | str,
        *,
        whitespace: str = WHITESPACE,
        formats: bool | None = None,
        order: str = ORDERS[0],
        strict: bool = False,
        bounds: Bounds | None = None,
    ) -> None:
        if not isinstance(whitespace, str):
            raise TypeError(f"whitespace is {quoted(whitespace)}; expected a pattern, which is a str")
        if order not in ORDERS:
            raise ValueError(not_one_of("order", order, ORDERS))
        if whitespace != WHITESPACE:
            need_whitespace(whitespace)
        self.has_any_order = order == "any"
        self.space: Node | Literal["optional"] | None = Pattern(whitespace).tree if whitespace else None
        if whitespace == WHITESPACE:
            self.space = "optional"
        self._numbers: dict[Hashable, int] = {}
        self._makers: list[tuple[object, str, Callable[[], Part | None]]] = []  # the set of a part is kept, so that no other gets its id
        self._ahead: dict[int, Part] = {}  # parts that were made before they were asked for
        self._everything = levels(bounds.levels) if bounds else ANY
        self._path, self.cut, self.in_table = "#", "", bounds is not None
        with _located(self._path):
            document = Document(_read(schema) if isinstance(schema, str) else schema)
            asserts_formats = not document.annotates_formats if formats is None else formats
            reader = Reader(document, asserts_formats, strict=strict, recursion=Recursion(document, bounds.depth) if bounds else None)
            self.algebra = reader.algebra
            has_doubts = reader.check()
            values = reader.whole()
            has_values = self.algebra.has_values(values)
        if not has_values:
            raise UnsupportedError("the schema allows no value; expected one that does")
        self.number("whole", values, values.path, lambda: self.of_values(values))
        for number in range(MAX_MADE if has_doubts else 0):  # making parts adds numbers
            if number < len(self._makers):
                self._ahead[number] = self.part(number)

    def part(self, number: int) -> Part:
        """Make the part of a number; it is not kept."""
        if number in self._ahead:
            return self._ahead.pop(number)
        _, path, make = self._makers[number]
        self._path = path
        with _located(path):
            part = make()
        assert part is not None, f"part {number} has no text"
        return part

    def number(self, key: Hashable, kept: object, path: str, make: Callable[[], Part | None]) -> int:
        """The number of a part, which is made when it is asked for."""
        number = self._numbers.setdefault(key, len(self._makers))
        if number == len(self._makers):
            self._makers.append((kept, path, make))
        return number

    def place(self, number: int) -> str:
        """The path of the schema of a part."""
        return self._makers[number][1]

    def bounded(self, values: Values) -> Values:
        """In a table, a set with a bounded number of levels instead of a set of all values; otherwise `ANY`. Other sets are returned."""
        if not is_all(values):
            return values
        if self.in_table:
            self.cut = self.cut or self._path
        return self._everything

    def of_values(self, values: Values) -> Part | None:
        """The part of a set."""
        builder = ValueBuilder(self)
        start, end = builder.state(), builder.state()
        builder.types(values, start, end)
        return builder.part(start, [end])

    def of_arrays(self, term: Arrays) -> Part | None:
        """The part of a term of arrays."""
        return ArrayBuilder(self).arrays(term)

    def of_objects(self, term: Objects) -> Part | None:
        """The part of a term of objects."""
        return ObjectBuilder(self).objects(term)


@lru_cache(maxsize=64)
def need_whitespace(pattern: str) -> None:
    """Raise an error if a pattern matches other characters than whitespace."""
    if not difference(whole(pattern), whole(r"[ \t\n\r]*")).is_empty:
        raise VocabularyError(f"whitespace is {quoted(pattern)}; expected a pattern that matches only spaces, tabs and newlines")


def _read(text: str) -> Any:
    """The value of JSON; numbers with a fraction or an exponent are exact."""
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise VocabularyError(f"the schema is not JSON: {error}") from None


@contextmanager
def _located(path: str) -> Iterator[None]:
    """Begin the messages of errors with the path of a schema, unless they have another one."""
    try:
        yield
    except LocatedError:
        raise
    except UnsupportedError as error:
        raise LocatedError(f"{path}: {error}") from None
    except RecursionError:
        raise UnsupportedError("the schema has too many levels of schemas; make it flatter") from None
