"""The files for the names of inputs: folders and patterns are expanded."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from fst.core import remote
from fst.errors import ReadingError


def named(names: Sequence[str]) -> tuple[str, ...]:
    """The files for names.

    A folder means all files in it and in its subfolders, in the order of their names, without hidden ones. A pattern such as
    ``books/**/*.jsonl``, quoted so that the shell does not expand it, means the files that match it, if there are any.

    Raises:
        ReadingError: a folder has no file.
    """
    return tuple(file for name in names for file in _files(remote.plain(name)))


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
        raise ReadingError(f"folder {name} is empty; expected at least one file; name another folder")
    return files or [name]
