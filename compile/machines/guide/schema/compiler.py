"""From a schema to an automaton over bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from fst.compile.machines.guide.languages import ByteAutomaton, difference
from fst.compile.machines.guide.network import Parts, expanded, states_of
from fst.compile.machines.guide.regex import whole
from fst.compile.machines.guide.schema.document import Document
from fst.compile.machines.guide.schema.evaluate import Evaluator
from fst.compile.machines.guide.schema.network_writer import NetworkWriter
from fst.compile.machines.guide.schema.text import Writer
from fst.compile.machines.guide.schema.values import Values
from fst.errors import UnsupportedError, VocabularyError, quoted

WHITESPACE = "[ ]?"
FREE_DEPTHS = (4, 3, 2, 1)  # levels of arrays and objects in a value without a schema; the first number with few enough states is taken
FEW_STATES = 1 << 18  # a larger automaton is made from a network, with fewer levels
MAX_STATES = 1 << 21


def from_schema(
    schema: Mapping[str, Any] | bool | str, *, whitespace: str = WHITESPACE, depth: int | None = None, formats: bool | None = None
) -> ByteAutomaton:
    """The automaton of the JSON texts, in UTF-8, of all values that a schema allows.

    Properties are written in the order of the schema, followed by other properties in any order; two of these other properties may have the
    same name, which JSON leaves undefined. Numbers with bounds have no exponent. A value without a schema has 4 levels of arrays and
    objects, or fewer if the automaton would have more than 262,144 states. An automaton may have 2,097,152 states.

    Args:
        schema: a JSON Schema, or its JSON; draft 2020-12, or an earlier one.
        whitespace: a pattern of the whitespace allowed between two tokens of JSON; one space or none by default.
        depth: how often a recursive schema may be entered inside itself; None: recursive schemas are refused.
        formats: whether ``format`` restricts strings. None: only if ``$schema`` is another draft than 2019-09 and 2020-12, where it is an
            annotation.

    Raises:
        UnsupportedError: a keyword is not covered, or the schema is recursive, allows no value, or needs too many states; the message
            contains the path in the schema.
        VocabularyError: the schema is malformed; the message contains the path in the schema.

    Examples:
        >>> automaton = from_schema({"type": "array", "items": {"enum": [1, "a"]}, "maxItems": 1}, whitespace="")
        >>> automaton.targets.shape
        (6, 256)
    """
    found = _compiled(schema, whitespace, depth, formats)
    return found if isinstance(found, ByteAutomaton) else expanded(found)


def _compiled(
    schema: Mapping[str, Any] | bool | str, whitespace: str, depth: int | None, formats: bool | None
) -> ByteAutomaton | Parts:
    if depth is not None and (type(depth) is not int or depth < 0):
        raise TypeError(f"depth is {quoted(depth)}; expected a whole number from 0 on, or None")
    if not isinstance(whitespace, str):
        raise TypeError(f"whitespace is {quoted(whitespace)}; expected a pattern, which is a str")
    try:
        document = Document(_read(schema) if isinstance(schema, str) else schema)
        evaluator = Evaluator(document, depth, not document.annotates_formats if formats is None else formats)
        values = evaluator.values(document.schema, "#")
        need_whitespace(whitespace)
        found = _automaton(evaluator, values, whitespace)
    except RecursionError:
        raise UnsupportedError("the schema has too many levels of schemas; use a smaller depth, or make it flatter") from None
    if isinstance(found, ByteAutomaton) and not len(found.targets):
        raise UnsupportedError("the schema allows no value; expected one that does")
    return found


def _automaton(evaluator: Evaluator, values: Values, whitespace: str) -> ByteAutomaton | Parts:
    """The automaton of a set of values, or a network; an automaton without states if the set has no texts."""
    with suppress(UnsupportedError):
        return Writer(evaluator.algebra, whitespace, FREE_DEPTHS[0], FEW_STATES).language(values).over_bytes()
    return _network(evaluator, values, whitespace)


def _network(evaluator: Evaluator, values: Values, whitespace: str) -> ByteAutomaton | Parts:
    """The network of a set of values whose automaton has few enough states. If too much of the network would be copied, the automaton with
    fewer levels.
    """
    writer = NetworkWriter(evaluator.algebra, whitespace, MAX_STATES)
    for depth in FREE_DEPTHS:
        writer.at_depth(depth)
        with suppress(UnsupportedError):
            return _fitting(writer, values, FEW_STATES)
    smaller = [*((depth, FEW_STATES) for depth in FREE_DEPTHS[1:]), (FREE_DEPTHS[-1], MAX_STATES)]
    for depth, states in smaller if writer.has_copies else ():
        with suppress(UnsupportedError):
            return Writer(evaluator.algebra, whitespace, depth, states).language(values).over_bytes()
    try:
        return _fitting(writer, values, MAX_STATES)
    except UnsupportedError as error:
        path, part = _largest(writer, values, evaluator.paths)
        raise UnsupportedError(f"{path}: {error}{f'; its largest part is {part}' if part else ''}") from None


def _fitting(writer: NetworkWriter, values: Values, most: int) -> Parts:
    """The network of a set of values, if its automaton has at most `most` states."""
    parts = writer.parts(values)
    if states_of(parts) > most:
        remedy = "make it smaller, or make its masks late: fst.Guide(tokenizer, schema=…)"
        raise UnsupportedError(f"the automaton has more than {most:,} states; {remedy}")
    return parts


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise VocabularyError(f"the schema is not JSON: {error}") from None


@lru_cache(maxsize=64)
def need_whitespace(pattern: str) -> None:
    """Raise an error if a pattern matches other characters than whitespace."""
    if not difference(whole(pattern), whole(r"[ \t\n\r]*")).is_empty:
        raise VocabularyError(f"whitespace is {quoted(pattern)}; expected a pattern that matches only spaces, tabs and newlines")


def _largest(writer: NetworkWriter, values: Values, paths: Mapping[int, str]) -> tuple[str, str]:
    """The path of the smallest schema whose automaton by itself is too large; and the path of the largest schema below it, or "" if there
    is none.
    """
    path = paths.get(id(values), "#")
    larger = next((below for below in _below(values) if not _fits(writer, below)), None)
    if larger is not None:
        return _largest(writer, larger, {id(larger): path, **paths})
    sizes = {paths[id(below)]: states_of(writer.parts(below)) for below in _below(values) if id(below) in paths}
    return path, max(sizes, key=sizes.__getitem__, default="")


def _fits(writer: NetworkWriter, values: Values) -> bool:
    try:
        _fitting(writer, values, MAX_STATES)
    except UnsupportedError:
        return False
    return True


def _below(values: Values) -> Iterator[Values]:
    """The sets of items and properties."""
    for term in values.arrays:
        yield from (*term.first, term.rest)
    for each in values.objects:
        yield from (found.values for found in each.named.values())
        yield from (found.values for found in each.others)
