"""Run pynini's own tests against `fst.pynini`: ``python -m support.compat.pynini_tests FOLDER``, where FOLDER contains ``tests``.

Prints the number of tests that ran, and exits with 1 if one failed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from collections.abc import Iterable, Sized
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import fst

MODULES = ("byte", "edit_transducer", "export", "pynini", "pynutil", "rewrite", "rule_cascade", "stringfile", "tagger", "utf8")
# The other files test programs in ``pynini.examples``, the modules ``features`` and ``paradigms``, or flags of ``pynini.export``.
LEFT_OUT = {
    "testVerifyUtf8Rfc3629Definition": "it compiles a string map of 1.1 million strings, which takes 30 s",
    "testWrongWeightTypeDisambiguateRaisesFstOpError": "disambiguation is not here",
}
# The file of strings that the tests read, which is not part of their archive; the same lines are in `StringMapTest`.
STRINGS = "[Bel Paese]\tSorry\nCheddar\nCaithness\tPont-l'Évêque\t.666\nPont-l'Évêque\tCamembert\n"


class TestCase(unittest.TestCase):
    """The methods of ``absltest.TestCase`` that the tests use."""

    def assertLen(self, container: Sized, length: int, *_: Any) -> None:  # noqa: N802 - the name in absl
        """Check a length."""
        assert len(container) == length

    def assertSameElements(self, expected: Iterable[Any], found: Iterable[Any], *_: Any) -> None:  # noqa: N802 - the name in absl
        """Compare sets."""
        assert set(expected) == set(found)

    def create_tempfile(self) -> SimpleNamespace:
        """Make a file."""
        path = Path(tempfile.mkdtemp()) / "file"
        return SimpleNamespace(full_path=str(path), open_text=lambda mode: path.open(mode.replace("t", ""), encoding="utf-8"))


def install_absl() -> None:
    """Let the tests import a small stand-in for absl."""
    names = ("absl", "absl.testing", "absl.testing.absltest", "absl.flags")
    modules: dict[str, Any] = {name: ModuleType(name) for name in names}
    modules["absl.testing.absltest"].TestCase = TestCase
    modules["absl.flags"].FLAGS = SimpleNamespace(test_tmpdir=tempfile.mkdtemp())
    modules["absl"].flags, modules["absl.testing"].absltest = modules["absl.flags"], modules["absl.testing.absltest"]
    sys.modules.update(modules)


def chosen(suite: unittest.TestSuite) -> unittest.TestSuite:
    """The tests that are not left out."""
    kept = unittest.TestSuite()
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            kept.addTest(chosen(part))
        elif part.id().rpartition(".")[2] not in LEFT_OUT:
            kept.addTest(part)
    return kept


def main(folder: Path) -> int:
    """Run the tests."""
    fst.pynini.install()
    install_absl()
    (folder / "tests" / "testdata").mkdir(exist_ok=True)
    (folder / "tests" / "testdata" / "str.map").write_text(STRINGS, encoding="utf-8")
    os.chdir(folder)
    sys.path.insert(0, str(folder / "tests"))
    load = unittest.defaultTestLoader.loadTestsFromModule
    suite = unittest.TestSuite(chosen(load(import_module(f"{name}_test"))) for name in MODULES)
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite)
    sys.stdout.write(f"{result.testsRun}\n")
    return int(not result.wasSuccessful())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
