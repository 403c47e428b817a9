"""Fixtures for the tests of text components."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.kept import wordpiece
from support.text.words_of import Load
from tokenizers import Tokenizer

import fst


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads a tokenizer.json as a tokenizer of this package and as a tokenizer of `tokenizers`."""

    def both(source: dict[str, Any]) -> tuple[Tokenizer, fst.Tokenizer]:
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(source), encoding="utf-8")
        tokenizer = fst.Tokenizer(wordpiece(path))  # compiled first, because this package must refuse what `tokenizers` may refuse
        return Tokenizer.from_str(json.dumps(source)), tokenizer

    return both
