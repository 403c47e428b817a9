"""Safe cuts: positions at which a long text may be cut so that several threads encode its parts.

A safe cut is after a character that is a blank in the tables and occurs in no special token. The text before it cannot affect the ids
after it, nor the other way round:

- Special tokens are found in the raw text. None contains the blank, so none crosses the cut, and a prefix of one ends at the blank.
- The blank is one symbol, not a list of symbols. Runs of marks consist of lists, so a run ends before the blank.
- The blank's symbol ends the word before it and begins none. It is not a fence, so no pair of fences across the cut cancels out.

Thus after the blank a kernel keeps no symbols and no characters: it is in the same state as at the start of a text. Only counts must be
mended: the characters and words before the cut are added to the spans and word numbers after it.

The blank is also one unit in UTF-8 and in UTF-16, and malformed units end before it. So ``errors="replace"`` gives the parts the same
U+FFFD as the whole.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

from fst.machines.wordpiece import Tables
from fst.rows import BLANK
from fst.runtime.texts import Text

CANDIDATES = " \n"


def blanks(tables: Tables) -> str:
    """The characters after which any text may be cut; empty if the tables do not end words at blanks."""
    codes = np.array(list(map(ord, CANDIDATES)))
    are_blank = tables.classes[2 * tables.classes_of(codes).astype(np.int64)] == BLANK
    in_specials = np.isin(codes, tables.specials[1:, 0])
    return "".join(map(chr, codes[are_blank & ~in_specials]))


def parts(text: Text, characters: str, size: int) -> list[tuple[int, int]]:
    """Cut a text at safe cuts into parts of at least `size`, except perhaps the last; each is cut as soon as possible. None is empty.

    Args:
        text: at least one character or byte.
        characters: those after which the text may be cut.
        size: in characters or bytes.

    Returns:
        Begin and end of each part.
    """
    pattern: Any = f"[{re.escape(characters)}]"
    search = re.compile(pattern if isinstance(text, str) else pattern.encode()).search
    cuts = [0]
    while (found := search(text, cuts[-1] + size)) and found.end() < len(text):
        cuts.append(found.end())
    return list(pairwise([*cuts, len(text)]))
