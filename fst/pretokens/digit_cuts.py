"""Cuts between bytes: a pre-tokenizer Digits after ``ByteLevel`` cuts next to bytes with numeric letters, even inside a character.

The letters of six bytes that continue characters are numeric, such as ² for B2. So é (C3 A9) stays whole, and ò (C3 B2) becomes two pieces.
The splitter of a table reads only characters, and does not make these cuts. The merges of the table join no tokens across a cut, and in
spans the part after a cut is a separate word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import dropwhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.byte_letters import LETTERS

DIGITS = "Digits"
OTHER, DIGIT, LONE = range(3)  # LONE: a digit that is a piece by itself

Kinds = NDArray[np.uint8]


def kinds_of_bytes(parts: Iterable[Mapping[str, Any]]) -> Kinds:
    """uint8[256], the kind of each byte; empty if there are no cuts between bytes.

    Args:
        parts: pre-tokenizers in the form of `fst.compile.pretokens.splits`. The ones before ByteLevel split characters.

    Examples:
        >>> kinds = kinds_of_bytes([{"type": "ByteLevel"}, {"type": "Digits", "individual_digits": False}])
        >>> kinds[[*"a1é".encode(), *"ò".encode()]].tolist()
        [0, 1, 0, 0, 0, 1]
    """
    of_bytes = dropwhile(lambda part: part.get("type") != "ByteLevel", parts)
    alone = [part.get("individual_digits") is True for part in of_bytes if part.get("type") == DIGITS]
    if not alone:
        return np.empty(0, np.uint8)
    kinds = np.zeros(256, np.uint8)
    kinds[[byte for byte, letter in LETTERS.items() if letter.isnumeric()]] = LONE if any(alone) else DIGIT
    return kinds


def are_apart(left: int, right: int) -> bool:
    """Whether there is a cut between bytes of two kinds."""
    return left != right or right == LONE
