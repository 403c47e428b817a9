"""Double arrays: the format in which SentencePiece stores the strings of a charsmap and their replacement texts.

A node of the trie is a unit of 32 bits. The children of a node are in a block of 256 units; the child for a byte is at the node's base xor
the byte, and has this byte as its label. A unit with a different label is not a child. If a string ends at the node, the unit at the base
contains the string's value, which is the position of its replacement text. Nodes may share children. This is the format of Darts-clone,
https://github.com/s-yata/darts-clone.

Charsmaps are not trusted. `read` proves that no walk leaves the array, that strings consist of whole characters and are not too long, and
that each string has a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.lazy import Lazy

LABEL, HAS_VALUE, IS_SHIFTED, OFFSET_SHIFT, VALUE = (1 << 31) | 0xFF, 1 << 8, 1 << 9, 10, 1 << 31
MAX_OFFSET = (1 << 21) - 1  # the highest offset, ``node ^ base``, of a unit without the flag `IS_SHIFTED`
SHIFT = 8  # number of bits by which an offset with the flag `IS_SHIFTED` is shifted
BLOCK = 256  # number of units in a block; labels are bytes, so a node's children are in one block
MAX_STRING = 256  # maximum number of bytes of a string
MAX_NODES = 1 << 22  # maximum number of nodes that the proof visits; a node counts once per depth at which it occurs
LEAST = 0, 0x80, 0x800, 0x10000  # the lowest code points whose UTF-8 has 1, 2, 3 and 4 bytes
MAX_LENGTHS = 32  # maximum number of different lengths of strings: ``sentencepiece`` finds at most this number of strings at one position

Units = NDArray[np.uint32]
Ints = NDArray[np.int64]


class Level(NamedTuple):
    """The nodes of one depth.

    Attributes:
        nodes: int64[n], the unit of each node; left: int64[n], the number of bytes that are missing from the last character of the node's
            string.
        values: int64[n], the value of the string that ends at each node; -1 if no string ends there.
    """

    nodes: Ints
    left: Ints
    values: Ints


class Characters(NamedTuple):
    """Characters that are strings of a charsmap, or that begin longer strings.

    Attributes:
        codes: int64[n], the characters; nodes: int64[n], the unit in which each character ends.
        values: int64[n], the value of the string that ends with the character; -1 if the character only begins longer strings.
    """

    codes: Ints
    nodes: Ints
    values: Ints


@dataclass(frozen=True, eq=False)
class DoubleArray:
    """A double array that `read` has proven to be valid.

    Attributes:
        units: uint32[n]; n is a multiple of `BLOCK`.
        texts: the replacement texts in UTF-8, with a NUL after each text.
        longest: the maximum number of bytes of a string.
        expansion_bound: the maximum number of bytes of a replacement text per byte of its string.
    """

    units: Units
    texts: bytes
    _edges: _Edges
    longest: int
    expansion_bound: Fraction

    def text(self, value: int) -> str:
        """The replacement text of the string with a given value."""
        return self.texts[value : self.texts.index(b"\0", value)].decode()

    def node(self, unit: int) -> tuple[dict[int, int], int | None]:
        """The children of a node, by byte, and the value of the string that ends at the node."""
        nodes = np.array([unit])
        (value,) = self._edges.values(nodes).tolist()
        children = {self._numbers[child] & 0xFF: child for child in self._edges.children(nodes)[0].tolist()}
        return children, value if value >= 0 else None

    def prefixes(self, string: bytes) -> Iterator[tuple[int, int]]:
        """The size and the value of each stored string that is a prefix of the argument, the shortest first."""
        units = self._numbers
        base = base_of(units[0], 0)
        for size, byte in enumerate(string, 1):
            node = base ^ byte
            if not byte or units[node] & LABEL != byte:
                return
            base = base_of(units[node], node)
            if units[node] & HAS_VALUE:
                yield size, units[base] & ~VALUE

    def lengths(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield arrays that together contain the first character of each string, and the byte length of the string's replacement text."""
        ends = np.flatnonzero(np.frombuffer(self.texts, np.uint8) == 0)
        codes, nodes, _ = self.characters
        sizes = character_sizes(codes)
        while len(nodes):
            nodes, codes, sizes = (array[sizes <= self.longest] for array in (nodes, codes, sizes))
            values = self._edges.values(nodes)
            has = values >= 0
            yield codes[has], ends[np.searchsorted(ends, values[has])] - values[has]
            nodes, parents = self._edges.children(nodes)
            codes, sizes = codes[parents], sizes[parents] + 1

    @Lazy
    def characters(self) -> Characters:
        """The first characters of all strings."""
        return _characters(self.units, self._edges, np.zeros(1, np.int64))[0]

    def seconds(self, nodes: Ints) -> tuple[Characters, Ints]:
        """The characters that can follow each of `nodes`, at which a character ends; and for each following character, the index of the
        node before it.
        """
        return _characters(self.units, self._edges, nodes)

    @Lazy
    def _numbers(self) -> list[int]:
        return [*map(int, self.units)]


def read(data: bytes, deepest: int = MAX_STRING, lengths: int | None = MAX_LENGTHS) -> DoubleArray:
    """Read a charsmap, and prove that it is valid. A charsmap is the size of the double array in four bytes, the double array, and the
    texts. Strings of more than `deepest` bytes are not read. `lengths` is the maximum number of different lengths of strings; None: no
    maximum.
    """
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or not size:
        raise ValueError("a charsmap without strings")
    if size > len(data) - 4 or size % 4:
        raise ValueError(f"a charsmap with {size} bytes of units; expected a multiple of 4, at most {len(data) - 4}")
    units, texts = np.frombuffer(data, "<u4", size // 4, 4).astype(np.uint32), data[4 + size :]
    units = np.append(units, np.zeros(-len(units) % BLOCK, np.uint32))
    if not texts.endswith(b"\0"):
        raise ValueError("a charsmap that is cut off: its texts do not end with a NUL")
    try:
        texts.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"a charsmap with texts that are not UTF-8: {error}") from None
    edges = _Edges(units)
    return DoubleArray(units, texts, edges, *_measured(units, texts, edges, deepest, lengths))


def _measured(units: Units, texts: bytes, edges: _Edges, deepest: int, most: int | None) -> tuple[int, Fraction]:
    """Compute the fields `longest` and `expansion_bound` of a `DoubleArray`. Raise ValueError if a string is invalid."""
    begins_inside = np.frombuffer(texts, np.uint8) & 0xC0 == 0x80
    ends = np.flatnonzero(np.frombuffer(texts, np.uint8) == 0)
    lengths, grows, visited = [0], Fraction(1), 0
    for depth, level in enumerate(_levels(units, edges)):
        visited += len(level.nodes)
        if depth > deepest < MAX_STRING:
            break
        if depth > MAX_STRING or visited > MAX_NODES:
            raise ValueError(f"a charsmap with a cycle, with strings of more than {MAX_STRING} bytes, or too many")
        values = level.values[level.values >= 0]
        if not len(values):
            continue
        lengths.append(depth)
        if values.max() >= len(texts) or begins_inside[values].any():
            raise ValueError(f"a charsmap with a text at {values.max()} of {len(texts)} bytes, or inside a character")
        grows = max(grows, Fraction(int((ends[np.searchsorted(ends, values)] - values).max()), depth))
    if most is not None and len(lengths) > most + 1:
        raise ValueError(f"a charsmap with strings of {len(lengths) - 1} lengths; at most {most} are possible")
    return lengths[-1], grows


def _levels(units: Units, edges: _Edges) -> Iterator[Level]:
    """The nodes of each depth, beginning with the root."""
    nodes, left = np.zeros(1, np.int64), np.zeros(1, np.int64)
    values = np.full(1, -1)
    while len(nodes):
        yield Level(nodes, left, values)
        children, parents = edges.children(nodes)
        left = _left(left[parents], units[children] & 0xFF)
        is_found = np.zeros(len(units) << 2, np.bool_)
        is_found[children << 2 | left] = True
        nodes, left = np.divmod(np.flatnonzero(is_found), 4)
        values = edges.values(nodes)
        if np.any(left[values >= 0]):
            raise ValueError("a charsmap with a string that ends inside a character")


class _Edges:
    """The edges of a double array."""

    def __init__(self, units: Units) -> None:
        self._units = units
        nodes = np.flatnonzero((units < VALUE) & (units & 0xFF > 0))
        blocks = nodes ^ (units[nodes] & 0xFF).astype(np.int64)
        order = np.argsort(blocks, kind="stable")
        self._nodes, self._blocks = nodes[order], blocks[order]

    def children(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The children of `nodes`; and the index in `nodes` of each child's parent."""
        bases = self._bases(nodes)
        begins, ends = np.searchsorted(self._blocks, bases), np.searchsorted(self._blocks, bases, "right")
        counts = ends - begins
        if counts.sum() > MAX_NODES:
            raise ValueError("a charsmap with too many strings")
        parents = np.repeat(np.arange(len(nodes)), counts)
        return self._nodes[np.arange(len(parents)) + np.repeat(begins - (np.cumsum(counts) - counts), counts)], parents

    def values(self, nodes: Ints) -> Ints:
        """The values of the strings that end at nodes."""
        has = self._units[nodes] & HAS_VALUE > 0
        values = self._units[np.where(has, self._bases(nodes), 0)].astype(np.int64) & VALUE - 1
        return np.where(has, values, -1)

    def _bases(self, nodes: Ints) -> Ints:
        units = self._units[nodes].astype(np.int64)
        bases: Ints = nodes ^ (units >> OFFSET_SHIFT & MAX_OFFSET) << np.where(units & IS_SHIFTED, SHIFT, 0)
        if bases.max(initial=0) >= len(self._units):
            raise ValueError(f"a charsmap with a node whose children would lie at {bases.max()}, past its {len(self._units)} units")
        return bases


def _left(left: Ints, found: NDArray[Any]) -> Ints:
    """The number of bytes that are missing from a character after the bytes `found`; `left` is the number that was missing before these
    bytes.
    """
    sizes = np.select([found < 0x80, found < 0xC2, found < 0xE0, found < 0xF0, found < 0xF5], [0, -1, 1, 2, 3], -1)
    after = np.where(left > 0, np.where(found & 0xC0 == 0x80, left - 1, -1), sizes)
    if np.any(after < 0):
        raise ValueError("a charsmap with strings that are not UTF-8")
    return after


def _characters(units: Units, edges: _Edges, nodes: Ints) -> tuple[Characters, Ints]:
    """The characters that can follow `nodes`; and for each following character, the index of the node before it."""
    origins = np.arange(len(nodes))
    left, codes = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    found = list[tuple[Ints, ...]]()
    for least in LEAST:
        nodes, parents = edges.children(nodes)
        bytes_ = (units[nodes] & 0xFF).astype(np.int64)
        is_first, left = left[parents] == 0, _left(left[parents], units[nodes] & 0xFF)
        codes = np.where(is_first, bytes_ & np.array([0x7F, 0x1F, 0x0F, 0x07])[left], codes[parents] << 6 | bytes_ & 0x3F)
        origins, is_whole = origins[parents], left == 0
        if np.any(codes[is_whole] < least):
            raise ValueError("a charsmap with strings that are not UTF-8")
        found.append((codes[is_whole], nodes[is_whole], edges.values(nodes[is_whole]), origins[is_whole]))
        nodes, left, codes, origins = (array[~is_whole] for array in (nodes, left, codes, origins))
    whole, ends, values, at = map(np.concatenate, zip(*found, strict=True))
    if np.any((whole >= 0xD800) & (whole < 0xE000)) or whole.max(initial=0) > 0x10FFFF:
        raise ValueError("a charsmap with strings that are not UTF-8")
    return Characters(whole, ends, values), at


def character_sizes(codes: Ints) -> Ints:
    """The number of bytes of each character in UTF-8."""
    return 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)


def base_of(unit: int, at: int) -> int:
    """The base of a unit at the position `at`."""
    return at ^ (unit >> OFFSET_SHIFT & MAX_OFFSET) << (SHIFT if unit & IS_SHIFTED else 0)
