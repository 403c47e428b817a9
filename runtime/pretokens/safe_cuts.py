"""The safe cuts of byte-level BPE: positions where a few characters prove, in any text, that a pre-token begins.

A window (`fst.compile.pretokens.boundaries`) is a few consecutive characters; it decides whether a pre-token begins before the second last
of them. If a pre-token begins there, every search of the splitter that began before this position has ended by the last character. So the
text up to the last character determines the pre-tokens before the position. The text from the position on determines the pre-tokens after
it, because each pre-token begins with a new search. The position is a safe cut if

- the decision is the same if a text begins inside the window, because a kernel may begin to read there;
- the characters of the window and the characters next to it are ASCII: ASCII characters do not compose with the character before them, and
  are not a part of malformed bytes;
- no added token is in the window or touches it: no added token begins with a character of the window or with the next character, contains
  the two characters around the start of the window, or ends before it;
- the window neither begins nor ends with whitespace, if added tokens may include whitespace.

So a kernel that reads up to the last character of the window, with more text to come, stops at the cut: a pre-token begins there, and no
later pre-token is certain yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.arguments import BEGIN, WINDOW_BITS, WINDOW_MASK, Arguments
from fst.pretokens.boundaries import BEGINS
from fst.pretokens.table import PretokenTable
from fst.runtime.rows.texts import Text
from fst.runtime.safe_cuts import SafeCuts

OTHER = 128  # the code of all characters that are not ASCII
STRETCHES = (1 << 7, 1 << 13)  # number of characters to search for a cut, at first few: English has a cut at most words
UNCHANGING = ("NFC", "NFD", "NFKC", "NFKD")  # normalizers that do not change ASCII

Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]


class PieceBegins(SafeCuts):
    """Finds safe cuts by the decisions of windows.

    Args:
        table: the table.
        arguments: the arguments of the table's kernels.
    """

    ahead = 2

    def __init__(self, table: PretokenTable, arguments: Arguments) -> None:
        self._bits, self._mask, self._before = (int(arguments.params[name]) for name in (WINDOW_BITS, WINDOW_MASK, BEGIN))
        self._width = self._mask.bit_length() // self._bits
        self._decisions = arguments.decisions
        self._symbols = np.append(table.symbols[table.blocks[int(table.pages[0]) << 7 :][:OTHER]], 0).astype(np.int64)
        added = table.metadata.added_tokens
        self._may_be_beside, self._may_be_in = _apart([content.encode() for content in added.ids])
        self._may_be_outer = np.array([not (added.contextual and chr(code).isspace()) for code in range(OTHER + 1)])

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """The first cut in the next few thousand characters; None if no cut is found."""
        start = max(begin - self._width, 0)
        for size in STRETCHES:
            found = start + self._cuts(_codes(text[start : min(begin + size, end) + self.ahead + 1]))
            found = found[found > begin]
            if len(found):
                return int(found[0])
        return None

    def _cuts(self, codes: Codes) -> NDArray[np.int64]:
        """All safe cuts of a text, given as codes, whose windows are in the text with one more character on both sides."""
        count = max(len(codes) - self._width - 1, 0)
        before, *window, after = (codes[place : place + count] for place in range(self._width + 2))
        safe = self._may_be_beside[before, window[0]] & self._may_be_outer[window[0]] & self._may_be_outer[window[-1]]
        for characters in (*window, after):
            safe &= self._may_be_in[characters]
        places = np.flatnonzero(safe)
        for known in range(self._width, 2, -1):
            places = places[self._decided([characters[places] for characters in window[-known:]]) == BEGINS]
        return places + self._width - 1

    def _decided(self, known: Iterable[Codes]) -> NDArray[np.uint8]:
        """The decisions of windows that end with the known characters, if a text begins with these characters."""
        window: Any = self._before
        for characters in known:
            window = (window << self._bits | self._symbols[characters]) & self._mask
        decisions: Codes = self._decisions[window]
        return decisions


def leave_ascii(normalizers: Iterable[str]) -> bool:
    """Whether normalizers, given by their types, do not change ASCII."""
    return set(normalizers) <= set(UNCHANGING)


def _codes(text: Text) -> Codes:
    """The characters or bytes of a text as codes: ASCII codes, or `OTHER`."""
    data = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") if isinstance(text, str) else np.frombuffer(text, np.uint8)
    codes: Codes = np.minimum(data, OTHER).astype(np.uint8)
    return codes


def _apart(added: Iterable[bytes]) -> tuple[Flags, Flags]:
    """Find characters for which no added token is in a window or touches it.

    Returns:
        bool[129, 129], by the character before the window and the window's first character: whether no added token contains both, or ends
        with the character before. bool[129], by a character in the window or after it: whether it is ASCII and begins no added token.
    """
    beside, inside = np.zeros((OTHER + 1, OTHER + 1), np.bool_), np.ones(OTHER + 1, np.bool_)
    beside[:OTHER, :OTHER], inside[OTHER] = True, False
    for content in added:
        codes = [min(byte, OTHER) for byte in content]
        inside[codes[0]] = False
        beside[codes[-1]] = False
        for pair in pairwise(codes):
            beside[pair] = False
    return beside, inside
