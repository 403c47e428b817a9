"""Fixtures for the tests of the stand-ins."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.compat.engines import write_model
from support.compat.tables import TOKENS
from support.compat.transformers import Two, library
from support.kept import wordpiece

import fst
from fst.machines.wordpiece.table import WordPieceTable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a tokenizer in the file format of `transformers`, and return its folder."""
    found = tmp_path_factory.mktemp("own")
    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    library("transformers").BertTokenizerFast(vocab=vocabulary, model_max_length=64).save_pretrained(found)
    return found


@pytest.fixture(scope="module")
def tables(folder: Path) -> WordPieceTable:
    """Compile the tokenizer in the folder to a table."""
    return wordpiece(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the folder of a model for inference engines, and return it."""
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def two(folder: Path, tables: WordPieceTable) -> Two:
    """Return a `transformers` tokenizer and the stand-in for this tokenizer; each test gets new objects, because tests may change their
    settings.
    """
    return Two(library("transformers").AutoTokenizer.from_pretrained(folder), fst.hf(fst.Tokenizer(tables)))
