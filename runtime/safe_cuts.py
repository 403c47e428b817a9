"""Cuts: where a long text may be cut, so that threads share it.

A text is cut after a character that is a blank to the tables and stands in none of the special tokens. What comes before such a cut and
what comes after it have nothing to do with each other, whatever they are:

- A special token is a string that is looked for in the raw text. None of them holds the blank, so that none goes across the cut; and what
  might begin one before the blank is known not to, once the blank was read.
- The blank is one symbol, and no list of symbols. Runs of marks consist of lists, so that each run before the blank ends there.
- Its symbol ends the word before it and begins none; and it is no fence: a fence before it ends a word, and one after it has none of its
  kind beside it to take away.

So nothing is kept after it, neither symbols nor characters, and a kernel is in the state that it has when a text begins. What is left to do
is to count: the characters and the words of what comes before are added to the places of what comes after.

The blank is also one byte of UTF-8 and one unit of UTF-16, and what is malformed ends before it: what is not text is replaced on both sides
of a cut as it is in the whole.
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
    """The characters after which any text may be cut; none where words do not end at blanks."""
    codes = np.array(list(map(ord, CANDIDATES)))
    are_blank = tables.classes[2 * tables.classes_of(codes).astype(np.int64)] == BLANK
    in_specials = np.isin(codes, tables.specials[1:, 0])
    return "".join(map(chr, codes[are_blank & ~in_specials]))


def parts(text: Text, characters: str, size: int) -> list[tuple[int, int]]:
    """Where the parts of a text begin and end that are of some size, or larger where there is no place to cut. None is empty.

    Args:
        text: one character or byte at least.
        characters: the last one of each part, the last part excepted, is one of these.
        size: in characters, or bytes.
    """
    pattern: Any = f"[{re.escape(characters)}]"
    search = re.compile(pattern if isinstance(text, str) else pattern.encode()).search
    cuts = [0]
    while (found := search(text, cuts[-1] + size)) and found.end() < len(text):
        cuts.append(found.end())
    return list(pairwise([*cuts, len(text)]))
