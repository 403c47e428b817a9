"""Replace matches in rows of UTF-8: `measure` finds where matches stand, and where each new row ends; `write` writes the new rows.

Kernels check nothing. They require:

- ``text`` is UTF-8, in which ``starts`` says where each row begins, and where the last one ends.
- ``splits`` ascends from 0 to the number of matches. The matches of a row lie in it, and both their bounds ascend. Matches may share
  characters, if these were spelled as several for the search: then all are replaced, and what they share is left out once.
- ``numbers`` has the replacement of each match. ``by_ends`` ascends within ``by``: where each replacement begins, and the last one ends.

`fst.runtime.machines.keywords.replacing` ensures this.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import U0, U1, U32
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK, count_characters

BLOCK = U32  # characters counted at a time


@inlined
def size_of(by_ends, number):
    """The number of bytes of a replacement."""
    return by_ends[number + 1] - by_ends[number]


@part
def after(text, at, stop, count):
    """The position after so many characters, of which the text has at least so many before `stop`."""
    while count >= BLOCK and at + BLOCK <= stop:
        count -= count_characters(text, at, at + BLOCK)
        at += BLOCK
    while at < stop and text[at] & LEAD_MASK == CONTINUES:  # of a character that a block has cut in two
        at += U1
    while count:
        at += U1
        while at < stop and text[at] & LEAD_MASK == CONTINUES:
            at += U1
        count -= U1
    return at


@part
def moved(text, at, stop, characters, count):
    """The position of a character in a row.

    Args:
        at, characters: another position in the row, and the number of characters before it.
        stop: the end of the row.
        count: the number of characters before the one that is sought.
    """
    if count >= characters:
        return after(text, at, stop, count - characters)
    while characters > count:
        at -= U1
        while text[at] & LEAD_MASK == CONTINUES:
            at -= U1
        characters -= U1
    return at


@kernel
def measure(text, starts, splits, offsets, numbers, by_ends, places, ends):
    """Find where matches stand, and where each new row ends.

    Args:
        text: uint8[n].
        starts: int64[rows + 1].
        splits: int64[rows + 1], where the matches of each row begin, and where the last ones end.
        offsets: int32[2 * matches], the first character of each match in its row and one past the last.
        numbers: int32[matches], the replacement of each.
        by_ends: int64[replacements + 1].
        places: int64[2 * matches], filled: the bounds of each match in `text`.
        ends: int64[rows], filled.
    """
    end = 0
    for row in range(len(starts) - 1):
        at, stop, characters = np.uint64(starts[row]), np.uint64(starts[row + 1]), U0
        done = starts[row]  # the end of the matches so far
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
    """Write the new rows, one after the other.

    Args:
        text, starts, splits, numbers, by_ends: as in `measure`.
        places: as `measure` has filled it.
        by: uint8[n], the replacements, one after the other.
        out: uint8[n], filled; as long as `measure` says.
    """
    at, filled = np.uint64(starts[0]), U0
    for match in range(splits[0], splits[len(splits) - 1]):
        number = numbers[match]
        filled = put_bytes(text, at, np.uint64(places[2 * match]), out, filled)
        filled = put_bytes(by, np.uint64(by_ends[number]), np.uint64(by_ends[number + 1]), out, filled)
        at = max(at, np.uint64(places[2 * match + 1]))
    put_bytes(text, at, np.uint64(starts[len(starts) - 1]), out, filled)
