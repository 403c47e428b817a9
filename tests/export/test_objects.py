"""Objects on disk: when an export reads the object of an earlier export, and when it compiles."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.commands import CACHE, TIMEOUT, on_terminal, posix

import fst
from fst.cli.commands.export.command import exported
from fst.cli.commands.export.program import loaded
from fst.compile import keywords
from fst.compile.export.capture import CHECKED, SETTINGS, without_elements
from fst.compile.export.objects import ObjectCache
from fst.compile.export.program import Module, Variant, program
from fst.core import native
from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # so that an import fails
from fst.cli.main import main
main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which objects are stored."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / CACHE


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of keywords, whose programs have one kernel."""
    keywords(["he", "she"]).save(tmp_path / "words.npz")
    return tmp_path / "words.npz"


def of_kernel(name: str, kind: type = np.uint16) -> Module:
    """A module with one kernel."""
    call = PreparedCall(Deferred("fst.runtime.exporting.kernels.builds", name), np.zeros(3, kind), np.zeros(3, np.uint64))
    return program([Variant(units, {}, {"encode": call}) for units in (1, 2)]).module


SPANS = of_kernel("build_spans")


@pytest.mark.parametrize(
    ("of", "target", "settings"),
    [
        (of_kernel("build_merges"), "wasm32", SETTINGS),
        (of_kernel("build_spans", np.uint32), "wasm32", SETTINGS),
        (Module({key: forms[::-1] for key, forms in SPANS.kernels.items()}), "wasm32", SETTINGS),
        (SPANS, "x86-64", SETTINGS),
        (SPANS, "wasm32", CHECKED),
    ],
    ids=["kernel", "type", "forms", "target", "settings"],
)
def test_objects_of_others(of: Module, target: str, settings: dict[str, str], folder: Path) -> None:
    """An object is read for the same kernels, types, forms, target and settings, and for no others."""
    ObjectCache(SPANS, "wasm32", SETTINGS).keep(b"code", ["fst.core.jit"])
    assert len([*folder.iterdir()]) == 1
    assert ObjectCache(of_kernel("build_spans"), "wasm32", SETTINGS).load() == b"code"
    assert ObjectCache(of, target, settings).load() is None


@pytest.mark.parametrize("change", ["FACTOR = 2", ""])
def test_changed_sources(change: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object is ignored if the text of a source has changed, or if a source is missing; a new object replaces it."""
    package = f"toy_{len(change)}"
    source = tmp_path / package / "constants.py"
    source.parent.mkdir()
    (source.parent / "__init__.py").touch()
    source.write_text("FACTOR = 1")
    monkeypatch.setattr(fst, "__path__", [*fst.__path__, str(tmp_path)])
    cache = ObjectCache(SPANS, "wasm32", SETTINGS)
    cache.keep(b"code", [f"fst.{package}.constants"])
    assert cache.load() == b"code"
    source.write_text(change) if change else source.unlink()
    assert cache.load() is None
    cache.keep(b"new", ["fst.core.jit"])
    assert cache.load() == b"new"
    assert len([*folder.iterdir()]) == 1


@pytest.mark.parametrize("cut", [0, 20, 32, 40, -1])
def test_damaged_objects(cut: int, folder: Path) -> None:
    """A file that is cut short or changed is ignored."""
    cache = ObjectCache(SPANS, "wasm32", SETTINGS)
    cache.keep(b"code", ["fst.core.jit"])
    (file,) = folder.iterdir()
    data = file.read_bytes()
    for damaged in (data[:cut], data[:cut] + b"!" + data[cut:][1:]):
        file.write_bytes(damaged)
        assert cache.load() is None
    file.write_bytes(data)
    assert cache.load() == b"code"


@posix
@pytest.mark.parametrize("of_file", [False, True])
def test_strangers_that_can_write(of_file: bool, folder: Path) -> None:
    """An object is not used if everybody can write to its file or its folder."""
    cache = ObjectCache(SPANS, "wasm32", SETTINGS)
    cache.keep(b"code", ["fst.core.jit"])
    (next(folder.iterdir()) if of_file else folder).chmod(0o777)
    assert cache.load() is None


def test_types_of_arguments_without_elements(table: Path) -> None:
    """The process that compiles receives arguments of the same types, in few bytes."""
    of = loaded(table, "full").of
    sent = [without_elements(call.arguments) for call in of.kernels]
    received = pickle.loads(pickle.dumps(sent))
    assert [native.key_of(call.kernel.module, call.kernel.name, each) for call, each in zip(of.kernels, received, strict=True)] == of.keys
    assert len(pickle.dumps(sent)) < 10_000


@pytest.mark.slow
@posix
def test_a_second_export_compiles_nothing(table: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an export, the next one of any table with the same kernels needs no numba; another process compiles equal code."""
    lines = on_terminal("export", table, "--target", "object", "-o", tmp_path / "first").decode().splitlines()
    assert lines[:-1] == ["compiling kernels …", "optimizing code for x86-64-v3 …"]
    assert len([*folder.iterdir()]) == 1
    keywords(["other", "words"]).save(tmp_path / "others.npz")
    words = ["export", str(tmp_path / "others.npz"), "--target", "object", "-o", str(tmp_path / "second")]
    command = [sys.executable, "-c", WITHOUT_NUMBA, *words]
    assert subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT).stderr == b""
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    code = exported(table, ["object"])["fst.o"]
    assert [(tmp_path / name / "fst.o").read_bytes() for name in ("first", "second")] == [code, code]
