"""A table of token masks is proven before kernels use it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import public, table_of
from support.tables.damage import changed, survivors
from support.tiers import sample

import fst
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.table import GuideTable

GUIDES = ["guide of words", "guide of bytes", "guide of characters", "guide of canonical tokens"]


@pytest.mark.parametrize(
    ("field", "place", "value", "found"),
    [
        ("targets", None, np.empty((0, 3)), "there are 0 states"),
        ("targets", (0, 0), -2, "state 0 leads to a state that is not one of"),
        ("targets", (1, 0), 1 << 20, "state 1 leads to a state that is not one of"),
        ("classes", None, [0], "classes has 1 elements"),
        ("classes", 7, 99, "byte 7 has the class 99 of"),
        ("finals", 0, 2, "finals is 2 for state 0"),
        ("finals", None, [0], "finals has 1 elements"),
        ("mask_of", 0, 99, "state 0 has the mask 99 of"),
        ("mask_of", None, [0], "mask_of has 1 elements"),
        ("bases", 0, 99, "mask 0 has the row 99 of"),
        ("rows", (0, 0), 1, "the first row has a bit"),
        ("rows", None, np.empty((0, 2)), "the first row has a bit|mask 0 has the row"),
        ("rows", None, np.zeros((50, 1)), "a row has 1 words; expected 2"),
        ("rows", (1, -1), 1 << 31, "row 1 has a bit of an id past the last"),
        ("flip_ends", None, [0], "flip_ends has 1 elements"),
        ("flip_ends", 0, 99, "ends before it begins|ends at byte"),
        ("flips", 0, 999, "flip 0 is the id 999 of"),
        ("flips", 5, 258, "flip 6 is not greater than the flip before it"),
        ("token_ends", 8, 0, "number 8 of the tokens ends before it begins"),
        ("token_ends", None, [], "there are 0 tokens"),
        ("token_bytes", None, [65], "the last of the tokens ends at byte"),
        ("first_ends", None, [0], "first_ends has 1 elements"),
        ("first_ends", 8, 0, "number 8 of the first tokens ends before it begins"),
        ("first_ends", None, [], "first_bytes has bytes of no token"),
    ],
)
def test_forged_table_is_refused(field: str, place: Any, value: Any, found: str) -> None:
    """A table whose arrays would lead kernels out of bounds is refused with the fault."""
    with pytest.raises(fst.TableError, match=found):
        changed(table_of("guide of bytes" if field == "flips" else "guide of words"), field, place, value).prove()


@pytest.mark.parametrize(("key", "value"), [("end_id", 1 << 20), ("end_id", -1), ("keeps_first", 1), ("canonical", 1), ("pattern", 5)])
def test_forged_settings_are_refused(key: str, value: Any) -> None:
    """A setting that is not in its range is refused."""
    table: GuideTable = table_of("guide of words")
    with pytest.raises(fst.TableError, match=key):
        replace(table, header={**table.header, key: value}).prove()


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDES)
def test_any_bit_changed_is_refused_or_safe(name: str) -> None:
    """A table with one changed bit is refused, or kernels give the stored masks and the walk's steps, or an error for an allowed token that
    the automaton does not read.
    """
    table, draw = table_of(name), random.Random(name)
    for damaged in survivors(table, draw, len(sample(range(50), 4))):
        found: Any = public(damaged)
        for state in [NO_STATE, *range(len(damaged.mask_of))]:
            allowed = [] if state == NO_STATE else damaged.allowed(state).tolist()
            assert found.allowed(state).tolist() == allowed
            for number in range(found.size):
                step = damaged.step(state, number)
                if number in allowed and step == NO_STATE:
                    with pytest.raises(fst.TableError, match="allows a token whose bytes"):
                        found.step(state, number)
                else:
                    assert found.step(state, number) == (step if number in allowed else NO_STATE)


def test_mask_that_allows_what_is_not_read(tmp_path: Path) -> None:
    """A table whose mask allows a token that the automaton does not read gives this mask, and each step over the token is an error."""
    table: GuideTable = table_of("guide of bytes")
    state = int(np.flatnonzero(np.diff(table.flip_ends, prepend=0)[table.mask_of])[0])
    flip = int(table.flip_ends[table.mask_of[state]]) - 1
    last = len(table.token_ends) - 1
    changed(table, "flips", flip, last).save(tmp_path / "table.npz")
    guide: Any = fst.load(tmp_path / "table.npz")
    assert last in guide.allowed(state)
    assert table.step(state, last) == NO_STATE
    for ids in ([last], [last, 0]):
        with pytest.raises(fst.TableError, match="allows a token whose bytes the automaton does not read; compile the table again"):
            guide.advance(state, ids)
