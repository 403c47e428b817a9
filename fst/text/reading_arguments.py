"""The kernel arguments for tables that convert text to symbols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import Matcher, linked
from fst.automata.rows import ENTRY, LIST, STARTS_SPECIAL, WHITESPACE, Array, field_kind, field_output
from fst.text.reading import ReadingTable, parents_of

NOT_PLAIN = 0x8000  # a bit in `bmp_classes`: the unit alone does not determine one symbol


class Reader(NamedTuple):
    """The arrays that `fst.runtime.text.kernels.reading` reads.

    Attributes:
        bmp_classes: uint16[65536], by UTF-16 unit: the class if the unit always determines one symbol; the class with the bit `NOT_PLAIN`
            if the unit does so unless a special token begins there; `NOT_PLAIN` otherwise.
        records: uint64[classes + 1], record A of each class, then the record of a space for the end of a text.
        pages, blocks, lists: see `fst.text.reading.ReadingTable`; `lists` is ``symbols`` there.
        specials: the special tokens; the value of each token is its class.
        second_units: uint64[1]. For the second unit of each special token, the bit ``unit & 63`` is set. All bits are set if a special
            token has a single unit.
    """

    bmp_classes: Array
    records: Array
    pages: Array
    blocks: Array
    lists: Array
    specials: Matcher
    second_units: Array


def reader(table: ReadingTable) -> Reader:
    """The reader of a table."""
    return Reader(
        bmp_classes=_bmp_classes(table),
        records=with_end(table.classes[0::2]),
        pages=borrowable(table.pages, np.uint16),
        blocks=borrowable(table.blocks, np.uint16),
        lists=borrowable(table.symbols, np.uint32),
        specials=special_trie(table.specials),
        second_units=np.array([_second_units(table.specials)], np.uint64),
    )


def with_end(records: Array, end: np.uint64 = WHITESPACE) -> Array:
    """Append to the records of classes the record for the end of a text."""
    return np.append(records, end).astype(np.uint64)


def borrowable(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return an array in the form that `fst.core.borrowed` requires: the dtype in the processor's byte order, aligned, C-contiguous."""
    return np.require(array, dtype, ["C", "A"])


def special_trie(specials: Array) -> Matcher:
    """The trie of ``specials`` in `fst.text.reading.ReadingTable`, over UTF-16 units; its values are classes."""
    labels = np.maximum(specials[:, 0], 0).astype(np.int64)
    return linked(parents_of(specials), labels, 1 + (labels >> 16 > 0), specials[:, 3], overlapping=False)


def _bmp_classes(table: ReadingTable) -> NDArray[np.uint16]:
    a, units = table.classes[0::2], np.arange(1 << 16)
    symbol = table.classes_of(units).astype(np.uint32)
    listed = field_kind(a[symbol]) == LIST
    records = a[symbol[listed]]
    first = ENTRY.targets_of(records)
    single = (field_output(records) == STARTS_SPECIAL) & (table.symbols[first] == 1)
    # the proof of the table shows that there are no fences and no ranks here
    symbol[listed] = np.where(single, table.symbols[first + single], 0)
    symbol[(symbol >= NOT_PLAIN) | (units & 0xF800 == 0xD800)] = 0
    return np.where(listed | (symbol == 0), symbol | NOT_PLAIN, symbol).astype(np.uint16)


def _second_units(specials: NDArray[np.int32]) -> int:
    def children(node: int) -> Iterator[int]:
        child = int(specials[node, 1])
        while child >= 0:
            yield child
            child = int(specials[child, 2])

    seconds = 0
    for first in children(0):
        rests = [chr(specials[second, 0]) for second in children(first)] + [""] * int(specials[first, 3] >= 0)
        for rest in rests:
            second = (chr(specials[first, 0]) + rest).encode("utf-16-le", "surrogatepass")[2:4]
            seconds |= 1 << (second[0] & 63) if second else (1 << 64) - 1
    return seconds
