"""Format ids as text, and parse lines of ids."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.runtime.files.lines import Block

if TYPE_CHECKING:
    from fst.cli.tables import TokenizerTable

IDS, TOKENS, OFFSETS = "input_ids", "tokens", "offset_mapping"  # names of JSON fields, and of columns in Arrow and Parquet


class Spellings(dict[int, str]):
    """A mapping from ids to tokens; an id without a token maps to its decimal number."""

    def __missing__(self, number: int) -> str:
        self[number] = str(number)
        return self[number]


def names(table: TokenizerTable) -> Spellings:
    """The mapping from the ids of a table to its tokens."""
    return Spellings(zip(table.token_ids.tolist(), table.tokens, strict=True))


class Decimals:
    r"""A formatter of ids as decimal numbers, by array operations. An array contains the digits of each id in eight bytes; unused bytes are
    zero, and are removed from the result.

    Args:
        count: a number greater than all ids.

    Examples:
        >>> Decimals(30).lines(np.array([7, 21, 9], np.int32), np.array([2, 2, 3]), is_begun=False)
        b'7 21\n\n9\n'
    """

    def __init__(self, count: int) -> None:
        digits = np.arange(count).astype("S8").view("<u8")  # at most seven digits, since ids have 22 bits
        self._count = count
        self._spellings = np.concatenate([digits, digits << 8 | ord(" "), np.array([ord("\n")], "<u8")])

    def lines(self, ids: NDArray[np.int32], ends: NDArray[np.int64], is_begun: bool) -> bytes:
        """Format rows of ids as lines. `ids`: int32[n], the ids of all rows in order. `ends`: int64[rows], the end of each row in `ids`;
        ids after the last end belong to an unfinished row. `is_begun`: whether the first row continues the unfinished row of the previous
        call.
        """
        numbers = np.insert(ids + self._count, ends, 2 * self._count)
        firsts = np.append(0 if not is_begun else [], ends + np.arange(1, len(ends) + 1)).astype(np.int64)
        firsts = firsts[firsts < len(numbers)]
        numbers[firsts[numbers[firsts] < 2 * self._count]] -= self._count
        return self._spellings[numbers].tobytes().translate(None, b"\0")


def rows(block: Block, known: Container[int]) -> Iterator[list[int]]:
    """Yield the ids of each line: numbers separated by spaces, or a JSON object with ids. `known`: the ids of the table."""
    row = -1
    try:
        for row, line in enumerate(block.lines):  # noqa: B007 - the error message contains the row
            ids = _of_json(line) if line.lstrip().startswith(b"{") else list(map(_number, line.split()))
            unknown = next((number for number in ids if number not in known), None)
            if unknown is not None:
                raise ValueError(f"{unknown} is not an id of this table")
            yield ids
    except (ValueError, RecursionError) as error:
        raise TextError(f"{block.place(row)}: {error}; expected a line of `fst encode` with --format ids or json") from None


def _of_json(line: bytes) -> list[int]:
    try:
        found = json.loads(line)
    except ValueError:
        raise ValueError("not JSON") from None
    ids = found.get(IDS, ()) if isinstance(found, Mapping) else ()
    if ids is None:  # the document was null, so the object has null in place of ids
        return []
    if not isinstance(ids, list) or not all(type(number) is int and number >= 0 for number in ids):
        raise ValueError(f'no "{IDS}" with a list of ids')
    return ids


def _number(word: bytes) -> int:
    if not word.isdigit():  # `int` also accepts forms that this program never writes, such as 1_000 and +5
        raise ValueError(f"{word.decode('utf-8', 'replace')[:40]!a} is not an id")
    return int(word)
