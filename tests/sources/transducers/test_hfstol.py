"""Optimized-lookup files of HFST are read or refused, and give the answers of hfst-optimized-lookup."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
from contextlib import suppress
from itertools import product
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from support.shared_data import SHARED, needs_shared
from support.sources.transducers import UNWEIGHTED, WEIGHTED
from support.tiers import sample

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst, read_att, read_hfstol
from fst.errors import FstError, UnsupportedError, VocabularyError

MORPHOLOGY = SHARED / "oracles" / "morphology"
needs_hfst = pytest.mark.skipif(which("hfst-fst2fst") is None, reason="the tools of HFST are not installed: nothing to compare with")
WORDS = [*map("".join, (word for length in range(1, 4) for word in product("abc", repeat=length)))]


def file(folder: Path, data: bytes) -> Path:
    """A file with the given bytes."""
    (folder / "a.hfstol").write_bytes(data)
    return folder / "a.hfstol"


@pytest.mark.parametrize(("data", "weights"), [(WEIGHTED, (2.0, 0.25, 0.75, 1.25)), (UNWEIGHTED, (0.0,) * 4)])
@pytest.mark.parametrize("has_header", [True, False])
def test_files_of_hfst_are_read(tmp_path: Path, data: bytes, weights: tuple[float, ...], has_header: bool) -> None:
    """Weighted and unweighted files, with or without the header of HFST 3, have the paths and weights of the machines from which they were
    made.
    """
    path = file(tmp_path, data if has_header else data[struct.unpack_from("<H", data, 5)[0] + 8 :])
    found = sorted(read_hfstol(path).paths(6), key=lambda each: (len(each[0]), each[0] == "a@P.X.Y@"))[:4]
    flag = "@P.X.Y@"
    pairs = [("", ""), ("d" + flag, "é" + flag), ("a" + flag, "b" + flag), ("d" + flag + "c", "é" + flag + "<n>")]
    assert found[:3] == [(*pair, weight) for pair, weight in zip(pairs[:3], weights[:3], strict=True)]
    assert {*found[3:]} <= {(*pairs[3], weights[3]), ("a" + flag + "c", "b" + flag + "<n>", weights[3] + weights[2] - weights[1])}


def test_packed_file_is_looked_up(tmp_path: Path) -> None:
    """A file that is compressed by gzip is compiled for look-up from its name, and flag diacritics are evaluated."""
    (tmp_path / "a.hfstol.gz").write_bytes(gzip.compress(UNWEIGHTED))
    assert [*fst.Lookup(lookup(tmp_path / "a.hfstol.gz")).lookup_batch(["", "a", "dcc", "c"])] == [[""], ["b"], ["é<n><n>"], []]


INDEX_AT, TRANSITIONS_AT = 0xE1, 0x117  # in the weighted file


@pytest.mark.parametrize(
    ("at", "new", "error", "found"),
    [
        (0x19, b"FOMA\0\0\0\0", UnsupportedError, "the file is of type 'FOMA'; expected HFST_OL or HFST_OLW; convert it"),
        (5, b"\xff\xff", VocabularyError, "byte 8: 65,535 bytes are needed, and 379 are left"),
        (0x58, b"\x0b\0", VocabularyError, "byte 144: the header before this byte is not that of an optimized-lookup file"),
        (0x5A, b"\xff\x7f", VocabularyError, "a name"),
        (0x5C, b"\xff\xff\xff\x7f", VocabularyError, "byte 225: the number of records is 2,147,483,647"),
        (0x60, b"\x0a\0\0\0", VocabularyError, "byte 279: 120 bytes are needed, and 108 are left"),
        (0xA3, b"\xff", VocabularyError, "byte 163: a name is b'.xff'; expected UTF-8"),
        (INDEX_AT + 14, b"\x00\x01\x00\x80", VocabularyError, "entry is 2,147,483,904; expected 2,147,483,648 to 2,147,483,656"),
        (INDEX_AT + 14, b"\x00\x00\x00\x00", VocabularyError, "byte 237: the index entry is 0"),
        (TRANSITIONS_AT + 4, b"\x09\0\0\0", VocabularyError, "byte 225: a transition leads to entry 9 of this table; expected at most 8"),
        (TRANSITIONS_AT + 4, b"\x02\0\0\0", VocabularyError, "to entry 2 of the table at byte 225; expected a state there"),
        (TRANSITIONS_AT + 4, b"\x05\0\0\x80", VocabularyError, "to entry 5 of the table at byte 279; expected a state there"),
        (TRANSITIONS_AT + 2, b"\x0a\0", VocabularyError, "byte 279: a transition has the symbol 10; expected a number below 10"),
        (TRANSITIONS_AT + 8, b"\0\0\xc0\x7f", VocabularyError, "the weight of an arc of state 0 is out of range"),
        (INDEX_AT + 2, b"\0\0\xc0\x7f", VocabularyError, "the final weight of state 0 is nan"),
    ],
)  # fmt: skip
def test_damaged_file_is_refused(tmp_path: Path, at: int, new: bytes, error: type[FstError], found: str) -> None:
    """The error for a damaged file contains the fault and the position of the byte."""
    with pytest.raises(error, match=found):
        read_hfstol(file(tmp_path, WEIGHTED[:at] + new + WEIGHTED[at + len(new) :]))


def test_shared_transitions_are_refused(tmp_path: Path) -> None:
    """A forged file in which many states have the same long run of transitions is refused before its arcs are made."""
    count, none = 1000, struct.pack("<HI", 0xFFFF, 0xFFFFFFFF)
    header = struct.pack("<HHIIII9I", 2, 2, 3 * count, count, 0, 0, *[0] * 9) + b"\0a\0"
    states = (none * 2 + struct.pack("<HI", 1, 1 << 31)) * count
    transitions = b"".join(struct.pack("<HHI", 1, 1, 3 * state) for state in range(count))
    with pytest.raises(VocabularyError, match="the states share transitions, 1,000,000 in all; expected at most 4,000"):
        read_hfstol(file(tmp_path, header + states + transitions))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(300))
def test_random_damage_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A file with random changes, or cut short, is read, or refused with an error of this package."""
    random = np.random.default_rng(seed)
    data = np.frombuffer(WEIGHTED if seed % 2 else UNWEIGHTED, np.uint8).copy()
    begin = 0 if seed % 4 < 2 else INDEX_AT
    data[random.integers(begin, len(data), size=2)] = random.choice(np.array([0, 1, 2, 4, 6, 0x7F, 0x80, 0xFF], np.uint8), 2)
    with suppress(FstError):
        read_hfstol(file(tmp_path, data[: random.integers(len(data) // 2, 3 * len(data))].tobytes()))


def converted(folder: Path, att: Path, option: str) -> Path:
    """The file that HFST makes from AT&T text."""
    made, path = folder / "a.hfst", folder / "a.hfstol"
    subprocess.run(["hfst-txt2fst", "-f", "openfst-tropical", "-e", "@0@", "-i", att, "-o", made], check=True, capture_output=True)
    subprocess.run(["hfst-fst2fst", option, "-i", made, "-o", path], check=True, capture_output=True)
    return path


def generated(seed: int) -> Fst:
    """A random machine with flag diacritics, ε and weights, and no cycle that reads nothing."""
    random = np.random.default_rng(seed)
    names = ["a", "b", "c", "", "@P.F.X@", "@R.F.X@", "@D.F@", "@U.F.Y@", "@C.F@"]
    arcs = list[tuple[int, int, str, str, float]]()
    for _ in range(random.integers(4, 24)):
        source, target = random.integers(6, size=2).tolist()
        name = str(random.choice(names))
        if name in ("a", "b", "c") or source < target:
            written = name if name.startswith("@") else str(random.choice(["a", "<n>", "é", ""]))
            arcs.append((source, target, name, written, float(random.integers(4)) / 4))
    return Fst.from_arcs([(0, 1, "a", "b"), *arcs], {int(state): float(random.integers(3)) for state in random.integers(1, 6, size=2)})


@needs_hfst
@pytest.mark.slow
@pytest.mark.parametrize("option", ["-O", "-w"])
def test_random_machines_have_the_answers_of_hfst(tmp_path: Path, option: str) -> None:
    """Words have the analyses of hfst-optimized-lookup in files that HFST makes of random machines with flag diacritics and weights."""
    for seed in sample(range(25), 5):
        generated(seed).write_att(tmp_path / "a.att")
        path = converted(tmp_path, tmp_path / "a.att", option)
        answers = subprocess.run(["hfst-optimized-lookup", path], input="\n".join(WORDS), capture_output=True, text=True, check=True).stdout
        expected = {(word, *rest) for word, *rest in (line.split("\t") for line in answers.splitlines() if line) if "+?" not in rest}
        found = fst.Lookup(lookup(path)).lookup_batch(WORDS)
        assert {(word, analysis) for word, analyses in zip(WORDS, found, strict=True) for analysis in analyses} == expected, seed
        assert option == "-O" or {*read_hfstol(path).paths(20)} <= {*read_att(tmp_path / "a.att").paths(1000)}, seed


@needs_hfst
@needs_shared
@pytest.mark.slow
def test_finnish_has_its_answers(tmp_path: Path) -> None:
    """A real morphology with flag diacritics that HFST converts has its recorded states, arcs and analyses."""
    (tmp_path / "a.att").write_bytes(gzip.decompress((MORPHOLOGY / "fin.att.gz").read_bytes()))
    machine, found = read_att(tmp_path / "a.att").connect(), read_hfstol(converted(tmp_path, tmp_path / "a.att", "-O"))
    assert (found.states, found.arcs) == (machine.states, machine.arcs)
    with gzip.open(MORPHOLOGY / "fin.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [*map(json.loads, lines)]
    analyses = fst.Lookup(lookup(found)).lookup_batch([row["word"] for row in rows])
    assert [*map(sorted, analyses)] == [row["outputs"] for row in rows]
