"""The longest beginning, or the longest end, of a text with a limited number of ids.

The number of ids is not monotone: a longer beginning may have fewer ids than a shorter one, because its last word is another word. But ids
that are certain in a beginning are ids of every longer beginning. So the text is read in steps until more ids are certain than are allowed.
The beginnings in the last step are tried, the longest first.

For ends, no id is certain, because a text may continue to the left. But if a text has a safe cut (`fst.runtime.safe_cuts`), every longer
end has all ids of the text after the cut. So the ends are tried that begin between two safe cuts: the last one with too many ids after it,
and the next one. A text without safe cuts takes one trial for each character that is cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.sessions.edits import EMPTY, appended, edited
from fst.runtime.sessions.reading import START, Checkpoint, Reader

SMALLEST, LARGEST = 1 << 5, 1 << 17  # numbers of characters of a step
CHARACTERS_OF_ID = 5  # about the mean of an id in English text, for estimates


class _Step(NamedTuple):
    """A position in a text.

    Attributes:
        read, ids: the numbers of characters and of ids before the position.
        at: the checkpoint at the position.
        seen: a number of characters, at least `read`; every beginning with as many characters has these ids before the position.
    """

    read: int
    ids: int
    at: Checkpoint
    seen: int


def longest_beginning(text: str, most: int, reader: Reader) -> tuple[str, int]:
    """Find the longest beginning of a text with at most `most` ids; return it, and its number of ids."""
    steps = [_Step(0, 0, START, 0)]
    longest = _read(text, most, reader, steps)
    while True:
        read, count, at, seen = steps.pop()
        for end in range(longest, seen - 1, -1):
            step = reader.read(at, text[read:end], ends=True)
            ids = count + len(step.ids) + len(step.rest)
            if ids <= most:
                return text[:end], ids
        longest = min(longest, seen - 1)


def _read(text: str, most: int, reader: Reader, steps: list[_Step]) -> int:
    """Read a text until more than `most` ids are certain, and append the steps. Beginnings longer than the result have too many ids.

    The number of characters of a step is estimated, so that it has nine tenths of the ids that are missing.
    """
    read, count, at, _ = steps[0]
    longest, limit, size, stuck = len(text), LARGEST, CHARACTERS_OF_ID * most, 0  # `stuck`: characters without a certain id
    while True:
        end = min(read + max(min(size, limit), SMALLEST, 2 * stuck), longest)
        step = reader.read(at, text[read:end])
        if count + len(step.ids) + step.certain > most:
            longest = end - 1
            if end - read <= max(SMALLEST, 2 * stuck):
                return longest
            limit = (end - read) // 8
        elif step.read and (len(step.ids) or not step.after.kept):
            read, count, at, stuck = read + step.read, count + len(step.ids), step.after, 0
            steps.append(_Step(read, count, at, end))
            size = max((most - count) * read * 9 // (10 * max(count, 1)), end + SMALLEST - read)
        else:
            stuck = end - read  # doubled in the next step, so that the time for a long text without a certain id stays linear
        if end == longest:
            return longest


def longest_end(text: str, most: int, reader: Reader, cuts: SafeCuts | None, count: Callable[[str], int]) -> tuple[str, int]:
    """Find the longest end of a text with at most `most` ids; return it, and its number of ids.

    Args:
        text, most, reader: as in `longest_beginning`.
        cuts: a finder of safe cuts; None if the table has no safe cuts.
        count: returns the number of ids of a text.
    """
    if cuts is None:
        whole = appended(EMPTY, text, reader)[0]
        counts = ((begin, edited(whole, 0, begin, "", reader)[0].size) for begin in range(len(text) + 1))
        begin, ids = next((begin, ids) for begin, ids in counts if ids <= most)
        return text[begin:], ids
    low, high, after = _around(text, most, cuts, count)
    for begin in range(low, high):
        ids = after + count(text[begin:high])
        if ids <= most:
            return text[begin:], ids
    return text[high:], after


def _around(text: str, most: int, cuts: SafeCuts, count: Callable[[str], int]) -> tuple[int, int, int]:
    """Find two safe cuts with no known safe cut between them: the text after the first one has more than `most` ids, the text after the
    second one has not. The end of the text counts as a safe cut, and its beginning as a first one, even if the text has at most `most` ids.

    Returns:
        The two positions, and the number of ids after the second.
    """
    low, high, after, size = 0, len(text), 0, CHARACTERS_OF_ID * most
    while size < high:
        found = cuts.first(text, high - size, high)
        if found is not None:
            ids = after + count(text[found:high])
            if ids > most:
                low = found
                break
            high, after = found, ids
        size *= 2
    limit = high  # there is no known safe cut from here to `high`
    while limit - low > 1:
        middle = (low + limit) // 2
        found = cuts.first(text, middle, high)
        ids = most if found is None or found >= high else after + count(text[found:high])
        if ids > most and found is not None:
            low, limit = found, high
        else:
            limit = middle
            if found is not None and found < high:
                high, after = found, ids
    return low, high, after
