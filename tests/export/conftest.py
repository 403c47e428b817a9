"""Exports that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.kept import exported
from support.shared_data import EXAMPLES

from fst.compile import tokenizer


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table of the examples' vocabulary, `english.npz`, and its exports, `english-js` and `english-c`, whose kernels
    check each index.
    """
    folder = tmp_path_factory.mktemp("english")
    tokenizer(EXAMPLES / "english-uncased-8000.txt").save(folder / "english.npz")
    files = exported(folder / "english.npz", ["wasm", "c"], checked=True)
    for name, own in (("english-js", ("wasm", "js", "ts", "json", "fst")), ("english-c", ("c", "h", "o", "fst"))):
        (folder / name).mkdir()
        for file, data in files.items():
            if file.rpartition(".")[2] in own:
                (folder / name / file).write_bytes(data)
    return folder
