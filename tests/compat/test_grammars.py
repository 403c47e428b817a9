"""Grammars of packages that import pynini build with the stand-in, and answer their own cases."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from support.shared_data import SHARED, TESTS

BENCH = TESTS / "bench"
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
    sys.path.insert(0, str(BENCH))
    try:
        from grammar_builds import STAND_IN, run
        from normalizers import cases, grammars
    finally:
        sys.path.remove(str(BENCH))
    chosen = next(found for found in grammars() if found.name == grammar)
    found = run(sys.executable, STAND_IN, str(SHARED), grammar)
    expected = [new for _, new in cases(chosen, SHARED)]
    assert len(found["answers"]) == count
    assert sum(answer != new for answer, new in zip(found["answers"], expected, strict=True)) == different
