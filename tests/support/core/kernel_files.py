"""List the functions of the package that `fst.core.jit` compiles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from support.shared_data import REPOSITORY

FOLDERS = {"fst": "fst", "compile": "fst.compile", "runtime": "fst.runtime"}  # folder → package
DECORATORS = {"kernel", "object_kernel", "part", "inlined"}


def kernel_modules() -> list[str]:
    """The modules with compiled functions."""
    return [name for name, path in _modules() if any(_compiled(path))]


def kernels_in_files() -> Iterator[tuple[str, str]]:
    """The module and the name of each compiled function."""
    yield from ((name, function) for name, path in _modules() for function in _compiled(path))


def _modules() -> Iterator[tuple[str, Path]]:
    """The name and the file of each module."""
    for folder, package in FOLDERS.items():
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield ".".join([package, *path.relative_to(REPOSITORY / folder).with_suffix("").parts]).removesuffix(".__init__"), path


def _compiled(path: Path) -> Iterator[str]:
    """The names of the compiled functions in a file."""
    for function in ast.parse(path.read_text(encoding="utf-8")).body:
        decorators = {ast.unparse(each).split("(")[0] for each in getattr(function, "decorator_list", ())}
        if isinstance(function, ast.FunctionDef) and decorators & DECORATORS:
            yield function.name
