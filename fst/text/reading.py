"""The conversion of raw text to symbols, for every machine that reads normalized text. This module contains the slow walk, and the proof
for kernels.

A machine reads one *symbol* (normalized character) at a time. Five arrays map a text to its symbols:

``pages``, ``blocks``
    two-stage table, code point → class: ``blocks[pages[code_point >> 7] << 7 | code_point & 127]``.
``classes``
    two records per class, at ``2 * class`` (A) and ``2 * class + 1`` (B). All characters of one class behave alike. Class 0 belongs to no
    character. Classes of parts of words come first, then classes that end a word, then lists. See `fst.automata.rows` for the bits of
    record A.
``symbols``
    lists of classes, for characters that are not exactly one symbol: a count, then ``class | rank << 16`` for each symbol, the lowest rank
    first. In a list, class 0 represents a mark without a symbol, which only has a position in a run of marks.
``specials``
    the trie of the added tokens that are cut out of the raw text first, one character per node; each token has a class.

If neighbours may change a character, ``pages`` has a second half. Texts with such characters are normalized before they are read. The
second half contains the classes of normalized characters: `NORMALIZED` is added to the code points of these characters.

Example: the table of the WordPiece tokens [UNK], [SEP], a, ##b, e and ##e, which folds case and removes accents. "[" is a list with the
flag `STARTS_SPECIAL`; U+0301, an acute accent, is a list that continues a run of marks, whose only item is class 0 with a rank::

    text       class: list, flag                        symbols: class, span
    Aé         3; 2                                     3, 0–1; 2, 1–2: "A" is read as "a", "é" as "e"
    [SEP]b     13: 6, `STARTS_SPECIAL`; …               7, 0–5: the class of [SEP] in `specials`; 1, 5–6
    e + U+0301 2; 64: 0 << 0 | 50 << 16, CONTINUES_RUN  2, 0–1: the mark has no symbol
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fst.automata.rows import (
    CODE_POINTS,
    CONTINUES_RUN,
    ENTRY,
    HAS_MARKS,
    LIST,
    MAX_NEXT,
    ONE,
    PAGE_BITS,
    STARTS_SPECIAL,
    Array,
    are_fences,
    field_kind,
    field_output,
)
from fst.core.lazy import Lazy
from fst.errors import quoted
from fst.tables.proof import need, need_none
from fst.tables.table import Table
from fst.text.composition import Place

MAX_RANK = 63
MAX_LISTED = 32  # maximum number of symbols of one character; the decomposition of U+FDFA has 18 symbols
KNOWN_FLAGS = STARTS_SPECIAL | HAS_MARKS | CONTINUES_RUN

NORMALIZED = CODE_POINTS  # added to the code point of a normalized character

Symbol = tuple[int, Place]  # a class, and the span of the symbol in the text


class ReadingTable(Table):
    """A table that converts raw text to symbols with the arrays of this module."""

    pages: Array  # uint16[8704], the block of each 128 code points; or uint16[17408], where the second half is for normalized characters
    blocks: Array  # uint16[128 * n], the class of each code point of a block
    classes: Array  # uint64[2 * classes], records A and B
    symbols: Array  # uint32[n], lists of symbols
    specials: Array  # int32[nodes, 4]: code point, first child, next sibling, class; -1 means no value; node 0 is the root

    @property
    def ids_per_unit(self) -> int:
        """The maximum number of symbols of a character, because a text has at most one id for each symbol."""
        a = self.classes[0::2]
        return int(self.symbols[ENTRY.targets_of(a[field_kind(a) == LIST])].max(initial=1))

    @Lazy
    def flags(self) -> Array:
        """uint8[classes], the flags of each class that is a list; 0 for other classes."""
        records = self.classes[0::2]
        return np.where(field_kind(records) == LIST, field_output(records), 0).astype(np.uint8)

    @property
    def has_normalized(self) -> bool:
        """Whether there are classes of normalized characters."""
        return len(self.pages) > CODE_POINTS >> PAGE_BITS

    def class_of(self, code_point: int) -> int:
        """The class of a code point. For a normalized character, `NORMALIZED` is added to the code point."""
        return int(self.blocks[int(self.pages[code_point >> PAGE_BITS]) << PAGE_BITS | code_point & 127])

    def classes_of(self, code_points: Array) -> Array:
        """uint16[n], the class of each code point."""
        found: Array = self.blocks[self.pages[code_points >> PAGE_BITS].astype(np.int64) << PAGE_BITS | code_points & 127]
        return found

    def listed(self, number: int) -> list[tuple[int, int]]:
        """The classes to which a class expands, each with its rank in canonical ordering (rank 0 never moves)."""
        record = self.classes[2 * number]
        if field_kind(record) != LIST:
            return [(number, 0)]
        start = int(ENTRY.targets_of(record))
        found = self.symbols[start + 1 : start + 1 + int(self.symbols[start])].tolist()
        return [(symbol & 0xFFFF, symbol >> 16) for symbol in found]

    def special_at(self, text: str, position: int) -> tuple[int, int] | None:
        """The end and the class of the longest special token at a position; None if no special token begins there."""
        node, found = 0, None
        for end in range(position, len(text)):
            node = next((child for child in self._children(node) if self.specials[child, 0] == ord(text[end])), -1)
            if node < 0:
                return found
            if self.specials[node, 3] >= 0:
                found = end + 1, int(self.specials[node, 3])
        return found

    def read(self, text: str) -> Iterator[Symbol]:
        """The symbols of a text, with runs of marks in canonical order. Pairs of equal fences are included."""
        position = 0
        while position < len(text):
            number = self.class_of(ord(text[position]))
            flags = int(self.flags[number])
            if flags & STARTS_SPECIAL and (special := self.special_at(text, position)):
                yield special[1], (position, special[0])
                position = special[0]
                continue
            end = self._run_end(text, position) if flags & (HAS_MARKS | CONTINUES_RUN) else position + 1
            yield from self._run(text, position, end)
            position = end

    def _run_end(self, text: str, position: int) -> int:
        """The end of a run of marks. The run includes the starter before the marks."""
        end = position + 1
        while end < len(text):
            flags = self.flags[self.class_of(ord(text[end]))]
            if not flags & CONTINUES_RUN or (flags & STARTS_SPECIAL and self.special_at(text, end)):
                break
            end += 1
        return end

    def _run(self, text: str, position: int, end: int) -> Iterator[Symbol]:
        """The symbols of a character or of a run of marks, sorted by rank. Symbols of equal rank stay in their order in the text.

        Spans stay in text order. The first symbol of each character gets the span of the next character that has symbols. Every other
        symbol gets the span of the symbol before it.
        """
        lists = [self.listed(self.class_of(ord(char))) for char in text[position:end]]
        places = iter([at for at, listed in enumerate(lists, position) if listed])
        symbols = [(rank, index == 0, number) for listed in lists for index, (number, rank) in enumerate(listed)]
        place = position, position
        for _, begins, number in sorted(symbols, key=lambda symbol: symbol[0]):
            if begins:
                at = next(places)
                place = at, at + 1
            if number:
                yield number, place

    def _children(self, node: int) -> Iterator[int]:
        child = int(self.specials[node, 1])
        while child >= 0:
            yield child
            child = int(self.specials[child, 2])


def parents_of(specials: Array) -> Array:
    """int64[nodes], the parent of each node of ``specials``; 0 for the root.

    Each node except the root is the first child or the next sibling of exactly one node. Each node comes after its parent.
    """
    _, child, sibling, _ = specials.T
    nodes = np.arange(len(specials))
    first = nodes.copy()  # for each node, an earlier sibling; after the loop, its first sibling
    first[sibling[sibling >= 0]] = nodes[sibling >= 0]
    while not np.array_equal(sooner := first[first], first):
        first = sooner
    parents = np.zeros(len(specials), np.int64)
    parents[child[child >= 0]] = nodes[child >= 0]
    return parents[first]


def prove_lists(table: ReadingTable) -> None:
    """Prove that each list contains only classes with one symbol, in canonical order, and that its flags match its content."""
    a, symbols = table.classes[0::2], table.symbols
    lists = np.flatnonzero(field_kind(a) == LIST)
    kind, fences, flags, start = field_kind(a), are_fences(a), field_output(a[lists]), ENTRY.targets_of(a[lists])
    need_none(flags & ~KNOWN_FLAGS != 0, lambda at: f"class {lists[at]} has the flags {flags[at]}; this version knows {KNOWN_FLAGS}")
    need_none(start >= len(symbols), lambda at: f"the list of class {lists[at]} begins at {start[at]} of {len(symbols)} symbols")
    counts = symbols[start].astype(np.int64)
    need_none(counts > MAX_LISTED, lambda at: f"the list of class {lists[at]} has {counts[at]} symbols; {MAX_LISTED} are possible")
    need_none(start + counts >= len(symbols), lambda at: f"the list of class {lists[at]} ends after the last of {len(symbols)} symbols")
    of = np.repeat(np.arange(len(counts)), counts)  # the list of each symbol; the lists are concatenated
    place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    listed = symbols[start[of] + 1 + place]
    number, rank = (listed & np.uint32(0xFFFF)).astype(np.int64), listed >> np.uint32(16)

    def refuse(wrong: Array, fault: str) -> None:
        need_none(wrong, lambda at: f"the list of class {lists[of[at]]}: {fault.format(number=number[at], rank=rank[at])}")

    refuse(number >= len(kind), f"there is no class {{number}}; there are {len(kind)}")
    refuse(kind[number] == LIST, "class {number} is a list too")
    size, fenced = counts[of], fences[number]
    refuse(fenced & (place > 0) & (place < size - 1), "fence {number} stands between other symbols")
    refuse(fenced & ((rank > 0) | (size < 2)), "fence {number} stands alone or has a rank")
    refuse(rank > MAX_RANK, f"rank {{rank}} of class {{number}} is above {MAX_RANK}")
    refuse((place > 0) & (rank < np.append(0, rank[:-1])), "rank {rank} of class {number} is lower than the rank before it")
    continues, has_marks = (flags[of] & flag > 0 for flag in (CONTINUES_RUN, HAS_MARKS))
    refuse((rank == 0) & continues, "class {number} has no rank in a list that continues a run of marks")
    refuse((rank == 0) & (number == 0), "class 0, a mark without a symbol, has no rank")
    refuse((rank > 0) & np.where(number > 0, ~has_marks, ~continues), "class {number} has rank {rank} in a list without marks")


def prove_characters(table: ReadingTable) -> None:
    """Prove that code points map to valid classes."""
    pages, blocks, width, count = table.pages, table.blocks, 1 << PAGE_BITS, len(table.classes) // 2
    known = CODE_POINTS // width
    need(len(pages) in (known, 2 * known), f"there are {len(pages)} pages; expected {known}, or twice as many with normalized characters")
    need(len(blocks) and len(blocks) % width == 0, f"blocks has {len(blocks)} elements, not {width} for each block")
    numbered = len(blocks) // width
    need_none(pages >= numbered, lambda page: f"U+{page * width:04X} is on page {pages[page]}; there are {numbered}")
    wrong = (blocks < 1) | (blocks >= count)
    need_none(wrong, lambda at: f"class {blocks[at]} of code point {_code_point(pages, at)} has no record; records are 1 to {count - 1}")
    fenced = are_fences(table.classes[0::2])[blocks]
    need_none(fenced, lambda at: f"class {blocks[at]} of code point {_code_point(pages, at)} is a fence outside of a list")


def _code_point(pages: Array, at: int) -> str:
    """The first code point of an element of ``blocks``."""
    found = np.flatnonzero(pages == at >> PAGE_BITS)
    return f"U+{int(found[0]) << PAGE_BITS | at & 127:04X}" if len(found) else "on no page"


def prove_specials(table: ReadingTable, specials: Mapping[str, int]) -> None:
    """Prove that the trie contains exactly the special tokens of the metadata, and that the class of each token's first character has the
    flag `STARTS_SPECIAL`. `table`: a table; the proofs of all its other arrays must have passed. `specials`: token → id.
    """
    need(table.specials.shape[1] == 4, f"nodes of specials have {table.specials.shape[1]} fields; expected 4")
    code, child, sibling, number = table.specials.T
    nodes, size = np.arange(len(code)), len(code)
    need(1 <= size <= MAX_NEXT, f"the trie of special tokens has {size} nodes; 1 to {MAX_NEXT} are possible")
    need(sibling[0] == -1 and number[0] == -1, "the root of the trie of special tokens is a token, or has a sibling")

    def refuse(wrong: Array, fault: str) -> None:
        need_none(wrong, lambda node: f"node {node} of the trie of special tokens {fault}")

    refuse((nodes > 0) & ((code < 0) | (code >= CODE_POINTS)), "has no code point")
    refuse((child != -1) & ((child <= nodes) | (child >= size)), "has a child that does not come after it")
    refuse((sibling != -1) & ((sibling <= 0) | (sibling >= nodes)), "has a sibling that does not come before it")
    refuse((nodes > 0) & (parents_of(table.specials) >= nodes), "comes before its parent")
    a = table.classes[0::2]
    kind = field_kind(a)
    refuse((number < -1) | (number >= len(kind)), f"has a class that is not there; there are {len(kind)}")
    refuse((number >= 0) & (kind[number] != ONE), "has a class that is not a word by itself")
    need(size <= 1 + sum(map(len, specials)), f"the trie of special tokens has {size} nodes, more than the tokens in about have characters")
    edges = _edges(table.specials)
    for content, known in specials.items():
        node = 0
        for char in content:
            node = edges.get((node, ord(char)), 0)
            need(node, f"special token {quoted(content)} is not in the trie")
        found = int(field_output(a[number[node]])) if number[node] >= 0 else None
        need(found == known, f"special token {quoted(content)} has the id {known}, and in the trie {found}")
    tokens = np.count_nonzero(number >= 0)
    need(tokens == len(specials), f"the trie holds {tokens} special tokens, about {len(specials)}")
    for letter in (letter for node, letter in edges if not node):
        begins = int(table.flags[table.class_of(letter)]) & STARTS_SPECIAL
        need(begins, f"a special token begins with U+{letter:04X}, whose class is not flagged so")


def _edges(trie: Array) -> dict[tuple[int, int], int]:
    """The nodes of a trie by parent and letter. Prove that each node has one parent, and that siblings have different letters."""
    code, child, sibling, _ = trie.T.tolist()
    edges: dict[tuple[int, int], int] = {}
    for node, first in enumerate(child):
        other = first
        while other >= 0 and len(edges) < len(code):
            edges[node, code[other]] = other
            other = sibling[other]
    lost = sorted({*range(1, len(code))}.difference(edges.values()))
    need(not lost, f"node {lost[:1]} of the trie of special tokens has no parent, or the letter of a sibling")
    need(len(edges) == len(code) - 1, "a node of the trie of special tokens has two parents")
    return edges
