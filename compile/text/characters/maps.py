"""Maps of code points to lists of symbols. The list of a code point does not depend on adjacent code points, so maps can be composed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.errors import UnsupportedError
from fst.text.composition import MAX_ROW

Symbols = NDArray[np.int32]
Ints = NDArray[np.int64]

MAX_IMAGE = MAX_ROW - 2  # maximum number of symbols in an image: a stored row contains two more numbers; U+FDFA decomposes into 18 symbols
MAX_SYMBOLS = 24 << 20  # maximum size of the images of a map, with padding: enough for images of 18 symbols of all code points
MAX_MADE = 8 << 20  # the same without padding: 8 symbols of 969,422 characters take 1.4 GB and some seconds


@dataclass(frozen=True, eq=False)
class Map:
    """A map of code points to lists of symbols. A symbol is a code point, or a number above all code points."""

    sources: Ints  # int64[n], the code points that change, ascending
    images: Symbols  # int32[n, width], the image of each source, padded with -1

    @classmethod
    def identity(cls) -> Map:
        """The map that changes nothing."""
        return cls(np.empty(0, np.int64), np.empty((0, 1), np.int32))

    @classmethod
    def of(cls, sources: Iterable[int] | Ints, images: Symbols | Ints) -> Map:
        """Make a map from sources, in any order, and their rows of images."""
        unsorted = np.array(sources if isinstance(sources, np.ndarray) else list(sources), np.int64)
        order = np.argsort(unsorted, kind="stable")
        return cls(unsorted[order], images[order].astype(np.int32))

    @classmethod
    def to_lists(cls, changes: Mapping[int, Sequence[int]]) -> Map:
        """Make a map from sources and their lists.

        >>> Map.to_lists({98: [], 99: [1, 2]}).apply(np.array([97, 98, 99])).tolist()
        [[97, -1], [-1, -1], [1, 2]]
        """
        _need_short(np.array([*changes], np.int64), np.array([*map(len, changes.values())], np.int64))
        images = np.full((len(changes), max(map(len, changes.values()), default=1) or 1), -1, np.int32)
        for row, listed in enumerate(changes.values()):
            images[row, : len(listed)] = listed
        return cls.of(changes, images)

    @classmethod
    def constant(cls, sources: Ints, listed: Sequence[int]) -> Map:
        """Make a map from all sources to the same list."""
        _need_short(sources, np.full(len(sources), len(listed)))
        _need_small(len(sources), len(listed), MAX_MADE)
        return cls.of(sources, np.tile(np.array(listed or [-1], np.int32), (len(sources), 1)))

    def apply(self, symbols: Ints | Symbols) -> Symbols:
        """The images of symbols: int32[..., width], padded with -1; the image of -1 is empty."""
        rows, width = self._rows(symbols).ravel(), self.images.shape[1]
        images = np.full((len(rows), width), -1, np.int32)
        images[:, 0] = symbols.ravel()
        changed = np.flatnonzero(rows > 0)
        images[changed] = self.images[rows[changed] - 1]
        return images.reshape(*symbols.shape, width)

    def _rows(self, symbols: Ints | Symbols) -> NDArray[np.int32]:
        """For each symbol, the row of its image in `images`, counted from 1; 0 if the map does not change the symbol."""
        rows = np.zeros(CODE_POINTS + 1, np.int32)  # the last element represents all symbols that are not code points
        rows[self.sources] = np.arange(1, 1 + len(self.sources))
        found: NDArray[np.int32] = rows[np.minimum(symbols, CODE_POINTS)]
        return found

    def then(self, following: Map) -> Map:
        """Compose this map with a map that follows.

        >>> Map.to_lists({97: [98, 99]}).then(Map.to_lists({99: [], 100: [101]})).apply(np.array([97, 99, 100])).tolist()
        [[98, -1], [-1, -1], [101, -1]]
        """
        sources = union(self.sources, following.sources)
        first = self.apply(sources)
        changed = np.flatnonzero(counts(following._rows(first) > 0))  # only the few images that the second map changes
        row, column = np.nonzero(first[changed] >= 0)
        symbols = first[changed[row], column]
        each = np.append(1, counts(following.images >= 0))[following._rows(symbols)]  # the size of the image of each symbol
        sizes = np.bincount(row, each, len(changed)).astype(np.int64)
        width = max(first.shape[1], int(sizes.max(initial=1)))
        _need_short(sources[changed], sizes)
        _need_small(len(sources), width, MAX_SYMBOLS)
        made = int(np.count_nonzero(first >= 0) - len(row) + sizes.sum())
        _need_small(len(sources), made // max(len(sources), 1), MAX_MADE)
        images = np.full((len(sources), width), -1, np.int32)
        images[:, : first.shape[1]] = first
        images[changed] = -1
        row = np.repeat(row, each)
        share = MAX_SYMBOLS // following.images.shape[1]  # number of symbols at a time, because the second map pads their images
        parts = (following.apply(symbols[begin : begin + share]) for begin in range(0, len(symbols), share))
        found = np.concatenate([np.empty(0, np.int32), *(part[part >= 0] for part in parts)])
        images[changed[row], np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row]] = found
        return Map(sources, images)


def _need_short(sources: Ints, sizes: Ints) -> None:
    """Raise an error if images would be too long, before memory is allocated for them."""
    if sizes.max(initial=0) > MAX_IMAGE:
        longest = int(np.argmax(sizes))
        raise UnsupportedError(f"normalizers make {sizes[longest]:,} symbols of U+{sources[longest]:04X}; at most {MAX_IMAGE} are possible")


def _need_small(sources: int, width: int, most_symbols: int) -> None:
    """Raise an error if the images of a map would be too large, before memory is allocated for them."""
    if sources * width > most_symbols:
        most = f"at most {most_symbols // sources:,} are possible for this number of characters"
        raise UnsupportedError(f"normalizers make up to {width:,} symbols of each of {sources:,} characters; {most}; shorten the content")


def union(*sources: Ints) -> Ints:
    """The code points in any of the arrays, in ascending order."""
    seen = np.zeros(CODE_POINTS, bool)
    seen[np.concatenate(sources)] = True
    return np.flatnonzero(seen)


def counts(are: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of true values in each row. If rows are short, numpy adds columns ten times faster than rows."""
    return reduce(np.add, are.T, np.zeros(len(are), np.int64))


def closed_up(rows: Symbols | Ints, *more: NDArray[Any]) -> list[NDArray[Any]]:
    """Move the symbols of each row to the front, and shorten all rows to the length of the longest row. Elements of parallel arrays are
    moved in the same way, and padded with 0.

    >>> [array.tolist() for array in closed_up(np.array([[-1, 5, 6], [7, -1, -1]]), np.array([[1, 2, 3], [4, 5, 6]]))]
    [[[5, 6], [7, -1]], [[2, 3], [4, 0]]]
    """
    present = rows >= 0
    sizes = counts(present)
    shape = len(rows), max(int(sizes.max(initial=1)), 1)
    if not np.any(present[:, 1:] & ~present[:, :-1]):  # the result for most maps: the rest takes ten times longer
        kept = present[:, : shape[1]]
        return [np.where(kept, array[:, : shape[1]], -1 if array is rows else 0).astype(array.dtype) for array in (rows, *more)]
    row, column = np.nonzero(present)
    place = np.arange(len(row)) - (np.cumsum(sizes) - sizes)[row]
    closed = [np.full(shape, -1, rows.dtype), *(np.zeros(shape, array.dtype) for array in more)]
    for without, array in zip(closed, (rows, *more), strict=True):
        without[row, place] = array[row, column]
    return closed
