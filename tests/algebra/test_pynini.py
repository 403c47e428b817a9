"""Files and results of operations, compared with pynini, which runs in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fst.compile.algebra.machine import Fst, read_openfst

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("pynini") is None, reason="pynini is not installed: nothing to compare with")]
SCRIPT = """
import json, sys, pynini
first, second = (pynini.Fst.read(name) for name in sys.argv[1:3])
results = [first @ second, first + second, (first | second).optimize(), pynini.shortestpath(first, nshortest=2, unique=False)]
for number, result in enumerate(results):
    result.write(f"{sys.argv[3]}/{number}.fst")
far = pynini.Far(f"{sys.argv[3]}/all.far", "w")
far.add("first", first)
far.add("second", second)
print(json.dumps(first.verify() and second.verify()))
"""


def test_files_are_read_by_each_other(tmp_path: Path) -> None:
    """Machines that this package writes are read by pynini, and results of pynini's operations have the paths of this package's."""
    first = Fst.from_strings([("ab", "é", 0.5), ("a", "cd"), ("ü", "")], unit="utf-8")
    second = Fst.from_strings([("é", "x", 1), ("cd", "é"), ("", "y")], unit="utf-8")
    first.write_openfst(tmp_path / "1.fst")
    second.write_openfst(tmp_path / "2.fst")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "1.fst"), str(tmp_path / "2.fst"), str(tmp_path)]
    is_valid = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = [sorted(read_openfst(tmp_path / f"{number}.fst", unit="utf-8").paths()) for number in range(4)]
    expected = [first @ second, first + second, first | second, first.shortest_path(2)]
    assert is_valid
    assert found == [sorted(machine.paths()) for machine in expected]
    for name, machine in (("first", first), ("second", second)):
        assert sorted(read_openfst(tmp_path / "all.far", name).paths()) == sorted(machine.paths())
