"""The house rules: which folder imports which, what is imported when, and what is written down twice and must stay the same."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import fst
from fst import alphabet, proof, rows
from fst.compile.text import reference_characters
from fst.runtime import batch, fallback_added_tokens, machine, matching
from fst.runtime.kernels import wordpiece as kernels

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = {"fst": "fst", "compile": "fst.compile", "runtime": "fst.runtime", "cli": "fst.cli"}  # folder → package
MAY_IMPORT = {"fst": {"fst"}, "compile": {"fst", "compile"}, "runtime": {"fst", "runtime"}, "cli": set(FOLDERS)}
# What `import fst` fetches only when it is asked for, and what a process runs.
LATER = {("fst/__init__.py", "fst.runtime"), ("fst/__main__.py", "fst.cli")}
ONLY_IN = {
    "numba": {
        *("fst/jit.py", "fst/kernel_cache.py", "fst/borrowed.py"),
        *("runtime/kernels/intrinsics.py", "runtime/kernels/plain_intrinsics.py"),
    },
    "tokenizers": {"compile/text/reference_characters.py", "cli/against.py", "runtime/transformers/hf.py"},
    "huggingface_hub": {"compile/sources/hub.py"},
}

SOURCES = {
    path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for folder in FOLDERS
    for path in sorted((REPOSITORY / folder).rglob("*.py"))
}
MODULES = [
    ".".join([FOLDERS[folder], *parts]).removesuffix(".__init__")
    for folder, *parts in (name.removesuffix(".py").split("/") for name in SOURCES)
    if parts[-1] != "__main__"
]
TESTS = sorted(path for path in Path(__file__).parent.glob("test_*.py"))

each_source = pytest.mark.parametrize("name", SOURCES)


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a source imports, wherever it does: of ``from a import b`` both ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"line {node.lineno}: a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def folder_of(module: str) -> str | None:
    """Find the folder that a module of the package lies in."""
    parts = module.split(".")
    if parts[0] != "fst":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in FOLDERS else "fst"


def at_once(tree: ast.Module) -> ast.Module:
    """Leave out of a source what runs only in functions, or never."""

    class Remove(ast.NodeTransformer):
        def visit_FunctionDef(self, _node: ast.FunctionDef) -> None:
            return None

        def visit_If(self, node: ast.If) -> ast.AST | None:
            return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

    copy = ast.parse(ast.unparse(tree))
    Remove().visit(copy)
    return copy


@each_source
def test_imports_point_one_way(name: str) -> None:
    """The command line imports compiler and runtime, these the automaton, and none the other way round."""
    later = {module for file, module in LATER if file == name}
    for module in imports(SOURCES[name]):
        if not any(module == allowed or module.startswith(f"{allowed}.") for allowed in later):
            assert folder_of(module) is None or folder_of(module) in MAY_IMPORT[name.split("/")[0]], module


@pytest.mark.parametrize(("name", "module"), sorted(LATER))
def test_exceptions_are_imported_later(name: str, module: str) -> None:
    """What a lower folder takes from a higher one, it takes inside a function, or for type checkers alone."""
    assert any(imported.startswith(module) for imported in imports(SOURCES[name]))
    assert not any(imported.startswith(module) for imported in imports(at_once(SOURCES[name])))


@pytest.mark.parametrize("library", ["numba", "tokenizers"])
def test_libraries_have_one_place(library: str) -> None:
    """Numba is imported by what compiles, what keeps compiled kernels and what adds instructions, the reference by what asks it for
    characters, compares with it or stands in for it, and huggingface_hub by what fetches.
    """
    assert {name for name, tree in SOURCES.items() if library in {module.split(".")[0] for module in imports(tree)}} <= ONLY_IN[library]


@each_source
def test_only_the_command_line_imports_click(name: str) -> None:
    """Click is imported by the command line alone."""
    assert name.startswith("cli/") or "click" not in {module.split(".")[0] for module in imports(SOURCES[name])}


@pytest.mark.parametrize("module", ["fst", "fst.compile", "fst.runtime.tokenizer", "fst.npz"])
def test_imports_are_light(module: str) -> None:
    """Nothing that a user imports brings numba, click or the reference with it."""
    code = f"import sys, {module}; sys.exit(bool({{'numba', 'click', 'tokenizers'}} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_are_found() -> None:
    """What is imported late is shown by `dir`, by `help`, and by completion, before anything is imported."""
    code = "import fst, pydoc, sys; shown = dir(fst); numba = 'numba' in sys.modules; told = pydoc.plaintext.document(fst); "
    code += "sys.exit(numba or not all(name in shown and name in told for name in fst.__all__))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_encoding_imports_numba_alone() -> None:
    """A tokenizer that was loaded needs numba and no compiler."""
    code = "import fst, sys; fst.Tokenizer, fst.load; from fst.runtime.kernels import wordpiece; "
    code += "sys.exit('numba' not in sys.modules or any(name.startswith('fst.compile') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SAME = {
    "NEXT": rows.MAX_NEXT,
    "OUTPUT": rows.MAX_OUTPUT,
    "KIND_SHIFT": rows.KIND_SHIFT,
    "OUTPUT_SHIFT": rows.OUTPUT_SHIFT,
    "LABEL_SHIFT": rows.LABEL_SHIFT,
    "MANY": rows.MANY,
    "FAIL": rows.FAIL,
    "LIST": rows.LIST,
    "LAST_OUTPUT": rows.END,
    "ROOT": rows.ROOT,
    "STARTS_SPECIAL": rows.STARTS_SPECIAL,
    "HAS_MARKS": rows.HAS_MARKS,
    "CONTINUES_RUN": rows.CONTINUES_RUN,
    "LONGEST_WORD": rows.WORD_SYMBOLS,
    "NOT_PLAIN": machine.NOT_PLAIN,
    "SLACK": batch.SLACK,
    **{name: getattr(machine, name) for name in ("GRAMS", "BORDERS", "HAS_BORDERS", "INSIDE", "SHORTEST", "FILLER", "BLANK_CLASS")},
    **{name: getattr(machine, name) for name in ("KEPT", "COUNT", "OPEN", "BEFORE", "WORD")},
    **{name: getattr(fallback_added_tokens, name) for name in ("GRAM_MULTIPLIER", "OWN", "BEGINNING", "BORDER", "NO_SOURCE")},
    **{
        name: getattr(fallback_added_tokens, name)
        for name in ("WORD_PART", "BEGINS_WORD", "ENDS_WORD", "SPACED", "WHITE", "MIXED", "BEGINS_RAW")
    },
    **{name.upper(): flag for name, flag in fallback_added_tokens.FLAGS.items()},
    **{name: getattr(matching, name) for name in ("NO_NODE", "SKIP", "REST", "LENGTH", "VALUE", "ENDING", "LEAST", "IS_INNER")},
    **{name: getattr(fallback_added_tokens, name) for name in ("ENDS", "BEGINS", "IN_WORD", "CLEAR")},
}


@pytest.mark.parametrize("name", SAME)
def test_constants_of_kernels(name: str) -> None:
    """A constant that stands in the kernels, because machine code is kept by that file, is the one of the tables, or of the runtime."""
    value = getattr(kernels, name)
    assert int(value) == SAME[name]


def test_constants_that_kernels_derive() -> None:
    """The rare kinds have a bit in common, ranks fit the bits of a word, classes those of a symbol, and a page has 128 code points."""
    kinds = {kind for kind in range(4) if kind << rows.KIND_SHIFT & int(kernels.RARE)}
    assert kinds == {rows.MANY, rows.FAIL} == {rows.OTHER, rows.LIST}
    assert proof.MAX_RANK < 64
    assert int(kernels.CLASS) + 1 == 1 << int(kernels.RANK_SHIFT)
    assert int(kernels.CLASS) >= rows.MAX_LABEL
    assert int(kernels.LOW_7) + 1 == 1 << rows.PAGE_BITS == 1 << int(kernels.U7)


def test_multipliers_of_words_are_odd() -> None:
    """The multipliers of the hash are odd and have all bits of a word, and there is one for each four symbols."""
    assert all(number % 2 and number.bit_length() > 60 for number in rows.MULTIPLIERS)
    assert 4 * len(rows.MULTIPLIERS) == rows.WORD_SYMBOLS


def test_masks_of_words_keep_their_symbols() -> None:
    """The masks for a length keep so many symbols of a key, and those for all longer words make it one that no word has."""
    masks = machine.KEY_MASKS.reshape(-1, 4)
    assert len(masks) == int(kernels.LONGEST_WORD) + 2
    for length, mask in enumerate(masks[:-1]):
        assert mask[:3].view(np.uint16).tolist() == [0xFFFF] * length + [0] * (rows.WORD_SYMBOLS - length)
        assert mask[3] == 0
    assert masks[-1].tolist() == [0, 0, 0, 2**64 - 1]
    assert rows.MAX_LABEL <= 0xFFFF  # so that there is no class 0xFFFF


@pytest.mark.parametrize("longest", [0, 1, 12, 13, 100, 10_000, 10_001])
def test_chunks_have_room(longest: int) -> None:
    """A chunk takes the longest word that is looked up, what stands before it and what may be written past the limit."""
    work = machine.Workspace(longest, 64)
    symbols, masks, stops, scratch, events, active, results, state, slots, places, tokens, pieces, begins, *memos = work.arrays
    limit = work.room - int(kernels.BEYOND)
    assert limit >= longest + 2 + machine.CHUNK
    assert len(symbols) == work.room == 32 * len(masks)
    assert len(stops) == len(begins) == len(results) == len(slots) == len(places) == work.room
    assert len(scratch) == len(events) == len(active) == len(tokens) == len(pieces) == 2 * work.room
    assert state is work.state
    assert [len(memo) for memo in memos] == [3, 3]
    assert int(kernels.BEYOND) >= 64 + proof.MAX_LISTED + rows.WORD_SYMBOLS


def test_symbols_are_told_apart() -> None:
    """A symbol that is isolated is no code point."""
    assert alphabet.ISOLATED >= rows.CODE_POINTS


def test_characters_are_those_of_the_reference() -> None:
    """The file of characters is what the reference says of them today."""
    kept = files("fst.compile.text").joinpath("characters.tsv").read_text("ascii").splitlines()
    assert kept == list(reference_characters.lines())


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a docstring gives what it says."""
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(module), verbose=False)
    assert failed == 0


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_tests_state_their_rule(path: Path) -> None:
    """The docstring of every test is one sentence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            stated = ast.get_docstring(node) or ""
            assert re.fullmatch(r"(?s)((?!\. |\n\n).)+\.", stated), f"{node.name}: {stated!r}"


def test_version_is_one() -> None:
    """The version of the package is the version of the distribution."""
    assert version("fst-toolkit") == fst.__version__


def test_package_is_typed() -> None:
    """The package says that it has types."""
    assert files("fst").joinpath("py.typed").is_file()


def test_public_names_exist() -> None:
    """Every name that the package offers is there, and an unknown one is an AttributeError."""
    assert all(hasattr(fst, name) for name in fst.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fst.no_such_name
