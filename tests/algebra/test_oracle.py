"""Operations on small machines, compared with OpenFst's answers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.naive.algebra import agree, pairs
from support.shared_data import SHARED, needs_shared
from support.tiers import LONG, sample

from fst.compile.algebra.compose import compose
from fst.compile.algebra.connect import is_accessible, is_coaccessible
from fst.compile.algebra.machine import Fst, read_att
from fst.compile.algebra.shortest import finish_order

ORACLE = SHARED / "oracles" / "toolkit" / "fst_algebra_openfst.jsonl"
LONGEST = 3  # labels of compared pairs
OPERATIONS: dict[str, Callable[..., Fst]] = {
    "invert": Fst.invert,
    "project_input": lambda machine: machine.project("input"),
    "project_output": lambda machine: machine.project("output"),
    "reverse": Fst.reverse,
    "connect": Fst.connect,
    "topsort": lambda machine: machine,
    "rmepsilon": Fst.remove_epsilon,
    "closure_star": Fst.closure,
    "closure_plus": lambda machine: machine.closure(plus=True),
    "determinize": Fst.determinize,
    "minimize": Fst.minimize,
    "determinize_minimize_encoded": Fst.minimize,
    "union": Fst.__or__,
    "concat": Fst.__add__,
    "compose": Fst.__matmul__,
    "intersect": Fst.__and__,
    "difference": Fst.__sub__,
}
COUNTED = ("determinize", "minimize")  # operations whose number of states is canonical
MERGING = ("rmepsilon", "determinize", "minimize", "determinize_minimize_encoded")  # they add weights of the log semiring


def cases() -> dict[str, list[dict[str, Any]]]:
    """The cases of each operation; by default, every fifth."""
    found = defaultdict(list)
    lines = ORACLE.read_text(encoding="utf-8").splitlines() if ORACLE.exists() else []
    for number, case in enumerate(map(json.loads, lines)):
        if LONG or number % 5 == 0:
            found[case["op"]].append(case)
    return found


CASES = cases()


def machine_of(folder: Path, text: str) -> Fst:
    """The machine of an AT&T text whose labels are numbers."""
    path = folder / "machine.att"
    path.write_text(text, encoding="utf-8")
    return read_att(path, numbers=True)


def operands(folder: Path, case: dict[str, Any]) -> list[Fst]:
    """The machines of a case."""
    return [machine_of(folder, case[name]) for name in ("fst", "fst2") if name in case]


@needs_shared
@pytest.mark.parametrize("name", OPERATIONS)
def test_results_have_the_paths_of_openfst(tmp_path: Path, name: str) -> None:
    """The result of an operation has the pairs and weights of OpenFst's result and, where it is canonical, as many states."""
    assert CASES[name]
    for case in sample(CASES[name], 2):
        expected = case.get("expected")
        if expected is None:  # OpenFst gave no answer
            continue
        machine = operands(tmp_path, case)[0]
        result = OPERATIONS[name](*operands(tmp_path, case))
        found, wanted = pairs(result, LONGEST), pairs(machine_of(tmp_path, expected["att"]), LONGEST)
        if case["semiring"] == "log" and name in MERGING:
            assert found.keys() == wanted.keys(), case["case_id"]
        else:
            assert agree(found, wanted), case["case_id"]
        is_trim = machine.connect().states == machine.states  # OpenFst does not remove useless states first
        if name in COUNTED and case["semiring"] == "tropical" and is_trim:
            assert result.states == machine_of(tmp_path, expected["att"]).connect().states, case["case_id"]


@needs_shared
def test_listed_paths_are_found(tmp_path: Path) -> None:
    """Each pair that the oracle lists is a pair of the result, with the same weight."""
    for name in OPERATIONS:
        for case in CASES[name]:
            expected = case.get("expected") or {}
            listed = expected.get("paths", expected.get("paths_up_to_3", []))
            if case["semiring"] == "log" or not listed:
                continue
            result = OPERATIONS[name](*operands(tmp_path, case))
            longest = max(max(len(read), len(written)) for read, written, _ in listed)
            found = pairs(result, longest)
            for read, written, weight in listed:
                assert abs(found[tuple(read), tuple(written)] - weight) < 2e-4, case["case_id"]


@needs_shared
def test_complements_are_those_of_openfst(tmp_path: Path) -> None:
    """The complement over an alphabet accepts what OpenFst's difference from all strings accepts."""
    for case in CASES["complement"]:
        (machine,) = operands(tmp_path, case)
        result = machine.complement(map(chr, case["alphabet"]))
        assert agree(pairs(result, 4), pairs(machine_of(tmp_path, case["expected"]["att"]), 4)), case["case_id"]


@needs_shared
@pytest.mark.parametrize(("name", "reverse"), [("shortestdistance", False), ("shortestdistance_reverse", True)])
def test_distances_are_those_of_openfst(tmp_path: Path, name: str, reverse: bool) -> None:
    """The shortest distances of all states equal OpenFst's, whose list ends at the last state that is reached."""
    for case in CASES[name]:
        machine = machine_of(tmp_path, case["fst"])
        expected = [inf if value == "Infinity" else float(value) for value in case["expected"]["distance"]]
        expected += [inf] * (machine.states - len(expected))
        assert np.allclose(machine.shortest_distance(reverse=reverse), expected, atol=1e-4), case["case_id"]


@needs_shared
@pytest.mark.parametrize("count", [1, 3, 10])
def test_shortest_paths_are_those_of_openfst(tmp_path: Path, count: int) -> None:
    """The weights of the best paths are those of OpenFst."""
    for case in CASES[f"shortestpath_{count}"]:
        machine, expected = machine_of(tmp_path, case["fst"]), case["expected"]
        found = sorted(weight for _, _, weight in machine.shortest_path(count).paths(count))
        weights = expected.get("weights", sorted(path[2] for path in expected.get("paths", [])))
        assert np.allclose(found[: len(weights)], sorted(weights), atol=1e-4), case["case_id"]
        assert len(found) >= len(weights), case["case_id"]


@needs_shared
def test_equivalences_are_those_of_openfst(tmp_path: Path) -> None:
    """Two acceptors are equivalent if and only if OpenFst finds that they are."""
    for case in CASES["equivalent"]:
        first, second = operands(tmp_path, case)
        assert first.is_equivalent(second) == case["expected"], case["case_id"]


@needs_shared
def test_properties_are_those_of_openfst(tmp_path: Path) -> None:
    """The properties of machines are those that OpenFst computes."""
    for case in CASES["properties"]:
        machine = machine_of(tmp_path, case["fst"])
        found = properties(machine)
        expected = {name: case["expected"][name] for name in found}
        if case["case_id"].startswith("fst_004/"):  # a state that the machine's text does not contain
            expected["accessible"] = True
        assert found == expected, case["case_id"]


def properties(machine: Fst) -> dict[str, bool]:
    """The properties of a machine, under OpenFst's names."""
    place = np.empty(machine.states, np.int64)
    place[finish_order(machine)] = np.arange(machine.states)
    keys = machine.sources.astype(np.int64) << 32 | machine.ilabel
    silent = (machine.ilabel == 0) & (machine.olabel == 0)
    return {
        "acceptor": machine.is_acceptor,
        "i_deterministic": not (np.diff(keys) == 0).any(),
        "epsilons": bool(silent.any()),
        "i_epsilons": bool((machine.ilabel == 0).any()),
        "o_epsilons": bool((machine.olabel == 0).any()),
        "weighted": machine.is_weighted,
        "cyclic": bool((place[machine.sources] <= place[machine.target]).any()),
        "top_sorted": bool((machine.sources < machine.target).all()),
        "accessible": bool(is_accessible(machine).all()),
        "coaccessible": bool(is_coaccessible(machine).all()),
    }


def test_composition_is_associative() -> None:
    """The result of two compositions does not depend on which is computed first."""
    entries = [("ab", "c"), ("a", "")], [("c", "de"), ("", "x")], [("de", "f"), ("x", "x")]
    first, second, third = (Fst.from_strings(each) for each in entries)
    assert agree(pairs(compose(compose(first, second), third), 5), pairs(compose(first, compose(second, third)), 5))
