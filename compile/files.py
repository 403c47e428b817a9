"""Read the files of a vocabulary: UTF-8 text or JSON, possibly packed with gzip. The size is limited, because files are not trusted."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

from fst.core import regular_files
from fst.core.json_numbers import reference_float
from fst.errors import VocabularyError, cut

MAX_SOURCE_BYTES = 1 << 28
GZIP = b"\x1f\x8b"
_WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS


def exists(path: str | Path) -> bool:
    """Whether a path is the path of a file or folder; False for a str that is too long or invalid as a path."""
    return os.path.exists(path)  # noqa: PTH110 - `Path.exists` raises an error for such a str


def read_text(path: Path, *, drop_mark: bool = False) -> str:
    """The text of a file, unpacked if the file is packed with gzip.

    Args:
        path: the file.
        drop_mark: drop a byte-order mark at the beginning; False: refuse it.
    """
    data = contents(path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise VocabularyError(f"{path}, line {line}: byte {error.start} is not UTF-8; if the file is text, save it as UTF-8") from None
    if drop_mark:
        return text.removeprefix("\ufeff")
    if text.startswith("\ufeff"):
        raise VocabularyError(f"{path} begins with a byte-order mark, which would be part of its first token; save it without")
    return text


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, at most `size`, unpacked if the file is packed with gzip."""
    regular_files.need_regular(path, VocabularyError)
    with path.open("rb") as stream:
        begun = stream.read(size)
    if not begun.startswith(GZIP):
        return begun
    member = zlib.decompressobj(_WITH_GZIP_HEADER)
    try:
        found = member.decompress(begun, size)
    except zlib.error:
        return begun
    return found if found or member.eof else begun


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked if the file is packed with gzip."""
    data = regular_files.contents(path, MAX_SOURCE_BYTES, VocabularyError)
    if not data.startswith(GZIP):
        return data
    try:
        data = _unpacked(data)
    except (zlib.error, EOFError):
        raise VocabularyError(f"{path} is packed with gzip, and damaged or cut short: download it again") from None
    if len(data) > MAX_SOURCE_BYTES:
        raise VocabularyError(f"{path} is larger than {MAX_SOURCE_BYTES >> 20} MiB once unpacked; expected a smaller file")
    return data


def _unpacked(data: bytes) -> bytes:
    """The contents of all members of a gzip file, concatenated; unpacking stops soon after `MAX_SOURCE_BYTES`."""
    found: list[bytes] = []
    left = MAX_SOURCE_BYTES + 1
    while data and left > 0:
        member = zlib.decompressobj(_WITH_GZIP_HEADER)
        found.append(member.decompress(data, left))
        left -= len(found[-1])
        if left > 0 and not member.eof:
            raise EOFError
        data = member.unused_data
    return b"".join(found)


def parse_json(text: str, path: Path) -> Any:
    """The value of a JSON file; a VocabularyError names `path` if the text is not JSON."""
    try:
        return json.loads(text, parse_float=reference_float)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{path} is not JSON: {cut(str(error))}") from None
