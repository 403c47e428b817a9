"""A hook of MkDocs. Pages and sources have the same paths on the site as in the repository, so that each relative link works in both."""

from __future__ import annotations

from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDERS = ("cli", "compile", "docs", "examples", "fst", "runtime", "tests")
SUFFIXES = (".md", ".png", ".py", ".toml", ".yaml", ".yml")

griffe.stdlib_decorators["fst.core.lazy.Lazy"] = {"cached", "property"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the theme, and the pages and sources of the whole repository."""
    repository = Path(config.config_file_path).parent
    found = [path for folder in FOLDERS for path in (repository / folder).rglob("*") if path.suffix in SUFFIXES]
    paths = [*repository.glob("*.md"), *sorted(found)]
    theme = [file for file in files if file.src_dir != config.docs_dir]
    return Files([*theme, *(File.generated(config, path.relative_to(repository).as_posix(), abs_src_path=str(path)) for path in paths)])
