"""The safe cuts of byte-level BPE and Unigram: positions where the adjacent characters prove that a pre-token begins, whatever the rest of
the text is.

A window (`fst.compile.pretokens.boundaries`) is a few consecutive characters, which decide whether a pre-token begins at the window's
second-to-last character. If a pre-token begins at this position, every search of the splitter that began earlier ends at the last character
of the window or earlier. So the text up to the window's last character determines the pre-tokens before the position. The text after
the position determines the pre-tokens after it, because each pre-token begins with a new search. The position is a safe cut if

- the decision is the same if a text begins inside the window, because a kernel may begin to read at such a position;
- the characters of the window and the two characters next to it are ASCII, because an ASCII character does not compose with the character
  before it, and is no part of a malformed sequence;
- no added token overlaps or touches the window, which means that no added token begins with a character of the window or with the character
  after it, contains both characters around the start of the window, or ends with the character before the window;
- the window neither begins nor ends with whitespace, if added tokens may include whitespace.

So a kernel that reads an unfinished text up to the last character of the window stops at the cut, because a pre-token begins at the cut,
and the end of this pre-token is not certain yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.arguments import Arguments
from fst.pretokens.boundaries import BEGINS
from fst.pretokens.table import PretokenTable
from fst.runtime.rows.texts import Text
from fst.runtime.safe_cuts import SafeCuts

OTHER = 128  # the code of all characters that are not ASCII
STRETCHES = (1 << 7, 1 << 13)  # numbers of characters to search for a cut; English text can be cut at most words
UNCHANGING = ("NFC", "NFD", "NFKC", "NFKD")  # normalizers that leave ASCII unchanged

Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]


class PretokenBegins(SafeCuts):
    """A finder of safe cuts by the decisions of windows.

    Args:
        table: the table.
        arguments: the arguments of the table's kernels.
    """

    ahead = 2

    def __init__(self, table: PretokenTable, arguments: Arguments) -> None:
        scalars = arguments.scalars
        self._bits, self._mask, self._before = (int(each) for each in (scalars.window_bits, scalars.window_mask, scalars.first_window))
        self._width = self._mask.bit_length() // self._bits
        self._decisions = arguments.decisions
        self._symbols = np.append(table.symbols[table.blocks[int(table.pages[0]) << 7 :][:OTHER]], 0).astype(np.int64)
        added = table.metadata.added_tokens
        self._may_follow, self._may_be_in = _apart([content.encode() for content in added.ids])
        self._may_be_outer = np.array([not (added.contextual and chr(code).isspace()) for code in range(OTHER + 1)])

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """Find the first safe cut in the next few thousand characters; return None if no cut is found."""
        start = max(begin - self._width, 0)
        for size in STRETCHES:
            found = start + self._cuts(_codes(text[start : min(begin + size, end) + self.ahead + 1]))
            found = found[found > begin]
            if len(found):
                return int(found[0])
        return None

    def _cuts(self, codes: Codes) -> NDArray[np.int64]:
        """Find all safe cuts of a text that was converted to codes, if the text contains the window and one more character on each side."""
        count = max(len(codes) - self._width - 1, 0)
        before, *window, after = (codes[place : place + count] for place in range(self._width + 2))
        safe = self._may_follow[before, window[0]] & self._may_be_outer[window[0]] & self._may_be_outer[window[-1]]
        for characters in (*window, after):
            safe &= self._may_be_in[characters]
        places = np.flatnonzero(safe)
        for known in range(self._width, 2, -1):
            places = places[self._decided([characters[places] for characters in window[-known:]]) == BEGINS]
        return places + self._width - 1

    def _decided(self, known: Iterable[Codes]) -> NDArray[np.uint8]:
        """Look up the decisions of windows at the start of a text, which end with the characters `known`."""
        window: Any = self._before
        for characters in known:
            window = (window << self._bits | self._symbols[characters]) & self._mask
        decisions: Codes = self._decisions[window]
        return decisions


def leave_ascii(normalizers: Iterable[str]) -> bool:
    """Whether the normalizers of these types leave ASCII unchanged."""
    return set(normalizers) <= set(UNCHANGING)


def _codes(text: Text) -> Codes:
    """Convert the characters or bytes of a text to codes: ASCII codes, or `OTHER`."""
    data = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4") if isinstance(text, str) else np.frombuffer(text, np.uint8)
    codes: Codes = np.minimum(data, OTHER).astype(np.uint8)
    return codes


def _apart(added: Iterable[bytes]) -> tuple[Flags, Flags]:
    """Find the characters for which no added token overlaps or touches a window.

    Returns:
        Two arrays. bool[129, 129], by the character before the window and the first character of the window: whether no added token
        contains this pair, and no added token ends with the character before the window. bool[129], by a character in the window or
        directly after the window: whether the character is ASCII and begins no added token.
    """
    may_follow, inside = np.zeros((OTHER + 1, OTHER + 1), np.bool_), np.ones(OTHER + 1, np.bool_)
    may_follow[:OTHER, :OTHER], inside[OTHER] = True, False
    for content in added:
        codes = [min(byte, OTHER) for byte in content]
        inside[codes[0]] = False
        may_follow[codes[-1]] = False
        for pair in pairwise(codes):
            may_follow[pair] = False
    return may_follow, inside
