"""AT&T text is read, written or refused."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.shared_data import SHARED, needs_shared

from fst.compile.algebra.machine import Fst, read_att, read_att_sections
from fst.errors import FstError, UnsupportedError, VocabularyError

MORPHOLOGY = SHARED / "oracles" / "morphology"


def written(folder: Path, text: str) -> Path:
    """A file with the given text."""
    path = folder / "machine.att"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("0\t1\ta\tb\n1\n", [("a", "b", 0.0)]),
        ("0\t1\ta\tb\t0.5\n1\t1.5\n", [("a", "b", 2.0)]),
        ("0 1 a b\n1 2\n", [("a", "b", 2.0)]),
        ("0\t1\ta\n1\n", [("a", "a", 0.0)]),
        ("0\t1\ta\t0.5\n0\t1\tb\n1\n", [("b", "b", 0.0), ("a", "a", 0.5)]),
        ("7\t2\ta\t0\n2\n", [("a", "", 0.0)]),
        ("7\t2\t0\t@0@\n2\n", [("0", "", 0.0)]),
        ("0\t1\t@_EPSILON_SYMBOL_@\t<eps>\n1\n", [("", "", 0.0)]),
        ("0\t1\t@_SPACE_@\t@_TAB_@\n1\n", [(" ", "\t", 0.0)]),
        ("0\t1\ta@_SPACE_@b@_COLON_@\t<np@_TAB_@>\n1\n", [("a b:", "<np\t>", 0.0)]),
        ("0\t1\t \t\u2028\r\n1\r\n", [(" ", "\u2028", 0.0)]),
        ("0\t1\t<n>\tab\n1\n", [("<n>", "ab", 0.0)]),
        ("0\t1\ta\tb\tInfinity\n0\t1\ta\tc\n1\n", [("a", "c", 0.0)]),
        ("3\n0\t3\ta\ta\n", [("", "", 0.0)]),
        ("0\t9000000000\ta\ta\n9000000000\n", [("a", "a", 0.0)]),
        ("0\t1\ta\ta\n1\n--\n0\n--\n0\t1\tb\tb\n1\n", [("", "", 0.0), ("a", "a", 0.0), ("b", "b", 0.0)]),
        ("", []),
    ],
)
def test_text_is_read(tmp_path: Path, text: str, paths: list[tuple[str, str, float]]) -> None:
    """Columns, states, epsilons, escapes, weights and sections have the same meaning as in the programs that write the format."""
    assert sorted(read_att(written(tmp_path, text)).paths()) == sorted(paths)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("0\t1\ta\ta\n1\tx\n", 2, "the weight is 'x'"),
        ("0\t1\ta\ta\tnan\n", 1, "the weight is 'nan'"),
        ("0\t1\ta\ta\n\n-1\n", 3, "the state is '-1'"),
        ("0\t1\ta\ta\t1\t2\n", 1, "the line has 6 columns"),
        ("0\t1\ta\n0\t1\ta\tb\t2\n", 2, "the line has 5 columns"),
        ("0\t1\ta\ta\n--\n1\tb\n", 3, "the weight is 'b'"),
        ("0\t99999999999999999999\ta\ta\n", 1, "the state is '99999999999999999999'"),
        ("0\t1\t\N{SUPERSCRIPT TWO}\ta\n\N{SUPERSCRIPT TWO}\n", 2, "the state is '²'"),
    ],
)
def test_malformed_line_is_refused(tmp_path: Path, text: str, line: int, found: str) -> None:
    """The error for a malformed line contains the line number, the value and the expected value."""
    with pytest.raises(VocabularyError, match=rf"machine\.att, line {line}: {found}.*expected"):
        read_att(written(tmp_path, text))


def test_weights_are_no_symbols(tmp_path: Path) -> None:
    """In a file of an acceptor, whose arcs have one label, the column after the label is read as a weight, not as a symbol."""
    assert read_att(written(tmp_path, "0\t1\ta\t0.5\n0\t1\tb\n1\n")).symbols == ()


def test_default_symbol_is_refused(tmp_path: Path) -> None:
    """A label that means all characters that no arc of the state reads is refused, and the message contains the label."""
    with pytest.raises(UnsupportedError, match="the label @_DEFAULT_SYMBOL_@"):
        read_att(written(tmp_path, "0\t1\t@_DEFAULT_SYMBOL_@\ta\n1\n"))


def test_numbers_are_labels(tmp_path: Path) -> None:
    """With `numbers`, columns of labels are decimal numbers, and other values are refused."""
    machine = read_att(written(tmp_path, "0\t1\t12\t0\n1\n"), numbers=True)
    assert (machine.ilabel.tolist(), machine.olabel.tolist()) == ([12], [0])
    with pytest.raises(VocabularyError, match="line 2: the label is 'a'"):
        read_att(written(tmp_path, "0\t1\t12\t0\n0\t1\ta\t1\n"), numbers=True)


def test_packed_file_is_read(tmp_path: Path) -> None:
    """A file that is compressed by gzip is read like its content."""
    (tmp_path / "a.att.gz").write_bytes(gzip.compress(b"0\t1\ta\tb\n1\n"))
    assert list(read_att(tmp_path / "a.att.gz").paths()) == [("a", "b", 0.0)]


def test_start_has_the_number_0(tmp_path: Path) -> None:
    """The start is written in the first line, where OpenFst finds it, and with the number 0, which HFST reads as the start."""
    Fst.from_arcs([(0, 1, "a", "b"), (2, 0, "c", "d")], final=[1], start=2).write_att(tmp_path / "a.att")
    assert (tmp_path / "a.att").read_text().splitlines() == ["0\t2\tc\td", "2\t1\ta\tb", "1"]


@pytest.mark.parametrize(
    "machine",
    [
        Fst.from_strings(["0", (" \t", "\r\n", 0.25), ("<n>", "")], symbols=["<n>"]),
        Fst.from_strings([("<a b>", "<\t>")], symbols=["<a b>", "<\t>"]),
        Fst.from_strings(["0"]),
        Fst.from_strings([]),
        Fst.from_arcs([(0, 1, "a", "b")], final=[0], start=1),
        Fst.from_arcs([], final={0: 1.5}),
    ],
)
def test_written_machine_is_read_again(tmp_path: Path, machine: Fst) -> None:
    """A machine that is written and read again has the same paths."""
    machine.write_att(tmp_path / "a.att")
    assert list(read_att(tmp_path / "a.att").paths()) == list(machine.paths())


def test_special_names_are_not_written(tmp_path: Path) -> None:
    """A symbol that would be read as ε or a space, and labels that are bytes, are refused."""
    with pytest.raises(VocabularyError, match="'<eps>' cannot be written"):
        Fst.from_strings(["<eps>"], symbols=["<eps>"]).write_att(tmp_path / "a.att")
    with pytest.raises(UnsupportedError, match="bytes"):
        Fst.from_strings(["é"], unit="utf-8").write_att(tmp_path / "a.att")
    Fst.from_strings(["é"], unit="utf-8").write_att(tmp_path / "a.att", numbers=True)
    assert list(read_att(tmp_path / "a.att", numbers=True, unit="utf-8").paths()) == [("é", "é", 0.0)]


@needs_shared
@pytest.mark.parametrize(
    ("name", "states", "arcs"),
    [("eng", 49_389, 91_124), ("hin", 29_348, 69_971), pytest.param("fin", 440_448, 502_423, marks=pytest.mark.slow)],
)
def test_morphologies_are_read(name: str, states: int, arcs: int) -> None:
    """Real files have the numbers of states and arcs in their description."""
    machines = read_att_sections(MORPHOLOGY / f"{name}.att.gz")
    assert sum(machine.states for machine in machines) == states
    assert sum(machine.arcs for machine in machines) == arcs
    assert all(np.isfinite(machine.final).any() for machine in machines)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(200))
def test_damaged_text_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    """A text with random changes is read, or refused with an error of this package."""
    random = np.random.default_rng(seed)
    text = [*"0\t1\ta\tb\t0.5\n1\t2\t<n>\t@0@\n2\t1.5\n--\n0\t1\ta\tb\n1\n"]
    for place in random.integers(len(text), size=3):
        text[place] = str(random.choice(["\t", "\n", "9", "-", "@", "", " ", "\0", "e"]))
    with suppress(FstError):
        read_att(written(tmp_path, "".join(text)))
