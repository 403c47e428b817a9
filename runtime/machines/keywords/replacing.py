"""Replace matches in many texts by kernels, which read all texts and all replacements, concatenated, in UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.errors import TextError, quoted
from fst.runtime.rows.strings import ends_of, strings_of
from fst.runtime.rows.texts import Bytes, Ints
from fst.runtime.workspace import Ids

Replacements = str | Sequence[str] | Mapping[str, str]

measure, write = (Deferred("fst.runtime.machines.keywords.kernels.replacing", name) for name in ("measure", "write"))


class Found(NamedTuple):
    """The matches in rows of text.

    Attributes:
        ids: int32[matches], the number of each match's keyword.
        offsets: int32[matches, 2], the first character of each match in its row, and one past its last character.
        row_splits: int64[rows + 1], the index of the first match of each row, and the number of matches.
    """

    ids: Ids
    offsets: Ids
    row_splits: Ints


class Chosen(NamedTuple):
    """Matches with the replacement that was chosen for each match.

    Attributes:
        found: the matches.
        numbers: int32[matches], the number of each match's replacement.
        data: uint8[n], the replacements in UTF-8, concatenated.
        ends: int64[replacements + 1], the start of each replacement in `data`, and the end of the last replacement.
    """

    found: Found
    numbers: Ids
    data: Bytes
    ends: Ints


def check_replacements(by: Replacements, keywords: int) -> None:
    """Check the type of replacements; check that a list has one item for each keyword."""
    if isinstance(by, bytes | bytearray) or not hasattr(by, "__getitem__"):
        raise TypeError(f"by is {type(by).__name__}; expected a str, a list, a dict or a function; to remove matches, pass ''")
    if not isinstance(by, str | Mapping) and len(by) != keywords:
        raise ValueError(f"by has {len(by)} replacements; expected {keywords}, one for each keyword")


def chosen(by: Replacements, found: Found, keywords: Sequence[str]) -> Chosen:
    """Choose the replacement of each match by its keyword. Only replacements of keywords with a match are read."""
    if isinstance(by, str):
        return _chosen(found, np.zeros(len(found.ids), np.int32), [by])
    different, ranks = _ranked(found.ids, len(keywords))
    if not isinstance(by, Mapping):
        return _chosen(found, ranks, [by[number] for number in different])
    is_known = np.array([keywords[number] in by for number in different], bool)
    is_replaced = is_known[ranks]
    numbers = (np.cumsum(is_known, dtype=np.int32) - 1)[ranks[is_replaced]]
    return _chosen(_some(found, is_replaced), numbers, [by[keywords[number]] for number in different if keywords[number] in by])


def _some(found: Found, is_kept: NDArray[np.bool_]) -> Found:
    """Return only the matches whose element of `is_kept` is True."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept, dtype=np.int64)])
    return Found(found.ids[is_kept], found.offsets[is_kept], before[found.row_splits])


def _ranked(ids: Ids, count: int) -> tuple[list[int], Ids]:
    """Return the distinct ids in ascending order, and the index of each element of `ids` in this list."""
    if count > 4 * len(ids):
        different, ranks = np.unique(ids, return_inverse=True)
        return different.tolist(), ranks.astype(np.int32)
    is_there = np.zeros(count, bool)
    is_there[ids] = True
    return np.flatnonzero(is_there).tolist(), (np.cumsum(is_there, dtype=np.int32) - 1)[ids]


def in_utf_8(replacement: str) -> bytes:
    """Encode a replacement to UTF-8."""
    if not isinstance(replacement, str):
        raise TextError(f"the replacement {quoted(replacement)} is {type(replacement).__name__}; expected a str")
    try:
        return replacement.encode()
    except UnicodeEncodeError as error:
        raise TextError(f"the replacement {quoted(replacement)} is not text: a lone surrogate at character {error.start}") from None


def _chosen(found: Found, numbers: Ids, texts: Sequence[str]) -> Chosen:
    spelled = list(map(in_utf_8, texts))
    return Chosen(found, numbers, np.frombuffer(b"".join(spelled), np.uint8), ends_of(spelled))


def replaced_rows(text: Bytes, starts: Ints, by: Chosen) -> tuple[Ints, Callable[[], Bytes]]:
    """Replace the matches in rows of UTF-8. Return the sizes of the new rows, and make the rows only on request.

    Args:
        text: uint8[n], the rows, concatenated.
        starts: int64[rows + 1], the start of each row, and the end of the last row.
        by: the matches of these rows, and their replacements.

    Returns:
        int64[rows + 1], the start of each new row, and the end of the last new row; and a function that returns the new rows, concatenated,
        as uint8[n].
    """
    splits, ends = by.found.row_splits, np.zeros(len(starts), np.int64)
    places, offsets = np.empty(2 * len(by.numbers), np.int64), np.ascontiguousarray(by.found.offsets).reshape(-1)
    measure.call(text, starts, splits, offsets, by.numbers, by.ends, places, ends[1:])

    def make() -> Bytes:
        out = np.empty(ends.item(-1), np.uint8)
        write.call(text, starts, splits, places, by.numbers, by.data, by.ends, out)
        return out

    return ends, make


def replaced_strings(texts: Sequence[str], by: Chosen) -> list[str]:
    """Replace the matches in each str. For a str without a match, the result contains the same object."""
    rows, splits = [*texts], by.found.row_splits
    changed = np.flatnonzero(np.diff(splits))
    spelled = [texts[row].encode() for row in changed.tolist()]
    found = by.found._replace(row_splits=np.concatenate([splits[changed], splits[-1:]]))
    ends, make = replaced_rows(np.frombuffer(b"".join(spelled), np.uint8), ends_of(spelled), by._replace(found=found))
    for row, text in zip(changed.tolist(), strings_of(make(), ends), strict=True):
        rows[row] = text
    return rows
