"""Borrowed arrays, which `numba` passes to kernels without reference counts, are read and written like other arrays."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.commands import CACHE
from support.core.everything import use_everything

import fst
from fst.compile import wordpiece
from fst.compile.layout import rows
from fst.compile.text import word_table
from fst.core.borrowed import kind_of
from fst.core.jit import Deferred, kernel, part
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.kernels.intrinsics import DISABLED
from fst.runtime.model_inputs import layout
from fst.runtime.rows import texts
from fst.runtime.run import kernel_of
from fst.tables.kernel_call import IdsOutput, SpansOutput


def watched_kernels() -> dict[str, Deferred]:
    """The functions that runners call, by name: the kernels of WordPiece, and those that all tables share."""
    return {
        **{
            f"{name} for {output.__name__}": kernel_of(WordPieceTable.kernel, name, len(output._fields))
            for output in (IdsOutput, SpansOutput)
            for name in ("encode_rows",)
        },
        **{name: getattr(texts, name)[np.dtype(np.uint16)] for name in ("gather_strings", "gather_bytes", "transcode")},
        **{name: getattr(layout, name) for name in ("plan_rows", "lay_out")},
        "place": rows.place,
        "displace": word_table.displace,
    }


@kernel
def read(array: Any, seen: Any) -> Any:
    """Copy the elements of an array, and return its shape and sizes."""
    for count, place in enumerate(np.ndindex(array.shape)):
        seen[count] = array[place]
    return array.shape, array.size, array.itemsize


@kernel
def read_two(arrays: Any, seen: Any) -> Any:
    """Read two arrays with another kernel."""
    first, second = arrays
    return read(first, seen[0]), read(second, seen[1])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (0, 3), (5, 0), (2, 3), (3, 2)], ids=str)
@pytest.mark.parametrize("kind", ["uint16", "int32", "bool"])
def test_kernels_see_what_numpy_does(kind: str, shape: tuple[int, ...]) -> None:
    """A borrowed array has the same elements, shape and sizes in a kernel as in `numpy`, and kernels can write to it."""
    first = np.arange(np.prod(shape)).astype(kind).reshape(shape)
    second = -np.arange(9.0)
    seen = np.zeros(max(first.size, 1)), np.zeros(second.size)
    shown = Deferred(__name__, "read_two").call((first, second), seen)
    assert shown == tuple((array.shape, array.size, array.itemsize) for array in (first, second))
    assert seen[0][: first.size].tolist() == first.ravel().tolist()
    assert seen[1].tolist() == second.tolist()


class Table(NamedTuple):
    """Arrays of two dtypes."""

    entries: Any
    weights: Any


class Pair(NamedTuple):
    """Two arrays of one dtype. For this tuple, `numba` has a different type than for a tuple of arrays with different dtypes."""

    left: Any
    right: Any


class Nothing(NamedTuple):
    """No fields."""


class Machine(NamedTuple):
    """A NamedTuple whose fields are NamedTuples."""

    table: Table
    pair: Pair
    nothing: Nothing
    place: int


@part
def sum_of(table: Any, at: Any) -> Any:
    """The sum of an entry of a table and its weight."""
    return table.entries[at] + table.weights[at]


@kernel
def read_fields(machine: Any) -> Any:
    """Read fields by name, both in this kernel and in a kernel that it calls."""
    machine.pair.right[0] = len(machine.nothing)
    return sum_of(machine.table, machine.place), machine.pair.left.size, machine.pair.right.size


def test_kernels_read_fields_by_name() -> None:
    """A kernel, and a kernel that it calls, can read and write the arrays in a NamedTuple by field names, also if it is nested or empty."""
    pair = Pair(np.zeros(3), np.ones(4))
    machine = Machine(Table(np.arange(5, dtype=np.uint16), np.arange(5) / 8), pair, Nothing(), 3)
    assert Deferred(__name__, "read_fields").call(machine) == (3.375, 3, 4)
    assert pair.right.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("array", [np.arange(9)[::2], np.zeros((2, 3)).T], ids=["step", "order"])
def test_arrays_of_another_layout_are_not_borrowed(array: Any) -> None:
    """An array that is not C-contiguous cannot be borrowed, so an error is raised when its type is determined."""
    with pytest.raises(AssertionError, match="cannot be borrowed"):
        kind_of((array,))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[Any]]:
    """Record the types of the arguments of every kernel."""
    kernels = watched_kernels()
    found: dict[str, set[Any]] = {name: set() for name in kernels}

    def watch(name: str, deferred: Deferred) -> None:
        call = deferred.call

        def watched(*arguments: Any) -> Any:
            found[name].add(tuple(map(kind_of, arguments)))
            result = call(*arguments)
            monkeypatch.setattr(deferred, "call", watched)  # this attribute exists only after the first call
            return result

        monkeypatch.setattr(deferred, "call", watched)

    for name, deferred in kernels.items():
        watch(name, deferred)
    return found


@pytest.mark.slow
def test_arguments_are_of_one_type(kinds: dict[str, set[Any]], tmp_path: Path) -> None:
    """The argument types of a kernel are the same in all calls, for every table and every method that encodes."""
    use_everything(tmp_path)
    assert {name: len(found) for name, found in kinds.items()} == dict.fromkeys(watched_kernels(), 1)


def test_threads_that_are_first_at_once_share_a_kernel() -> None:
    """If several threads call a new kernel at the same time, it is compiled only once."""
    deferred, at_once = Deferred(__name__, "read"), threading.Barrier(4)

    def first(number: int) -> Any:
        call_, seen = deferred.call, np.zeros(3)
        at_once.wait()
        call_(np.full(3, number, "int32"), seen)
        assert seen.tolist() == [number] * 3
        return deferred.call

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(first, range(4)))) == 1


PROGRAM = """
import sys
import fst, numba
from fst.compile import wordpiece
tok = fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"]))
print(tok.encode("ab").tolist(), tok(["ab", "b"])["input_ids"], "numba.np.linalg" in sys.modules)
print(numba.njit(lambda number: number + 1)(1), "numba.np.linalg" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
def test_kept_kernels_are_used_without_the_compiler() -> None:
    """A process that finds its kernels on disk does not import `numba`'s compiler, but can still compile."""
    fst.Tokenizer(wordpiece(["[UNK]", "a", "##b"]))(["ab"])
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1, 2] [[1, 2], [0]] False", "2 True"]
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(DISABLED, reason="kernels are not compiled")
def test_whoever_waits_for_a_kernel_is_told(tmp_path: Path) -> None:
    """A process that compiles a kernel prints a message on standard error, one message per kernel."""
    program = "from fst.compile import wordpiece; wordpiece(['[UNK]', 'a']); wordpiece(['[UNK]', 'b'])"
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=cold)
    kernels = "place", "displace"
    assert done.stderr.splitlines() == [f"fst: compiling kernel {name}, up to 20 s; kept in {tmp_path / CACHE}" for name in kernels]
