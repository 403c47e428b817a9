"""`fst rewrite`: files of rules, warnings, paths and other tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, written

import fst
from fst.compile import best_path, keywords
from fst.compile.algebra.machine import Fst

FILE = "# Spanish\nV = [aeiou]\n\nch -> tʃ ,, ll -> ʝ\nr -> ɾ / V _ V\nrtl: a -> e / _ (e|$)\n"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of rules from a file."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "small.rules").write_text(FILE, encoding="utf-8")
    call("compile", "rules", folder / "small.rules", "-o", folder / "rules.npz")
    return folder / "rules.npz"


def test_file_of_rules(table: Path) -> None:
    """The rules of a file, with its definitions, lists and directions, rewrite standard input."""
    found = call("rewrite", table, stdin=b"chicharra\n\nllora la raa\n").stdout
    assert found == "tʃitʃarre\n\nʝoɾa la ree\n"


def test_signs_of_other_notations(tmp_path: Path) -> None:
    """A warning on a rule is a line on standard error, once, and the table is written; an error writes nothing."""
    source, out = written(tmp_path / "in.rules", b"C = [bcd]\na -> 0 / C _\na -> b\n"), tmp_path / "out.npz"
    found = call("compile", "rules", source, "-o", out).stderr
    assert found.count("Warning: ") == 1
    assert f"Warning: {source}, line 2: the rule 'a -> 0 / C _' has '0', the digit, which psi writes" in found
    assert out.exists()
    source, out = written(tmp_path / "in.rules", b"a -> b || c _ d\n"), tmp_path / "other.npz"
    assert "write 'a -> b / c _ d'" in error_of(call("compile", "rules", source, "-o", out, code=1))
    assert not out.exists()


def test_documents_without_a_path(tmp_path: Path) -> None:
    """A document that has no path through a weighted transducer is refused with its line, or skipped."""
    best_path(Fst.from_strings([("ab", "x", 1.0), ("c", "é")])).save(tmp_path / "paths.npz")
    assert fst.Rewriter.load(tmp_path / "paths.npz").apply_batch([b"ab"] * 9) == ["x"] * 9  # compiles the kernels
    source = written(tmp_path / "in.txt", b"no\nab\nno\nno\nc\nab\nx\n")
    assert error_of(call("rewrite", tmp_path / "paths.npz", source, code=1)).startswith(f"{source}, line 1: no path")
    done = call("rewrite", tmp_path / "paths.npz", source, "--errors", "skip")
    assert (done.stdout, "4 documents skipped" in done.stderr) == ("x\né\nx\n", True)
    pq.write_table(pa.table({"text": ["no", "c", None]}), tmp_path / "in.parquet")
    call("rewrite", tmp_path / "paths.npz", tmp_path / "in.parquet", "--column", "text", "--errors", "skip", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [{"text": "é"}, {"text": None}]


def test_tables_of_another_kind(table: Path, tmp_path: Path) -> None:
    """A file of rules is not compiled as keywords, and a file of keywords is not compiled as rules."""
    keywords(["a"]).save(tmp_path / "words.npz")
    done = call("rewrite", tmp_path / "words.npz", code=1, stdin=b"a\n")
    expected = "expected a table of rewrite rules or a weighted transducer; make one with `fst compile rules` or `best-path`"
    assert error_of(done).endswith(f"is a table of keywords; {expected}")
    assert "is a table of rules; expected a table of keywords" in error_of(call("search", table, code=2, stdin=b"a\n"))


def test_mappings(tmp_path: Path) -> None:
    """A file of two columns is read as a mapping, and a line with another number of columns is refused."""
    lines = "".join(f"<{number}>\t{number + 1}\n" for number in range(99))
    call("compile", "rules", written(tmp_path / "many.tsv", f"{lines}<7>\t0\r\n\n# \t\n".encode()), "-o", tmp_path / "many.npz")
    assert fst.Rewriter.load(tmp_path / "many.npz").apply_batch(["<7><98><99>", "# a"]) == ["899<99>", "a"]
    for wrong in (b"a\tb\nc\n", b"a\tb\n\tc\n", b"a\tb\na\tb\tc\n"):
        done = call("compile", "rules", written(tmp_path / "wrong.tsv", wrong), "-o", tmp_path / "out.npz", code=1)
        assert f"{tmp_path / 'wrong.tsv'}, line 2: the line is" in error_of(done)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a -> b\nc\n", "line 2: the rule 'c' has no '->'"),
        (b"V = (a\na -> b\n", "line 1: the rule 'V ->': the pattern has ( without )"),
        (b"V =\n", "line 1: the definition of 'V' is empty"),
        (b"# a\n\n", "has no rules"),
        (b"a -> \xff\n", "is not UTF-8 at byte 5"),
    ],
)
def test_wrong_files(content: bytes, message: str, tmp_path: Path) -> None:
    """A file with an error is refused, and the message contains the file and the line."""
    source = written(tmp_path / "wrong.rules", content)
    assert message in error_of(call("compile", "rules", source, "-o", tmp_path / "out.npz", code=1))
