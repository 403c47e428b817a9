"""Pruned machines, random paths, cross products and priority unions, compared with their definitions."""

from __future__ import annotations

from collections import Counter
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.algebra import pairs
from support.tiers import examples

from fst.compile.algebra.arcs import OTHER
from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError, VocabularyError

WEIGHTS = st.sampled_from([0.0, 0.5, 1.25, 3.0])
ENTRIES = st.lists(st.tuples(st.text("ab", max_size=3), st.text("xy", max_size=2), WEIGHTS), max_size=6)
LONGEST = 4


@examples(300)
@given(entries=ENTRIES, weight=st.sampled_from([0.0, 0.75, 2.0, 9.0]))
def test_pruned_machines_keep_the_best_paths(entries: list[tuple[str, str, float]], weight: float) -> None:
    """A path is kept if it is at most `weight` heavier than the best, and each arc that is kept is on such a path."""
    machine = Fst.from_strings(entries)
    every, pruned = pairs(machine, LONGEST), machine.prune(weight)
    best = min(every.values(), default=0.0)
    expected = {pair: cost for pair, cost in every.items() if cost <= best + weight}
    assert pairs(pruned, LONGEST) == expected  # paths of a tree share no arcs that would join two of them
    assert pairs(pruned.prune(weight), LONGEST) == expected


@examples(300)
@given(entries=ENTRIES, states=st.integers(0, 8))
def test_states_are_limited(entries: list[tuple[str, str, float]], states: int) -> None:
    """At most the given number of states is kept, those on the best paths: the best path is kept if it has no more states."""
    machine = Fst.from_strings(entries)
    pruned = machine.prune(states=states)
    assert pruned.states <= states
    assert pairs(pruned, LONGEST).items() <= pairs(machine, LONGEST).items()
    best = min(pairs(machine, LONGEST).values(), default=inf)
    if max((len(read) + len(written) for read, written, _ in entries), default=0) < states:
        assert min(pairs(pruned, LONGEST).values(), default=inf) == best


def test_random_paths_are_paths() -> None:
    """Random paths are paths of the machine with their weights; the same seed gives the same paths, and long paths are left out."""
    machine = Fst.from_arcs([(0, 0, "a", "b", 0.5), (0, 1, "b", "", 1.0), (0, 2, "c", "c")], final={1: 0.25})
    found = pairs(machine.randgen(200, seed=3, longest=4), 9)
    assert found.items() <= pairs(machine, 9).items()
    assert {len(read) for read, _ in found} == {1, 2, 3, 4}
    assert pairs(machine.randgen(200, seed=3, longest=4), 9) == found
    assert not Fst.from_strings([]).randgen(3).states or not pairs(Fst.from_strings([]).randgen(3), 3)
    with pytest.raises(VocabularyError, match="count is -1"):
        machine.randgen(-1)


@pytest.mark.parametrize(("by_weight", "share"), [(False, 0.5), (True, 0.9)])
def test_random_paths_have_their_probabilities(by_weight: bool, share: float) -> None:
    """Arcs are drawn with equal probabilities, or with probabilities that are proportional to ``exp(-weight)``."""
    machine = Fst.from_strings([("a", "a", float(-np.log(0.9))), ("b", "b", float(-np.log(0.1)))]).push()
    drawn = Counter(read for seed in range(200) for read, _, _ in machine.randgen(seed=seed, by_weight=by_weight).paths())
    assert abs(drawn["a"] / 200 - share) < 0.1


@examples(200)
@given(first=ENTRIES, second=ENTRIES)
def test_cross_and_priority(first: list[tuple[str, str, float]], second: list[tuple[str, str, float]]) -> None:
    """A cross product has all pairs of strings; a priority union has the pairs of the second machine only for new inputs."""
    one, other = Fst.from_strings(first), Fst.from_strings(second)
    left, right = pairs(one.project("input"), LONGEST), pairs(other.project("output"), LONGEST)
    every = {(read, written): cost + more for (read, _), cost in left.items() for (written, _), more in right.items()}
    assert pairs(one.project("input").cross(other.project("output")), LONGEST) == pytest.approx(every)
    ones, others = pairs(one, LONGEST), pairs(other, LONGEST)
    inputs = {read for read, _ in ones}
    assert pairs(one.priority_union(other), LONGEST) == ones | {pair: cost for pair, cost in others.items() if pair[0] not in inputs}


def test_any_other_symbol() -> None:
    """Cross products and priority unions take arcs for any other symbol, and machines over bytes."""
    exceptions = Fst.from_strings([("go", "went")])
    rule = Fst.from_arcs([(0, 0, OTHER, OTHER), (0, 1, "", "s")], final=[1])
    both = Fst.from_strings(["go", "goo", "é"]) @ exceptions.priority_union(rule)
    assert sorted(written for _, written, _ in both.paths()) == ["goos", "went", "és"]
    crossed = Fst.from_regex(".").cross(Fst.from_strings(["x"]))
    assert [written for _, written, _ in (Fst.from_strings(["é"]) @ crossed).paths()] == ["x"]
    first, second = (Fst.from_strings([("é", text), (text, "b")], unit="utf-8") for text in ("a", "c"))
    assert sorted(first.priority_union(second).paths()) == [("a", "b", 0.0), ("c", "b", 0.0), ("é", "a", 0.0)]
    with pytest.raises(UnsupportedError, match="expected an acceptor"):
        exceptions.cross(rule)


def test_weight_must_be_a_number() -> None:
    """A weight that is not a number is no limit, and is refused."""
    with pytest.raises(VocabularyError, match="weight is nan; expected a number"):
        Fst.from_strings(["a"]).prune(nan)
