"""Paths of the tests, the repository, the examples and the shared test data, and a mark that skips tests without the shared data."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
EXAMPLES = REPOSITORY / "examples"
SHARED = REPOSITORY.parent / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there: nothing to compare with")
