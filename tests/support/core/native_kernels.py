"""Kernels with every type of argument and of result, for the tests of native code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fst.core.jit import kernel, object_kernel
from fst.runtime.kernels.objects import characters_of, new_list, run

characters: Any = characters_of
new: Any = new_list
made: Any = run


class Pair(NamedTuple):
    """Two arguments."""

    left: Any
    right: Any


class Other(NamedTuple):
    """Two other arguments."""

    left: Any
    right: Any


@kernel
def weigh(pair: Any, grid: Any, factor: Any, shift: Any, is_double: Any) -> Any:
    """Write the weighted sums of two arrays to a grid; return the number of sums."""
    for index in range(len(pair.left)):
        total = (pair.left[index] + pair.right[index]) * factor + np.float64(shift)
        grid[index % grid.shape[0], index // grid.shape[0]] = total * 2 if is_double else total
    return -np.int64(len(pair.left))


@kernel
def unsigned(number: Any) -> Any:
    """Return a number without a sign."""
    return np.uint64(number)


@kernel
def is_odd(number: Any) -> Any:
    """Whether a number is odd."""
    return number % 2 == 1


@kernel
def half(number: Any) -> Any:
    """Half of a number."""
    return np.float64(number) * 0.5


@kernel
def several(number: Any) -> Any:
    """Return a number, whether it is negative, and its square."""
    return np.int64(number), number < 0, np.uint64(number * number)


@kernel
def fill(numbers: Any, number: Any) -> None:
    """Write a number to all elements."""
    for index in range(len(numbers)):
        numbers[index] = number


@kernel
def quotient(numbers: Any) -> Any:
    """The quotient of two numbers without a sign."""
    return numbers[0] // numbers[1]


@object_kernel
def code_points(text: Any, codes: Any) -> Any:
    """Write the code points of a str to an array; return the number of code points."""
    narrow, units, wide = characters(text)
    for index in range(len(narrow)):
        codes[index] = narrow[index]
    for index in range(len(units)):
        codes[index] = units[index]
    for index in range(len(wide)):
        codes[index] = wide[index]
    return len(narrow) + len(units) + len(wide)


@object_kernel
def list_of(length: Any) -> Any:
    """A list of the given length; Python's C API sets an exception if the length is negative."""
    return new(length)


@object_kernel
def make(words: Any) -> Any:
    """Make a prepared call."""
    return made(words)


# Arguments of each kernel.
CALLS: dict[str, tuple[Any, ...]] = {
    "weigh": (Pair(np.arange(6.0), np.ones(6)), np.zeros((3, 2)), 2.5, -3, True),
    "unsigned": (np.uint64(2**64 - 2),),
    "is_odd": (7,),
    "half": (np.uint64(3),),
    "several": (-5,),
    "fill": (np.zeros(3, np.int32), np.uint64(7)),
    "quotient": (np.array([7, 2], np.uint64),),
    "code_points": ("é", np.zeros(9, np.uint32)),
    "list_of": (2,),
    "make": (np.zeros(2, np.uint64),),
}
