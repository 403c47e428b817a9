"""Prepared calls, by which one kernel calls another: their arguments, results and exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from fst.core.jit import Deferred, kernel, object_kernel
from fst.core.prepared import FAILED, PreparedCall
from fst.runtime.kernels.intrinsics import DISABLED
from fst.runtime.kernels.objects import run


class Pair(NamedTuple):
    """Two arrays."""

    left: Any
    right: Any


@kernel
def add(pair: Any, first: Any, grid: Any, second: Any) -> Any:
    """Write the sums of the elements of two arrays to a grid; return the sum of two numbers and the number of rows of the grid."""
    for index in range(len(pair.left)):
        grid[index % grid.shape[0], index // grid.shape[0]] = pair.left[index] + pair.right[index]
    return np.uint64(first) + np.uint64(second) + np.uint64(len(grid))


@kernel
def is_rising(numbers: Any) -> Any:
    """Whether the first number is less than the second."""
    return numbers[0] < numbers[1]


@kernel
def shape_of(numbers: Any) -> Any:
    """Return the shape of an array, which is not a number."""
    return numbers.shape


@kernel
def quotient(numbers: Any) -> Any:
    """The quotient of two numbers."""
    return numbers[0] // numbers[1]


made: Any = run


@object_kernel
def make(words: Any) -> Any:
    """Make a prepared call."""
    return made(words)


caller = Deferred(__name__, "make")


def prepared(name: str, *arguments: Any) -> Callable[[], Any]:
    """A function that makes a prepared call of a kernel of this file."""
    call = PreparedCall(Deferred(__name__, name), *arguments)
    return lambda: caller.call(call.words)


def test_arguments_of_a_prepared_call() -> None:
    """A prepared call reads the current elements of its arrays, nested in tuples or with several axes, reads numbers, and writes arrays."""
    pair, grid = Pair(np.arange(6), np.ones(6)), np.zeros((3, 2))
    call = prepared("add", pair, np.uint64(5), grid, 7)
    for shift in (0, 10):
        pair.left[:] = np.arange(6) + shift
        assert call() == 5 + 7 + 3
        assert grid.T.ravel().tolist() == [number + shift + 1 for number in range(6)]


def test_results_of_a_prepared_call() -> None:
    """A prepared call returns 0 or 1 for a bool, and 0 for a result that is not a number."""
    assert [prepared("is_rising", np.array(pair))() for pair in ([1, 2], [2, 1])] == [1, 0]
    assert prepared("shape_of", np.ones(3))() == 0


@pytest.mark.skipif(DISABLED, reason="Python raises the exception")
def test_exception_of_a_prepared_call() -> None:
    """If a kernel raises an exception, the result of a prepared call is `FAILED`, and the next call works."""
    numbers = np.array([6, 0])
    call = prepared("quotient", numbers)
    assert call() == FAILED
    numbers[1] = 2
    assert call() == 3
