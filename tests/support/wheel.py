"""The files of the repository of which a wheel is built."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns

from support.shared_data import REPOSITORY

FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def copied(folder: Path) -> Path:
    """Copy these files, without native code, to a new folder; return it."""
    for name in ("fst", "compile", "runtime", "cli"):
        copytree(REPOSITORY / name, folder / name, ignore=ignore_patterns("__pycache__", "*.so", "manifest.json"))
    for name in FILES:
        copyfile(REPOSITORY / name, folder / name)
    return folder
