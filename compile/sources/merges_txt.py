"""Read the older files of byte-level BPE: ``vocab.json``, which maps tokens to ids, and ``merges.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fst.compile.files import parse_json, read_text
from fst.compile.machines.bpe.model import pairs
from fst.compile.sources.inputs import IDS, MERGES
from fst.errors import VocabularyError, quoted

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def document(folder: Path) -> dict[str, Any]:
    """The ``tokenizer.json`` that ``ByteLevelBPETokenizer`` of `tokenizers` makes from the two files in a folder."""
    path = folder / IDS
    vocabulary = parse_json(read_text(path), path)
    if not isinstance(vocabulary, Mapping):
        raise VocabularyError(f"{path} is not a JSON object that maps tokens to ids, but {quoted(vocabulary)}")
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
    r"""Split text into lines as `tokenizers` does: a line ends at "\n" or "\r\n", and the last line end adds no empty line."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]
