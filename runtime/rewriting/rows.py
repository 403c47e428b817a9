"""Rows of text that machines rewrite, and the protocols that these machines implement."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from fst.runtime.rows.texts import Bytes, Ints
from fst.runtime.workspace import Ids

MARGIN = 64  # number of bytes of an output beyond an estimate
MOST_BYTES = 1 << 32  # maximum number of bytes that one call writes
NO_SPANS = np.empty(0, np.int32)


class Rows(NamedTuple):
    """Rows of text.

    Attributes:
        text: uint8[n], the rows in UTF-8, concatenated.
        starts: int64[rows + 1], the start of each row, and the end of the last row.
        spans: int32[2 * n + 2], for each byte, the span, in the raw row, of the characters that became the byte; the last two elements are
            not used. Empty if no spans are requested.
        first: the number of the first row, for messages.
    """

    text: Bytes
    starts: Ints
    spans: Ids = NO_SPANS
    first: int = 0


class Parts(Protocol):
    """A text that is rewritten in parts."""

    def write(self, text: str) -> str:
        """Append text; return the new text that has become certain."""

    def close(self) -> str:
        """Return the rest of the new text."""


class Rewriting(Protocol):
    """A machine that rewrites rows. ``table.rewriting`` contains the dotted name of its class, whose argument is the table."""

    def buffers(self) -> Any:
        """Return the arrays of a thread."""

    def run(self, rows: Rows, buffers: Any) -> Rows:
        """Rewrite complete rows. The result may use the arrays of `buffers`."""

    def parts(self) -> Parts:
        """Begin a text that is rewritten in parts."""
