"""Rational expressions and their optimization, compared with the operations on machines and with the pairs of paths."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.algebra import agree, pairs
from support.tiers import examples

from fst.compile.algebra import expressions, rational
from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.expressions import Expression, Machine, chain
from fst.compile.algebra.forms import minimize as module
from fst.compile.algebra.forms.minimize import minimize, minimize_any
from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError

LONGEST = 3
Both = tuple[Expression, Arcs]  # an expression, and its machine by operations on machines
LABELS = st.sampled_from([0, 97, 98])
WEIGHTS = st.sampled_from([0.0, 0.0, 0.5, 1.25])
STATES = st.integers(0, 2)
ARCS = st.lists(st.tuples(STATES, STATES, LABELS, LABELS, WEIGHTS), max_size=5)
MACHINES = st.builds(Fst.from_arcs, ARCS, st.dictionaries(STATES, WEIGHTS, min_size=1, max_size=2))
CHAINS = st.builds(chain, st.lists(st.tuples(LABELS, LABELS), max_size=3), WEIGHTS)


def repeated(both: Both, least: int, most: int | None) -> Both:
    """All sequences of `least` to `most` paths; None: of any number."""
    part, machine = both
    nothing = chain(()).arcs
    if most is None:
        counted = reduce(rational.concatenate, [machine] * least, nothing)
        return expressions.closure(part, least), rational.concatenate(counted, rational.closure(machine))
    powers = [reduce(rational.concatenate, [machine] * count, nothing) for count in range(least, most + 1)]
    return expressions.closure(part, least, most), rational.union(powers)


def joined(both: list[Both]) -> Both:
    """The concatenation."""
    return expressions.concatenate(part for part, _ in both), reduce(rational.concatenate, [machine for _, machine in both])


def united(both: list[Both]) -> Both:
    """The union."""
    return expressions.union(part for part, _ in both), rational.union([machine for _, machine in both])


def larger(parts: st.SearchStrategy[Both]) -> st.SearchStrategy[Both]:
    """Expressions of parts, some of which occur twice."""
    several = st.lists(parts, min_size=1, max_size=3).map(lambda found: [*found, found[0]])
    bounds = st.tuples(st.integers(0, 2), st.sampled_from([None, 0, 1])).map(
        lambda pair: (pair[0], None if pair[1] is None else pair[0] + pair[1])
    )
    return st.one_of(several.map(joined), several.map(united), st.builds(lambda both, ends: repeated(both, *ends), parts, bounds))


LEAVES = st.one_of(MACHINES.map(lambda machine: (Machine(machine), machine)), CHAINS.map(lambda part: (part, part.arcs)))


@examples(2400)
@given(both=st.recursive(LEAVES, larger, max_leaves=3))
def test_expressions_are_operations_on_machines(both: Both) -> None:
    """An expression has the pairs and weights of the operations that it notes, also if its parts are used twice."""
    expression, machine = both
    assert agree(pairs(expression.arcs, LONGEST), pairs(machine, LONGEST))


@examples(2400)
@given(arcs=ARCS, final=st.dictionaries(STATES, WEIGHTS, min_size=1, max_size=2))
def test_optimized_machines_keep_their_paths(arcs: list[tuple[int, int, int, int, float]], final: dict[int, float]) -> None:
    """Optimization keeps pairs and weights, also of machines for which determinization with weights does not end."""
    machine = Fst.from_arcs(arcs, final)
    optimized = minimize_any(machine)
    assert agree(pairs(optimized, LONGEST), pairs(machine, LONGEST))
    if not machine.is_weighted:
        assert optimized.states == minimize(machine).states


def test_weights_on_cycles_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose determinization has no result is optimized; labels with weights have a limit."""
    machine = Fst.from_arcs([(0, 1, "a", "a", 0), (0, 2, "a", "a", 0), (1, 1, "b", "b", 1), (2, 2, "b", "b", 2)], [1, 2])
    with pytest.raises(UnsupportedError, match="cycles of different weights"):
        minimize(machine)
    assert minimize_any(machine).states == 4
    monkeypatch.setattr(module, "FIRST_SYMBOL", 2)
    with pytest.raises(UnsupportedError, match="labels with different weights"):
        minimize_any(machine)


def test_long_chains_and_deep_unions_are_made_at_once() -> None:
    """An expression of thousands of nested operations needs no recursion."""
    deep = chain(())
    for label in range(1, 3001):
        deep = expressions.union([deep, chain([(label, label)])])
    assert deep.arcs.arcs == 3001


def test_repetitions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closure of many repetitions is refused before its parts are made, and a large machine before its arcs are."""
    part = chain([(97, 97), (98, 98)])
    assert expressions.closure(part, 20_000, 20_001).arcs.arcs == 40_003
    for bounds in ((0, 10**9), (10**9, None)):
        with pytest.raises(UnsupportedError, match="has up to 1,000,000,000 repetitions; expected at most 65,536"):
            expressions.closure(part, *bounds)
    monkeypatch.setattr(expressions, "MAX_ARCS", 1000)
    for machine in (part, Machine(Fst.from_strings(["ab", "cd"]))):
        with pytest.raises(UnsupportedError, match="more than 1,000 arcs"):
            _ = expressions.closure(expressions.union([machine, chain([(99, 99)])]), 500).arcs
