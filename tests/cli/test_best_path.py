"""`fst compile best-path` makes tables for `fst rewrite`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import call, error_of, written

from fst.compile.algebra.machine import Fst


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of OpenFst."""
    Fst.from_strings([("2 m", "two meters", 1.0), ("2", "two", 1.0), (" m", " em", 1.0)]).closure().write_openfst(tmp_path / "m.fst")
    return tmp_path / "m.fst"


def test_documents(source: Path, tmp_path: Path) -> None:
    """Documents become the outputs of their best paths; a document without a path is refused with its line, or copied."""
    call("compile", "best-path", source, "-o", tmp_path / "m.npz")
    documents = written(tmp_path / "in.txt", b"2 m2\n2x\n\n")
    fault = error_of(call("rewrite", tmp_path / "m.npz", documents, code=1))
    assert fault.startswith(f"{documents}, line 2: no path through the transducer goes on after byte 1")
    call("compile", "best-path", source, "-o", tmp_path / "copy.npz", "--unknown", "copy", "--unit", "character")
    assert call("rewrite", tmp_path / "copy.npz", documents).stdout == "two meterstwo\n2x\n\n"


def test_name_of_a_machine(source: Path, tmp_path: Path) -> None:
    """An option that names a machine is refused if the file is not an archive."""
    done = call("compile", "best-path", source, "-o", tmp_path / "m.npz", "--name", "main", code=1)
    assert "is not an archive" in error_of(done)
