"""Tables: the arrays that a file stores and a kernel walks, and a slow walk that says what they mean.

A table machine reads one *symbol* (normalised character) at a time. Three arrays take a code point to its symbols and three
take a state and a symbol to the next state and the output:

``pages``, ``blocks``
    two-stage table, code point → class: ``blocks[pages[code_point >> 7] << 7 | code_point & 127]``.
``classes``
    two records a class, at ``2 * class`` (A) and ``2 * class + 1`` (B). All characters of one class act alike. Class 0 is none: no
    character has it. The parts of words come first, then what ends a word, then lists.
``symbols``
    lists of classes, for characters that are not exactly one symbol: a count, then ``class | rank << 16`` each, the lowest rank first.
    Class 0 is a mark that leaves no symbol: it counts where a run of marks is located.
``entries``
    δ′ and σ′ in one: the row of state ``s`` begins at slot ``s`` (a state *is* its slot), and slot ``s + label`` holds the
    transition on a label.
``pool``
    outputs of two tokens and more: their ids, the last with the bit `END`.
``specials``
    the trie of the strings that are cut out of the raw text before anything else, one character a node; each is a class of its own.
``words``, ``displacements``
    a perfect hash table of words whose ids are known without a walk; see `fst.compile.word_hash`. The compiler puts words there that are
    one token, with the id that the transducer has for them. A word that is found there has that id.

Bits of an entry, and of record A of a class, from the lowest::

    next 24 | kind 2 | output 22 | label 16

The first slot of each row is its *finish entry*, marked by the label `FINISH`, which no class has. Its output is the segmentation of
the word so far, and where the next state would be it holds the state's *depth*, the number of symbols read and not yet covered by an
output (the loader proves with it that no text yields more ids than it has symbols). A transition that a row does not hold is the
*default*: finish the word so far, then go where the class says, ``A.next`` after at least one token of the word, ``B.next`` at its start.

Classes with label 0 always take the default, with a single look-up, which is the finish entry. Of these, NONE and ONE end the word,
and ``A.next`` is the root. In a dense table every row holds every label, so no look-up ever misses; in a compact one only the root's row
does, rows share slots, a label that does not match is a miss, and the finish entry is the second look-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from fst.lazy import Lazy
from fst.rows import (
    CONTINUES_RUN,
    END,
    FAIL,
    FINISH,
    HAS_MARKS,
    LIST,
    MANY,
    MAX_OUTPUT,
    MULTIPLIERS,
    ONE,
    OTHER,
    PAGE_BITS,
    ROOT,
    STARTS_SPECIAL,
    WORD_SYMBOLS,
    Array,
    are_fences,
    field_kind,
    field_label,
    field_next,
    field_output,
)

LATE_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")  # of an added token in ``about["late"]``
MAX_LATE = 1 << 19  # characters of all late tokens; a reader takes some 500 bytes for each


def parents_of(specials: Array) -> Array:
    """The parent of each node of ``specials``, int64[nodes]; 0 for the root.

    Each node but the root is the first child of one node or the next sibling of one, and comes after its parent.
    """
    _, child, sibling, _ = specials.T
    nodes = np.arange(len(specials))
    first = nodes.copy()  # an earlier sibling of each node; after the loop, the first one
    first[sibling[sibling >= 0]] = nodes[sibling >= 0]
    while not np.array_equal(sooner := first[first], first):
        first = sooner
    parents = np.zeros(len(specials), np.int64)
    parents[child[child >= 0]] = nodes[child >= 0]
    return parents[first]


@dataclass(frozen=True, eq=False)
class Tables:
    """A compiled machine: immutable arrays and what is to be known about them.

    Attributes:
        about: what a person or a program may ask of the file: ``kind`` ("wordpiece"), ``layout``, options, the frame around a text.
        pages: uint16[8704], block of each 128 code points.
        blocks: uint16[128 * n], class of each code point of a block.
        classes: uint64[2 * classes], records A and B.
        symbols: uint32[n], lists of symbols.
        entries: uint64[slots], rows of transitions.
        pool: uint32[n], longer outputs.
        specials: int32[nodes, 4]: code point, first child, next sibling, class; -1 is none; node 0 is the root.
        words: uint64[4 * slots], a power of two: the classes of 12 symbols (0 after the last), and ``1 << 32 | id``; unused slots are 0.
        displacements: uint16[buckets], a power of two, at least 2.
        token_bytes: uint8[n], the UTF-8 bytes of all tokens, one after the other.
        token_ends: int64[tokens], where each token ends in them.
        token_ids: int32[tokens], the id of each token.
    """

    about: Mapping[str, Any]
    pages: Array
    blocks: Array
    classes: Array
    symbols: Array
    entries: Array
    pool: Array
    specials: Array
    words: Array
    displacements: Array
    token_bytes: Array
    token_ends: Array
    token_ids: Array

    unit = "utf-16"
    kind = "wordpiece"
    kernel = "fst.runtime.kernels.wordpiece"
    face = "fst.runtime.tokenizer.Tokenizer"

    def arguments(self) -> Any:
        from fst.machines.wordpiece_arguments import arguments

        return arguments(self)

    def work(self) -> Any:
        from fst.machines.kernel_call import work_of

        return work_of(self.about["max_input_chars_per_word"])

    def ids_per_unit(self) -> int:
        from fst.machines.reading_arguments import ids_per_unit

        return ids_per_unit(self)

    def __post_init__(self) -> None:
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False

    def save(self, path: str | Path) -> None:
        """Write the file that `fst.load` reads; the same tables always give the same bytes.

        The file appears whole or not at all: it is written under another name beside ``path`` and then moved.

        Raises:
            OSError: ``path`` cannot be written.
        """
        from fst.npz import save

        save(self, path)

    @Lazy
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the order of ``token_ids``."""
        data, ends = self.token_bytes.tobytes(), self.token_ends.tolist()
        return tuple(data[start:end].decode() for start, end in zip([0, *ends[:-1]], ends, strict=True))

    @Lazy
    def lengths(self) -> Mapping[int, int]:
        """The characters of each token of the model, by its id."""
        return dict(list(zip(self.token_ids.tolist(), map(len, self.tokens), strict=True))[: self.about["model_tokens"]])

    @Lazy
    def flags(self) -> Array:
        """The flags of each class that is a list, uint8[classes]; 0 for other classes."""
        records = self.classes[0::2]
        return np.where(field_kind(records) == LIST, field_output(records), 0).astype(np.uint8)

    @Lazy
    def specials_in_runs(self) -> tuple[str, ...]:
        """The special tokens whose first character may continue a run of marks."""
        return tuple(token for token in self.about["specials"] if self.flags[self.class_of(ord(token[0]))] & CONTINUES_RUN)

    def __reduce__(self) -> tuple[Any, ...]:
        """As the file: equal tables pickle to equal bytes, and what comes out of a pickle is proven like what comes out of a file."""
        from fst.npz import dumps, loads

        return loads, (dumps(self),)

    def id_of_word(self, classes: Sequence[int]) -> int | None:
        """The id that the table of words has for a word, given by its classes; None if it does not hold the word."""
        if not 0 < len(classes) <= WORD_SYMBOLS:
            return None
        key = [sum(number << 16 * place for place, number in enumerate(classes[first : first + 4])) for first in (0, 4, 8)]
        hashed = sum(part * factor for part, factor in zip(key, MULTIPLIERS, strict=True)) % (1 << 64)
        slots, shift = len(self.words) // 4, 64 - (len(self.displacements) - 1).bit_length()
        slot = (hashed >> (shift - (slots - 1).bit_length()) ^ int(self.displacements[hashed >> shift])) % slots
        *found, value = self.words[4 * slot : 4 * slot + 4].tolist()
        return value & MAX_OUTPUT if found == key else None

    def class_of(self, code_point: int) -> int:
        """The class of a code point."""
        return int(self.blocks[int(self.pages[code_point >> PAGE_BITS]) << PAGE_BITS | code_point & 127])

    def classes_of(self, code_points: Array) -> Array:
        """The class of each of many code points: uint16[n]."""
        found: Array = self.blocks[self.pages[code_points >> PAGE_BITS].astype(np.int64) << PAGE_BITS | code_points & 127]
        return found

    def run(self, text: str) -> list[int]:
        """The token ids of a text that needs no second reading: what the kernel computes, in slow and plain Python."""
        return Walk(self).run(text)


ARRAYS = tuple(field.name for field in fields(Tables) if field.name != "about")


class Walk:
    """One walk over tables, with a count of its look-ups: the specification of the kernel.

    Attributes:
        ids: the token ids so far.
        offsets: of each id, the first character in its text that it stands for, and one past the last.
        words: of each id, the number of the word in its text that it belongs to.
        symbols: symbols read so far, the end of each text counting as one blank.
        lookups: entries loaded so far.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.ids: list[int] = []
        self.offsets: list[tuple[int, int]] = []
        self.words: list[int] = []
        self.symbols = 0
        self.lookups = 0
        self._place = 0, 0  # of the symbol that is read: its first character, and one past the last
        self._word = 0
        self._fence = 0  # the class of a fence that was read last
        self._start_word()

    def run(self, text: str) -> list[int]:
        """Read one text, the end of it included, and return all ids so far."""
        position = self._word = 0
        while position < len(text):
            position = self._read(text, position)
        self._end_word()
        return self.ids

    def _start_word(self) -> None:
        self.state, self.word_ids = ROOT, len(self.ids)
        self.word_places: list[tuple[int, int]] = []
        self.word_classes: list[int] = []

    def _end_word(self) -> None:
        self._fence = 0
        self._step(0)

    def _read(self, text: str, position: int) -> int:
        """Read the character at a position, or the special token or run of marks that begins there; return where it ends."""
        number = self.tables.class_of(ord(text[position]))
        flags = self._flags(number)
        if flags & STARTS_SPECIAL and (match := self._special(text, position)):
            self._place = position, match[0]
            self._step_class(match[1])
            return match[0]
        if flags & (HAS_MARKS | CONTINUES_RUN):
            return self._read_run(text, position)
        self._place = position, position + 1
        for listed, _ in self._list(number):
            self._step_class(listed)
        return position + 1

    def _read_run(self, text: str, position: int) -> int:
        """Read marks in canonical order: by rank, and among equals as they stand. A starter before them comes first.

        Places stay in the order of the text: the first symbol of each character, whichever it is, takes the next place of a character that
        has any, and other symbols that of the one before them.
        """
        end = position + 1
        while end < len(text) and self._continues(text, end):
            end += 1
        lists = [self._list(self.tables.class_of(ord(char))) for char in text[position:end]]
        places = iter([at for at, listed in enumerate(lists, position) if listed])
        symbols = [(rank, index == 0, number) for listed in lists for index, (number, rank) in enumerate(listed)]
        for _, begins, number in sorted(symbols, key=lambda symbol: symbol[0]):
            if begins:
                at = next(places)
                self._place = at, at + 1
            if number:
                self._step_class(number)
        return end

    def _continues(self, text: str, position: int) -> bool:
        flags = self._flags(self.tables.class_of(ord(text[position])))
        cut = flags & STARTS_SPECIAL and self._special(text, position)
        return bool(flags & CONTINUES_RUN and not cut)

    def _flags(self, number: int) -> int:
        record = self.tables.classes[2 * number]
        return int(field_output(record)) if field_kind(record) == LIST else 0

    def _list(self, number: int) -> list[tuple[int, int]]:
        """The classes that a class stands for, each with its rank in canonical ordering (0: never moves)."""
        record = self.tables.classes[2 * number]
        if field_kind(record) != LIST:
            return [(number, 0)]
        start = int(field_next(record))
        listed = self.tables.symbols[start + 1 : start + 1 + int(self.tables.symbols[start])].tolist()
        return [(symbol & 0xFFFF, symbol >> 16) for symbol in listed]

    def _special(self, text: str, position: int) -> tuple[int, int] | None:
        """The end and the class of the longest special token at a position."""
        node, found = 0, None
        for end in range(position, len(text)):
            node = next((child for child in self._children(node) if self.tables.specials[child, 0] == ord(text[end])), -1)
            if node < 0:
                return found
            if self.tables.specials[node, 3] >= 0:
                found = end + 1, int(self.tables.specials[node, 3])
        return found

    def _children(self, node: int) -> Iterator[int]:
        child = int(self.tables.specials[node, 1])
        while child >= 0:
            yield child
            child = int(self.tables.specials[child, 2])

    def _step_class(self, number: int) -> None:
        """One symbol; a fence waits for the next one, which may take it away."""
        fence, self._fence = self._fence, 0
        if number == fence:
            return
        if fence:
            self._step(0)
        if are_fences(self.tables.classes[2 * number]):
            self._fence = number
        else:
            self._step(number)

    def _step(self, number: int) -> None:
        """Read one symbol: one transition; at a boundary also the end of the word, and perhaps a word of one symbol. Class 0 is a blank."""
        a, b = self.tables.classes[2 * number : 2 * number + 2]
        entry = self._look_up(int(field_label(a)))
        kind, output = int(field_kind(entry)), int(field_output(entry))
        boundary = field_label(a) == 0 and field_kind(a) != OTHER
        failed = kind == FAIL
        if kind == ONE:
            self.ids.append(output)
        elif kind == MANY:
            self.ids.extend(self._pooled(output))
        if boundary:
            known = self.tables.id_of_word(self.word_classes)
            unknown = failed or len(self.word_places) > self.tables.about["max_input_chars_per_word"]
            if known is not None or unknown:
                self.ids[self.word_ids :] = [self.tables.about["unk_id"] if known is None else known]
            self._locate_word(known is not None or unknown)
            if field_kind(a) == ONE:
                self.ids.append(int(field_output(a)))
                self._put(self._place)
                self._word += 1
            self._start_word()
            return
        self.word_places.append(self._place)
        self.word_classes.append(number)
        if field_label(entry) != FINISH:
            self.state = int(field_next(entry))
        elif failed:
            self.state = self.tables.about["dead"]
        else:
            self.state = int(field_next(b if len(self.word_places) == 1 else a))

    def _locate_word(self, whole: bool) -> None:
        """Say where the ids of a word come from: each from as many symbols as its token has, or one from the whole word.

        No id is from beyond the end of the word, and none from nowhere, whatever a table says.
        """
        symbols = len(self.word_places)
        begin = 0
        for index, number in enumerate(self.ids[self.word_ids :]):
            end = symbols if whole else min(begin + self._length(number, index > 0), symbols)
            first = min(begin, symbols - 1)
            last = max(end - 1, first)
            self._put((self.word_places[first][0], self.word_places[last][1]))
            begin = end
        self._word += len(self.ids) > self.word_ids

    def _length(self, number: int, continues: bool) -> int:
        """The symbols of a token."""
        indicator = len(self.tables.about["continuing_subword_prefix"]) if continues else 0
        return max(self.tables.lengths.get(number, 0) - indicator, 0)

    def _put(self, place: tuple[int, int]) -> None:
        self.offsets.append(place)
        self.words.append(self._word)

    def _pooled(self, place: int) -> Iterator[int]:
        while self.tables.pool[place] < END:
            yield int(self.tables.pool[place])
            place += 1
        yield int(self.tables.pool[place]) & MAX_OUTPUT

    def _look_up(self, label: int) -> Any:
        self.symbols += 1
        self.lookups += 1
        entry = self.tables.entries[self.state + label]
        if label and field_label(entry) != label:
            self.lookups += 1
            entry = self.tables.entries[self.state]
        return entry
