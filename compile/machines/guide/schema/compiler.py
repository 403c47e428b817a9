"""From a schema to an automaton over bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from fst.compile.machines.guide.automaton import ByteAutomaton
from fst.compile.machines.guide.languages import difference
from fst.compile.machines.guide.regex import whole
from fst.compile.machines.guide.schema.document import Document
from fst.compile.machines.guide.schema.evaluate import Evaluator
from fst.compile.machines.guide.schema.text import Writer
from fst.compile.machines.guide.schema.values import Values
from fst.errors import UnsupportedError, VocabularyError, quoted

WHITESPACE = "[ ]?"
FREE_DEPTHS = (4, 3, 2, 1)  # levels of arrays and objects in a value without a schema; smaller numbers are tried if states are too many
FEW_STATES = 1 << 18  # smaller depths are tried above this number of states
MAX_STATES = 1 << 21


def from_schema(
    schema: Mapping[str, Any] | bool | str, *, whitespace: str = WHITESPACE, depth: int | None = None, formats: bool | None = None
) -> ByteAutomaton:
    """The automaton of the JSON texts, in UTF-8, of all values that a schema allows.

    Properties are written in the order of the schema, then other properties in any order; a name among the others may be written twice,
    which JSON leaves undefined. Numbers with bounds have no exponent. A value without a schema has at most 4 levels of arrays and objects,
    or fewer where the automaton would have more than 262,144 states. An automaton may have 2,097,152 states.

    Args:
        schema: a JSON Schema, or its JSON; draft 2020-12, or an earlier one.
        whitespace: a pattern of the whitespace that may be between two tokens of JSON: one space or none by default.
        depth: how often a recursive schema is entered again below itself; None: recursive schemas are refused.
        formats: whether ``format`` restricts strings. None: not if ``$schema`` is draft 2019-09 or 2020-12, where it is an annotation.

    Raises:
        UnsupportedError: a keyword is not covered, the schema is recursive, allows no value, or needs too many states; the message
            contains the path in the schema.
        VocabularyError: the schema is malformed; the message contains the path.

    Examples:
        >>> automaton = from_schema({"type": "array", "items": {"enum": [1, "a"]}, "maxItems": 1}, whitespace="")
        >>> automaton.targets.shape
        (6, 256)
    """
    if depth is not None and (type(depth) is not int or depth < 0):
        raise TypeError(f"depth is {quoted(depth)}; expected a whole number from 0 on, or None")
    if not isinstance(whitespace, str):
        raise TypeError(f"whitespace is {quoted(whitespace)}; expected a pattern, which is a str")
    try:
        return _automaton(schema, whitespace, depth, formats)
    except RecursionError:
        raise UnsupportedError("the schema has too many levels of schemas; use a smaller depth, or make it flatter") from None


def _automaton(schema: Mapping[str, Any] | bool | str, whitespace: str, depth: int | None, formats: bool | None) -> ByteAutomaton:
    document = Document(_read(schema) if isinstance(schema, str) else schema)
    evaluator = Evaluator(document, depth, not document.annotates_formats if formats is None else formats)
    values = evaluator.values(document.schema, "#")
    if values.is_empty:
        raise UnsupportedError("the schema allows no value; expected one that does")
    _need_whitespace(whitespace)
    for depth_left in FREE_DEPTHS:
        with suppress(UnsupportedError):
            return Writer(evaluator.algebra, whitespace, depth_left, FEW_STATES).language(values).over_bytes()
    writer = Writer(evaluator.algebra, whitespace, FREE_DEPTHS[-1], MAX_STATES)
    try:
        return writer.language(values).over_bytes()
    except UnsupportedError as error:
        raise UnsupportedError(f"{_largest(writer, values, evaluator.paths)}: {error}") from None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise VocabularyError(f"the schema is not JSON: {error}") from None


@lru_cache(maxsize=64)
def _need_whitespace(pattern: str) -> None:
    if not difference(whole(pattern), whole(r"[ \t\n\r]*")).is_empty:
        raise VocabularyError(f"whitespace is {quoted(pattern)}; expected a pattern that matches only spaces, tabs and newlines")


def _largest(writer: Writer, values: Values, paths: Mapping[int, str]) -> str:
    """The path of the smallest schema whose automaton by itself is too large."""
    path = paths.get(id(values), "#")
    larger = next((below for below in _below(values) if not _is_small(writer, below)), None)
    return path if larger is None else _largest(writer, larger, {id(larger): path, **paths})


def _is_small(writer: Writer, values: Values) -> bool:
    try:
        writer.language(values)
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
