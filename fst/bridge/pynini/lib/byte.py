"""Acceptors of single bytes, by the kinds of C's ``ctype.h``. The module ``pynini.lib.byte``."""

from __future__ import annotations

import string
from collections.abc import Iterable

from fst.bridge.pynini.labels import escape
from fst.bridge.pynini.machine import Fst
from fst.bridge.pynini.operations import difference, union


def _any_of(names: Iterable[str]) -> Fst:
    return union(*names).optimize()


BYTE = _any_of(f"[{byte}]" for byte in range(1, 256))
DIGIT = _any_of(string.digits)
LOWER = _any_of(string.ascii_lowercase)
UPPER = _any_of(string.ascii_uppercase)
ALPHA = _any_of(string.ascii_letters)
ALNUM = _any_of(string.digits + string.ascii_letters)
HEX = _any_of(string.hexdigits)
SPACE = _any_of(" \t\n\r")
NOT_SPACE = difference(BYTE, SPACE).optimize()
NOT_QUOTE = difference(BYTE, '"').optimize()
PUNCT = _any_of(map(escape, string.punctuation))
GRAPH = union(ALNUM, PUNCT).optimize()
