"""Fixtures for the tests of the runtime."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime.gathering import made
from support.runtime.offsets import BLOCK
from tokenizers import Tokenizer

import fst
from fst.runtime.rows import batch


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten blocks, so that even short texts are divided among threads."""
    monkeypatch.setattr(batch, "BLOCK", BLOCK)
    monkeypatch.setattr(batch, "MIN_SHARE", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for stored tables."""
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(scope="module")
def uncased(folder: Path) -> tuple[fst.Tokenizer, Tokenizer]:
    """A tokenizer like BERT's of this package, and one of `tokenizers`."""
    return made(folder, "uncased")


@pytest.fixture(scope="module")
def tokenizer(uncased: tuple[fst.Tokenizer, Tokenizer]) -> fst.Tokenizer:
    """A tokenizer like BERT's."""
    return uncased[0]
