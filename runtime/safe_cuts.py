"""Safe cuts: positions at which a long text may be cut, so that several threads can encode its parts.

The text on one side of a safe cut has no effect on the ids of the other side. At the cut, a kernel is in the same state as at the start of
a text, except for two counts: the numbers of characters and words before the cut must be added to the spans and word numbers after it. The
positions depend on the machine: `AfterSpaces` finds them for WordPiece, and `fst.runtime.pretokens.safe_cuts` for byte-level BPE.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from fst.runtime.rows.texts import Text

CANDIDATES = " \n"


class SafeCuts:
    """A finder of the safe cuts of a machine.

    Attributes:
        ahead: the number of characters after a cut that the kernel must read to detect that a piece ends at the cut. Their ids are not
            kept.
    """

    ahead = 0

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """The first safe cut found after `begin` and not after `end`; None if no cut is found.

        The search takes linear time, and may overlook cuts. A cut is never at the end of the text or among its last `ahead` characters.
        """
        raise NotImplementedError

    def parts(self, text: Text, size: int) -> list[tuple[int, int]]:
        """Cut a text into nonempty parts of at least `size`; the last part may be smaller.

        Args:
            text: at least one character or byte.
            size: the minimum size of a part, in characters or bytes.

        Returns:
            Begin and end of each part.
        """
        cuts, at = [0], size
        while at < len(text):
            cut = self.first(text, at, min(at + size, len(text)))
            if cut is not None:
                cuts.append(cut)
            at = size + (at if cut is None else cut)
        return list(pairwise([*cuts, len(text)]))


class AfterSpaces(SafeCuts):
    """A finder of the safe cuts of WordPiece: after a character that is a space in the table and occurs in no special token.

    - Special tokens are found in the raw text. They do not contain the space, so no special token, and no prefix of one, crosses the cut.
    - The space is one symbol, not a list of symbols. Runs of marks consist of lists, so a run ends before the space.
    - The symbol of the space ends the word before it and begins no word. It is not a fence, so no pair of fences across the cut cancels
      out.

    Thus a kernel keeps no symbols and no characters after the space. The space is one unit in UTF-8 and in UTF-16, and malformed units end
    before it. So ``errors="replace"`` replaces the same units in the parts as in the whole text.

    Args:
        characters: the spaces, at least one.
    """

    def __init__(self, characters: str) -> None:
        pattern = f"[{re.escape(characters)}]"
        self._of_str, self._of_bytes = re.compile(pattern), re.compile(pattern.encode())

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """The end of the first space."""
        pattern: Any = self._of_str if isinstance(text, str) else self._of_bytes
        found = pattern.search(text, begin, end)
        return found.end() if found and found.end() < len(text) else None
