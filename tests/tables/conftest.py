"""Fixtures for the tests of table files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.kept import wordpiece
from support.tables.forging import (
    TOKENS,
    UNKNOWN,
)

from fst.machines.wordpiece.table import WordPieceTable


@pytest.fixture(scope="module")
def good() -> Mapping[str, WordPieceTable]:
    """Valid tables, one for each layout."""
    return {layout: wordpiece(TOKENS, unk_token=UNKNOWN, layout=layout) for layout in ("compact", "linked")}


@pytest.fixture(scope="module")
def data(good: Mapping[str, WordPieceTable], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a valid file."""
    path = tmp_path_factory.mktemp("good") / "good.npz"
    good["compact"].save(path)
    return path.read_bytes()
