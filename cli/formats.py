"""How ids are spelled, and lines of text as rows of ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fst.cli.lines import Block
from fst.errors import TextError

if TYPE_CHECKING:
    from fst.tables import Tables


class Spellings(dict[int, str]):
    """How each id is written: as its token, and as a number where none is given. Numbers are spelled once each."""

    def __missing__(self, number: int) -> str:
        self[number] = str(number)
        return self[number]


def names(tables: Tables) -> Spellings:
    """The tokens of tables by their ids."""
    return Spellings(zip(tables.token_ids.tolist(), tables.tokens, strict=True))


def rows(block: Block) -> Iterator[list[int]]:
    """The ids of each line: numbers separated by blanks, or a JSON object that holds them.

    Raises:
        TextError: a line is neither.
    """
    row = -1
    try:
        for row, line in enumerate(block.lines):  # noqa: B007 - the handler tells it
            yield _of_json(line) if line.lstrip().startswith(b"{") else list(map(_number, line.split()))
    except (ValueError, RecursionError) as error:
        raise TextError(f"{block.place(row)}: {error}; a line is what `fst encode` writes with --format ids or json") from None


def _of_json(line: bytes) -> list[int]:
    try:
        found = json.loads(line)
    except ValueError:
        raise ValueError("not JSON") from None
    ids = found.get("ids") if isinstance(found, Mapping) else None
    if not isinstance(ids, list) or not all(type(number) is int and number >= 0 for number in ids):
        raise ValueError('no "ids" that are a list of ids')
    return ids


def _number(word: bytes) -> int:
    if not word.isdigit():  # int() takes more for a number than this program writes: 1_000, +5
        raise ValueError(f"{word.decode('utf-8', 'replace')[:40]!a} is no id")
    return int(word)
