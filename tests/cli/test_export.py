"""The command `fst export`, as far as it compiles no kernel; see tests/export."""

from __future__ import annotations

import re
from os import pathconf
from pathlib import Path

import pytest
from support.commands import TOKENS, call, error_of, on_terminal, posix
from support.kept import wordpiece

from fst.compile import keywords
from fst.errors import UnsupportedError
from fst.runtime.exporting.export import export_of


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A table of a small vocabulary, whose kernels no test here needs."""
    wordpiece(TOKENS).save(tmp_path / "small.npz")
    return tmp_path / "small.npz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The name of a folder that does not exist."""
    return tmp_path / "exported"


def test_an_image_is_the_only_file(small: Path, folder: Path) -> None:
    """--target image writes table.fst alone, and nothing is printed."""
    assert call("export", small, "--target", "image", "-o", folder).data == b""
    assert [path.name for path in folder.iterdir()] == ["table.fst"]
    assert (folder / "table.fst").read_bytes().startswith(b"fstimage")


@posix
@pytest.mark.slow
def test_a_terminal_shows_what_is_written(small: Path, folder: Path) -> None:
    """On a terminal, the last line shows the files, their size and the time; for an image, no kernel is compiled."""
    (end,) = on_terminal("export", small, "--target", "image", "-o", folder).decode().splitlines()
    assert re.fullmatch(rf"{re.escape(str(folder))}: table.fst; {(folder / 'table.fst').stat().st_size:,} bytes, in \d+\.\d s", end)


@pytest.mark.parametrize("name", ["sparc", "wasm32"])
def test_unknown_processors_are_refused(small: Path, folder: Path, name: str) -> None:
    """An unknown processor, or WebAssembly, is an error with the list of processors, and no folder is made."""
    error = error_of(call("export", small, "--target", "c", "--cpu", name, "-o", folder, code=1))
    assert error.startswith(f"the processor is '{name}'; expected 'x86-64', ")
    assert "'aarch64'" in error
    assert not folder.exists()


@pytest.mark.parametrize("target", ["wasm", "image"])
def test_a_processor_belongs_to_an_object(small: Path, folder: Path, target: str) -> None:
    """--cpu or --checked with a target that has no object is wrong usage."""
    done = call("export", small, "--target", target, "--cpu", "aarch64", "-o", folder, code=2)
    assert f"--cpu is set, but --target {target} needs no processor" in done.stderr
    done = call("export", small, "--target", target, "--checked", "-o", folder, code=2)
    assert f"--checked is set, but --target {target} needs no checks" in done.stderr


def test_files_are_kept(small: Path, folder: Path) -> None:
    """An output that is a file, or a folder with files, is an error, and is not changed."""
    folder.mkdir()
    (folder / "mine").write_text("x")
    for path in (folder, folder / "mine"):
        error = error_of(call("export", small, "--target", "image", "-o", path, code=1))
        assert error.startswith(f"{path} exists; expected a new or empty")
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_missing_tables_are_named(folder: Path) -> None:
    """The message about a missing table is the same as in all other commands."""
    done = call("export", "missing.npz", "--target", "image", "-o", folder, code=1)
    assert error_of(done) == "missing.npz: No such file or directory; check the name"


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    """If a file cannot be written, here because its path is too long, the command removes all files and folders that it made."""
    table, most = tmp_path / "words.npz", pathconf("/", "PC_PATH_MAX") - len(str(tmp_path)) - len("/table.fst")
    keywords(["a"]).save(table)
    folder = tmp_path / "/".join(["a" * 99] * (most // 100) + ["a" * max(most % 100, 1)])
    assert "File name too long" in error_of(call("export", table, "--target", "image", "-o", folder, code=1))
    assert [*tmp_path.iterdir()] == [table]


def test_folders_that_cannot_be_made(small: Path) -> None:
    """A folder that cannot be made is an error before kernels are compiled."""
    assert "Not a directory" in error_of(call("export", small, "--target", "c", "-o", small / "folder", code=1))


def test_other_tables_are_refused(tmp_path: Path, folder: Path) -> None:
    """A table with an empty keyword is refused, and the message contains this reason."""
    keywords(["a", ""], allow_empty=True).save(tmp_path / "empty.npz")
    error = error_of(call("export", tmp_path / "empty.npz", "--target", "image", "-o", folder, code=1))
    assert error == "a keyword is empty; expected keywords with characters, because exports find no empty matches"
    assert not folder.exists()


def test_other_objects_are_refused() -> None:
    """An object that is not of a public class with tables is refused with the classes that are exported."""
    with pytest.raises(UnsupportedError, match=r"a dict cannot be exported; expected a table for one of fst\.Tokenizer, "):
        export_of({})


def test_damaged_tables_are_refused(tmp_path: Path, folder: Path) -> None:
    """A file that is no table is refused with the message of `fst.load`."""
    (tmp_path / "damaged.npz").write_bytes(b"PK")
    assert str(tmp_path / "damaged.npz") in error_of(call("export", tmp_path / "damaged.npz", "--target", "image", "-o", folder, code=1))
