"""Safe cuts: positions at which a long text may be cut, so that several threads can encode its parts.

The text on one side of a safe cut has no effect on the ids of the other side. At the cut, a kernel is in the same state as at the start of
a text. Only two counts differ: the number of characters before the cut must be added to each span after the cut, and the number of words
before the cut must be added to each word number after the cut. Each machine has its own finder: `AfterSpaces` for WordPiece, and
`fst.runtime.pretokens.safe_cuts` for byte-level BPE and Unigram.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from fst.runtime.rows.texts import Text

CANDIDATES = " \n"


class SafeCuts:
    """The base class of the finders of safe cuts.

    Attributes:
        ahead: the number of characters after a cut that a kernel must read to detect that a pre-token ends at the cut. The ids of these
            characters are dropped.
    """

    ahead = 0

    def first(self, text: Text, start: int, end: int) -> int | None:
        """Find the first safe cut after `start` and at most at `end`; return None if no cut is found.

        The search takes linear time, and may miss safe cuts. A cut is never at the end of the text or among its last `ahead` characters.
        """
        raise NotImplementedError

    def parts(self, text: Text, size: int) -> list[tuple[int, int]]:
        """Cut a text at safe cuts into parts of at least `size` units; the last part may be smaller.

        Args:
            text: str or bytes, not empty.
            size: the minimum size of a part, in characters or bytes.

        Returns:
            The begin and the end of each part.
        """
        cuts, at = [0], size
        while at < len(text):
            cut = self.first(text, at, min(at + size, len(text)))
            if cut is not None:
                cuts.append(cut)
            at = size + (at if cut is None else cut)
        return list(pairwise([*cuts, len(text)]))


class AfterSpaces(SafeCuts):
    """A finder of safe cuts for WordPiece: after each character that the table treats as a space and that occurs in no special token.

    - Special tokens are found in the raw text, and do not contain the space. So no special token, and no prefix of a special token, crosses
      the cut.
    - The table maps the space to one symbol, and each character in a run of marks to a list of symbols. So a run of marks ends before the
      space.
    - The symbol of the space ends the word before the space, and begins no word. The symbol is not a fence, so no pair of fences that
      cancel each other has the cut between them.

    Thus, after the space, a kernel has no unfinished word and no unread characters. The space is one unit in UTF-8 and in UTF-16, and a
    malformed sequence ends before the space. So ``errors="replace"`` replaces the same units in the parts as in the complete text.
    """

    def __init__(self, characters: str) -> None:
        pattern = f"[{re.escape(characters)}]"
        self._of_str, self._of_bytes = re.compile(pattern), re.compile(pattern.encode())

    def first(self, text: Text, start: int, end: int) -> int | None:
        """Find the end of the first space."""
        pattern: Any = self._of_str if isinstance(text, str) else self._of_bytes
        found = pattern.search(text, start, end)
        return found.end() if found and found.end() < len(text) else None
