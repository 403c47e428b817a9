"""The bytes of compiled tables: they change only when the file format, or the compiler's choices, change on purpose."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from machines import compiled
from shared_data import SHARED, needs_shared

import fst
from fst.compile import wordpiece

SMALL = {
    "dense": "5fd4e51c3920e3c9c7f3283bfa8811634a3a813f3f9f0c82afef30be4683124b",
    "compact": "fbd7edf413731d2d2414c18eeb075d7084638d9c1de5a8f75470bca07402267f",
}
FROZEN: dict[str, dict[str, str | None]] = json.loads(Path(__file__).with_name("frozen_tables.json").read_text("utf-8"))
CASES = [(name, layout, digest) for name, digests in FROZEN.items() for layout, digest in digests.items()]


@pytest.mark.parametrize("layout", SMALL)
def test_small_table_has_its_bytes(layout: str) -> None:
    """A small vocabulary with every kind of class compiles to the bytes that it always had."""
    assert sha256(compiled(layout=layout).dumps()).hexdigest() == SMALL[layout]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(("name", "layout", "digest"), CASES)
def test_table_has_its_bytes(name: str, layout: str, digest: str | None) -> None:
    """A vocabulary compiles to the bytes that it always had, or is too large for dense rows."""
    source = SHARED / "vocab" / name
    if digest is None:
        with pytest.raises(fst.UnsupportedError, match="layout dense with"):
            wordpiece(source, layout=layout)
        return
    assert sha256(wordpiece(source, layout=layout).dumps()).hexdigest() == digest
