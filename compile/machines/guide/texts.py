"""The texts of late guides, as parts (`fst.machines.guide.parts`) that are made when a walk reaches them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.compile.machines.guide.compiler import described, from_fst
from fst.compile.machines.guide.languages import ByteAutomaton, ranges_of
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.regex import part_of_regex
from fst.machines.guide.parts import FINAL, Part, Texts


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
