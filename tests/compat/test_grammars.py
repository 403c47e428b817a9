"""Grammars of packages that import pynini build with the stand-in, and answer their own cases."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from support.shared_data import SHARED, TESTS

BUILD = TESTS / "bench" / "grammar_builds.py"
CASES = SHARED / "oracles" / "words"
# Packages, grammars, and how many of the answers are not those of the cases, nor are pynini's.
GRAMMARS = [
    ("tn", "WeText tn chinese", 138, 3),
    ("tn", "WeText tn japanese", 141, 0),
    ("nemo_text_processing", "NeMo tn zh input_case=cased", 317, 0),
]


@pytest.mark.slow
@pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is not there: no cases of grammars")
@pytest.mark.parametrize(("package", "grammar", "count", "different"), GRAMMARS)
def test_grammars_answer_their_cases(package: str, grammar: str, count: int, different: int) -> None:
    """A grammar builds unchanged, and its answers are those of its package's tests, as often as with pynini."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: no grammars")
    sys.path.insert(0, str(BUILD.parent))
    try:
        import normalizers
    finally:
        sys.path.remove(str(BUILD.parent))
    chosen = next(found for found in normalizers.grammars() if found.name == grammar)
    command = [sys.executable, str(BUILD), "--stand-in", str(SHARED), grammar]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    expected = [new for _, new in normalizers.cases(chosen, SHARED)]
    assert len(found["answers"]) == count
    assert sum(answer != new for answer, new in zip(found["answers"], expected, strict=True)) == different
