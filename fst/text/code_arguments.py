"""The arguments of kernels for codes at the start of texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import Array
from fst.tables.leading_codes import LeadingCodes


class CodeArguments(NamedTuple):
    """Codes at the start of texts, see `fst.tables.leading_codes.LeadingCodes`.

    Attributes:
        begin, end: uint8[n] each, the strings around a code, in UTF-8.
        known: the known codes; the value of each is the number in its mark.
    """

    begin: Array
    end: Array
    known: Matcher


def code_arguments(codes: LeadingCodes | None, row: int) -> CodeArguments:
    """The arguments for codes; `row` is the number in the mark of the first code."""
    begin, end = (codes.begin, codes.end) if codes else ("", "")
    known = trie((code.encode(), number) for number, code in enumerate(codes.ids if codes else (), row))
    return CodeArguments(np.frombuffer(begin.encode(), np.uint8), np.frombuffer(end.encode(), np.uint8), known)
