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


def functions_of_math() -> set[str]:
    """The functions of the module `math` that compiled functions use."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for _, path in _modules()]
    return {name for tree in trees for function in _functions(tree) for name in _of_math(tree, function)}


def _modules() -> Iterator[tuple[str, Path]]:
    """The name and the file of each module."""
    for folder, package in FOLDERS.items():
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield ".".join([package, *path.relative_to(REPOSITORY / folder).with_suffix("").parts]).removesuffix(".__init__"), path


def _compiled(path: Path) -> Iterator[str]:
    """The names of the compiled functions in a file."""
    return (function.name for function in _functions(ast.parse(path.read_text(encoding="utf-8"))))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The compiled functions of a module."""
    for function in tree.body:
        decorators = {ast.unparse(each).split("(")[0] for each in getattr(function, "decorator_list", ())}
        if isinstance(function, ast.FunctionDef) and decorators & DECORATORS:
            yield function


def _of_math(tree: ast.Module, function: ast.FunctionDef) -> Iterator[str]:
    """The functions of the module `math` that a function uses, by their own names or as attributes."""
    imports = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "math"]
    names = {alias.name for each in imports for alias in each.names}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math":
            yield node.attr
