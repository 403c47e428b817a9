"""Fixtures for the tests of segmentation."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.machines.lattices import JIEBA, dictionary, written

from fst.compile import lattice
from fst.machines.segmentation.jieba import DEFAULT


@pytest.fixture(scope="module")
def mecab_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MeCab dictionary with which the best path remains ambiguous over many characters."""
    return written(tmp_path_factory.mktemp("mecab"), dictionary(random.Random(6), 3)[1])


@pytest.fixture
def table(kind: str, mecab_folder: Path) -> Any:
    """The table of the kind that a test requests."""
    if kind == "mecab":
        return lattice.mecab(mecab_folder)
    has_model = kind.endswith("hmm")
    if has_model:
        pytest.importorskip("jieba")
    user = [("研生", 0)] if has_model else None
    return lattice.jieba(JIEBA, user=user, hmm=has_model).with_mode([*kind.split(), DEFAULT][1])
