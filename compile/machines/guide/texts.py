"""The texts of guides: for late guides, parts (`fst.machines.guide.parts`) that are made when a walk reaches them; for tables, the
automaton of all parts.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from fst.compile.machines.guide.compiler import described, from_fst
from fst.compile.machines.guide.exploration import MAX_STATES, Explorer, TableTexts
from fst.compile.machines.guide.languages import ByteAutomaton, ranges_of
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.regex import from_regex, part_of_regex
from fst.compile.machines.guide.schema.recursion import Bounds
from fst.errors import FstWarning, UnsupportedError, quoted
from fst.machines.guide.parts import FINAL, Part, Texts

LEVELS = 4  # of arrays and objects in a value without a schema, in a table without a depth
FEW_STATES = 1 << 18  # with more states, such values have fewer levels


class OnePart:
    """Texts of which one part reads everything."""

    def __init__(self, part: Part) -> None:
        self._part = part

    def part(self, number: int) -> Part:
        """The part, whose number is 0."""
        assert number == 0
        return self._part


def texts_of(**arguments: Any) -> Texts:
    """The texts of a late guide; arguments as in `fst.Guide`."""
    way, texts, options = described(**arguments)
    if way == "regex":
        return OnePart(part_of_regex(texts))
    if way == "fst":
        return OnePart(part_of_automaton(from_fst(texts)))
    if way == "choice":
        return OnePart(_part_of_choice(texts))
    return _of_schema(texts, **options) if way == "schema" else _of_grammar(texts, **options)


def automaton_of(**arguments: Any) -> tuple[ByteAutomaton, str | None]:
    """The automaton of the texts of a table, and their pattern for information only; arguments as in `fst.compile.guide`."""
    way, texts, options = described(**arguments)
    if way == "regex":
        return from_regex(texts), texts
    if way == "fst":
        return from_fst(texts), None
    if way == "choice":
        from fst.compile.machines.guide.schema.patterns import of_strings

        return of_strings(texts).over_bytes(), json.dumps(texts, ensure_ascii=False)
    automaton, warning = _of_regular_grammar(texts, **options) if way == "grammar" else _of_bounded_schema(texts, **options)
    if warning:
        warnings.warn(warning, FstWarning, stacklevel=3)  # the warning is for the caller of `fst.compile.guide`
    return automaton, texts if isinstance(texts, str) else json.dumps(texts)


def _of_bounded_schema(schema: Any, *, depth: int | None = None, **options: Any) -> tuple[ByteAutomaton, str]:
    """The automaton of a schema, and a warning of values without a schema that are left out, or ""."""
    if depth is None:
        return _with_levels(schema, LEVELS, options)
    if type(depth) is not int or depth < 0:
        raise TypeError(f"depth is {quoted(depth)}; expected a whole number from 0 on, or None")
    return Explorer(_in_table(schema, Bounds(depth, depth), **options)).automaton(MAX_STATES), ""


def _with_levels(schema: Any, levels: int, options: dict[str, Any]) -> tuple[ByteAutomaton, str]:
    """`_of_bounded_schema` without a depth: values without a schema have a number of levels of arrays and objects, or fewer if there would
    be many states.
    """
    parts = _in_table(schema, Bounds(None, levels), **options)
    explorer = Explorer(parts)
    if not parts.cut:
        return explorer.automaton(MAX_STATES), ""
    try:
        found = explorer.automaton(MAX_STATES if levels == 1 else FEW_STATES)
    except UnsupportedError:
        if levels == 1:
            raise
        return _with_levels(schema, levels - 1, options)
    return found, _left_out(parts, levels)


def _of_regular_grammar(grammar: str, syntax: str | None = None) -> tuple[ByteAutomaton, str]:
    from fst.compile.machines.guide.grammar.reader import read_grammar
    from fst.compile.machines.guide.grammar.regular import RegularParts

    parts = RegularParts(read_grammar(grammar, syntax), lambda schema: _in_table(schema, Bounds(None, LEVELS)))
    return Explorer(parts).automaton(MAX_STATES), _left_out(parts, LEVELS)


def _in_table(schema: Any, bounds: Bounds, **options: Any) -> TableTexts:
    from fst.compile.machines.guide.schema.parts import SchemaParts

    return SchemaParts(schema, bounds=bounds, **options)


def _left_out(parts: TableTexts, levels: int) -> str:
    """A warning of values without a schema that are left out; "": there are none."""
    remedy = "pass depth= for another number, or give them a schema"
    return parts.cut and f"{parts.cut}: values without a schema have at most {levels} levels of arrays and objects in a table; {remedy}"


def _of_schema(schema: Any, *, depth: int | None = None, **options: Any) -> Texts:
    from fst.compile.machines.guide.schema.parts import SchemaParts

    if depth is not None:
        raise TypeError("depth is given, but recursion has no depth here; expected it only with canonical=True, and in fst.compile.guide")
    return SchemaParts(schema, **options)


def _of_grammar(grammar: str, syntax: str | None = None) -> Texts:
    from fst.compile.machines.guide.grammar.parts import GrammarParts
    from fst.compile.machines.guide.grammar.reader import read_grammar

    return GrammarParts(read_grammar(grammar, syntax), _of_schema)


def _part_of_choice(texts: list[str]) -> Part:
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    builder.strings(start, (text.encode() for text in texts), end)
    part = builder.part(start, [end])
    assert part is not None
    return part


def part_of_automaton(automaton: ByteAutomaton) -> Part:
    """The part that reads the texts of an automaton. State n of the automaton is state n + 1, since no arc leads to the start of a part."""
    firsts = np.flatnonzero(np.diff(automaton.classes.astype(np.int64), prepend=-1, append=-1))
    ranges = ranges_of(automaton.targets[:, firsts[:-1]], firsts)
    ranges[:, [0, 3]] += 1
    of_start = ranges[ranges[:, 0] == 1]
    of_start[:, 0] = 0
    flags = np.append(automaton.is_final[:1], automaton.is_final) * np.uint8(FINAL)
    return Part(np.concatenate([of_start, ranges]).astype(np.int32), np.empty((0, 5), np.int32), flags)
