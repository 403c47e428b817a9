"""OpenFst's binary files are read, written or refused."""

from __future__ import annotations

import base64
import json
import struct
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.shared_data import SHARED, needs_shared

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.machine import Fst, read_openfst, write_far
from fst.compile.algebra.symbols import Symbols
from fst.compile.sources.transducers import openfst
from fst.errors import FstError, UnsupportedError, VocabularyError

ORACLE = SHARED / "oracles" / "toolkit" / "openfst_binary.jsonl"
MACHINE = Fst.from_strings([("ab", "<n>", 0.5), ("é", "")], symbols=["<n>"])


def rows_of(machine: Arcs) -> list[tuple[float, ...]]:
    """The arcs and final states of a machine, sorted."""
    columns = (machine.sources, machine.target, machine.ilabel, machine.olabel, machine.weights)
    ends = [(state, weight) for state, weight in enumerate(machine.final.tolist()) if weight < inf]
    return sorted([*zip(*(column.tolist() for column in columns), strict=True), *ends])


def printed_rows(text: str, names: list[str] | None) -> list[tuple[float, ...]]:
    """The arcs and final states of OpenFst's text, sorted."""
    symbols, rows = Symbols(), list[tuple[float, ...]]()
    label = {str(number): number if names is None or not number else symbols.label(names[number]) for number in range(5 if names else 100)}
    for line in text.splitlines():
        columns = line.split("\t")
        if len(columns) > 2:
            source, target, read, write, weight = [*columns, "0"][:5]
            rows.append((int(source), int(target), label[read], label[write], float(weight)))
        elif float([*columns, "0"][1]) < inf:
            rows.append((int(columns[0]), float([*columns, "0"][1])))
    return sorted(rows)


@needs_shared
def test_files_of_openfst_are_read(tmp_path: Path) -> None:
    """Vector and const machines with standard, log and log64 arcs, with and without symbol tables, have the arcs that OpenFst prints."""
    lines = ORACLE.read_text(encoding="utf-8").splitlines() if ORACLE.exists() else []
    assert lines
    for case in map(json.loads, lines):
        (tmp_path / "a.fst").write_bytes(base64.b64decode(case["binary_base64"]))
        machine = read_openfst(tmp_path / "a.fst")
        assert (machine.states, machine.start) == (case["states"], case["start"]), case["case_id"]
        assert rows_of(machine) == printed_rows(case["att"], case["symbols"]), case["case_id"]


@pytest.mark.parametrize("machine", [MACHINE, Fst.from_strings([]), Fst.from_strings(["é"]), Fst.from_arcs([], final=[0]).project("input")])
def test_written_machine_is_read_again(tmp_path: Path, machine: Fst) -> None:
    """A machine that is written and read again has the same arcs, symbols and start."""
    machine.write_openfst(tmp_path / "a.fst")
    again = read_openfst(tmp_path / "a.fst")
    assert (rows_of(again), again.start, again.symbols) == (rows_of(machine), machine.start, machine.symbols)


def test_aligned_machine_is_read(tmp_path: Path) -> None:
    """The states and the arcs of an aligned const machine begin at multiples of 16 bytes."""
    head = struct.pack("<i", 2125659606) + b"".join(struct.pack("<i", len(name)) + name for name in (b"const", b"standard"))
    head += struct.pack("<iiQqqq", 1, 4, 3, 0, 2, 1)
    states = struct.pack("<fIIII", inf, 0, 1, 0, 0) + struct.pack("<fIIII", 0.5, 1, 0, 0, 0)
    data = head + bytes(-len(head) % 16) + states
    (tmp_path / "a.fst").write_bytes(data + bytes(-len(data) % 16) + struct.pack("<iifi", 97, 98, 1.5, 1))
    assert list(read_openfst(tmp_path / "a.fst").paths()) == [("a", "b", 2.0)]


def archive(folder: Path, names: list[str]) -> Path:
    """An archive of machines, each of which accepts its own name."""
    data, places = struct.pack("<ii", 2125656924, 1), []
    for name in names:
        Fst.from_strings([name]).write_openfst(folder / "one.fst")
        places.append(len(data))
        data += struct.pack("<i", len(name)) + name.encode() + (folder / "one.fst").read_bytes()
    path = folder / "all.far"
    path.write_bytes(data + struct.pack(f"<{len(places)}q", *places) + struct.pack("<q", len(places)))
    return path


def test_archive_is_read(tmp_path: Path) -> None:
    """A machine in an archive is read by its name; for an archive of one machine, the name is not needed."""
    path = archive(tmp_path, ["ab", "c"])
    assert list(read_openfst(path, "c").paths()) == [("c", "c", 0.0)]
    with pytest.raises(VocabularyError, match="contains the machines 'ab', 'c'"):
        read_openfst(path)
    with pytest.raises(VocabularyError, match="has no machine 'd'; expected one of 'ab', 'c'"):
        read_openfst(path, "d")
    assert list(read_openfst(archive(tmp_path, ["ab"])).paths()) == [("ab", "ab", 0.0)]
    with pytest.raises(VocabularyError, match=r"one\.fst is not an archive"):
        read_openfst(tmp_path / "one.fst", "ab")


def forged(count: int, machine: Fst) -> bytes:
    """An archive of keys that contain each other, and of one machine that follows each of them."""
    keys = b""
    for _ in range(count):
        keys = struct.pack("<i", len(keys)) + keys
    places = [8 + 4 * number for number in range(count)]
    return struct.pack("<ii", openfst.ARCHIVE, 1) + keys + openfst.packed(machine) + struct.pack(f"<{count + 1}q", *places, count)


def test_archive_without_distinct_machines(tmp_path: Path) -> None:
    """An archive without machines is refused as a machine, and one whose keys or machines take more bytes than it has is damaged."""
    path = tmp_path / "forged.far"
    path.write_bytes(openfst.packed_archive({}))
    assert not openfst.read_archive(path)
    with pytest.raises(VocabularyError, match="contains no machines; expected at least one"):
        read_openfst(path)
    for data in (forged(30, MACHINE), forged(8, Fst.from_regex("a{200}"))):
        path.write_bytes(data)
        with pytest.raises(VocabularyError, match="overlap; the file is damaged"):
            openfst.read_archive(path)


@pytest.mark.parametrize("machines", [{"a": "b"}, {7: MACHINE}])
def test_other_machines_are_not_written(tmp_path: Path, machines: Any) -> None:
    """An archive has strings as keys, and machines; other objects are refused before the file is written."""
    with pytest.raises(VocabularyError, match=r"the machine .* is .*; expected a string as key, and an Fst"):
        write_far(tmp_path / "a.far", machines)
    assert not (tmp_path / "a.far").exists()


def test_bytes_are_read(tmp_path: Path) -> None:
    """With the unit "utf-8", labels up to 255 are bytes, and larger labels are symbols."""
    Fst.from_arcs([(0, 1, 0xC3, 0), (1, 2, 0xA9, 0x1234)], final=[2]).write_openfst(tmp_path / "a.fst")
    assert list(read_openfst(tmp_path / "a.fst", unit="utf-8").paths()) == [("é", "<4660>", 0.0)]


@pytest.mark.parametrize(("texts", "unit"), [(["é"], "utf-8"), (["a世"], "utf-8"), (["ab"], "character"), (["«", "é"], "character")])
def test_bytes_are_recognised(texts: list[str], unit: Any, tmp_path: Path) -> None:
    """Labels are bytes if, somewhere, the second byte of a character follows the first byte; otherwise they are code points."""
    Fst.from_strings(texts, unit=unit).write_openfst(tmp_path / "a.fst")
    machine = read_openfst(tmp_path / "a.fst")
    assert (machine.unit, [text for text, *_ in machine.paths()]) == (unit, texts)


@pytest.mark.parametrize(
    ("old", "new", "error", "found"),
    [
        (struct.pack("<i", 2125659606), b"\0\0\0\0", VocabularyError, "byte 4: the magic number is 0; expected 2125659606"),
        (b"vector", b"compac", UnsupportedError, "machine of type 'compac'"),
        (b"standard", b"power256", UnsupportedError, "arcs of type 'power256'"),
        (struct.pack("<qqq", 0, 4, 3), struct.pack("<qqq", 0, 1 << 40, 3), VocabularyError, "the number of states is 1,099,511,627,776"),
        (struct.pack("<qqq", 0, 4, 3), struct.pack("<qqq", 9, 4, 3), VocabularyError, "the start state is 9"),
        (struct.pack("<iifi", 98, 0, 0, 2), struct.pack("<iifi", 98, 0, 0, 4), VocabularyError, "the target of an arc of state 1 is 4"),
        (struct.pack("<iifi", 98, 0, 0, 2), struct.pack("<iifi", -1, 0, 0, 2), VocabularyError, "label of an arc of state 1 is -1"),
        (struct.pack("<fq", 0.5, 0), struct.pack("<fq", np.nan, 0), VocabularyError, "the final weight of state 2 is nan"),
        (struct.pack("<fq", 0.5, 0), struct.pack("<fq", 0.5, 1 << 40), VocabularyError, "the number of arcs of state 2 is"),
        (struct.pack("<qq", 0x110001, 5), struct.pack("<qq", 0, 1 << 40), VocabularyError, "13,194,139,533,312 bytes are needed"),
        (struct.pack("<i", 7) + b"symbols", struct.pack("<i", -7) + b"symbols", VocabularyError, "-7 bytes are needed"),
    ],
)
def test_damaged_file_is_refused(tmp_path: Path, old: bytes, new: bytes, error: type[FstError], found: str) -> None:
    """The error for a damaged file contains the fault and its position, and no memory is allocated for forged numbers."""
    MACHINE.write_openfst(tmp_path / "a.fst")
    data = (tmp_path / "a.fst").read_bytes()
    assert old in data
    (tmp_path / "a.fst").write_bytes(data.replace(old, new))
    with pytest.raises(error, match=found):
        read_openfst(tmp_path / "a.fst")


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(300))
def test_random_damage_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A file with random changes, or cut short, is read, or refused with an error of this package."""
    random = np.random.default_rng(seed)
    MACHINE.write_openfst(tmp_path / "a.fst")
    path = tmp_path / "a.fst" if seed % 2 else archive(tmp_path, ["ab", "c"])
    data: Any = np.frombuffer(path.read_bytes(), np.uint8).copy()
    data[random.integers(len(data), size=2)] = random.integers(256, size=2)
    path.write_bytes(data[: random.integers(len(data) // 2, 2 * len(data))].tobytes())
    with suppress(FstError):
        read_openfst(path, "c" if path.suffix == ".far" else None)
