"""Read the files of a vocabulary: UTF-8 text and JSON, of limited size. They come from strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fst.errors import VocabularyError, cut

MAX_SOURCE_BYTES = 1 << 28


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        VocabularyError: it is too large, is not UTF-8, or begins with a byte-order mark.
        OSError: it cannot be read.
    """
    if path.stat().st_size > MAX_SOURCE_BYTES:
        raise VocabularyError(f"{path} is larger than {MAX_SOURCE_BYTES >> 20} MiB: no vocabulary is")
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise VocabularyError(f"{path}, line {line}: byte {error.start} is not UTF-8; if the file is text, save it as UTF-8") from None
    if text.startswith("\ufeff"):
        raise VocabularyError(f"{path} begins with a byte-order mark, which would be part of its first token; save it without")
    return text


def parse_json(text: str, path: Path) -> Any:
    """The value of a JSON file; a VocabularyError names `path` if the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{path} is not JSON: {cut(str(error))}") from None
