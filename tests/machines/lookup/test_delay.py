"""Delayed outputs: many arcs become one arc, and analyses do not change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from support.machines.lookup import machines
from support.naive.lookup import look_up as defined
from support.tiers import examples

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.compile.machines.lookup.delay import FEW, MAX_GROWTH
from fst.machines.lookup.layout import ALONE, ENTRY
from fst.machines.lookup.table import LookupTable

WORDS = ["", "a", "b", "aa", "ab", "ba", "aaa", "aab", "aba", "<n>", "a<n>", "aaaa", "abab"]
DELAY = "fst.compile.machines.lookup.delay"


def largest_slice(table: LookupTable) -> int:
    """The maximum number of arcs of a state that read the same symbol."""
    labels, values = ENTRY.labels_of(table.entries), ENTRY.values_of(table.entries)
    return int(np.where((labels > 0) & (labels < ENTRY.labels), np.where(values >= ALONE, 1, values), 0).max())


@given(machines(weights=(0,)))
@examples(400)
def test_definition(machine: Fst) -> None:
    """For small transducers with flags, if all arcs are merged up to a high bound, the analyses are the outputs of all paths."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{DELAY}.FEW", 1)
        patch.setattr(f"{DELAY}.MAX_GROWTH", 50)
        table = lookup(machine, inverse=True)
    table.prove()
    m = fst.Lookup(table)
    for direction, of in ((m, machine), (m.inverted(), machine.invert())):
        assert [sorted(row) for row in direction.lookup_batch(WORDS)] == [sorted(defined(of, word)) for word in WORDS]


def test_lexicon_that_writes_lemmas_first() -> None:
    """If a lexicon writes a lemma before it reads the stem, at most `FEW` arcs of a state read the same symbol."""
    stems = [f"{number:03}" for number in range(800)]
    arcs = [(0, 3 * place + 1, stem[0], f"lemma {stem}") for place, stem in enumerate(stems)]
    arcs += [(3 * place + at, 3 * place + at + 1, stem[at], "") for place, stem in enumerate(stems) for at in (1, 2)]
    table = lookup(Fst.from_arcs(arcs, final=[3 * place + 3 for place in range(len(stems))]))
    assert largest_slice(table) <= FEW
    assert [*fst.Lookup(table).lookup_batch(stems)] == [[f"lemma {stem}"] for stem in stems]


def test_growth_is_bounded() -> None:
    """If all arcs read the same symbol, so that no set of arcs becomes smaller, a machine grows at most by `MAX_GROWTH`."""
    arcs = [(source, target, "a", f"{target}") for source in range(40) for target in range(40)]
    table = lookup(Fst.from_arcs(arcs, final=[0]))
    assert table.arc_count <= (1 + MAX_GROWTH) * len(arcs)
    assert sorted(fst.Lookup(table)("aa")) == sorted(f"{middle}0" for middle in range(40))


def test_weights_are_not_delayed() -> None:
    """A machine with weights is compiled without delay, because the order of additions would change."""
    arcs = [(0, 1, "a", f"{number}", number / 2) for number in range(20)]
    table = lookup(Fst.from_arcs(arcs, final=[1]))
    assert largest_slice(table) == 20
