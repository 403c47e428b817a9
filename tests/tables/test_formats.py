"""Tables of every format version since the first release are read, and give the results that they gave when they were written."""

from __future__ import annotations

import pytest
from support.conformance.ways import BARE, encoder_of, rows_of, walked
from support.tables.formats import Stored, allowed, stored

import fst
from fst import registry
from fst.registry import MACHINES
from fst.tables.npz import FORMAT, READERS

STORED = [*stored()]
of_each = pytest.mark.parametrize("table", [pytest.param(table, id=f"{table.version}-{table.name}") for table in STORED])


def test_every_version_has_tables() -> None:
    """There are stored tables of every format version, and of every kind."""
    assert {table.version for table in STORED} == READERS.keys()
    assert {table.kind for table in STORED} == MACHINES.keys()


@of_each
def test_walks(table: Stored) -> None:
    """A stored table is proven, and its walk gives the stored results."""
    loaded = registry.load(table.data)
    assert loaded.kind == table.kind
    assert {text: walked(loaded, text) for text in table.answers} == table.answers


@of_each
def test_kernels(table: Stored) -> None:
    """The kernels of a stored table give the stored results, and a guide allows the stored ids."""
    used = fst.load(table.data)
    if isinstance(used, fst.Guide):
        assert allowed(used) == table.allowed
    elif table.kind == "zhfst":
        assert [[int(used.check(text))] for text in table.answers] == [*table.answers.values()]
    else:
        assert rows_of(encoder_of(used).encode_batch([*table.answers], **BARE)) == [*table.answers.values()]


@of_each
def test_bytes(table: Stored) -> None:
    """A table of the current format version is saved with the stored bytes."""
    if table.version == FORMAT:
        assert registry.load(table.data).dumps() == table.data
