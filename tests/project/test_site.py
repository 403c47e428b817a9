"""The hooks of the site."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest
from support.shared_data import REPOSITORY

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install -e '.[docs]'")
pytest.importorskip("griffe", reason="griffe is not installed: pip install -e '.[docs]'")


def site() -> Any:
    """The module of the hooks."""
    spec = spec_from_file_location("site_hooks", REPOSITORY / "docs" / "site.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("# A page\n\nIt has `code.py` and\n[a link](a.md#b). More text.", "It has `code.py` and a link."),
        ("# A page\n\n<!-- a comment -->\n\n![picture](a.png)\n\n| a | table |\n\nIs this first? Yes.", "Is this first?"),
        ("# A page\n\nA program does this:\n\n```python\nx = 1\n```", "A program does this"),
        ("# A page\n", ""),
    ],
)
def test_first_sentences(page: str, sentence: str) -> None:
    """The summary of a page in llms.txt is its first sentence, as plain text."""
    assert site().first_sentence(page) == sentence


def test_every_page_begins_with_a_sentence() -> None:
    """Every page has a first sentence that fits into a line of llms.txt."""
    pages = [*(REPOSITORY / "docs").glob("*.md"), *REPOSITORY.glob("*.md")]
    found = {page.name: site().first_sentence(page.read_text(encoding="utf-8")) for page in pages}
    assert {name for name, sentence in found.items() if not 20 < len(sentence) < 280} == set()
