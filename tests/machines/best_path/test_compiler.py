"""The compiler of the best path: files, labels, texts of machines, and refusals."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import pytest
from support.machines.transducers import rewritten, walked

from fst.compile.algebra.arcs import Unit
from fst.compile.algebra.machine import Fst
from fst.compile.machines.best_path.compiler import best_path
from fst.compile.sources.transducers.openfst import ARCHIVE
from fst.errors import UnsupportedError, VocabularyError

WORDS = Fst.from_strings([("a", "one", 1.0), ("世", "deux", 0.5), ("a世", "both", 2.0)]).closure()
TEXTS, NEW = ["a世", "世aa", ""], ["onedeux", "deuxoneone", ""]


def archive_of(machines: dict[str, bytes]) -> bytes:
    """The bytes of an archive."""
    data, places = struct.pack("<ii", ARCHIVE, 1), list[int]()
    for name, machine in machines.items():
        places.append(len(data))
        data += struct.pack("<i", len(name)) + name.encode() + machine
    return data + struct.pack(f"<{len(places) + 1}q", *places, len(places))


def test_files(tmp_path: Path) -> None:
    """A machine, a file of OpenFst, an archive and AT&T text, packed or not, give the same table."""
    expected = best_path(WORDS).dumps()
    WORDS.write_att(tmp_path / "words.att")
    WORDS.write_openfst(tmp_path / "words.fst")
    (tmp_path / "words.fst.gz").write_bytes(gzip.compress((tmp_path / "words.fst").read_bytes()))
    Fst.from_strings(["other"]).write_openfst(tmp_path / "other.fst")
    files = {name: (tmp_path / f"{name}.fst").read_bytes() for name in ("other", "words")}
    (tmp_path / "all.far").write_bytes(archive_of(files))
    assert rewritten(best_path(WORDS), TEXTS) == NEW
    for name in ("words.att", "words.fst", "words.fst.gz"):
        assert rewritten(best_path(tmp_path / name), TEXTS) == NEW
    assert best_path(str(tmp_path / "words.fst"), unit="character").dumps() == expected
    assert best_path(tmp_path / "all.far", name="words", unit="character").dumps() == expected
    with pytest.raises(VocabularyError, match="other"):
        best_path(tmp_path / "all.far")


def test_bytes_and_characters(tmp_path: Path) -> None:
    """In a file of OpenFst without symbols, labels up to 255 are bytes unless `unit` is "character" or a larger label is a character;
    labels of AT&T text are characters.
    """
    Fst.from_strings([("é", "ü")], unit="utf-8").write_openfst(tmp_path / "bytes.fst")
    Fst.from_strings([("é", "ü")]).write_openfst(tmp_path / "latin.fst")
    Fst.from_strings([("é", "世")]).write_openfst(tmp_path / "wide.fst")
    cases: list[tuple[str, Unit | None, str]] = [("bytes", None, "ü"), ("bytes", "utf-8", "ü"), ("wide", None, "世")]
    cases += [("latin", "character", "ü"), ("generated", None, "ü")]
    generated = Fst.from_arcs([(0, 1, 0xC3, 0xC3), (1, 2, 0xA9, 0xBC), (2, 3, 0xF0000, 0xF0000)], [2, 3])
    generated.write_openfst(tmp_path / "generated.fst")
    Fst.from_strings([("é", "ü")]).write_att(tmp_path / "latin.att")
    assert rewritten(best_path(tmp_path / "latin.att"), ["é"]) == ["ü"]
    for name, unit, new in cases:
        assert rewritten(best_path(tmp_path / f"{name}.fst", unit=unit), ["é"]) == [new]


def test_symbols_are_characters() -> None:
    """A symbol of several characters is read and written as its characters; if a text can be read in two ways, the weights decide."""
    machine = Fst.from_arcs([(0, 1, "<n>", "noun", 1.0), (0, 2, "<", "[", 0.25), (2, 3, "n", "N", 0.25), (3, 1, ">", "]", 0.25)], [1])
    assert rewritten(best_path(machine), ["<n>"]) == ["[N]"]
    assert rewritten(best_path(Fst.from_strings([("a", "<n>")], symbols=["<n>"])), ["a"]) == ["<n>"]


def test_null_characters() -> None:
    """If a symbol contains U+0000, it is a character like others; otherwise it is a byte without arcs."""
    machine = Fst.from_arcs([(0, 0, "\0x", "y"), (0, 0, "a", "\0")], [0])
    assert rewritten(best_path(machine, unknown="copy"), ["\0xa", "\0a"]) == ["y\0", "\0a"]


def test_folding() -> None:
    """States without a choice need no rows: a chain of arcs that only write becomes one arc."""
    table = best_path(Fst.from_strings([("ab", "one long output")]))
    assert (len(table.finals), len(table.labels)) == (3, 2)
    assert rewritten(table, ["ab"]) == ["one long output"]


def test_machine_without_paths() -> None:
    """A machine that accepts nothing copies every text, or refuses it."""
    for machine in (Fst.from_strings([]), Fst.from_arcs([(0, 0, "a", "b")], [1])):
        table = best_path(machine, unknown="copy")
        table.prove()
        assert rewritten(table, ["", "a"]) == ["", "a"] == [walked(table, ""), walked(table, "a")]


def test_negative_cycle() -> None:
    """A cycle that reads nothing and has a negative weight is refused with its states, unless no path passes it."""
    arcs: list[Any] = [(0, 1, "a", "a"), (1, 2, "", "x", -1.0), (2, 1, "", "y", 0.5), (2, 3, "", "")]
    with pytest.raises(VocabularyError, match=r"the arcs (1 → 2 → 1|2 → 1 → 2) read nothing and have a negative weight"):
        best_path(Fst.from_arcs(arcs, [1, 2, 3]))
    assert rewritten(best_path(Fst.from_arcs([*arcs[:3], (0, 3, "a", "b")], [3])), ["a"]) == ["b"]


def test_cycles_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle of many states that read nothing is refused."""
    monkeypatch.setattr("fst.compile.machines.best_path.folding.MAX_CYCLE", 10)
    ring: list[Any] = [(state, (state + 1) % 20, "", "") for state in range(20)]
    with pytest.raises(UnsupportedError, match="a cycle of 20 states reads nothing; expected at most 10"):
        best_path(Fst.from_arcs(ring, range(20)))


def test_cycles_have_small_outputs_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles that write long strings, and too many cycles, are refused."""
    with pytest.raises(UnsupportedError, match="writes more than 4,096 bytes"):
        best_path(Fst.from_arcs([(0, 1, "", "x" * 5000), (1, 0, "", "")], [0, 1]))
    monkeypatch.setattr("fst.compile.machines.best_path.folding.MAX_SPLIT", 3)
    with pytest.raises(UnsupportedError, match="too many cycles"):
        best_path(Fst.from_arcs([(0, 1, "", "x"), (1, 0, "", "")], [0, 1]))


def test_machines_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of too many arcs is refused before it is copied."""
    monkeypatch.setattr("fst.compile.machines.best_path.compiler.MAX_ARCS", 3)
    with pytest.raises(UnsupportedError, match="the machine has 4 arcs; expected at most 3"):
        best_path(Fst.from_strings(["abcd"]))


@pytest.mark.slow
def test_shared_chains() -> None:
    """Long outputs that many arcs share are not copied to each of these arcs, and new texts are the same."""
    size = 2000
    chain: list[Any] = [(state, state + 1, "", "x") for state in range(1, size)]
    table = best_path(Fst.from_arcs([*chain, *((0, state, chr(0x4E00 + state), "") for state in range(1, size))], [size]))
    assert len(table.string_bytes) < 200 * size
    assert rewritten(table, [chr(0x4E00 + 1), chr(0x4E00 + 1990)]) == ["x" * (size - 1), "x" * 10]


def test_wrong_machines() -> None:
    """An output that is a lone surrogate is refused, and so is a path inside a cycle whose weight exceeds the range of weights."""
    with pytest.raises(VocabularyError, match=r"an arc of state 0 writes .* not text"):
        best_path(Fst.from_arcs([(0, 1, "a", 0xD800)], [1]))
    heavy: list[Any] = [(state, (state + 1) % 800, "", "", 3e38) for state in range(800)]
    with pytest.raises(VocabularyError, match="very large weight"):
        best_path(Fst.from_arcs(heavy, range(0, 800, 4)))


def test_wrong_options() -> None:
    """Unknown values of `unit` and `unknown` are refused."""
    wrong: Any = "words"
    with pytest.raises(ValueError, match="unit"):
        best_path(WORDS, unit=wrong)
    with pytest.raises(ValueError, match="unknown"):
        best_path(WORDS, unknown=wrong)
