"""Read and write OpenFst's binary files: vector and const machines, and archives of machines (``.far``, table type).

The layout, in little-endian numbers; a string is an int32 length and its bytes:

- a machine: int32 magic, string type, string arc type, int32 version, int32 flags, uint64 properties, int64 start, int64 states, int64
  arcs, two symbol tables if flags has bits 0 and 1, then the body;
- a symbol table: int32 magic, string name, int64 next key, int64 size, and for each symbol its string and int64 key;
- the body of a vector machine: for each state its final weight, int64 number of arcs, and its arcs;
- the body of a const machine: all states (final weight, uint32 first arc, uint32 arcs, two uint32 counts), then all arcs; if bit 2 of flags
  is set, states and arcs each begin at a multiple of 16 bytes;
- an archive: int32 magic, int32 version, for each entry its string key and a machine; int64 start of each entry; int64 number of entries.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs, Unit, make
from fst.compile.algebra.other import with_alphabet
from fst.compile.algebra.symbols import Symbols, text_of
from fst.compile.files import contents
from fst.compile.sources.transducers.byte_reader import Reader
from fst.errors import UnsupportedError, VocabularyError, listed, quoted

MACHINE, SYMBOLS, ARCHIVE = 2125659606, 2125658996, 2125656924  # magic numbers
INPUT_SYMBOLS, OUTPUT_SYMBOLS, ALIGNED = 1, 2, 4  # bits of flags
ALIGNMENT = 16
WEIGHTS: dict[str, np.dtype[Any]] = {"standard": np.dtype("<f4"), "log": np.dtype("<f4"), "log64": np.dtype("<f8")}
EXPANDED_AND_MUTABLE = 3  # the only properties that are written; OpenFst computes all others
VERSION = 2
FIRST_GENERATED = 0xF0000  # the label of pynini's first generated symbol, such as [name]
NEXT, FIRST_OF_SEVERAL = 0x80, 0xC2  # bytes beyond ASCII: the lowest second to fourth byte, and the lowest first byte


class _Header(NamedTuple):
    """The header of a machine."""

    kind: str
    arc_type: str
    flags: int
    start: int
    states: int
    arcs: int


def read(path: Path, name: str | None = None, unit: Unit | None = None) -> Arcs:
    """Read a machine from a file, or from an archive.

    Args:
        path: a file, possibly packed with gzip.
        name: the key of the machine in an archive; None: the file is a machine, or an archive of one.
        unit: the meaning of labels in a machine without symbol tables: code points, or bytes. None: bytes, if no label is above 255 except
            for pynini's generated symbols, and some character's second byte follows its first byte.
    """
    reader = Reader(contents(path), path)
    (magic,) = reader.numbers("i")
    reader.place = 0
    if magic == ARCHIVE:
        _seek(reader, name)
    elif name is not None:
        raise VocabularyError(f"{path} is not an archive, so it has no machine {quoted(name)}; leave the name out")
    return _machine(reader, unit)


def unpacked(data: bytes, unit: Unit | None = None) -> Arcs:
    """Read a machine from the bytes of a file; `unit` is as in `read`."""
    return _machine(Reader(data, Path("bytes")), unit)


def read_archive(path: Path, unit: Unit | None = None) -> dict[str, Arcs]:
    """Read all machines of an archive, by their keys; `unit` is as in `read`. A file of one machine is an archive with the key ""."""
    reader = Reader(contents(path), path)
    (magic,) = reader.numbers("i")
    reader.place = 0
    if magic != ARCHIVE:
        return {"": _machine(reader, unit)}
    machines, size = dict[str, Arcs](), 0
    for key, place in _places(reader).items():
        reader.place = place
        machines[key] = _machine(reader, unit)
        size += reader.place - place
        _need_distinct(reader, size)
    return machines


def _need_distinct(reader: Reader, size: int) -> None:
    """Refuse an archive whose keys, or machines, take `size` bytes together: they overlap if this is more than the archive has."""
    if size > len(reader.data):
        raise reader.fault("keys or machines of the archive overlap; the file is damaged")


def _seek(reader: Reader, name: str | None) -> None:
    found = _places(reader)
    if not found:
        raise VocabularyError(f"{reader.path} contains no machines; expected at least one")
    if name is None and len(found) > 1:
        raise VocabularyError(f"{reader.path} contains the machines {listed([*found])}; pass the name of one of them")
    if name is not None and name not in found:
        raise VocabularyError(f"{reader.path} has no machine {quoted(name)}; expected one of {listed([*found])}")
    reader.place = next(iter(found.values())) if name is None else found[name]


def _places(reader: Reader) -> dict[str, int]:
    """The place of each machine of an archive, by its key."""
    reader.place = max(len(reader.data) - 8, 0)
    (count,) = reader.numbers("q")
    reader.place = len(reader.data) - 8 * (count + 1)
    if not 0 <= count <= len(reader.data) // 8 or reader.place < 0:
        raise reader.fault(f"the number of machines is {count:,}; expected no more than the archive has bytes for")
    found, size = dict[str, int](), 0
    for place in reader.numbers(f"{count}q"):
        reader.place = place
        if place < 0:
            raise reader.fault("the place of a machine is negative")
        key = reader.string()
        found[key] = reader.place
        size += reader.place - place
        _need_distinct(reader, size)
    return found


def _machine(reader: Reader, unit: Unit | None) -> Arcs:
    header = _header(reader)
    tables = [_symbols(reader) if header.flags & bit else None for bit in (INPUT_SYMBOLS, OUTPUT_SYMBOLS)]
    final, sources, arcs = _vector(reader, header) if header.kind == "vector" else _const(reader, header)
    unit = unit or ("utf-8" if tables == [None, None] and _are_bytes(sources, arcs) else "character")
    symbols = Symbols(unit=unit)
    read, write = (_labels(arcs[side], table, symbols) for side, table in zip(("read", "write"), tables, strict=True))
    start = header.start if len(final) else -1
    try:
        names = with_alphabet(symbols.names, (name for table in tables if table for key, name in table.items() if key > 0))
        return make(sources, read, write, arcs["target"], arcs["weight"], final, start, names, unit)
    except VocabularyError as error:
        raise VocabularyError(f"{reader.path}: {error}") from None


def _are_bytes(sources: Any, arcs: Any) -> bool:
    """Whether the labels of a machine without symbols are bytes of UTF-8."""
    return any(_is_utf_8(sources, arcs[side], arcs["target"]) for side in ("read", "write")) and all(
        not ((arcs[side] > 0xFF) & (arcs[side] < FIRST_GENERATED)).any() for side in ("read", "write")
    )


def _is_utf_8(sources: Any, labels: Any, targets: Any) -> bool:
    """Whether the second byte of a character follows its first byte in a path."""
    after_first = targets[(labels >= FIRST_OF_SEVERAL) & (labels <= 0xFF)]
    return bool(np.isin(after_first, sources[(labels >= NEXT) & (labels < FIRST_OF_SEVERAL)]).any())


def _header(reader: Reader) -> _Header:
    (magic,) = reader.numbers("i")
    if magic != MACHINE:
        raise reader.fault(f"the magic number is {magic}; expected {MACHINE} of an OpenFst machine, or {ARCHIVE} of an archive")
    kind, arc_type = reader.string(), reader.string()
    if kind not in ("vector", "const"):
        raise UnsupportedError(f"{reader.path} is a machine of type {quoted(kind)}; convert it with fstconvert --fst_type=vector")
    if arc_type not in WEIGHTS:
        raise UnsupportedError(f"{reader.path} has arcs of type {quoted(arc_type)}; expected {listed([*WEIGHTS])}")
    _version, flags, _properties, start, states, arcs = reader.numbers("iiQqqq")
    return _Header(kind, arc_type, flags, start, states, arcs)


def _symbols(reader: Reader) -> dict[int, str]:
    """Read a symbol table: key → name."""
    magic, name = *reader.numbers("i"), reader.string()
    _next_key, size = reader.numbers("qq")
    if magic != SYMBOLS:
        raise reader.fault(f"the magic number of the symbol table {quoted(name)} is {magic}; expected {SYMBOLS}")
    reader.need(size * 12)
    found = {}
    for _ in range(size):
        symbol = reader.string()
        found[reader.numbers("q")[0]] = symbol
    return found


def _arc_dtype(weight: np.dtype[Any], *, align: bool) -> np.dtype[Any]:
    return np.dtype([("read", "<i4"), ("write", "<i4"), ("weight", weight), ("target", "<i4")], align=align)


def _vector(reader: Reader, header: _Header) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64], NDArray[np.void]]:
    """Read the body of a vector machine: final weights, source of each arc, arcs."""
    weight = WEIGHTS[header.arc_type]
    dtype, head = _arc_dtype(weight, align=False), weight.itemsize + 8
    if not 0 <= header.states <= len(reader.data) // head:
        raise reader.fault(f"the number of states is {header.states:,}; expected no more than the file has bytes for")
    begin, counts = reader.place, np.empty(header.states, np.int64)
    for state in range(header.states):
        reader.need(head)
        reader.place += weight.itemsize
        (counts[state],) = reader.numbers("q")
        if not 0 <= counts[state] <= len(reader.data):
            raise reader.fault(f"the number of arcs of state {state} is {counts[state]}; expected no more than the file has bytes for")
        reader.need(int(counts[state]) * dtype.itemsize)
        reader.place += int(counts[state]) * dtype.itemsize
    body = np.frombuffer(reader.data, np.uint8, reader.place - begin, begin)
    heads = np.arange(header.states) * head + (np.cumsum(counts) - counts) * dtype.itemsize
    is_arc = np.ones(len(body), np.bool_)
    is_arc[heads[:, None] + np.arange(head)] = False
    final = body[heads[:, None] + np.arange(weight.itemsize)].reshape(-1).view(weight)
    return final, np.repeat(np.arange(header.states), counts), body[is_arc].view(dtype)


def _const(reader: Reader, header: _Header) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64], NDArray[np.void]]:
    """Read the body of a const machine: final weights, source of each arc, arcs."""
    weight = WEIGHTS[header.arc_type]
    state: np.dtype[Any] = np.dtype([("final", weight), ("first", "<u4"), ("count", "<u4"), ("epsilons", "<u4", 2)])
    if header.flags & ALIGNED:
        reader.align(ALIGNMENT)
    states = reader.array(state, header.states)
    if header.flags & ALIGNED:
        reader.align(ALIGNMENT)
    arcs = reader.array(_arc_dtype(weight, align=True), header.arcs)
    counts = states["count"].astype(np.int64)
    if (states["first"] != np.cumsum(counts) - counts).any() or counts.sum() != header.arcs:
        raise reader.fault(f"the rows of states do not partition the {header.arcs:,} arcs")
    return states["final"], np.repeat(np.arange(header.states), counts), arcs


def _labels(labels: NDArray[np.int32], table: dict[int, str] | None, symbols: Symbols) -> NDArray[np.int64]:
    """The labels in this package of the labels in a file, which a symbol table may name."""
    used, places = np.unique(labels, return_inverse=True)
    return np.array([_label(label, table, symbols) for label in used.tolist()], np.int64)[places]


def _label(label: int, table: dict[int, str] | None, symbols: Symbols) -> int:
    if label <= 0:
        return label
    if table is None:
        return symbols.number(label)
    return symbols.label(table.get(label) or f"<{label}>")


def packed(arcs: Arcs) -> bytes:
    """The bytes of a vector machine with standard arcs, and symbol tables if the machine has symbols."""
    flags = INPUT_SYMBOLS | OUTPUT_SYMBOLS if arcs.symbols else 0
    numbers = struct.pack("<iiQqqq", VERSION, flags, EXPANDED_AND_MUTABLE, arcs.start, arcs.states, arcs.arcs)
    table = _table(arcs) if arcs.symbols else b""
    header = struct.pack("<i", MACHINE) + _string("vector") + _string("standard") + numbers + table * 2
    rows = np.empty(arcs.arcs, _arc_dtype(WEIGHTS["standard"], align=False))
    rows["read"], rows["write"], rows["weight"], rows["target"] = arcs.ilabel, arcs.olabel, arcs.weights, arcs.target
    heads = np.empty(arcs.states, [("final", "<f4"), ("count", "<i8")])
    heads["final"], heads["count"] = arcs.final, np.diff(arcs.row_start)
    data = [header]
    for state in range(arcs.states):
        data += [heads[state].tobytes(), rows[arcs.row_start[state] : arcs.row_start[state + 1]].tobytes()]
    return b"".join(data)


def packed_archive(machines: Mapping[str, Arcs]) -> bytes:
    """The bytes of an archive of machines by their keys, which are sorted."""
    data, places = [struct.pack("<ii", ARCHIVE, 1)], list[int]()
    size = len(data[0])
    for key in sorted(machines):
        places.append(size)
        data.append(_string(key) + packed(machines[key]))
        size += len(data[-1])
    return b"".join([*data, struct.pack(f"<{len(places) + 1}q", *places, len(places))])


def _table(arcs: Arcs) -> bytes:
    """A symbol table for all labels of a machine."""
    used: Sequence[int] = np.unique(np.concatenate([[0], arcs.ilabel, arcs.olabel])).tolist()
    keys = {label: text_of([label], arcs.symbols, "character") or "<eps>" for label in used}
    symbols = Symbols(arcs.symbols, arcs.unit)
    keys |= {symbols.label(name): name for name in arcs.symbols}
    entries = b"".join(_string(name) + struct.pack("<q", label) for label, name in keys.items())
    return struct.pack("<i", SYMBOLS) + _string("symbols") + struct.pack("<qq", max(keys) + 1, len(keys)) + entries


def _string(name: str) -> bytes:
    data = name.encode("utf-8", "surrogateescape")
    return struct.pack("<i", len(data)) + data
