"""Arcs for any other symbol, compared with machines over a small universe, in which these arcs are spelled out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.algebra import agree, pairs
from support.naive.other import spelled
from support.tiers import examples

import fst
from fst.compile import best_path, lookup, rewrite
from fst.compile.algebra.arcs import ANOTHER, OTHER
from fst.compile.algebra.machine import Fst, read_att
from fst.compile.machines.guide.compiler import from_fst
from fst.errors import UnsupportedError, VocabularyError

UNIVERSE = "abcxyz"  # three characters more than the machines name: any fewer, and a composition of two changes would have fewer pairs
LONGEST = 2
WEIGHTS = st.sampled_from([0.0, 0.0, 0.5, 1.25])


def machines(named: str, *, acceptor: bool = False) -> st.SearchStrategy[Fst]:
    """Small machines that name some characters and have arcs for any other symbol."""
    states, labels = st.integers(0, 2), st.sampled_from(["", *named, OTHER, *([] if acceptor else [OTHER, ANOTHER])])

    def built(arcs: list[tuple[int, int, str, str, float]], final: dict[int, float]) -> Fst:
        return Fst.from_arcs([(s, t, read, read if acceptor else write, weight) for s, t, read, write, weight in arcs], final)

    arcs = st.lists(st.tuples(states, states, labels, labels, WEIGHTS), max_size=6)
    return st.builds(built, arcs, st.dictionaries(states, WEIGHTS, min_size=1, max_size=2))


def same(found: Fst, expected: Fst) -> bool:
    """Whether a machine, spelled out, has the pairs of another machine."""
    return agree(pairs(spelled(found, UNIVERSE), LONGEST), pairs(expected, LONGEST))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("operation", [Fst.__matmul__, Fst.__or__, Fst.__add__, lambda first, second: second @ first.invert() @ second])
@examples(200)
@given(first=machines("ab"), second=machines("bc"))
def test_operations_of_transducers(operation: Callable[[Fst, Fst], Fst], first: Fst, second: Fst) -> None:
    """A composition, union or concatenation of machines that name different symbols is that of the machines spelled out."""
    assert same(operation(first, second), operation(spelled(first, UNIVERSE), spelled(second, UNIVERSE)))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("operation", [Fst.__and__, Fst.__sub__, lambda first, second: second.complement() - first])
@examples(200)
@given(first=machines("ab", acceptor=True), second=machines("bc", acceptor=True))
def test_operations_of_acceptors(operation: Callable[[Fst, Fst], Fst], first: Fst, second: Fst) -> None:
    """An intersection, difference or complement of acceptors is that of the acceptors spelled out, within the universe."""
    with pytest.MonkeyPatch.context() as patch:
        found = operation(first, second)
        patch.setattr(Fst, "complement", lambda machine: universal() - machine)
        assert same(found, operation(spelled(first, UNIVERSE), spelled(second, UNIVERSE)))


def universal() -> Fst:
    """The acceptor of all strings over the universe."""
    return Fst.from_arcs([(0, 0, char, char) for char in UNIVERSE], final=[0])


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    "operation",
    [
        *(Fst.invert, Fst.reverse, Fst.connect, Fst.closure, Fst.remove_epsilon, Fst.minimize),
        *(lambda machine: machine.project("input"), lambda machine: machine.project("output")),
    ],
)
@examples(200)
@given(machine=machines("ab"))
def test_operations_of_one_machine(operation: Callable[[Fst], Fst], machine: Fst) -> None:
    """An operation of one machine has the result of the machine spelled out, also if characters that it names are no longer on arcs."""
    try:
        found = operation(machine)
    except UnsupportedError:
        return
    assert same(found, operation(spelled(machine, UNIVERSE)))


@examples(200)
@given(machine=machines("ab"))
def test_closed_machine(machine: Fst) -> None:
    """A machine that is closed over the universe has no arcs for other symbols, and the pairs of the machine spelled out."""
    closed = machine.close(UNIVERSE)
    assert OTHER not in closed.symbols
    assert agree(pairs(closed, LONGEST), pairs(spelled(machine, UNIVERSE), LONGEST))


@examples(200)
@given(machine=machines("ab"))
def test_written_machine_is_read_again(machine: Fst, tmp_path_factory: pytest.TempPathFactory) -> None:
    """AT&T text and OpenFst's format keep arcs for other symbols, and the symbols that a machine names on no arc."""
    path = tmp_path_factory.getbasetemp() / "machine"
    machine = machine.connect()
    machine.write_att(path)
    assert same(read_att(path), spelled(machine, UNIVERSE))
    machine.write_openfst(path)
    assert same(fst.read_openfst(path), spelled(machine, UNIVERSE))


@examples(200)
@given(machine=machines("ab"))
def test_ambiguity(machine: Fst) -> None:
    """A machine is functional if and only if it is functional spelled out, and a witness consists of characters."""
    found = machine.find_ambiguity()
    assert (found is None) == spelled(machine, UNIVERSE).is_functional()
    assert found is None or not any(name in part for part in found for name in (OTHER, ANOTHER))


def any_other(*pairs: tuple[str, str]) -> Fst:
    """A machine of two states with an arc for each pair."""
    return Fst.from_arcs([(0, 1, read, write) for read, write in pairs], final=[1])


SAME, CHANGED = (OTHER, OTHER), (OTHER, ANOTHER)
ANY = any_other(SAME, CHANGED)
# What foma writes for regular expressions, and the same machines made here.
FOMA = {
    "~[a b]": (
        "0 3 @ @\n0 1 a a\n0 3 b b\n1 3 @ @\n1 3 a a\n1 2 b b\n2 3 @ @\n2 3 a a\n2 3 b b\n3 3 @ @\n3 3 a a\n3 3 b b\n0\n1\n3\n",
        Fst.from_strings(["ab"]).complement(),
    ),
    "[? .x. ?] .o. [b:c | \\b]": ("0 1 @ @\n0 1 b c\n0 1 c c\n0 1 ? ?\n0 1 b ?\n0 1 c ?\n0 1 ? c\n1\n", ANY @ any_other(SAME, ("b", "c"))),
    "[c|\\c] .o. [? .x. ?]": ("0 1 @ @\n0 1 c c\n0 1 ? ?\n0 1 c ?\n0 1 ? c\n1\n", any_other(SAME, ("c", "c")) @ ANY),
}


@pytest.mark.parametrize("name", FOMA)
def test_results_of_foma(tmp_path: Path, name: str) -> None:
    """An operation has the result that foma writes for the same regular expression."""
    text, machine = FOMA[name]
    names = text.replace("@", OTHER).replace("?", ANOTHER)
    (tmp_path / "foma.att").write_text(names.replace(" ", "\t"), encoding="utf-8")
    assert same(machine, spelled(read_att(tmp_path / "foma.att"), UNIVERSE))


def test_alphabet_is_open() -> None:
    """A complement contains characters that no machine names, until an alphabet closes it."""
    machine = Fst.from_strings(["a"]).complement()
    assert [read for read, _, _ in (Fst.from_strings(["a", "é", "aa"]) @ machine).paths()] == ["é", "aa"]
    assert [read for read, _, _ in machine.close("ab").paths(3)] == ["", "b", "ba"]
    assert not (machine - machine).states


def test_labels_of_single_characters() -> None:
    """The symbol U+0000, and a symbol that is no byte, are labels above all characters, also next to any other symbol."""
    zero = Fst.from_strings(["a\0"], symbols=["\0"])
    for machine in (zero & Fst.from_strings(["a"]).complement(), zero.close("ab")):
        assert [*machine.paths(1)] == [("a\0", "a\0", 0.0)]
    assert [read for read, _, _ in Fst.from_regex(".").close(["\0", "a"]).paths()] == ["a", "\0"]
    assert [read for read, _, _ in Fst.from_strings(["é"], symbols=["é"], unit="utf-8").close("ab").paths()] == ["é"]


@pytest.mark.parametrize("task", [lookup, best_path, rewrite, Fst.determinize_input])
def test_tasks_without_other(task: Callable[[Fst], object]) -> None:
    """A task that needs characters refuses arcs for other symbols, and names the operation that replaces them."""
    with pytest.raises(UnsupportedError, match=r"any other symbol.*close\(\)"):
        task(any_other(SAME))


@pytest.mark.slow
def test_guides_read_any_other_character() -> None:
    """A guide takes an arc for any other symbol as arcs for all other characters of texts."""
    first = from_fst(Fst.from_regex("[^a]")).targets[0]
    assert {byte for byte in range(128) if first[byte] >= 0} == {*range(1, 128)} - {ord("a")}


def test_bytes_have_no_other() -> None:
    """A machine over bytes has no arcs for any other symbol, since a byte is no character."""
    with pytest.raises(VocabularyError, match="expected a machine over characters"):
        Fst.from_arcs([(0, 0, OTHER, OTHER)], final=[0], unit="utf-8")
