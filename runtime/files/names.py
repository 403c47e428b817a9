"""Expand folders and patterns to file names."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from fst.core import remote
from fst.errors import ReadingError


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Expand names to files.

    A folder is replaced by all files in it and in its subfolders, sorted by name, except hidden files. A pattern, such as
    ``books/**/*.jsonl``, is replaced by the files that match it; without a match, the result contains the pattern. In a shell, put patterns
    in quotes.
    """
    return tuple(file for name in names for file in _files(remote.plain(name)))


def _files(name: str) -> Sequence[str]:
    if remote.is_remote(name):
        return remote.files(name) or [name]
    path = Path(name)
    if path.is_dir():
        found = [str(file) for file in sorted(path.rglob("*")) if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    elif has_magic(name) and not path.exists():  # an existing file may have wildcards in its name
        found = sorted(glob(name, recursive=True))  # noqa: PTH207 - the name may be absolute, or begin with ..
    else:
        return [name]
    files = [file for file in found if Path(file).is_file()]
    if not files and path.is_dir():
        raise ReadingError(f"folder {name} is empty; expected at least one file; name another folder")
    return files or [name]
