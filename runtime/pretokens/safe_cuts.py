"""The safe cuts of byte-level BPE: places where a few characters determine, in any text, that a pre-token begins.

A window (`fst.compile.pretokens.boundaries`) decides whether a piece begins before the last character but one in it. If one does, every
search of the splitter that began before this place is over by the last character. So the text up to the last character determines the
pieces before the place, and the text from the place on determines those after it, since each piece begins with a new search. Such a place
is a safe cut if

- the decision is the same if a text begins inside the window, since a kernel may begin to read there;
- the characters of the window, and those next to it, are ASCII, which neither composes with the character before it nor is a part of
  malformed bytes;
- no added token is in the window or touches it: none begins with one of its characters or with the next one, contains the two characters
  around its beginning, or ends before it;
- if added tokens may take whitespace, the window neither begins nor ends with whitespace.

So a kernel that reads up to the last character of the window, with more to come, stops at the cut: a piece begins there, and no later
piece is certain yet.
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

OTHER = 128  # represents all characters that are not ASCII
STRETCHES = (1 << 7, 1 << 13)  # characters searched for a cut, few at first: English has a cut at most words
UNCHANGING = ("NFC", "NFD", "NFKC", "NFKD")  # normalizers that leave ASCII as it is

Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]


class PieceBegins(SafeCuts):
    """Safe cuts by the decisions of windows.

    Args:
        table: the table.
        arguments: the arguments of its kernels.
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
        """The first cut in the next few thousand characters; None if there is none."""
        start = max(begin - self._width, 0)
        for size in STRETCHES:
            found = start + self._cuts(_codes(text[start : min(begin + size, end) + self.ahead + 1]))
            found = found[found > begin]
            if len(found):
                return int(found[0])
        return None

    def _cuts(self, codes: Codes) -> NDArray[np.int64]:
        """All safe cuts of a text, given as codes below `OTHER`, or `OTHER`. The text contains their windows and a character on both
        sides.
        """
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
        """The decisions if a text begins with the known characters, and the window ends with them."""
        window: Any = self._before
        for characters in known:
            window = (window << self._bits | self._symbols[characters]) & self._mask
        decisions: Codes = self._decisions[window]
        return decisions


def leave_ascii(normalizers: Iterable[str]) -> bool:
    """Whether normalizers, given by their types, leave ASCII unchanged."""
    return set(normalizers) <= set(UNCHANGING)


def _codes(text: Text) -> Codes:
    """The characters or bytes of a text, as ASCII codes and `OTHER`."""
    data = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") if isinstance(text, str) else np.frombuffer(text, np.uint8)
    codes: Codes = np.minimum(data, OTHER).astype(np.uint8)
    return codes


def _apart(added: Iterable[bytes]) -> tuple[Flags, Flags]:
    """The characters that keep added tokens away from a window.

    Returns:
        bool[129, 129], by the characters before the window and at its beginning: no added token contains both, or ends with the former.
        bool[129], by a character in the window or after it: it is ASCII, and no added token begins with it.
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
