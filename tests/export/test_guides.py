"""Exported guides in C and in JavaScript have the masks and the states of Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.conformance.samples import SAMPLES
from support.hosts import FstError, Guiding, folder_of, needs_c, needs_node, node

import fst

pytestmark = pytest.mark.slow

OTHER = -6  # an error of fst.h


class Machine(NamedTuple):
    """A guide, and the folder of its export."""

    guide: fst.Guide
    folder: Path


@pytest.fixture(scope="module", params=[name for name, sample in SAMPLES.items() if sample.kind == "guide"])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A guide and its export."""
    folder = tmp_path_factory.mktemp("guide")
    table = SAMPLES[request.param].make(folder)
    return Machine(fst.Guide(table), folder_of(table, folder / "export"))


def states_of(guide: fst.Guide) -> Iterator[int]:
    """-1, and all states."""
    state = -1
    while True:
        try:
            guide.is_final(state)
        except ValueError:
            return
        yield state
        state += 1


@needs_node
def test_javascript_has_the_masks_and_states_of_python(machine: Machine) -> None:
    """In JavaScript, masks, ids, steps and ends are those of Python for every state and id, and for other numbers."""
    guide = machine.guide
    states, ids = [*states_of(guide)], range(guide.size + 2)
    questions = [[name, state] for state in states for name in ("mask", "allowed", "isFinal")]
    steps = [(state, number) for state in states for number in ids]
    found = node(machine.folder, [*questions, *(["step", *pair] for pair in steps), ["mask", states[-1] + 1], ["mask", 0.5]], "guide")
    expected = [each for state in states for each in (guide.mask(state).tolist(), guide.allowed(state).tolist(), guide.is_final(state))]
    assert found[: len(expected)] == expected
    assert found[len(expected) : -2] == [guide.step(*pair) for pair in steps]
    assert [each.partition(";")[0] for each in found[-2:]] == [f"RangeError: a state is {state}" for state in (states[-1] + 1, 0.5)]


@needs_c
def test_c_has_the_masks_and_states_of_python(machine: Machine) -> None:
    """In C, start, size, end, masks, steps and ends are those of Python for every state and id; other numbers are no states."""
    guide, host = machine.guide, Guiding(machine.folder, most=0)
    states = [*states_of(guide)]
    end_id = -1 if guide.end_id is None else guide.end_id
    assert [host.ask(name) for name in ("start", "size", "end_id")] == [guide.start, guide.size, end_id]
    for state in states:
        assert host.mask(state) == guide.mask(state).tolist()
        assert host.ask("is_final", state) == guide.is_final(state)
        ids = range(guide.size + 2)
        assert [host.ask("step", state, number) for number in ids] == [guide.step(state, number) for number in ids]
        assert host.ask("step", state, -1) == -1
    for state in (-2, states[-1] + 1, 1 << 40):
        assert host.ask("step", state, 0) == host.ask("is_final", state) == OTHER
        with pytest.raises(FstError, match=str(OTHER)):
            host.mask(state)
