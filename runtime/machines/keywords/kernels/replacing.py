"""Replace matches in rows of UTF-8: `measure` computes the bounds of matches in bytes and the ends of the new rows; `write` writes the new
rows.

Kernels check nothing. They require:

- ``text`` is UTF-8. ``starts`` contains the start of each row in ``text``, and the end of the last row.
- ``splits`` ascends from 0 to the number of matches. The matches of a row lie in this row, and their starts and their ends ascend. Two
  matches may share a character that the search has normalized to several characters. Then both matches are replaced, and the shared
  character is removed once.
- ``numbers`` contains the number of each match's replacement. ``by_ends`` ascends, and contains the start of each replacement in ``by``,
  and the end of the last replacement.

`fst.runtime.machines.keywords.replacing` ensures these requirements.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import U0, U1, U32
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK, count_characters

BLOCK = U32  # number of bytes in which characters are counted at a time


@inlined
def size_of(by_ends, number):
    """Return the number of bytes of a replacement."""
    return by_ends[number + 1] - by_ends[number]


@part
def after(text, at, end, count):
    """Find the position `count` characters after `at`. The text must have `count` characters or more from `at` to `end`."""
    while count >= BLOCK and at + BLOCK <= end:
        count -= count_characters(text, at, at + BLOCK)
        at += BLOCK
    while at < end and text[at] & LEAD_MASK == CONTINUES:  # skip to the end of a character that the last block has cut in two
        at += U1
    while count:
        at += U1
        while at < end and text[at] & LEAD_MASK == CONTINUES:
            at += U1
        count -= U1
    return at


@part
def moved(text, at, end, characters, count):
    """Find the position of a character in a row.

    Args:
        at, characters: a position in the row where the search begins, and the number of the row's characters before this position.
        end: the end of the row.
        count: the index of the character in the row.
    """
    if count >= characters:
        return after(text, at, end, count - characters)
    while characters > count:
        at -= U1
        while text[at] & LEAD_MASK == CONTINUES:
            at -= U1
        characters -= U1
    return at


@kernel
def measure(text, starts, splits, offsets, numbers, by_ends, places, ends):
    """Convert the bounds of matches to bytes, and compute the ends of the new rows.

    Args:
        text: uint8[n].
        starts: int64[rows + 1].
        splits: int64[rows + 1], the index of the first match of each row, and the number of matches.
        offsets: int32[2 * matches], the first character of each match in its row, and one past its last character.
        numbers: int32[matches], the replacement of each match.
        by_ends: int64[replacements + 1].
        places: int64[2 * matches], an output: the bounds of each match in `text`, in bytes.
        ends: int64[rows], an output: the end of each new row, in bytes.
    """
    end = 0
    for row in range(len(starts) - 1):
        at, stop, characters = np.uint64(starts[row]), np.uint64(starts[row + 1]), U0
        done = starts[row]  # the end of the matches that have been read
        for match in range(splits[row], splits[row + 1]):
            for bound in (2 * match, 2 * match + 1):
                count = np.uint64(offsets[bound])
                at = moved(text, at, stop, characters, count)
                characters, places[bound] = count, at
            end += max(places[2 * match] - done, 0) + size_of(by_ends, numbers[match])
            done = max(done, places[2 * match + 1])
        end += starts[row + 1] - done
        ends[row] = end


@kernel
def write(text, starts, splits, places, numbers, by, by_ends, out):
    """Write the new rows next to each other.

    Args:
        text, starts, splits, numbers, by_ends: as in `measure`.
        places: the output of `measure`.
        by: uint8[n], the replacements, concatenated.
        out: uint8[n], the output; its length is the last element of `ends` from `measure`.
    """
    at, filled = np.uint64(starts[0]), U0
    for match in range(splits[0], splits[len(splits) - 1]):
        number = numbers[match]
        filled = put_bytes(text, at, np.uint64(places[2 * match]), out, filled)
        filled = put_bytes(by, np.uint64(by_ends[number]), np.uint64(by_ends[number + 1]), out, filled)
        at = max(at, np.uint64(places[2 * match + 1]))
    put_bytes(text, at, np.uint64(starts[len(starts) - 1]), out, filled)
