"""The bytes of compiled tables change only if the file format or the compiler is changed on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.conformance.samples import SAMPLES
from support.shared_data import needs_shared
from support.tables import frozen
from support.tiers import sample


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_has_its_bytes(name: str, tmp_path: Path) -> None:
    """A small source of each kind compiles to bytes whose digest equals the stored digest."""
    assert frozen.of_sample(name, tmp_path) == frozen.read()["samples"][name]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(sorted(frozen.VOCABULARIES), 18))
def test_vocabulary_has_its_bytes(name: str) -> None:
    """A real vocabulary compiles to bytes whose digest equals the stored digest."""
    assert frozen.of_vocabulary(name) == frozen.read()["vocabularies"][name]
