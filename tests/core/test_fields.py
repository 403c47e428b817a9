"""Arrays with named elements, which kernels and Python read and write as attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from fst.core import native
from fst.core.borrowed import kind_of
from fst.core.fields import Fields, Scalar
from fst.core.jit import Deferred, kernel, part
from fst.core.prepared import words
from fst.runtime.kernels.intrinsics import DISABLED


class State(Fields):
    """A class of arrays."""

    kept: Scalar
    count: Scalar


class Other(Fields):
    """A class with the same names as `State`."""

    kept: Scalar
    count: Scalar


class Signed(Fields, dtype=np.int64):
    """Elements with a sign."""

    left: Scalar


class Work(NamedTuple):
    """Arrays with and without names."""

    items: Any
    state: Any
    signed: Any


@part
def add(state: Any, number: Any) -> None:
    """Add a number to an element."""
    state.count += number


@kernel
def run(work: Any, state: Any) -> Any:
    """Read and write elements by name and by index, in this kernel and in a kernel that it calls."""
    add(work.state, np.uint64(3))
    add(state, work.state.count)
    work.state.kept = len(state) + 5
    work.signed.left -= work.items[0] + 1
    return state[1], work.state.kept


def test_kernels_and_python_share_elements() -> None:
    """A kernel reads and writes elements by name, also of arrays in a NamedTuple, and Python reads the same elements."""
    work, state = Work(np.array([7]), State(count=4), Signed()), State(count=1)
    assert Deferred(__name__, "run").call(work, state) == (8, 7)
    assert [work.state.kept, work.state.count, work.signed.left, state.count] == [7, 7, -8, 8]
    assert work.state.tolist() == [7, 7]


def test_arrays_are_ordinary_to_programs() -> None:
    """In a prepared call, an array with named elements has the same words as an ordinary array: its address and its length."""
    state = State()
    assert [*words(state)] == [*words(state.view(np.ndarray))]
    assert state.dtype == np.uint64
    assert len(state) == len(State.names) == 2


@pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
def test_types_of_classes_differ() -> None:
    """For numba and for native code, arrays of different classes have different types, and ordinary arrays have another type."""
    arrays = State(), Other(), State().view(np.ndarray)
    assert len({kind_of(each) for each in arrays}) == len({native.kind_of(each) for each in arrays}) == 3
    assert kind_of(State()) == kind_of(State(kept=3))


def test_unknown_names_are_refused() -> None:
    """An array cannot be made with a name that its class lacks, nor can a class have the name of an attribute of all arrays."""
    with pytest.raises(AssertionError, match="cuont"):
        State(cuont=1)
    with pytest.raises(AssertionError, match="size is an attribute of all arrays"):
        type("Wrong", (Fields,), {"__annotations__": {"size": Scalar}})
