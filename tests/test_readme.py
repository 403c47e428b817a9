"""README's Python: what it says can be pasted, and gives what it says."""

from __future__ import annotations

import ast
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
MARK = "# takes "  # begins a block that cannot run without what it names
SAID = re.compile(r"  # → (.*)$")


def is_run(block: str) -> bool:
    """Whether a block is not marked, and what it imports is installed."""
    modules = [name.name for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Import) for name in node.names]
    return not block.startswith(MARK) and all(find_spec(module) for module in modules)


def run(block: str, names: dict[str, Any]) -> None:
    """Run a block, and compare what its lines give with what is said beside them."""
    for statement in ast.parse(block).body:
        source = ast.unparse(statement)
        said = SAID.search(block.splitlines()[statement.end_lineno - 1] if statement.end_lineno else "")
        if said:
            assert repr(eval(source, names)) == said[1], source
        else:
            exec(source, names)


@pytest.mark.filterwarnings("default")  # libraries warn of themselves
def test_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks run one after the other where only the examples are, and their lines give what is said beside them."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in filter(is_run, BLOCKS):
        run(block, names)
    assert len(names["enc"]["input_ids"]) > 1


def test_few_blocks_are_marked() -> None:
    """Only what takes a model of its own is marked, and what is said beside lines is read."""
    assert sum(block.startswith(MARK) for block in BLOCKS) == 1
    assert sum(len(SAID.findall(line)) for block in BLOCKS for line in block.splitlines()) >= 5


def test_nothing_is_installed_by_a_name() -> None:
    """Nothing tells to install the package by its name, which no registry knows."""
    files = [path for folder in (".", "fst", "compile", "runtime", "cli", "examples") for path in (REPOSITORY / folder).glob("*.[mp][dy]")]
    assert len(files) > 60
    wrong = re.compile(r"pip install [^\n]*(?<![./\w])fst-toolkit")
    assert [path.name for path in files if wrong.search(path.read_text(encoding="utf-8"))] == []
