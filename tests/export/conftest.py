"""Exports that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shared_data import EXAMPLES

from fst.cli.commands.export.command import exported
from fst.compile import tokenizer


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table of the examples' vocabulary, `english.npz`, and its exports, `english-js`, and `english-c`, whose kernels
    check each index.
    """
    folder = tmp_path_factory.mktemp("english")
    tokenizer(EXAMPLES / "english-uncased-8000.txt").save(folder / "english.npz")
    for name, kind in (("english-js", "wasm"), ("english-c", "c")):
        (folder / name).mkdir()
        for file, data in exported(folder / "english.npz", [kind], checked=kind == "c").items():
            (folder / name / file).write_bytes(data)
    return folder
