"""What kernels work with: the arrays of a table and what follows from them, and memory for one thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError
from fst.machines.wordpiece import Tables
from fst.rows import BLANK, LIST, ONE, STARTS_SPECIAL, WORD_SYMBOLS, are_parts, field_kind, field_next, field_output
from fst.runtime.matching import special_trie, trie
from fst.runtime.texts import ROOM

CHUNK = 4096  # symbols, and those of a word or two, that the loops of a kernel go over at a time; 2048 to 16384 are equally fast
BEYOND = 192  # more than `fst.runtime.kernels.wordpiece.BEYOND`, to the next multiple of 64
NOT_PLAIN = 0x8000  # as in `fst.runtime.kernels.wordpiece`
NUMBERS = 12  # the place of `numbers` in a machine, and in them those of what is to be known of added tokens, as in the kernels
GRAMS, BORDERS, HAS_BORDERS, INSIDE, SHORTEST, FILLER, BLANK_CLASS = 8, 9, 10, 11, 12, 13, 14
KEPT, COUNT, OPEN, BEFORE, WORD = 0, 1, 3, 4, 5  # places in `Workspace.state`, as in `fst.runtime.kernels.wordpiece`
PLACES = 9  # the place in `Workspace.arrays` of those of the symbols that are kept
KEY_MASKS = np.array(
    [[(1 << 16 * min(max(length - 4 * word, 0), 4)) - 1 for word in range(3)] + [0] for length in range(WORD_SYMBOLS + 1)]
    + [[0, 0, 0, (1 << 64) - 1]],
    np.uint64,
).ravel()

NO_TOKENS = 0, 0, 0, 0, (1 << 64) - 1, 0  # the numbers from `GRAMS` on where there are no late tokens

AS_STORED = ("entries", "pool", "words", "displacements", "pages", "blocks", "symbols")

Machine = tuple[NDArray[Any], ...]


def machine(tables: Tables) -> Machine:
    """What `fst.runtime.kernels.wordpiece.encode_rows` takes for a machine."""
    a, b = tables.classes[0::2], tables.classes[1::2]
    kind = field_kind(a)
    alone = np.where(kind == ONE, np.uint64(1 << 32) | field_output(a).astype(np.uint64), np.uint64(0))
    specials, added = special_trie(tables.specials), trie([])
    arrays = (
        _direct(tables),
        *(np.append(record, BLANK).astype(np.uint64) for record in (a, b, alone)),
        *(getattr(tables, name).astype(tables.schema()[name].dtype, copy=False) for name in AS_STORED),
        specials.edges,
        _numbers(tables),
        KEY_MASKS,
        np.empty(0, np.uint32),
        np.zeros(1, np.uint64),
        added.edges,
        np.zeros(len(a) + 1, np.uint8),
        specials.nodes,
        added.nodes,
    )
    return tuple(map(_same_kind, arrays))


def _direct(tables: Tables) -> NDArray[np.uint16]:
    """Of each unit of UTF-16 its class, `NOT_PLAIN`, or both where that is its class if no special token begins there."""
    a, units = tables.classes[0::2], np.arange(1 << 16)
    symbol = tables.classes_of(units).astype(np.uint32)
    listed = field_kind(a[symbol]) == LIST
    records = a[symbol[listed]]
    first = field_next(records)
    single = (field_output(records) == STARTS_SPECIAL) & (tables.symbols[first] == 1)
    symbol[listed] = np.where(single, tables.symbols[first + single], 0)  # no fence, and without a rank, by `fst.proof`
    symbol[(symbol >= NOT_PLAIN) | (units & 0xF800 == 0xD800)] = 0
    return np.where(listed | (symbol == 0), symbol | NOT_PLAIN, symbol).astype(np.uint16)


def _same_kind(array: NDArray[Any]) -> NDArray[Any]:
    """An array as all machines have it: aligned and in C's order, which `fst.borrowed` takes for granted, and not to be written to."""
    known = np.require(array, requirements=["C", "A"]).view()
    known.flags.writeable = False
    return known


def locating(tables: Tables, of: Machine) -> Machine:
    """The machine with what it takes to say where ids come from: the lengths of tokens.

    Raises:
        UnsupportedError: tokens of different lengths have one id.
    """
    data, indicator = tables.token_bytes, tables.about["continuing_subword_prefix"]
    characters = np.concatenate([[0], np.cumsum(data & 0xC0 != 0x80)])
    ends = characters[tables.token_ends]
    of_model = slice(tables.about["model_tokens"])  # the others are whole words, and never cut
    lengths = np.diff(ends, prepend=0)[of_model]
    by_id = np.zeros((int(tables.token_ids.max()) + 1, 2), np.uint32)
    ids = tables.token_ids[of_model]
    by_id[ids, 0] = lengths
    by_id[:, 1] = np.maximum(by_id[:, 0], len(indicator)) - len(indicator)
    different = np.flatnonzero(by_id[ids, 0] != lengths)
    if len(different):
        token = tables.tokens[different[0]]
        raise UnsupportedError(f"places of ids: token {token!r} has an id that a token of another length has too")
    lengths = by_id.ravel()
    lengths.flags.writeable = False
    return (*of[:14], lengths, *of[15:])


def ids_per_unit(tables: Tables) -> int:
    """How many ids a text may have for each unit of UTF-16: as many as the symbols that one character may become, by `fst.proof`."""
    a = tables.classes[0::2]
    lists = field_next(a[field_kind(a) == LIST])
    return int(tables.symbols[lists].max(initial=1))


def _numbers(tables: Tables) -> NDArray[np.uint64]:
    about, a = tables.about, tables.classes[0::2]
    parts = 1 + np.count_nonzero(are_parts(a))
    bucket_shift = 64 - (len(tables.displacements) - 1).bit_length()
    slot_shift = bucket_shift - (len(tables.words) // 4 - 1).bit_length()
    dead, unk, longest = about["dead"], about["unk_id"], about["max_input_chars_per_word"]
    seconds = _seconds(tables.specials)
    return np.array([dead, unk, longest, parts, len(a), bucket_shift, slot_shift, seconds, *NO_TOKENS, blank(a)], np.uint64)


def blank(a: NDArray[np.uint64]) -> int:
    """The class of a blank that is no fence; 0, which no symbol has, if there is none."""
    return int(next(iter(1 + np.flatnonzero(a[1:] == BLANK)), 0))


def _seconds(specials: NDArray[np.int32]) -> int:
    """A bit for the lowest 6 bits of each second unit of a special token; all bits if one has a single unit."""

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


class Workspace:
    """What one thread works with.

    Attributes:
        state, arrays: ``work`` of `fst.runtime.kernels.wordpiece.encode_rows`, and its array of this name.
        room: how many symbols it may hold back from one call to the next.
        text: uint16[ROOM], for texts.
        short_ids, short_starts, short_ends: arrays for one short text.
    """

    def __init__(self, longest: int, short: int) -> None:
        self.room = room = (CHUNK + 2 * longest + BEYOND) // 64 * 64
        self.state = np.zeros(7, np.uint64)
        self.arrays = (
            np.zeros(room, np.uint16),
            np.empty(room // 32, np.uint64),
            np.empty(room, np.uint32),
            np.empty(2 * room, np.int32),
            np.empty(2 * room, np.uint64),
            np.empty(2 * room, np.uint64),
            np.empty(room, np.uint64),
            self.state,
            np.empty(room, np.uint64),
            np.empty(room, np.uint64),
            np.empty(2 * room, np.uint64),
            np.empty(2 * room, np.uint64),
            np.empty(room, np.uint32),
            np.zeros(3, np.uint64),
            np.zeros(3, np.uint64),
        )
        self.text = np.empty(ROOM, np.uint16)  # memory that is not written is not taken
        self.short_ids = np.empty(short, np.int32)
        self.short_starts, self.short_ends = np.zeros(2, np.int64), np.zeros(1, np.int64)

    def start_anew(self, count: int) -> None:
        """Drop what is left of a text; so many ids were written."""
        self.state.fill(0)
        self.state[COUNT] = count


class Workspaces:
    """Workspaces that no thread has at the moment. A list's own lock, so to speak, sees to it that nobody gets another's.

    Attributes:
        ids_per_unit: of `ids_per_unit`.
    """

    def __init__(self, longest: int, short: int, ids_per_unit: int) -> None:
        self.ids_per_unit = ids_per_unit
        self._sizes = longest, short
        self._idle: list[Workspace] = []

    def take(self) -> Workspace:
        """A workspace that nobody else has, as if new. One that is not given back is lost, and does no harm."""
        try:
            work = self._idle.pop()
        except IndexError:
            work = Workspace(*self._sizes)
        work.state.fill(0)
        return work

    def give_back(self, work: Workspace) -> None:
        """Let others have it."""
        self._idle.append(work)
