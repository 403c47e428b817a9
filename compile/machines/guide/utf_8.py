"""Sets of code points as sequences of ranges of bytes: the UTF-8 of exactly the characters of a set.

The characters up to U+07FF, for example, are ``[00-7F]`` and ``[C2-DF][80-BF]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.compile.patterns.code_points import SURROGATES, Set

Range = tuple[int, int]  # the first and the last byte
LAST_OF_LENGTH = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)  # the last code points whose UTF-8 has one, two, three and four bytes
START, END = 0, 1  # the states of a `Fragment` before and after a character


class Fragment(NamedTuple):
    """A small automaton over bytes that reads one character of a set.

    Attributes:
        states: the number of states; state `START` is before the character, state `END` after it.
        arcs: int32[n, 4], for each arc, the state before it, its first and its last byte, and the state after it.
    """

    states: int
    arcs: Array


def fragment(edges: Set) -> Fragment:
    """The automaton that reads one character of a set.

    Examples:
        >>> import numpy as np
        >>> fragment(np.array([0x61, 0x63, 0xE0, 0xE2])).arcs.tolist()
        [[0, 97, 98, 1], [0, 195, 195, 2], [2, 160, 161, 1]]
    """
    return _fragment(edges.astype(np.int64).tobytes())


@lru_cache(maxsize=1 << 10)
def _fragment(edges: bytes) -> Fragment:
    numbers: dict[tuple[Range, ...], int] = {(): END}
    arcs: list[tuple[int, int, int, int]] = []

    def state(ranges: tuple[Range, ...]) -> int:
        """The state before the last bytes of a character, shared by all characters with the same last bytes."""
        if ranges not in numbers:
            following = state(ranges[1:])
            numbers[ranges] = len(numbers) + 1
            arcs.append((numbers[ranges], *ranges[0], following))
        return numbers[ranges]

    for first, end in np.frombuffer(edges, np.int64).reshape(-1, 2).tolist():
        for ranges in sequences(first, end - 1):
            following = state(ranges[1:])
            arcs.append((START, *ranges[0], following))
    return Fragment(len(numbers) + 1, np.array(sorted(arcs), np.int32).reshape(-1, 4))


def sequences(first: int, last: int) -> Iterator[tuple[Range, ...]]:
    """Split a run of code points into sequences of ranges of bytes. Surrogates have no UTF-8 and are left out.

    Examples:
        >>> [*sequences(0x70, 0x81)]
        [((112, 127),), ((194, 194), (128, 129))]
    """
    start = 0
    for length, end in enumerate(LAST_OF_LENGTH, start=1):
        for begin, past in ((start, min(end, SURROGATES[0] - 1)), (max(start, SURROGATES[1] + 1), end)):
            if max(first, begin) <= min(last, past):
                yield from _of_length(max(first, begin), min(last, past), length)
        start = end + 1


def _of_length(first: int, last: int, length: int) -> Iterator[tuple[Range, ...]]:
    """Like `sequences`, for characters with the same number of bytes: split a run where the bytes after the first one do not take all
    values.
    """
    for shift in range(6, 6 * length, 6):
        mask = (1 << shift) - 1
        if first & ~mask != last & ~mask:
            if first & mask:
                yield from _of_length(first, first | mask, length)
                yield from _of_length((first | mask) + 1, last, length)
                return
            if last & mask != mask:
                yield from _of_length(first, (last & ~mask) - 1, length)
                yield from _of_length(last & ~mask, last, length)
                return
    yield tuple(zip(chr(first).encode(), chr(last).encode(), strict=True))
