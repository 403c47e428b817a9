"""In README, CONTRIBUTING and docs, every link has a target, the API page contains every public name, and excerpts are exact. In all prose,
dotted names exist.
"""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import REPOSITORY

import fst
import fst.compile

PAGES = [*(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
API = REPOSITORY / "docs" / "api.md"
MAX_README = 600  # number of words
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
DOTTED = re.compile(r"`(fst(?:\.\w+)+)(?:\(\))?`")
FILES = {"fst.c", "fst.d.ts", "fst.h", "fst.js", "fst.o", "fst.wasm"}  # of an export
PAST = REPOSITORY / "tests" / "bench" / "LOG.md"  # an entry keeps the names of its day
FOLDERS = ("fst", "compile", "runtime", "cli", "examples", "tests")
EXCERPT = re.compile(r"^<!-- excerpt: (\S+) -->\n+```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, in GitHub's format."""
    titles = (title.lower() for title in HEADING.findall(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    """The links of a page to files and headings of this repository."""
    return [link for link in LINK.findall(CODE.sub("code", prose(page))) if not link.startswith(("https://", "http://"))]


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether the file of a link exists, and contains the heading that the link names."""
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


def excerpts() -> list[tuple[str, str, str]]:
    """The page, the file and the text of each code block after an excerpt comment."""
    return [(page.name, *found) for page in PAGES for found in EXCERPT.findall(page.read_text(encoding="utf-8"))]


def test_readme_is_short() -> None:
    """README has at most 600 words, including code and tables."""
    assert len(PAGES[0].read_text(encoding="utf-8").split()) <= MAX_README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link leads to an existing file, and to an existing heading in it."""
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_links_are_found() -> None:
    """`links` finds the links of the pages, and `leads_somewhere` is false for a missing file and for a missing heading."""
    found = [link for page in PAGES for link in links(page)]
    assert len(found) > 60
    assert sum("#" in link for link in found) > 10
    assert not leads_somewhere(PAGES[0], "docs/nowhere.md")
    assert not leads_somewhere(PAGES[0], "docs/figures.md#nowhere")


def test_every_page_is_linked() -> None:
    """README, or a page that can be reached from it, links to every page in docs."""
    reached, waiting = set[Path](), [PAGES[0]]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
        waiting += [target for target in targets if target.suffix == ".md" and target.exists() and target not in reached]
    assert {page.name for page in PAGES} - {page.name for page in reached} == set()


def test_excerpts_are_literal() -> None:
    """A code block after a comment `excerpt: FILE` occurs in this file, except for its indentation."""
    found = excerpts()
    assert found
    for page, name, block in found:
        source = (REPOSITORY / name).read_text(encoding="utf-8")
        assert any(indented(block, depth) in source for depth in (0, 4, 8)), f"{page}: not in {name}:\n{block}"


def indented(block: str, depth: int) -> str:
    """A code block in which all lines except empty ones are indented."""
    return "".join(" " * depth + line if line.strip() else line for line in block.splitlines(keepends=True))


def documented() -> list[str]:
    """The names that docs/api.md documents."""
    return re.findall(r"^::: (\S+)$", API.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_public_name_is_documented() -> None:
    """The API page contains every public name, and no name that does not exist."""
    expected = {f"fst.{name}" for name in fst.__all__} | {f"fst.compile.{name}" for name in fst.compile.__all__ if name != "lattice"}
    assert not expected - set(documented())
    assert all(pydoc.locate(name) for name in documented())


def references() -> dict[str, str]:
    """The dotted names between backticks in sources and pages, with the last file that contains each."""
    inside = (path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.*"))
    files = [*PAGES, *(path for path in inside if path.suffix in (".py", ".md") and path != PAST)]
    return {name: str(path) for path in files for name in DOTTED.findall(path.read_text(encoding="utf-8")) if name not in FILES}


def is_name(dotted: str) -> bool:
    """Whether a dotted name is that of a module, or of a member of a module or class; attributes of instances are members."""
    owner, _, member = dotted.rpartition(".")
    if pydoc.locate(dotted) is not None:
        return True
    found: Any = pydoc.locate(owner)
    return inspect.isclass(found) and re.search(rf"\bself\.{member}\b|^    {member}: ", inspect.getsource(found), re.MULTILINE) is not None


@pytest.mark.slow
def test_dotted_names_exist() -> None:
    """Every dotted name of this package that prose contains between backticks is that of a module or of its member."""
    found = references()
    assert len(found) > 400
    assert {name: path for name, path in found.items() if not is_name(name)} == {}
    assert not is_name("fst.Tokenizer.nothing")
    assert not is_name("fst.nothing")
