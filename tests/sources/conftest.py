"""Fixtures for the tests of sources."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from support.kept import wordpiece
from support.sources.merges import lines
from support.sources.vocabularies import Read

import fst


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a tokenizer.json."""
    return tmp_path / "tokenizer.json"


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """A file of ranks, in the format of `tiktoken`."""
    path = tmp_path / "own.tiktoken"
    path.write_text(lines(), encoding="ascii")
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a tokenizer.json, which all tests of a module use."""
    return tmp_path_factory.mktemp("documents") / "tokenizer.json"


@pytest.fixture(scope="module")
def read(file: Path) -> Read:
    """Return a function that compiles a tokenizer.json; tests with the same document get the same table."""

    @functools.cache
    def compiled(source: str, options: tuple[tuple[str, Any], ...]) -> fst.Tokenizer:
        file.write_text(source, encoding="utf-8")
        return fst.Tokenizer(wordpiece(file, **dict(options)))

    def read(source: Any, **options: Any) -> fst.Tokenizer:
        return compiled(source if isinstance(source, str) else json.dumps(source), tuple(options.items()))

    return read


@pytest.fixture(scope="module")
def auto() -> Any:
    """Import AutoTokenizer from `transformers`."""
    return pytest.importorskip("transformers", reason="the reference for folders").AutoTokenizer.from_pretrained
