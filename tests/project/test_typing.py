"""Type checkers know the types of all public names, and `dir` shows only these names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fst
from fst.compile import keywords, lattice, maxmatch, wordpiece

TABLES: dict[str, Any] = {
    "Tokenizer": lambda: wordpiece(["[UNK]", "a"]),
    "Searcher": lambda: keywords(["a"]),
    "Segmenter": lambda: maxmatch(["a"]),
    "JiebaSegmenter": lambda: lattice.jieba([("a", 1)]),
}
MODULES = (
    *("fst", "fst.compile", "fst.compile.lattice", "fst.outlines", "fst.sentencepiece", "fst.sglang", "fst.tiktoken", "fst.train"),
    "fst.vllm",
)


@pytest.mark.parametrize("name", TABLES)
def test_loading_states_the_class(name: str, tmp_path: Path) -> None:
    """Each public class loads its own tables; the error for a table of another class names the kind of this table."""
    table = TABLES[name]()
    table.save(tmp_path / "table.npz")
    for other in TABLES:
        public = getattr(fst, other)
        if issubclass(getattr(fst, name), public):
            assert isinstance(public.load(tmp_path / "table.npz"), getattr(fst, name))
            continue
        message = f"the table is of kind '{table.kind}'; expected a table of {other}; pass it to fst."
        with pytest.raises(fst.UnsupportedError, match=message):
            public(table)
        with pytest.raises(fst.UnsupportedError, match=f"table.npz: {message}"):
            public.load(tmp_path / "table.npz")


@pytest.mark.parametrize("name", TABLES)
def test_other_objects_are_no_tables(name: str) -> None:
    """A public class refuses an object that is not a table, and the message contains a remedy."""
    for other in ("table.npz", getattr(fst, name)(TABLES[name]())):
        if name == "Tokenizer":
            continue  # this class takes tokenizers in any form, see tests/compat/test_doors.py
        message = rf"the table is {type(other).__name__}; expected a table of fst\.compile.*; to load a file, call fst\.{name}\.load"
        with pytest.raises(TypeError, match=message):
            getattr(fst, name)(other)


def test_any_file_is_loaded_as_its_class(tmp_path: Path) -> None:
    """`fst.load` returns an object of the public class for the kind of the file."""
    for name, compiled in TABLES.items():
        compiled().save(tmp_path / "table.npz")
        assert isinstance(fst.load(tmp_path / "table.npz"), getattr(fst, name))


@pytest.mark.parametrize("module", MODULES)
def test_dir_shows_public_names_alone(module: str) -> None:
    """`dir` of a public module shows only its public names."""
    found = import_module(module)
    assert dir(found) == sorted([*found.__all__, *(["compile"] if module == "fst" else [])])


def test_load_refuses_tables_of_other_classes(tmp_path: Path) -> None:
    """`fst.load` with a class loads only tables of this class and its subclasses; the error for another table names the table's class."""
    for name, compiled in TABLES.items():
        compiled().save(tmp_path / "table.npz")
        for other in TABLES:
            public = getattr(fst, other)
            if issubclass(getattr(fst, name), public):
                assert type(fst.load(tmp_path / "table.npz", public)) is type(fst.load(tmp_path / "table.npz"))
            else:
                with pytest.raises(fst.UnsupportedError, match=f"table.npz: the table is of kind .*; expected a table of {other}"):
                    fst.load(tmp_path / "table.npz", public)


@pytest.mark.parametrize("other", [str, fst.Batch, "Tokenizer", fst.Tokenizer.load])
def test_load_refuses_other_classes(other: Any) -> None:
    """`fst.load` refuses a class without tables, or an object that is not a class, before it reads the file."""
    with pytest.raises(TypeError, match=r"expected is .*; expected a class with tables, such as fst\.Tokenizer"):
        fst.load("missing.npz", other)
