"""Divide characters into classes of equivalent characters, so that tables have one row per class instead of one per character."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import (
    CODE_POINTS,
    CONTINUES_RUN,
    ENTRY,
    HAS_MARKS,
    LIST,
    MAX_LABEL,
    NONE,
    ONE,
    OTHER,
    PAGE_BITS,
    ROOT,
    STARTS_SPECIAL,
    are_parts,
    field_kind,
    pack,
)
from fst.automata.transducer import Transducer
from fst.automata.trie import Ints
from fst.compile.layout.transducer import Rows
from fst.compile.text.characters.maps import counts
from fst.errors import UnsupportedError
from fst.text.alphabet import BREAK, ISOLATED, Alphabet
from fst.text.reading import ReadingTable


@dataclass(frozen=True, eq=False)
class Classes:
    """The arrays of a `fst.text.reading.ReadingTable` that map code points to symbols, and the class of each symbol and letter."""

    pages: NDArray[np.uint16]
    blocks: NDArray[np.uint16]
    classes: NDArray[np.uint64]
    symbols: NDArray[np.uint32]
    specials: NDArray[np.int32]
    of_letter: Ints  # int64[letters], the class of each letter
    of_symbol: NDArray[np.int32]  # int32[2**21 + 0x110000], the class of each symbol of the alphabet


class Letters(NamedTuple):
    """The letters of the words of a machine."""

    records: NDArray[np.uint64]  # uint64[letters, 2], records A and B of each letter
    of_symbol: NDArray[np.signedinteger[Any]]  # int[0x110000], the letter of each symbol

    @classmethod
    def of_machine(cls, transducer: Transducer, rows: Rows) -> Letters:
        """The letters of a transducer and its layout: the labels of its trie."""
        default, first = rows.slots[transducer.default], rows.slots[transducer.first]
        kinds = np.where(rows.columns, NONE, OTHER)
        records = np.column_stack([pack(default, rows.columns, 0, kinds), first.astype(np.uint64)])
        return cls(records, transducer.trie.label_of)

    @classmethod
    def of_table(cls, table: ReadingTable, alphabet: Alphabet) -> Letters:
        """The letters of a table: the classes that are parts of words. `alphabet` maps the characters of the table to symbols."""
        records = table.classes.reshape(-1, 2)
        is_list = field_kind(records[:, 0]) == LIST
        first = np.where(is_list, ENTRY.targets_of(records[:, 0]).astype(np.int64) + 1, 0)
        listed = np.append(table.symbols, 1).astype(np.int64) & 0xFFFF
        number = table.classes_of(np.arange(CODE_POINTS)).astype(np.int64)
        of_symbol = np.where(is_list[number], listed[first[number]], number)  # correct for characters that map to themselves
        own, used = number[alphabet.codes], alphabet.symbols >= 0
        place = np.cumsum(used, axis=1) - 1 + (listed[first[own]] == 0)[:, None]  # class 0 at the start of a list: a mark without a symbol
        found = np.where(is_list[own][:, None], listed.take(first[own][:, None] + place * used, mode="clip"), own[:, None])
        is_letter = used & (alphabet.symbols < CODE_POINTS)
        of_symbol[alphabet.symbols[is_letter]] = found[is_letter]
        parts = np.count_nonzero(are_parts(records[:, 0]))  # the first classes after class 0
        return cls(records[1 : 1 + parts], np.where(of_symbol <= parts, of_symbol - 1, 0))


def classify(
    alphabet: Alphabet,
    letters: Letters,
    word_of_one: Mapping[str, int],
    other_ids: Collection[int],
    apart: Collection[int],
    normalized: Alphabet | None = None,
) -> Classes:
    """Compute the classes of code points, symbols and letters.

    Args:
        alphabet: the symbols of every code point.
        letters: the letters of the machine.
        word_of_one: character → token id, for each character that is a token.
        other_ids: the id of all other isolated characters, followed by the ids of added tokens that are not in the alphabet.
        apart: symbols that get a separate class, even if they are equivalent to others.
        normalized: the symbols of every code point of normalized text; None if the kernel always reads raw text.
    """
    found = _symbol_classes(alphabet, letters, word_of_one, list(other_ids))
    class_of_symbol, class_of_letter, class_of_id, records = _kept_apart(found, letters, apart) if apart else found
    single, list_records, pool = _of_code_points(alphabet, class_of_symbol, len(records))
    classes = np.concatenate([records, list_records])
    if normalized:
        own, list_records, lists = _of_code_points(normalized, class_of_symbol, len(classes), len(pool))
        is_symbol = alphabet.readable()
        is_symbol[normalized.codes[normalized.symbols[:, 0] != normalized.codes]] = True
        single = np.append(single, np.where(is_symbol, own, single))  # all other code points map to no symbol, so any class is correct
        classes, pool = np.concatenate([classes, list_records]), np.append(pool, lists)
    if len(classes) > MAX_LABEL:
        raise UnsupportedError(f"{len(classes)} classes of characters: a table has room for {MAX_LABEL}")
    pages, blocks = paged(single.astype(np.uint16))
    specials = _special_trie({special: class_of_id[number] for special, number in alphabet.specials.items()})
    return Classes(pages, blocks, classes.ravel(), pool, specials, class_of_letter, class_of_symbol)


SymbolClasses = tuple[NDArray[np.int32], Ints, dict[int, int], NDArray[np.uint64]]


def _symbol_classes(alphabet: Alphabet, letters: Letters, word_of_one: Mapping[str, int], other_ids: list[int]) -> SymbolClasses:
    """The class of each symbol, of each letter, and of each id; and the records of all classes."""
    ids = np.unique([*other_ids, *word_of_one.values(), *alphabet.specials.values()])
    alone = np.column_stack([pack(ROOT, 0, ids, ONE), np.zeros(len(ids), np.uint64)])
    fences = np.arange(1 + alphabet.fences)
    between = np.column_stack([pack(ROOT, 0, fences, NONE), np.zeros(len(fences), np.uint64)])  # fence 0 is a space
    records, number = np.unique(np.concatenate([between, letters.records, alone]), axis=0, return_inverse=True)
    # Class 0 means no class. Parts of words come first, so that one comparison distinguishes them from symbols that end a word.
    order = np.argsort(~are_parts(records[:, 0]), kind="stable")
    number = 1 + np.argsort(order)[number.ravel()]
    records = np.concatenate([np.zeros((1, 2), np.uint64), records[order]])
    between_class, word_class, class_of_id = np.split(number, [len(fences), len(fences) + len(letters.records)])

    alone_class = np.full(CODE_POINTS, class_of_id[np.searchsorted(ids, other_ids[0])])
    alone_class[[ord(char) for char in word_of_one]] = class_of_id[np.searchsorted(ids, list(word_of_one.values()))]
    class_of_symbol = np.zeros(ISOLATED + CODE_POINTS, np.int32)
    class_of_symbol[:CODE_POINTS] = word_class[letters.of_symbol]
    class_of_symbol[BREAK : BREAK + len(fences)] = between_class
    class_of_symbol[ISOLATED:] = alone_class
    return class_of_symbol, word_class, dict(zip(ids.tolist(), class_of_id.tolist(), strict=True)), records


def _kept_apart(found: SymbolClasses, letters: Letters, symbols: Collection[int]) -> SymbolClasses:
    """Assign a separate class to each of the given symbols. The classes of parts of words remain the first."""
    class_of_symbol, class_of_letter, class_of_id, records = found
    own = np.array(sorted(symbols))
    of_record = np.append(np.arange(len(records)), class_of_symbol[own])  # first the existing classes, then the new classes
    order = np.argsort(of_record, kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    class_of_symbol = number.astype(np.int32)[class_of_symbol]
    class_of_symbol[own] = number[len(records) :]
    class_of_letter = number[class_of_letter]
    parts = own[own < CODE_POINTS]
    class_of_letter[letters.of_symbol[parts]] = class_of_symbol[parts]
    class_of_id = {token: int(number[known]) for token, known in class_of_id.items()}
    return class_of_symbol, class_of_letter, class_of_id, records[of_record[order]]


def _of_code_points(
    alphabet: Alphabet, class_of_symbol: NDArray[np.int32], known: int, pooled: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.uint32]]:
    """The class of each code point; the new records, numbered after the `known` records; and the pool of the lists of symbols.

    The pool is appended to an existing pool of `pooled` elements.
    """
    starters = np.unique([ord(special[0]) for special in alphabet.specials]).astype(np.int64)
    alphabet = alphabet.listing(starters)
    symbols = alphabet.symbols
    is_single = (symbols[:, 0] >= 0) & (counts(symbols[:, 1:] >= 0) == 0) & ~alphabet.passes
    is_single[np.searchsorted(alphabet.codes, starters)] = False
    lists, flags = _lists(alphabet, np.flatnonzero(~is_single), class_of_symbol, starters)
    different, number = _different(np.column_stack([flags, lists]))
    found = class_of_symbol[:CODE_POINTS].copy()
    found[alphabet.codes[is_single]] = class_of_symbol[symbols[is_single, 0]]
    found[alphabet.codes[~is_single]] = known + number
    pool, places = _pool(different[:, 1:])
    return found, np.column_stack([pack(pooled + places, 0, different[:, 0], LIST), np.zeros(len(places), np.uint64)]), pool


def _lists(alphabet: Alphabet, rows: Ints, class_of_symbol: NDArray[np.int32], starters: Ints) -> tuple[Ints, Ints]:
    """For the given rows of the alphabet, the lists of symbols (class and rank, padded with -1) and the flags.

    A list begins with class 0 if the first symbol of the code point is a mark that becomes no symbol.
    """
    symbols, ranks = alphabet.symbols[rows], alphabet.ranks[rows].astype(np.int64)
    hidden = alphabet.hidden[rows].astype(np.int64)[:, None]
    lists = np.where(symbols >= 0, class_of_symbol[symbols] | ranks << 16, -1)
    lists = np.column_stack([np.where(hidden, hidden << 16, -1), lists])
    marked = counts(ranks > 0) > 0
    flags = HAS_MARKS * marked + CONTINUES_RUN * alphabet.passes[rows] + STARTS_SPECIAL * np.isin(alphabet.codes[rows], starters)
    return lists, flags


def _different(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows in ascending order, and the index of each row among them; faster than ``np.unique(axis=0)``."""
    number, first = rows[:, 0], np.arange(0)
    for column in rows.T[1:]:
        _, first, number = np.unique(number << 32 | column + 1, return_index=True, return_inverse=True)
    return rows[first], number


def _pool(lists: Ints) -> tuple[NDArray[np.uint32], Ints]:
    """The concatenated lists, each with its length before it; and the offset of each list."""
    used = lists >= 0
    lengths = counts(used)
    places = np.cumsum(lengths + 1) - lengths - 1
    with_length = np.column_stack([lengths, lists])
    pool = with_length[np.column_stack([np.ones(len(lists), bool), used])]
    return pool.astype(np.uint32), places


def paged(single: NDArray[np.unsignedinteger[Any]]) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    """The block number of each page of 128 code points, and the distinct blocks in order of first occurrence."""
    width = 1 << PAGE_BITS
    first: dict[bytes, int] = {}
    blocks: list[NDArray[Any]] = []
    pages = np.empty(len(single) // width, np.uint16)
    for page, block in enumerate(single.reshape(-1, width)):
        key = block.tobytes()
        if key not in first:
            first[key] = len(blocks)
            blocks.append(block)
        pages[page] = first[key]
    return pages, np.concatenate(blocks)


def _special_trie(specials: Mapping[str, int]) -> NDArray[np.int32]:
    """The trie of the special tokens and their classes: `fst.machines.wordpiece.table.WordPieceTable.specials`."""
    nodes = [[-1, -1, -1, -1]]
    for special, number in specials.items():
        node = 0
        for code in map(ord, special):
            child = nodes[node][1]
            while child >= 0 and nodes[child][0] != code:
                child = nodes[child][2]
            if child < 0:
                child = len(nodes)
                nodes.append([code, -1, nodes[node][1], -1])
                nodes[node][1] = child
            node = child
        nodes[node][3] = number
    return np.array(nodes, np.int32)
