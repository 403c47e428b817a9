"""Lists, columns and files of each format give the same words, and errors contain the position of the fault."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import written

import fst
from fst.compile import keywords
from fst.compile.dictionary_words import read_words

WORDS = ["New York", "世界", " a ", "x,y", 'say "so"', "tab\there", "a\u2028b"]
MARK = "\ufeff".encode()


def lines_of(words: list[str], end: str = "\n") -> bytes:
    """Write one word per line."""
    return "".join(f"{word}{end}" for word in words).encode()


def records_of(words: list[str], separator: str) -> bytes:
    """Write a header line, and records of a number and a quoted word."""
    fields = ('"' + word.replace('"', '""') + '"' for word in words)
    return f"number{separator}word\n".encode() + b"".join(f"{at}{separator}{field}\r\n".encode() for at, field in enumerate(fields))


FILES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "words.txt": (lines_of(WORDS), {}),
    "crlf.txt": (MARK + lines_of(WORDS, "\r\n"), {}),
    "unended": (lines_of(WORDS)[:-1], {}),
    "words.txt.gz": (gzip.compress(lines_of(WORDS), mtime=0), {}),
    "vocab.txt": (lines_of(WORDS), {}),
    "words.csv": (MARK + records_of(WORDS, ","), {"column": "word"}),
    "words.TSV.GZ": (gzip.compress(records_of(WORDS, "\t"), mtime=0), {"column": "word"}),
    "as_csv.txt": (records_of(WORDS, ","), {"column": "word", "format": "csv"}),
    "lines.csv": (lines_of(WORDS), {"format": "lines"}),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", [str, Path])
def test_files(name: str, kind: Callable[[Path], Any], tmp_path: Path) -> None:
    """A file of any supported format gives its words, and its path may be a str or a Path."""
    data, options = FILES[name]
    assert keywords(kind(written(tmp_path / name, data)), **options).keywords == tuple(WORDS)


def test_first_field(tmp_path: Path) -> None:
    """If `column` is not passed, the first field of each record is a word, and empty lines are not records."""
    assert read_words(written(tmp_path / "a.csv", b'b,1\n\n"c,d",2\r\n')).words == ["b", "c,d"]


def test_jieba(tmp_path: Path) -> None:
    """In jieba's format, a word is followed by a frequency and optionally by a part of speech."""
    found = read_words(written(tmp_path / "dict.txt", "世界 12 n\n好 3\nAT&T 0 nz \n".encode()), form="jieba")
    assert (found.words, found.frequencies, found.tags) == (["世界", "好", "AT&T"], [12, 3, 0], ["n", "", "nz"])
    assert found.place(1) == f"{tmp_path / 'dict.txt'}, line 2"


def test_iterables() -> None:
    """Any iterable of str and bytes is accepted as a list of words, whose positions count from 0."""
    assert keywords(word for word in ("a", b"b")).keywords == ("a", "b")
    assert read_words(["a", "b"], noun="keyword").place(1) == "keyword 1"


REFUSED_FILES: list[tuple[str, bytes, dict[str, Any], type[Exception], str]] = [
    ("empty.txt", b"", {}, fst.VocabularyError, "there are no keywords in .*empty.txt"),
    ("gap.txt", b"a\n\nb\n", {}, fst.VocabularyError, "gap.txt, line 2: the keyword is empty"),
    ("bytes.txt", b"a\n\xff\n", {}, fst.VocabularyError, "bytes.txt, line 2: byte 2 is not UTF-8"),
    ("long.txt", b"a\n" + b"b" * 70_000, {}, fst.UnsupportedError, "long.txt, line 2: 'bbb.* has 70,000 bytes"),
    ("cut.gz", gzip.compress(b"a" * 99, mtime=0)[:-9], {}, fst.VocabularyError, "cut.gz is packed with gzip, and damaged or cut short"),
    ("a.txt", b"a\n", {"column": "word"}, fst.UnsupportedError, "column='word': .*a.txt is read as lines, which has no columns"),
    ("a.txt", b"a\n", {"format": "json"}, fst.UnsupportedError, "format is 'json'; expected 'lines', 'jieba'"),
    ("a.txt", b"a 1\nb c d e\n", {"format": "jieba"}, fst.VocabularyError, "a.txt, line 2: 'b c d e' is not 'word frequency'"),
    ("a.txt", b"a 1\nb -1\n", {"format": "jieba"}, fst.VocabularyError, "a.txt, line 2: 'b -1' is not 'word frequency'"),
    ("a.txt", b"a " + b"9" * 19, {"format": "jieba"}, fst.VocabularyError, "a.txt, line 1: .* is not 'word frequency'"),
    ("a.csv", b"x,y\n", {"column": "word"}, fst.VocabularyError, "a.csv: no columns are called 'word'; its first line names 'x', 'y'"),
    ("a.csv", b"w,w\n", {"column": "w"}, fst.VocabularyError, "a.csv: 2 columns are called 'w'"),
    ("a.csv", b"", {"column": "w"}, fst.VocabularyError, "a.csv: no columns are called 'w'; its first line names none"),
    ("a.csv", b"x,w\n1,a\n2\n", {"column": "w"}, fst.VocabularyError, "a.csv, line 3: 1 field, and the word is field 2"),
    ("a.csv", b'a\n"b\n', {}, fst.VocabularyError, "a.csv, line 2: unexpected end of data; correct the quotes"),
    ("a.parquet", b"PAR1 no", {}, fst.VocabularyError, "a.parquet: damaged, or not of its format"),
    ("a.arrow", b"no", {}, fst.VocabularyError, "a.arrow: damaged, or not of its format"),
]


@pytest.mark.parametrize(("name", "data", "options", "error", "message"), REFUSED_FILES)
def test_files_that_are_refused(
    name: str, data: bytes, options: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    """A file that is not in the expected format is refused, and the message contains its name, the line and the word."""
    if name.endswith((".parquet", ".arrow")):
        pytest.importorskip("pyarrow", reason="columns take pyarrow: the extra [arrow]")
    with pytest.raises(error, match=message):
        keywords(written(tmp_path / name, data), **options)


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("no such file", {}, fst.VocabularyError, r"'no such file' is not a file: .* pass keywords as a list, such as \['no such file'\]"),
    ("a" * 9_999, {}, fst.VocabularyError, "is not a file"),
    ("\0", {}, fst.VocabularyError, "is not a file"),
    (Path("no such file"), {}, FileNotFoundError, "no such file"),
    (b"abc", {}, fst.VocabularyError, "the source is bytes: pass a list of keywords"),
    (["a"], {"format": "csv"}, fst.UnsupportedError, "format='csv': only a file has it; this source is list"),
    (["a"], {"column": "word"}, fst.UnsupportedError, "column='word': only a file has it; this source is list"),
]


@pytest.mark.parametrize(("source", "options", "error", "message"), REFUSED)
def test_sources_that_are_refused(source: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    """A value that is neither a file name nor a list is refused, and the message explains what to pass."""
    with pytest.raises(error, match=message):
        keywords(source, **options)


class TestColumns:
    """Tests of columns of words, in memory and in files."""

    @pytest.fixture
    def pa(self) -> Any:
        """Import `pyarrow`, or skip the test."""
        return pytest.importorskip("pyarrow", reason="columns take pyarrow: the extra [arrow]")

    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "dictionary", "chunked"])
    def test_arrays(self, pa: Any, kind: str) -> None:
        """An array of any text type is accepted as a list of words."""
        array = pa.array(WORDS)
        if kind == "chunked":
            array = pa.chunked_array([array[:2], array[2:]])
        else:
            array = array.dictionary_encode() if kind == "dictionary" else array.cast(getattr(pa, kind)())
        assert keywords(array).keywords == tuple(WORDS)
        assert keywords(array.slice(2)).keywords == tuple(WORDS[2:])

    @pytest.mark.parametrize("kind", ["parquet", "arrow file", "arrow stream"])
    def test_files(self, pa: Any, kind: str, tmp_path: Path) -> None:
        """The words of a file are read from the column that `column` names, or from the only column."""
        pq = pytest.importorskip("pyarrow.parquet")
        two = pa.table({"n": range(len(WORDS)), "word": WORDS})
        cases: list[tuple[Any, dict[str, Any]]] = [(two, {"column": "word"}), (two.select(["word"]), {})]
        for table, options in cases:
            path = tmp_path / f"words.{kind.split()[0]}"
            if kind == "parquet":
                pq.write_table(table, path)
            else:
                with getattr(pa.ipc, f"new_{kind.split()[1]}")(path, table.schema) as writer:
                    writer.write_table(table)
            assert keywords(path, **options).keywords == tuple(WORDS)
        pq.write_table(two, tmp_path / "two.parquet")
        for column, message in ((None, "name the column of words; there are 'n', 'word'"), ("x", "no columns are called 'x'")):
            with pytest.raises(fst.VocabularyError, match=f"two.parquet: {message}"):
                keywords(tmp_path / "two.parquet", column=column)
        with pytest.raises(fst.VocabularyError, match=r"two.parquet: column 'n' is int64, and no text"):
            keywords(tmp_path / "two.parquet", column="n")

    def test_nulls_and_other_types(self, pa: Any, tmp_path: Path) -> None:
        """A null is refused with its row, and a column that does not contain text is refused with its type."""
        pq = pytest.importorskip("pyarrow.parquet")
        with pytest.raises(fst.VocabularyError, match="the column, row 1: the value is null"):
            keywords(pa.array(["a", None]))
        with pytest.raises(fst.VocabularyError, match="the column is int64, and no text"):
            keywords(pa.array([1]))
        with pytest.raises(fst.VocabularyError, match="the column: damaged"):
            keywords(pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers()))
        pq.write_table(pa.table({"word": ["a", None]}), tmp_path / "null.parquet")
        with pytest.raises(fst.VocabularyError, match=r"null.parquet: column 'word', row 2: the value is null"):
            keywords(tmp_path / "null.parquet")


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If `pyarrow` is not installed, the error for a file with columns explains how to install it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "fst.compile.dictionary_words", raising=False)
    with pytest.raises(fst.UnsupportedError, match="pip install 'pyarrow>=18'"):
        keywords(written(tmp_path / "a.parquet", b"PAR1"))
