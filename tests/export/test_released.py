"""Modules of a release: which tables they run, when an export uses them, and that their images and objects belong together."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

from fst.cli.commands.export.command import exported
from fst.cli.commands.export.layouts import LAYOUTS
from fst.cli.commands.export.program import loaded
from fst.cli.commands.export.samples import families
from fst.compile.export import released
from fst.compile.export.program import Module
from fst.compile.export.released import archive
from fst.core import native
from fst.errors import UnsupportedError

VOCABULARIES = ("vocab/bert-base-uncased", "vocab_bpe/gpt2", "vocab_bpe/roberta", "vocab_bpe/clip", "vocab_unigram/t5")


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """The modules of a release."""
    return [module for module, _ in families()]


@pytest.fixture(name="release")
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: list[Module]) -> Iterator[Path]:
    """The folder of a release whose objects are the numbers of their modules."""
    objects = [(module, {"x86-64-v3": struct.pack("<Q", module.abi)}) for module in modules]
    (tmp_path / released.NAME).write_bytes(archive(objects, ["fst.compile.export.code"]))
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    released.release.cache_clear()
    yield tmp_path
    released.release.cache_clear()


def abis_of(path: Path, layout: str) -> tuple[int, int]:
    """The numbers in the image and in the object of an export."""
    files = exported(path, ["c"], layout=layout)
    return struct.unpack_from("<Q", files["table.fst"], 16)[0], struct.unpack("<Q", files["fst.o"])[0]


def check(path: Path) -> None:
    """Check that the image and the object of a table's export are of one module of the release, in both layouts."""
    for layout in LAYOUTS:
        image, code = abis_of(path, layout)
        assert image == code


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.endswith("tuned")])
@pytest.mark.mostly_slow
def test_samples(name: str, release: Path) -> None:
    """Each table that can be exported is exported with a module of the release."""
    path = release / "table.npz"
    table_of(name).save(path)
    try:
        loaded(path, "full")
    except UnsupportedError:
        return
    check(path)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(VOCABULARIES, 2))
def test_vocabularies(name: str, release: Path) -> None:
    """Each vocabulary of other projects is exported with a module of the release."""
    path = release / "table.npz"
    tokenizer(SHARED / name).save(path)
    check(path)


def test_modules_are_few(modules: list[Module]) -> None:
    """Tables whose texts are encoded by the same kernel share a module, whose kernels other modules do not contain."""
    readers = [key for module in modules for key in module.kernels if ":encode_rows:" in key or "_part:" in key]
    assert len(readers) == len({*readers})
    assert max(len(module.kernels) for module in modules) < 9


@pytest.mark.usefixtures("release")
def test_which_modules_are_used(modules: list[Module]) -> None:
    """A module runs its own programs, and has objects for the processors of the release only."""
    found = released.release()
    assert found is not None
    assert found.module_for(modules[0]) == modules[0]
    assert found.code(modules[0], "armv7") is None
    assert found.module_for(Module({"an:unknown:kernel": b""})) is None


@pytest.mark.usefixtures("release")
def test_changed_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that were compiled from other sources are ignored."""
    monkeypatch.setattr(native, "digest_of", lambda _: "0" * 64)
    assert released.release() is None


def test_the_same_bytes(modules: list[Module]) -> None:
    """The file of a release depends only on its modules, their objects and the sources."""
    first, second = (archive([(module, {"wasm32": b"code"}) for module in modules], names) for names in (["fst.errors"], {"fst.errors"}))
    assert first == second
