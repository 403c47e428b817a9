"""Draw random sentences from the prose of the project, so that a reader can mark those that must be read twice.

    python tests/bench/prose.py --seed 7 --count 100

Prose is docstrings, comments, messages, help texts, README, CHANGELOG, CONTRIBUTING and the pages in docs. Strings in tests and the log of
measurements are excluded.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("cli", "compile", "examples", "fst", "runtime", "tests")
MIN_WORDS = 4
END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`*(\"\[])")
FENCE = re.compile(r"^```.*?^```|^<!--.*?-->|^:::.*?$|^\|[ :|-]+\|$|\A---.*?^---$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^ *(?:>>>|\.\.\. ).*$", re.MULTILINE)
ITEM_OF_PAGE = re.compile(r"^\s*(?:[-*] |\d+\. |\||#+ )")
ITEM_OF_DOCSTRING = re.compile(r"^\s*(?:[-*] |\d+\. |[\w*`]+(?:, [\w*`]+)*(?: \([^)]*\))?: |[A-Z]\w+:$)")
DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|mypy|ruff|!|-\*-)")


class Sentence(NamedTuple):
    """A sentence and its position as `path:line`."""

    place: str
    text: str


def sentences() -> Iterator[Sentence]:
    """Yield all sentences of the project."""
    for path in sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]):
        yield from split(path, parts_of_page(path.read_text(encoding="utf-8")))
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield from split(path, parts_of_source(path.read_text(encoding="utf-8"), with_messages=folder != "tests"))


def split(path: Path, parts: Iterator[tuple[int, str]]) -> Iterator[Sentence]:
    """Split the paragraphs of a file, each with its line, into sentences."""
    for line, paragraph in parts:
        for text in END.split(" ".join(paragraph.split())):
            if sum(any(map(str.isalpha, word)) for word in text.split()) >= MIN_WORDS:
                yield Sentence(f"{path.relative_to(REPOSITORY)}:{line}", text)


def parts_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each paragraph, item and row of a page, without code blocks."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    yield from blocks(text, 1, ITEM_OF_PAGE)


def parts_of_source(source: str, *, with_messages: bool) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring paragraph, comment, message and help text of a source."""
    tree = ast.parse(source)
    inner = set[int]()  # ids of docstrings, and of the parts of f-strings
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            first = node.body[0]
            inner.add(id(getattr(first, "value", None)))
            yield from blocks(EXAMPLE.sub("", text), first.lineno, ITEM_OF_DOCSTRING)
        elif isinstance(node, ast.JoinedStr):
            inner |= set(map(id, ast.walk(node))) - {id(node)}
    strings = (node for node in ast.walk(tree) if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in inner)
    if with_messages:
        yield from ((node.lineno, text) for node in strings if " " in (text := message(node)))
    yield from comments(source)


def blocks(text: str, line: int, item: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield paragraphs and items; an item begins with a match of `item`."""
    begin, found = line, list[str]()
    for number, row in enumerate([*text.split("\n"), ""], line):
        if found and (not row.strip() or item.match(row)):
            yield begin, " ".join(found)
            found = []
        if row.strip():
            begin = begin if found else number
            found.append(row.strip())


def message(node: ast.JoinedStr | ast.Constant) -> str:
    """The text of a string, with `{…}` for its values; empty for other constants."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values)


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments, joining full-line comments on consecutive lines."""
    begin, last, found = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not DIRECTIVE.match(token.string):
            if found and (token.start[0] != last + 1 or not token.line.lstrip().startswith("#")):
                yield begin, " ".join(found)
                found = []
            begin, last = begin if found else token.start[0], token.start[0]
            found.append(token.string.lstrip("# "))
    if found:
        yield begin, " ".join(found)


def main() -> None:
    """Print numbered sentences with their positions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    found = list(sentences())
    drawn = random.Random(options.seed).sample(found, min(options.count, len(found)))
    for number, sentence in enumerate(drawn, 1):
        print(f"{number:3}  {sentence.text}\n     {sentence.place}")


if __name__ == "__main__":
    main()
