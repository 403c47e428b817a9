"""The arrays that the kernels of rewrite rules read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.rules.entries import HEAD


class Stage(NamedTuple):
    """The arrays of a stage, which kernels read.

    Attributes:
        pages: uint16[PAGES], the block of each page of code points.
        blocks: uint16[blocks * PAGE], the class of each code point of a block.
        to_left: uint64[sets * classes]; to_right: uint64[states * columns]; see `fst.machines.rules.entries`. The first set and the first
            state belong to the ends of a text.
        finals: uint32[states], the string that each state writes at the end of a text.
        string_bytes: uint8[n], the strings in UTF-8, concatenated.
        string_ends: int64[strings], the end of each string in `string_bytes`.
        heads: uint8[strings * HEAD], the first bytes of each string, and zeros.
        sizes: uint32[strings], the number of bytes of each string.
        classes, columns: uint64[1], the numbers of classes and of columns.
        has_finals: uint64[1], 1 if a state writes a string at the end of a text.
    """

    pages: Array
    blocks: Array
    to_left: Array
    to_right: Array
    finals: Array
    string_bytes: Array
    string_ends: Array
    heads: Array
    sizes: Array
    classes: Array
    columns: Array
    has_finals: Array


def heads_of(data: Array, ends: Array) -> tuple[Array, Array]:
    """The arrays `Stage.heads` and `Stage.sizes` for the given strings.

    >>> heads, sizes = heads_of(np.frombuffer(b"abc", np.uint8), np.array([1, 1, 3]))
    >>> heads.reshape(-1, HEAD)[:, :2].tolist(), sizes.tolist()
    ([[97, 0], [0, 0], [98, 99]], [1, 0, 2])
    """
    begins, sizes = np.append(0, ends[:-1]), np.diff(ends, prepend=0)
    places = begins[:, None] + np.arange(HEAD)
    padded = np.append(data, np.zeros(HEAD, np.uint8))
    heads = np.where(np.arange(HEAD) < sizes[:, None], padded[places], np.uint8(0))
    return heads.astype(np.uint8).ravel(), sizes.astype(np.uint32)
