"""Names on the command line: which files are read, and where the ids of each go if the output is a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

import click

from fst.cli import remote
from fst.cli.packing import ending
from fst.cli.streams import STANDARD

NEW = {"ids": ".txt", "tokens": ".txt", "json": ".jsonl"}  # endings of outputs in a folder that are not the names of their forms


def named(names: Sequence[str]) -> tuple[str, ...]:
    """The files that names stand for.

    A folder stands for all files in it and in its folders, in the order of their names, but for hidden ones. A pattern such as
    ``books/**/*.jsonl``, which the shell was kept from reading, stands for the files that match it, if there are any.

    Raises:
        click.UsageError: a folder has no file.
    """
    return tuple(file for name in names for file in _files(name))


def _files(name: str) -> Sequence[str]:
    if remote.is_remote(name):
        return remote.files(name) or [name]
    path = Path(name)
    if path.is_dir():
        found = [str(file) for file in sorted(path.rglob("*")) if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    elif has_magic(name) and not path.exists():  # a file may have the name of a pattern
        found = sorted(glob(name, recursive=True))  # noqa: PTH207 - the name may be absolute, or begin with ..
    else:
        return [name]
    files = [file for file in found if Path(file).is_file()]
    if not files and path.is_dir():
        raise click.UsageError(f"{name}: there is no file in this folder")
    return files or [name]


def is_folder(output: str) -> bool:
    """Whether an output is a folder, to have a file for each input."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def outputs_in(folder: str, files: Sequence[str], form: str) -> list[str]:
    """The outputs in a folder: named as the inputs, with the ending of the form in place of theirs. The folder is made.

    Args:
        folder: the folder.
        files: the inputs.
        form: the form of the outputs.

    Raises:
        click.UsageError: an input has no name, or two have the same.
        OSError: the folder cannot be made.
    """
    if STANDARD in files:
        raise click.UsageError(f"{folder} is to have a file for each input, and standard input has no name; name a file with -o")
    if not remote.is_remote(folder):
        Path(folder).mkdir(exist_ok=True)
    new = NEW.get(form, f".{form}")
    found: dict[str, str] = {}
    for file in files:
        kind, packing = ending(file)
        stem = Path(file).stem if packing else Path(file).name
        output = f"{folder.removesuffix('/')}/{stem.removesuffix(Path(stem).suffix if kind else '')}{new}"
        if output in found:
            raise click.UsageError(f"{found[output]} and {file} would both be written to {output}; encode them one after the other")
        found[output] = file
    return list(found)
