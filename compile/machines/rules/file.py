"""Read a file of rewrite rules, one stage per line; or a file of strings and their replacements."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import exists
from fst.compile.machines.rules.compiler import cascade, rewrite, rewritten
from fst.compile.machines.rules.notation import check_definition
from fst.errors import FstWarning, UnsupportedError, VocabularyError, quoted
from fst.machines.rules.header import DIRECTIONS, SIMULTANEOUS
from fst.machines.rules.table import RulesTable

COMMENT, PARALLEL, MAPPING = "#", ",,", ".tsv"
DEFINITION = re.compile(r"(\w+)\s*=(.*)", re.DOTALL)
DIRECTED = re.compile(rf"({'|'.join(DIRECTIONS)})\s*:(.*)", re.DOTALL)
MAX_BYTES = 1 << 24  # maximum size of a file


class Line(NamedTuple):
    """A line that is neither empty nor a comment."""

    number: int
    text: str


def rules(path: str | Path) -> RulesTable:
    r"""Compile a file of rewrite rules into a cascade.

    Each line is a rule, as in `fst.compile.rewrite`, and reads the output of the line before. A line may contain several parallel rules,
    separated by ``,,``, and may begin with a direction, as in ``rtl: a -> b / _ b``. A line ``V = [aeiou]`` defines a name for the lines
    after it. Empty lines, and lines that begin with ``#``, are ignored.

    A file with the ending ``.tsv`` is a mapping instead: each line is a string, a tab, and the string that replaces it. Of equal strings,
    the first counts.

    Args:
        path: the file, in UTF-8.

    Raises:
        VocabularyError, UnsupportedError: as in `fst.compile.rewrite`; or the file has no rules, has more than 16 MiB, or is not UTF-8, or
            a line of a mapping does not have two columns. The message contains the file and the line. Or the argument is rules instead of a
            path.
        OSError: the file cannot be read.

    Warns:
        FstWarning: as in `fst.compile.rewrite`; the message contains the file and the line.

    Examples:
        >>> from pathlib import Path
        >>> import fst
        >>> _ = Path("spanish.rules").write_text("V = [aeiou]\nch -> tʃ ,, ll -> ʝ\nr -> ɾ / V _ V\nrr -> r\n", encoding="utf-8")
        >>> fst.Rewriter(rules("spanish.rules")).apply("chicharro caro")
        'tʃitʃaro caɾo'
    """
    _need_path(path)
    if Path(path).suffix == MAPPING:
        return rewrite(_mapping(Path(path)))
    stages, definitions, remarks = list[RulesTable](), dict[str, str](), list[str]()
    for line in _lines(Path(path)):
        place, found = f"{path}, line {line.number}", list[str]()
        with _named(place):
            if (defined := DEFINITION.fullmatch(line.text)) and "->" not in line.text:
                definitions[defined[1]] = defined[2].strip()
                _check_definition(defined[1], definitions, found)
            else:
                stages.append(_stage(line.text, definitions, found))
        remarks += (f"{place}: {remark}" for remark in found)
    if not stages:
        raise VocabularyError(f"{path} has no rules; expected lines such as 'a -> b / left _ right'")
    for remark in remarks:
        warnings.warn(remark, FstWarning, stacklevel=2)
    return cascade(*stages)


def _need_path(path: object) -> None:
    """Raise an error if the argument is a rule, or a collection of rules."""
    is_rule = isinstance(path, str) and "->" in path and not exists(path)
    if is_rule or not isinstance(path, str | PathLike):
        what = quoted(path) if is_rule else type(path).__name__
        instead = "compile a rule or a list of parallel rules with fst.compile.rewrite, and rules in turn with fst.compile.cascade"
        raise VocabularyError(f"the file of rules is {what}; expected a path; {instead}")


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Put the position of an error at the beginning of its message."""
    try:
        yield
    except (VocabularyError, UnsupportedError) as error:
        raise type(error)(f"{place}: {error}") from None


def _stage(text: str, definitions: dict[str, str], remarks: list[str]) -> RulesTable:
    directed = DIRECTED.fullmatch(text)
    direction, text = (directed[1], directed[2]) if directed else (SIMULTANEOUS, text)
    return rewritten(text.split(PARALLEL), "", "", direction, definitions, remarks)


def _mapping(path: Path) -> dict[str, str]:
    """The strings of a file with two columns."""
    found = dict[str, str]()
    for number, line in enumerate(_text_of(path).replace("\r\n", "\n").split("\n"), 1):
        columns = line.split("\t")
        if line and (len(columns) != 2 or not columns[0]):
            what = "a string, a tab, and the string that replaces it"
            raise VocabularyError(f"{path}, line {number}: the line is {quoted(line)}; expected {what}")
        if line:
            found.setdefault(*columns)
    if not found:
        raise VocabularyError(f"{path} has no strings; expected lines with two columns")
    return found


def _lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are neither empty nor comments."""
    for number, text in enumerate(_text_of(path).split("\n"), 1):
        stripped = text.strip()
        if stripped and not stripped.startswith(COMMENT):
            yield Line(number, stripped)


def _text_of(path: Path) -> str:
    """The text of a file."""
    data = path.read_bytes()
    if len(data) > MAX_BYTES:
        raise VocabularyError(f"{path} has {len(data):,} bytes; expected at most {MAX_BYTES:,}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{path} is not UTF-8 at byte {error.start}; convert it to UTF-8") from None


def _check_definition(name: str, definitions: dict[str, str], remarks: list[str]) -> None:
    """Compile a definition by itself, so that its errors name the definition's line."""
    if not definitions[name]:
        raise VocabularyError(f"the definition of {quoted(name)} is empty; expected a regular expression")
    remarks += check_definition(name, definitions)
    rewritten(f"{name} -> ", "", "", SIMULTANEOUS, definitions, remarks)
