"""Files and results of operations, compared with pynini, which runs in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fst.compile.algebra.machine import Fst, read_openfst, write_far

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("pynini") is None, reason="pynini is not installed: nothing to compare with")]
SCRIPT = """
import json, sys, pynini
archive = pynini.Far(sys.argv[1])
first, second = archive["first"], archive["second"]
results = [first @ second, first + second, (first | second).optimize(), pynini.shortestpath(first, nshortest=2, unique=False)]
results += [pynini.prune(first | second, weight=0.75), pynini.cross(pynini.project(first, "input"), pynini.project(second, "output"))]
for number, result in enumerate(results):
    result.write(f"{sys.argv[2]}/{number}.fst")
far = pynini.Far(f"{sys.argv[2]}/all.far", "w")
far.add("first", first)
far.add("second", second)
print(json.dumps(first.verify() and second.verify()))
"""


def test_files_are_read_by_each_other(tmp_path: Path) -> None:
    """Machines that this package writes are read by pynini, and results of pynini's operations have the paths of this package's."""
    first = Fst.from_strings([("ab", "é", 0.5), ("a", "cd"), ("ü", "")], unit="utf-8")
    second = Fst.from_strings([("é", "x", 1), ("cd", "é"), ("", "y")], unit="utf-8")
    write_far(tmp_path / "both.far", {"second": second, "first": first})
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "both.far"), str(tmp_path)]
    is_valid = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = [sorted(read_openfst(tmp_path / f"{number}.fst", unit="utf-8").paths()) for number in range(6)]
    expected = [first @ second, first + second, first | second, first.shortest_path(2), (first | second).prune(0.75)]
    expected.append(first.project("input").cross(second.project("output")))
    assert is_valid
    assert found == [sorted(machine.paths()) for machine in expected]
    for name, machine in (("first", first), ("second", second)):
        assert sorted(read_openfst(tmp_path / "all.far", name).paths()) == sorted(machine.paths())
