"""The older form of byte-level BPE: ``vocab.json``, which maps tokens to ids, and ``merges.txt``, one merge a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fst.compile.files import parse_json, read_text
from fst.errors import VocabularyError, quoted

VOCABULARY, MERGES = "vocab.json", "merges.txt"
COMMENT = "#version"  # the reference drops every line that begins with it
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The merges of some lines: two tokens, separated by one space.

    Raises:
        ValueError: a line is no merge; the message numbers it as the reference does, which does not count comments.

    Examples:
        >>> pairs(["#version: 0.2", "Ġ t", "h e"])
        [('Ġ', 't'), ('h', 'e')]
    """
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(COMMENT):
            continue
        first, blank, second = line.partition(" ")
        if not blank or " " in second:
            raise ValueError(f"merge {len(found) + 1}, {quoted(line)}, is not two tokens with one space between them")
        found.append((first, second))
    return found


def document(folder: Path) -> dict[str, Any]:
    """The ``tokenizer.json`` that the reference's ByteLevelBPETokenizer makes of the two files of a folder.

    Raises:
        VocabularyError: a file is malformed.
        OSError: a file is missing, or cannot be read.
    """
    path = folder / VOCABULARY
    vocabulary = parse_json(read_text(path), path)
    if not isinstance(vocabulary, Mapping):
        raise VocabularyError(f"{path} is no JSON object that maps tokens to ids, but {quoted(vocabulary)}")
    try:
        merges = pairs(_lines(read_text(folder / MERGES)))
    except ValueError as error:
        raise VocabularyError(f"{folder / MERGES}: {error}") from None
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": {**BYTE_LEVEL, "trim_offsets": False},
        "decoder": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": [list(pair) for pair in merges]},
    }


def _lines(text: str) -> list[str]:
    r"""Lines as the reference reads them: they end at "\n" or "\r\n", and an end needs no line after it."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]
