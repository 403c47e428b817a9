"""Where the shared test data lies, and the mark for tests that need it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there: nothing to compare with")
