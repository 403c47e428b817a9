"""Recognize, by its first bytes, a file that a user passes by mistake instead of a vocabulary, and suggest a remedy."""

from __future__ import annotations

import re
from pathlib import Path

from fst.compile.files import beginning

COMPRESSED = "is compressed with {}: decompress it first"

_BEGINNINGS = (
    (rb"\Z", "is empty: save it, or download it, again"),
    (rb"BZh[1-9]", COMPRESSED.format("bzip2")),
    (rb"\xfd7zXZ", COMPRESSED.format("xz")),
    (rb"\x28\xb5\x2f\xfd", COMPRESSED.format("zstd")),
    (rb"PK\x03\x04.{26}[^\0]{1,99}\.npy", "is a compiled table, or another .npz: name the vocabulary that it was compiled from"),
    (rb"PK\x03\x04", "is a ZIP archive: unpack it, and name the vocabulary in it"),
    (rb"\x93NUMPY", "is an array of NumPy: name a vocabulary"),
    (rb"\x80[\x02-\x05]", "is a Python pickle, which is never read: name a vocab.txt or a tokenizer.json"),
    (rb"version https://git-lfs", "is a Git LFS pointer: run `git lfs pull`, or download the file that it points to"),
    (rb"\s*<(!doctype|html|\?xml)", "is an HTML or XML page, as failed downloads leave it: download the file itself"),
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "is text in UTF-32: save it as UTF-8"),
    (rb"\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0]", "is text in UTF-16: save it as UTF-8"),
    (rb"#version: ", "contains the merges of a BPE tokenizer: compile its folder, with the vocab.json in it"),
    (rb".{4}\0{4}\{\"", "contains the weights of a model, as safetensors: name the vocabulary next to it"),
)
BEGINNINGS = tuple((re.compile(pattern, re.DOTALL | re.IGNORECASE), reason) for pattern, reason in _BEGINNINGS)
# A vocabulary of TokenMonster begins with its capcode, charset, normalization and mode.
TOKENMONSTER, TOKENMONSTER_NAME = re.compile(rb"[\0-\2][\0-\2].[\0-\5]", re.DOTALL), ".vocab"
CHOOSES = "is a vocabulary of TokenMonster, which looks some words ahead by rules of its own: no table has them; name another vocabulary"
LOOKED_AT = 1024  # number of bytes to read


def mistaken(path: Path) -> str | None:
    """A description of a file that was passed by mistake, and the remedy; None for other files."""
    begun = beginning(path, LOOKED_AT)
    if path.suffix == TOKENMONSTER_NAME and TOKENMONSTER.match(begun):
        return f"{path} {CHOOSES}"
    return next((f"{path} {reason}" for pattern, reason in BEGINNINGS if pattern.match(begun)), None)
