"""Classes of equivalent states, and arrays that grow while kernels fill them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fst.automata.refinement import classes_of
from fst.compile.machines.bpe import item_sets
from fst.compile.machines.bpe.canonical_tokens import Merges, canonical_tokens
from fst.compile.machines.guide import languages
from fst.compile.machines.guide.regex import whole

STATES, LABELS = 8, 3
ROWS = st.lists(st.lists(st.integers(-1, STATES - 1), min_size=LABELS, max_size=LABELS), min_size=STATES, max_size=STATES)


def refined(kinds: list[int], rows: list[list[int]]) -> list[int]:
    """The class of each state, in rounds: states stay in one class while their kinds and the classes of their next states are equal."""
    classes = kinds
    for _ in kinds:
        keys = [(classes[state], *(classes[target] if target >= 0 else -1 for target in row)) for state, row in enumerate(rows)]
        classes = [keys.index(key) for key in keys]
    return classes


@given(st.lists(st.integers(0, 2), min_size=STATES, max_size=STATES), ROWS)
def test_classes_are_those_of_rounds(kinds: list[int], rows: list[list[int]]) -> None:
    """States are in one class if and only if they have the same kind and, for each label, equivalent next states or both none."""
    arcs = [(state, label, target) for state, row in enumerate(rows) for label, target in enumerate(row) if target >= 0]
    firsts, numbers = classes_of(np.array(kinds, np.int32), *np.array(arcs, np.int32).reshape(-1, 3).T.copy())
    assert firsts[numbers].tolist() == refined(kinds, rows)
    assert firsts.tolist() == sorted(firsts.tolist())


def test_products_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product of two languages does not depend on the initial size of the arrays for its pairs of states."""
    first, second = whole("([ab]{0,9}c){0,9}"), whole(".*ab.*")
    expected = languages.intersection(first, second)
    monkeypatch.setattr(languages, "FIRST_SETS", 1)
    found = languages.intersection(first, second)
    for name in ("classes", "targets", "is_final"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_states_of_merges_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states of a merge list do not depend on the initial size of the arrays for its items and states."""
    tokens = {bytes([byte]): byte for byte in range(256)}
    pairs = [(bytes([left]), bytes([right])) for left in range(97, 117) for right in range(97, 117)]
    tokens |= {left + right: 256 + number for number, (left, right) in enumerate(pairs)}
    merges = canonical_tokens(Merges(tokens, pairs))
    expected = item_sets.close(merges)
    monkeypatch.setattr(item_sets, "FIRST_CAPACITY", 1)
    found = item_sets.close(merges)
    for name in ("last", "depths", "starts", "labels", "targets"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
