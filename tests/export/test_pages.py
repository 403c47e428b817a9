"""The programs on the pages about exported tables give the results that are shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.hosts import needs_c, needs_node
from support.shared_data import REPOSITORY

pytestmark = pytest.mark.slow

BROWSER, NATIVE, WORDS = (
    (REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("in-the-browser", "in-c-swift-kotlin-go", "words-and-rules-without-python")
)
RESULT = re.compile(r"^(.*?);\s+// → (.*)$", re.MULTILINE)
TYPED = re.compile(r"\w+Array ")
CHECK = """import { deepStrictEqual } from "node:assert";
const plain = (value) => (ArrayBuffer.isView(value) ? [...value] : value);
const check = (found, expected) => deepStrictEqual(plain(found), expected);
"""


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def run(command: str, folder: Path) -> str:
    """The output of a command in a folder."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_javascript(code: str, folder: Path) -> None:
    """Run a module, and compare its results with the results that it shows."""
    checked = RESULT.sub(lambda line: f"check({line[1]}, {TYPED.sub('', line[2])});", code)
    assert checked.count("check(") == code.count("// →") > 0
    (folder / "page.mjs").write_text(CHECK + checked, encoding="utf-8")
    run("node page.mjs", folder)


@needs_node
def test_javascript_runs_in_order(english: Path) -> None:
    """The `js` blocks of a page form one module for Node.js, and its lines give the results that the page shows."""
    run_javascript("".join(blocks(BROWSER, "js")), english)


@needs_node
def test_views_of_larger_arrays_are_read(english: Path) -> None:
    """An image and a module may be parts of a larger array."""
    (english / "views.mjs").write_text(
        """
import { readFileSync } from "node:fs";
import { load } from "./english-js/fst.js";
const inside = (name) => new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, ...readFileSync(`english-js/${name}`), 9]).subarray(8, -1);
const tok = await load(inside("table.fst"), { wasm: inside("fst.wasm") });
console.log(tok.encode("unaffable").join(" "), new TextDecoder().decode(tok.tokenBytes(2895)), tok.tokenBytes(-1), tok.tokenBytes(1e9));
""",
        encoding="utf-8",
    )
    assert run("node views.mjs", english) == "2 345 2895 440 3 aff null null\n"


@needs_c
@pytest.mark.parametrize(("language", "file", "tool"), [("c", "program.c", "cc"), ("go", "main.go", "go")])
def test_programs_print_what_is_shown(english: Path, tmp_path: Path, language: str, file: str, tool: str) -> None:
    """The commands after a program on a page build and run the program, which prints the text after the commands."""
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    for name in ("fst.h", "fst.c", "fst.o", "table.fst"):
        shutil.copy(english / "english-c" / name, tmp_path)
    [code] = blocks(NATIVE, language)
    (tmp_path / file).write_text(code, encoding="utf-8")
    after = NATIVE[NATIVE.index(code) :]
    [command, *_], [shown, *_] = blocks(after, "bash"), blocks(after, "text")
    environment = f"export GOCACHE={tmp_path / 'cache'} GOFLAGS=-modcacherw\n"
    assert run(environment + command, tmp_path).removeprefix("go: ") == shown


@needs_c
@needs_node
def test_each_section_about_words_runs(tmp_path: Path) -> None:
    """In each section, the commands make tables and exports, modules give the results that the page shows, and programs print the text."""
    path = f"export PATH={Path(sys.executable).parent}:$PATH\n"
    for section in WORDS.split("\n## ")[1:]:
        commands, modules, programs = (blocks(section, language) for language in ("bash", "js", "c"))
        run(path + commands[0], tmp_path)
        for code in modules:
            run_javascript(code, tmp_path)
        for code, command, shown in zip(programs, commands[1:], blocks(section, "text"), strict=True):
            (tmp_path / "program.c").write_text(code, encoding="utf-8")
            assert run(command, tmp_path) == shown
