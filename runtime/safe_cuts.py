"""Safe cuts: positions at which a long text may be cut so that several threads encode its parts.

At a safe cut, the text on each side has no effect on the ids of the other side. A kernel that has read up to there is in the same state as
at the start of a text, and only counts must be mended: the characters and words before the cut are added to the spans and word numbers
after it. Their positions depend on the machine: `AfterSpaces` finds those of WordPiece, and `fst.runtime.pretokens.safe_cuts` those of
byte-level BPE.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from fst.runtime.rows.texts import Text

CANDIDATES = " \n"


class SafeCuts:
    """Finds the safe cuts of a machine.

    Attributes:
        ahead: the number of characters after a cut that the kernel must read to know that a piece ends at the cut. It keeps no ids of them.
    """

    ahead = 0

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """The first safe cut that is found in a stretch of a text, after `begin` and not after `end`; None if there is none.

        It takes a time linear in the stretch, and may overlook cuts. A cut is not at the end of the text, and not among its last `ahead`
        characters.
        """
        raise NotImplementedError

    def parts(self, text: Text, size: int) -> list[tuple[int, int]]:
        """Cut a text into parts of at least `size`, except perhaps the last. None is empty.

        Args:
            text: at least one character or byte.
            size: in characters or bytes.

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
    """The safe cuts of WordPiece: after a character that is a space in the tables and occurs in no special token.

    - Special tokens are found in the raw text. None contains the space, so none crosses the cut, and a prefix of one ends at the space.
    - The space is one symbol, not a list of symbols. Runs of marks consist of lists, so a run ends before the space.
    - The symbol of the space ends the word before it and begins none. It is not a fence, so no pair of fences across the cut cancels out.

    Thus after the space a kernel keeps no symbols and no characters. The space is also one unit in UTF-8 and in UTF-16, and malformed units
    end before it. So ``errors="replace"`` gives the parts the same U+FFFD as the whole.

    Args:
        characters: the spaces; at least one.
    """

    def __init__(self, characters: str) -> None:
        pattern = f"[{re.escape(characters)}]"
        self._of_str, self._of_bytes = re.compile(pattern), re.compile(pattern.encode())

    def first(self, text: Text, begin: int, end: int) -> int | None:
        """The end of the first space."""
        pattern: Any = self._of_str if isinstance(text, str) else self._of_bytes
        found = pattern.search(text, begin, end)
        return found.end() if found and found.end() < len(text) else None
