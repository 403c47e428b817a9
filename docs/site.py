"""Hooks of MkDocs. Pages and sources have the same paths on the site as in the repository, so that each relative link works in both; and
``llms.txt`` lists the pages for language models.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

FOLDERS = ("cli", "compile", "docs", "examples", "fst", "runtime", "tests")
UNREAD = ("CHANGELOG.md", "tests/bench/LOG.md")  # pages of the site that are not part of llms-full.txt
SUFFIXES = (".md", ".png", ".py", ".toml", ".yaml", ".yml")

griffe.stdlib_decorators["fst.core.lazy.Lazy"] = {"cached", "property"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the theme, and the pages and sources of the whole repository."""
    repository = Path(config.config_file_path).parent
    found = [path for folder in FOLDERS for path in (repository / folder).rglob("*") if path.suffix in SUFFIXES]
    paths = [*repository.glob("*.md"), *sorted(found)]
    theme = [file for file in files if file.src_dir != config.docs_dir]
    return Files([*theme, *(File.generated(config, path.relative_to(repository).as_posix(), abs_src_path=str(path)) for path in paths)])


def on_nav(nav: Navigation, config: MkDocsConfig, **_: Any) -> None:
    """Keep the navigation for `on_post_build`."""
    config.extra["nav"] = nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write an index of all pages for language models, ``llms.txt``, and the text of the pages for users, ``llms-full.txt``."""
    nav: Navigation = config.extra["nav"]
    index, texts = [f"# {config.site_name}\n\n> {config.site_description}\n"], list[str]()
    for item in nav.items:
        pages = item.children if isinstance(item, Section) else [item]
        index += [f"\n## {item.title}\n\n"] if isinstance(item, Section) else ["\n"]
        index += [f"- [{page.title}]({page.url}): {first_sentence(page.markdown)}\n" for page in pages if isinstance(page, Page)]
        texts += [page.markdown for page in pages if isinstance(page, Page) and page.file.src_uri not in UNREAD]
    Path(config.site_dir, "llms.txt").write_text("".join(index), encoding="utf-8")
    Path(config.site_dir, "llms-full.txt").write_text("\n\n".join(texts), encoding="utf-8")


def first_sentence(page: str) -> str:
    """The first sentence of a page after its title, as plain text."""
    paragraphs = (part for part in re.split(r"\n\s*\n", page) if part.strip() and not part.lstrip().startswith(("#", "<", "|", "!", "```")))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(next(paragraphs, "").split()))
    return re.split(r"(?<=[.?])\s", text)[0].rstrip(":")
