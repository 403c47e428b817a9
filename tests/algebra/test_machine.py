"""The arc table: its proof, and machines that are made from arcs and strings."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf, nan
from random import Random
from typing import Any

import numpy as np
import pytest

from fst.compile.algebra.build.paths import END, Paths
from fst.compile.algebra.machine import Fst
from fst.errors import VocabularyError

AB = Fst.from_strings([("ab", "cd", 0.5)])


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("row_start", np.array([0, 2, 1, 2]), "row_start does not ascend"),
        ("row_start", np.array([0, 1, 2]), r"row_start is int64\[3\]"),
        ("ilabel", np.array([97, -1], np.int32), "the input label of an arc of state 1 is -1"),
        ("olabel", np.array([97, 0x110000], np.int32), "the output label of an arc of state 1 is 1114112"),
        ("target", np.array([1, 3], np.int32), "the target of an arc of state 1 is 3"),
        ("target", np.array([1, 2]), r"target is int64\[2\]; expected int32"),
        ("weight", np.array([0, nan], np.float32), "the weight of an arc of state 1 is out of range"),
        ("final", np.array([inf, -inf, 0], np.float32), "the final weight of state 1 is -inf"),
        ("start", 3, "the start state is 3"),
        ("symbols", ("<n>", "<n>"), "symbols has a string twice"),
        ("unit", "byte", "unit is 'byte'; expected 'character' or 'utf-8'"),
    ],
)
def test_table_is_proven(field: str, value: Any, found: str) -> None:
    """A table that breaks a rule of its arrays is refused with the name of the array or the state."""
    with pytest.raises(VocabularyError, match=found):
        replace(AB, **{field: value})


def test_unsorted_arcs_are_refused() -> None:
    """Arcs that are not sorted by the label that they read are refused."""
    row = Fst.from_arcs([(0, 0, "a", "b"), (0, 0, "b", "a")], final=[0])
    with pytest.raises(VocabularyError, match="not sorted"):
        replace(row, ilabel=row.ilabel[::-1].copy())


def test_arrays_are_read_only() -> None:
    """The arrays of a machine cannot be changed."""
    with pytest.raises(ValueError, match="read-only"):
        AB.target[0] = 0


def test_arcs_keep_their_order() -> None:
    """Arcs of a state are sorted by their input label, and arcs with equal input labels keep their order."""
    machine = Fst.from_arcs([(0, 0, "b", "x"), (0, 0, "a", "z"), (0, 0, "b", "a")], final=[0])
    assert machine.text_of(machine.olabel) == "zxa"


@pytest.mark.parametrize("state", [-1, 5_000])
def test_states_out_of_range_are_refused(state: int) -> None:
    """A negative state, or one far above the number of states, is refused before memory is taken."""
    with pytest.raises(VocabularyError, match=f"state {state} is out of range"):
        Fst.from_arcs([(0, state, "a", "a")], final=[0])


def test_entries_may_be_a_mapping() -> None:
    """A mapping is read as pairs of input and output; a str in place of a collection is refused."""
    assert [*Fst.from_strings({"cat": "dog", "a": ""}).paths()] == [("a", "", 0.0), ("cat", "dog", 0.0)]
    with pytest.raises(VocabularyError, match=r"such as \['cat'\]"):
        Fst.from_strings("cat")



def test_strings_share_their_beginnings() -> None:
    """Strings with the same beginning share the states of this beginning, and of equal strings the smallest weight is kept."""
    machine = Fst.from_strings([("ab", "ab", 2), ("ac", "ac", 1), ("ab", "ab", 1.5)])
    assert (machine.states, machine.arcs, list(machine.paths())) == (4, 3, [("ac", "ac", 1), ("ab", "ab", 1.5)])


@pytest.mark.parametrize("entry", ["a\0b", ("a",), ("a", "b", 1, 2), 3, ("a", None)])
def test_wrong_entries_are_refused(entry: Any) -> None:
    """An entry that is no string and no pair, or contains label 0, is refused."""
    with pytest.raises(VocabularyError, match="expected"):
        Fst.from_strings([entry])


def test_bytes_are_labels() -> None:
    """With the unit "utf-8", each byte is a label, and paths are returned as texts."""
    machine = Fst.from_strings([("é", "<n>")], symbols=["<n>"], unit="utf-8")
    assert (machine.ilabel.tolist(), list(machine.paths())) == ([195, 169], [("é", "<n>", 0.0)])


def test_symbols_of_two_machines_are_shared() -> None:
    """Operations on two machines keep the names of symbols, even if a symbol has different labels in the two machines."""
    first, second = Fst.from_strings(["<n>"], symbols=["<n>"]), Fst.from_strings(["<v><n>"], symbols=["<v>", "<n>"])
    assert sorted((first | second).paths()) == [("<n>", "<n>", 0.0), ("<v><n>", "<v><n>", 0.0)]
    with pytest.raises(VocabularyError, match="units"):
        first | Fst.from_strings([], unit="utf-8")


BINARY = [Fst.__or__, Fst.__add__, Fst.__matmul__, Fst.__and__, Fst.__sub__, Fst.cross, Fst.priority_union, Fst.is_equivalent]


@pytest.mark.parametrize("operation", BINARY)
def test_other_operands_are_refused(operation: Any) -> None:
    """An operation on two machines refuses any other operand, such as a text."""
    with pytest.raises(VocabularyError, match="the other machine is 'a'; expected an Fst"):
        operation(Fst.from_strings(["a"]), "a")


def test_paths_of_cycles_are_bounded() -> None:
    """Of a machine with cycles, also of ε-arcs, as many paths as requested are returned, the lightest first."""
    machine = Fst.from_arcs([(0, 0, "", ""), (0, 0, "a", "", 0.5), (0, 1, "b", "c", -1)], final={0: 0, 1: 0})
    assert list(machine.paths(3)) == [("b", "c", -1), ("ab", "c", -0.5), ("", "", 0)]


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_their_paths(seed: int) -> None:
    """The machine made from trees has the pairs of all sequences of the trees' paths, each pair with its smallest weight."""
    draw, trees = Random(seed), Paths()
    roots = [trees.root() for _ in range(4)]
    pairs: list[dict[tuple[str, str], float]] = [{} for _ in roots]
    for root in reversed(roots):
        for _ in range(draw.randrange(12)):
            read, write = ("".join(draw.choices("ab\U000f0000", k=draw.randrange(4))) for _ in range(2))
            following, weight = draw.choice([END, *roots[root + 1 :]]), float(draw.randrange(3))
            path = trees.copy(read) if draw.random() < 0.5 else trees.pairs(map(ord, read), map(ord, write))
            write = read if path == trees.copy(read) else write
            trees.add(root, path, following, weight)
            for (more, written), cost in {("", ""): 0.0}.items() if following == END else pairs[following].items():
                key = read + more, write + written
                pairs[root][key] = min(pairs[root].get(key, inf), weight + cost)
    machine = Fst.of(trees.machine(roots[0]))
    assert {(read, write): weight for read, write, weight in machine.paths(10_000)} == pairs[0]


def test_equal_subtrees_are_stored_once() -> None:
    """Equal subtrees, even of different trees, share one state."""
    trees = Paths()
    first, second = trees.root(), trees.root()
    for word in map("".join, product("abc", repeat=4)):
        trees.add(first, word, END)
        trees.add(second, word[1:], END)
    trees.add(first, "d", second)
    machine = trees.machine(first)
    assert (machine.states, machine.arcs) == (6, 14)
