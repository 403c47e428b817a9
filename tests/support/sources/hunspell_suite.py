"""The cases of Hunspell's own tests."""

from __future__ import annotations

import tarfile
from pathlib import Path

from support.shared_data import SHARED

SUITE = SHARED / "oracles" / "words" / "hunspell_suite.tar.gz"


def suite(folder: Path) -> Path:
    """The folder with the cases of Hunspell."""
    with tarfile.open(SUITE) as packed:
        packed.extractall(folder, filter="data")
    return folder / "hunspell"


def words_of(path: Path, encoding: str, separator: str | None = None) -> list[str]:
    """The words of a list, which is in UTF-8 or in the encoding of the dictionary. A line may have several words,
    unless `separator` is a line break.
    """
    data = path.read_bytes() if path.exists() else b""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(encoding)
    return text.split() if separator is None else [line for line in text.split(separator) if line]
