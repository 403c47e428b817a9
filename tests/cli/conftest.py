"""Fixtures for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import TEXTS, written


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A file with `TEXTS`, one per line."""
    return written(tmp_path / "texts.txt", "".join(f"{text}\n" for text in TEXTS).encode())
