"""The code of README and docs. As a program, it writes the Python code of each page to a file, for type checkers.

The Python blocks of a page form one module, because a block may use the names of earlier blocks. The folder also gets the settings of
pyright: its own defaults, without errors for libraries that are not installed.

    cd tests && python -m support.pages FOLDER
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from support.shared_data import REPOSITORY

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- excerpt: .*? -->\n+)?^```(python|py|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETTINGS = {"typeCheckingMode": "standard", "reportPossiblyUnboundVariable": "warning", "reportMissingImports": False}


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in a language, without excerpts from other files."""
    return [found[3] for found in BLOCK.finditer(page.read_text(encoding="utf-8")) if found[2] == language and not found[1]]


def write_modules(folder: Path) -> list[Path]:
    """Write a module for each page with Python code into a new folder; return the paths. Empty lines replace prose, so that the numbers of
    lines are those of the page.
    """
    folder.mkdir(parents=True)
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    written = []
    for page in PAGES:
        if blocks(page, "python"):
            written.append(folder / f"{page.stem.replace('-', '_').lower()}.py")
            written[-1].write_text(module_of(page), encoding="utf-8")
    return written


def module_of(page: Path) -> str:
    """The Python blocks of a page at their lines, without excerpts from other files; "py" marks a block that no test runs."""
    text, lines = page.read_text(encoding="utf-8"), list[str]()
    for found in BLOCK.finditer(text):
        if found[2] in ("python", "py") and not found[1]:
            lines += [""] * (text.count("\n", 0, found.start(3)) - len(lines))
            lines += found[3].splitlines()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_modules(Path(sys.argv[1]))
