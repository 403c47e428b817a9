"""Read optimized-lookup files of HFST (``.hfstol``), unweighted and weighted.

The layout, in little-endian numbers:

- possibly the header of HFST 3: ``HFST``, a zero byte, uint16 size, a zero byte, and `size` bytes of names and values, each with a zero
  byte after each;
- uint16 input symbols, uint16 symbols, uint32 entries of the index table, uint32 entries of the transition table, uint32 states, uint32
  transitions, nine uint32 flags, the first of which is 1 if there are weights;
- the name of each symbol, with a zero byte after each name. Symbol 0 is ε;
- the index table: for each entry uint16 symbol, uint32 value;
- the transition table: for each entry uint16 symbol read, uint16 symbol written, uint32 target, and float32 weight if there are weights.

A state is the number of an entry of the index table, or `TRANSITIONS` plus the number of an entry of the transition table. The entry of a
state has the symbol `NONE`, and contains whether the state is final. If state i is in the index table and entry ``i + 1 + s`` has the
symbol s, this entry contains the position of the first transition that reads s. If the state is in the transition table, its first
transition is the next entry. From its first transition on, all transitions that read the same symbol belong to the state. ε and flag
diacritics count as one symbol.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.flags import FLAG
from fst.automata.trie import Ints, spread
from fst.compile.algebra.arcs import EPSILON, OTHER, Arcs, make
from fst.compile.algebra.other import with_alphabet
from fst.compile.algebra.symbols import Symbols
from fst.compile.files import contents
from fst.compile.sources.transducers.att import DEFAULT, EPSILONS
from fst.compile.sources.transducers.byte_reader import Reader
from fst.errors import UnsupportedError, VocabularyError, quoted

MAGIC = b"HFST\0"
TYPES = ("HFST_OL", "HFST_OLW")
NONE, NOTHING, TRANSITIONS = 0xFFFF, 0xFFFFFFFF, 1 << 31  # no symbol; no value; the first number of a state in the transition table
INDEX = np.dtype([("symbol", "<u2"), ("value", "<u4")])
TRANSITION: list[tuple[str, str]] = [("read", "<u2"), ("write", "<u2"), ("target", "<u4")]
WEIGHT = ("weight", "<f4")
MAX_SHARED = 4  # the largest ratio of arcs to entries of the transition table; a correct file has more entries than arcs


class Numbered(NamedTuple):
    """A machine whose arcs read and write numbers of symbols. State 0 is the start.

    Attributes:
        names: the name of each symbol. Symbol 0 is ε.
        inputs: the number of symbols that arcs may read; these symbols come first.
        sources, targets: int64[arcs], the states of each arc, sorted by source for states of the index table, then for the others.
        reads, writes: uint16[arcs], the symbols of each arc.
        weights: float32[arcs]; None if the file has no weights.
        finals: float32[states], the final weight of each state; infinity if it is not final.
    """

    names: Sequence[str]
    inputs: int
    sources: Ints
    reads: NDArray[np.uint16]
    writes: NDArray[np.uint16]
    targets: Ints
    weights: NDArray[np.float32] | None
    finals: NDArray[np.float32]


class _Tables(NamedTuple):
    """The tables of a file.

    Attributes:
        names, inputs: see `Numbered`.
        groups: int64[NONE + 1], for each symbol, the symbol itself; 0 for ε and flag diacritics, -1 for `NONE`.
        entries, transitions: the index table and the transition table.
        entries_at, transitions_at: the positions of both tables in the file.
        is_weighted: whether transitions have weights.
    """

    names: Sequence[str]
    inputs: int
    groups: Ints
    entries: NDArray[np.void]
    transitions: NDArray[np.void]
    entries_at: int
    transitions_at: int
    is_weighted: bool


def read(path: Path) -> Arcs:
    """Read a machine. `path`: a file, possibly packed with gzip."""
    found = numbered(Reader(contents(path), path))
    labels, symbols = _labels(found, path)
    try:
        return make(found.sources, labels[found.reads], labels[found.writes], found.targets, found.weights, found.finals, 0, symbols)
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from None


def numbered(reader: Reader) -> Numbered:
    """Read a machine with the numbers of its symbols."""
    tables = _tables(reader)
    states = np.unique(np.concatenate([[0], tables.transitions["target"][tables.transitions["read"] != NONE]]).astype(np.int64))
    finals = _finals(reader, tables, states)
    sources, places = _arcs(reader, tables, states)
    rows = tables.transitions[places]
    outside = np.maximum(rows["read"], rows["write"]) >= len(tables.names)
    if outside.any():
        arc = int(outside.argmax())
        reader.place = tables.transitions_at + int(places[arc]) * tables.transitions.dtype.itemsize
        number = max(int(rows["read"][arc]), int(rows["write"][arc]))
        raise reader.fault(f"a transition has the symbol {number:,}; expected a number below {len(tables.names):,}")
    weights = rows["weight"] if tables.is_weighted else None
    targets = np.searchsorted(states, rows["target"].astype(np.int64))
    return Numbered(tables.names, tables.inputs, sources, rows["read"], rows["write"], targets, weights, finals)


def _tables(reader: Reader) -> _Tables:
    if reader.data.startswith(MAGIC):
        _skip_header(reader)
    inputs, symbols, index_size, size, _states, _transitions, is_weighted, *_flags = reader.numbers("HHIIII9I")
    if not 0 < inputs <= symbols < NONE or not index_size or is_weighted > 1:
        raise reader.fault("the header before this byte is not that of an optimized-lookup file; write one with hfst-fst2fst -w")
    names = [reader.name() for _ in range(symbols)]
    groups = np.arange(NONE + 1)
    groups[[number for number, name in enumerate(names) if number == 0 or FLAG.fullmatch(name)]] = 0
    groups[NONE] = -1
    entries_at = reader.place
    entries = reader.array(INDEX, index_size)
    transitions_at = reader.place
    transitions = reader.array(np.dtype([*TRANSITION, *[WEIGHT] * is_weighted]), size)
    return _Tables(names, inputs, groups, entries, transitions, entries_at, transitions_at, bool(is_weighted))


def _skip_header(reader: Reader) -> None:
    """Skip the header of HFST 3, and refuse files of other types."""
    reader.place = len(MAGIC)
    size, _zero = reader.numbers("HB")
    reader.need(size)
    words = reader.data[reader.place : reader.place + size].split(b"\0")
    kind = dict(zip(words[::2], words[1::2], strict=False)).get(b"type", b"").decode("ascii", "replace")
    if kind not in TYPES:
        problem = f"the file is of type {quoted(kind)}; expected {' or '.join(TYPES)}; convert it with hfst-fst2fst -w"
        raise UnsupportedError(f"{reader.path}: {problem}")
    reader.place += size


def _finals(reader: Reader, tables: _Tables, states: Ints) -> NDArray[np.float32]:
    """float32[states], the final weights; an error refuses states without an entry."""
    in_index, in_transitions = np.split(states, [np.searchsorted(states, TRANSITIONS)])
    rows = tables.entries[_proven(reader, tables.entries_at, tables.entries["symbol"], in_index)]
    values = rows["value"]
    index_finals = np.where(values == NOTHING, np.float32(np.inf), values.view("<f4") if tables.is_weighted else np.float32(0))
    rows = tables.transitions[_proven(reader, tables.transitions_at, tables.transitions["read"], in_transitions - TRANSITIONS)]
    is_final = (rows["write"] == NONE) & (rows["target"] == 1)
    weights = rows["weight"] if tables.is_weighted else np.zeros(len(rows), np.float32)
    return np.concatenate([index_finals, np.where(is_final, weights, np.inf)]).astype(np.float32)


def _proven(reader: Reader, begin: int, symbols: NDArray[np.uint16], states: Ints) -> Ints:
    """The entries of states in a table that begins at a given byte; an error refuses missing entries, and entries that are not states."""
    outside = states >= len(symbols)
    if outside.any():
        reader.place = begin
        raise reader.fault(f"a transition leads to entry {states[outside.argmax()]:,} of this table; expected at most {len(symbols) - 1:,}")
    wrong = symbols[states] != NONE
    if wrong.any():
        entry = int(states[wrong.argmax()])
        raise reader.fault(f"a transition leads to entry {entry:,} of the table at byte {begin:,}; expected a state there")
    return states


def _arcs(reader: Reader, tables: _Tables, states: Ints) -> tuple[Ints, Ints]:
    """For each arc, the number of its state and its entry in the transition table."""
    groups = tables.groups[tables.transitions["read"]]
    numbers, begins = _begins(reader, tables, states, groups)
    ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))
    lengths = np.where(groups[begins] < 0, 0, ends[np.searchsorted(ends, begins, side="right")] - begins)
    if lengths.sum() > MAX_SHARED * len(groups):
        reader.place = tables.transitions_at
        raise reader.fault(f"the states share transitions, {lengths.sum():,} in all; expected at most {MAX_SHARED * len(groups):,}")
    return np.repeat(numbers, lengths), spread(begins, lengths)


def _begins(reader: Reader, tables: _Tables, states: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """For each run of transitions that read the same symbol, the number of its state and its first entry."""
    in_index, in_transitions = np.split(states, [np.searchsorted(states, TRANSITIONS)])
    symbols = tables.entries["symbol"]
    entries = np.flatnonzero((symbols != NONE) & (tables.groups[symbols] == symbols))
    owners = entries - 1 - symbols[entries]
    numbers = np.minimum(np.searchsorted(in_index, owners), len(in_index) - 1)
    is_owned = in_index[numbers] == owners
    entries, numbers = entries[is_owned], numbers[is_owned]
    places = tables.entries["value"][entries].astype(np.int64) - TRANSITIONS
    outside = (places < 0) | (places >= len(groups))
    if outside.any():
        entry = int(entries[outside.argmax()])
        reader.place = tables.entries_at + entry * INDEX.itemsize
        value = tables.entries["value"][entry]
        raise reader.fault(f"the index entry is {value:,}; expected {TRANSITIONS:,} to {TRANSITIONS + len(groups) - 1:,}")
    is_read = groups[places] == symbols[entries]
    following = in_transitions - TRANSITIONS + 1
    has_next = following < len(groups)
    more = np.arange(len(in_index), len(states))
    return np.concatenate([numbers[is_read], more[has_next]]), np.concatenate([places[is_read], following[has_next]])


def _labels(machine: Numbered, path: Path) -> tuple[Ints, tuple[str, ...]]:
    """int64[names], the label of each symbol that arcs read or write; and the symbols of several characters."""
    symbols, labels = Symbols(), np.zeros(len(machine.names), np.int64)
    for number in np.unique(np.concatenate([machine.reads, machine.writes])).tolist():
        name = machine.names[number]
        if name == DEFAULT:
            raise UnsupportedError(f"{path}: the symbol {name} is not supported; expected a symbol of characters, or {OTHER}")
        labels[number] = EPSILON if number == 0 or name in EPSILONS else symbols.label(name)
    return labels, with_alphabet(symbols.names, (name for name in machine.names[1:] if name not in EPSILONS))
