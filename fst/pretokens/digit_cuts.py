"""Cuts between bytes. After ``ByteLevel``, which writes each byte as a letter, a pre-tokenizer Digits cuts before and after each numeric
letter, even inside a character. ByteLevel's letters for six bytes that occur inside characters are numeric: for example, byte B2 becomes ².
So é (C3 A9) is not cut, but ò (C3 B2) becomes two pre-tokens. The splitter of a table reads only characters, so it cannot make these cuts.
Instead, the table has no merge that joins tokens across a cut; in spans, the part after a cut is a separate word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import dropwhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.byte_letters import LETTERS

DIGITS = "Digits"
OTHER, DIGIT, LONE = range(3)  # LONE: a byte whose letter is numeric, and a pre-token by itself

Kinds = NDArray[np.uint8]


def kinds_of_bytes(parts: Iterable[Mapping[str, Any]]) -> Kinds:
    """uint8[256], the kind of each byte; empty if there are no cuts between bytes.

    Args:
        parts: pre-tokenizers in the form of `fst.compile.pretokens.splits`. Pre-tokenizers before ByteLevel split characters, so they cause
            no cuts between bytes.

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
    """Whether there is a cut between a byte of kind `left` and a byte of kind `right`."""
    return left != right or right == LONE
