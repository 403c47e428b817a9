"""Sources of trainers: a list is read either as names of files or as texts, and lines may have any length."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fst import train
from fst.counting.words import Words
from fst.errors import TextError, UnsupportedError
from fst.runtime.files import lines
from fst.runtime.files.packing import CHUNK
from fst.runtime.files.streams import Source
from fst.train import counting
from fst.train.pipeline import Pipeline

OLD = ["[UNK]", "a", "##b"]  # the tokens of a base vocabulary
REMEDIES = "to read files, correct the name or pass each as a pathlib.Path; to read the items as texts, pass iter(texts)"


@pytest.fixture(autouse=True)
def _names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files and a folder in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        Path(name).write_text(f"{name}\n")
    Path("folder").mkdir()


def listed(words: Words) -> list[tuple[bytes, int]]:
    """Return the words with their counts."""
    return [*zip(words, words.counts.tolist(), strict=True)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("source", "item", "why"),
    [
        (["a.txt", "typo.txt"], "item 1 of the source, 'typo.txt', is not a file", "item 0, 'a.txt', is a file"),
        (["typo.txt", "a.txt"], "item 0 of the source, 'typo.txt', is not a file", "item 1, 'a.txt', is a file"),
        (("a.txt", "a text with spaces"), "item 1 of the source", "item 0, 'a.txt', is a file"),
        (["a.txt", "folder"], "item 1 of the source, 'folder', is a folder", "item 0, 'a.txt', is a file"),
        (["a.txt"] * 5000 + ["no.txt"], "item 5000 of the source", "item 0, 'a.txt', is a file"),
        (["no.txt", "neither.parquet"], "item 0 of the source, 'no.txt', is not a file", "all items look like paths"),
        (["no.txt"], "item 0 of the source", "all items look like paths"),
        ({"no.JSONL.gz"}, "item 0 of the source", "all items look like paths"),
        (["folder/part-0", "folder/part-1"], "item 0 of the source", "all items look like paths"),
        (["s3://bucket/a", "no.txt"], "item 1 of the source, 'no.txt'", "all items look like paths"),
        (["*.txt"], "item 0 of the source", "all items look like paths"),
        (np.array(["no.txt", "a.txt"]), "item 0 of the source, 'no.txt'", "item 1, 'a.txt', is a file"),
    ],
)
def test_missing_files_are_refused(source: Any, item: str, why: str) -> None:
    """A collection that contains files and other items, or only paths of missing files, is refused, and the message contains the item and
    both remedies.
    """
    calls = partial(train.words, splitter="gpt2"), partial(train.bpe, splitter="gpt2"), partial(train.like, OLD)
    for call in (*calls, partial(train.extend, OLD, add=1), partial(train.trim, OLD, keep=3)):
        with pytest.raises(UnsupportedError) as refused:
            call(source)
        assert item in str(refused.value)
        assert f"but {why}; expected only files or only texts; {REMEDIES}" in str(refused.value)


@pytest.mark.parametrize(
    "texts",
    [
        ["and/or", "he/she"],
        ["e.g.", "i.e.", "3.14", "U.S.A."],
        ["node.js", "example.org", "main.c"],
        ["/start", "/help"],
        ["folder", "word"],
        ["no.txt", "see no.txt"],
        ["https://example.org/a", "a nice day"],
        ["a\0b", "x" * 10_000],
        ["no.txt\n"],
    ],
)
def test_words_are_texts(texts: list[str]) -> None:
    """A list of short words of any kind is read as texts."""
    assert listed(train.words(texts, splitter="none")) == listed(train.words(iter(texts), splitter="none"))


def test_names_are_texts_or_files_on_request() -> None:
    """Items of an iterator are texts even if they name files, and items of a list are files if one of them is a path."""
    assert [*train.words(iter(["a.txt", "typo.txt"]), splitter="none")] == [b"a.txt", b"typo.txt"]
    assert [*train.words(["a.txt", Path("b.txt")], splitter="none")] == [b"a.txt\n", b"b.txt\n"]


def test_lines_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are too long for other commands are counted, but a line beyond the limit is refused with the file and the line number."""
    monkeypatch.setattr(lines, "MOST_BYTES", 1000)
    texts = ["a\n", f"{'ab ' * CHUNK}\n", "b"]
    (tmp_path / "long.txt").write_text("".join(texts))
    (tmp_path / "long.jsonl").write_text("".join(json.dumps({"t": text}) + "\n" for text in texts))
    expected = listed(train.words(texts, splitter="gpt2"))
    assert listed(train.words(tmp_path / "long.txt", splitter="gpt2")) == expected
    assert listed(train.words(tmp_path / "long.jsonl", splitter="gpt2", field="t")) == expected
    monkeypatch.setattr(counting, "MOST_UNITS", 2000)
    with pytest.raises(TextError, match=r"long\.txt, line 2: more than 2,000 bytes; split it"):
        train.words(tmp_path / "long.txt", splitter="gpt2")


def test_splitters_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A splitter that an earlier process compiled is read from the cache of tables, and splits in the same way; other splitters are
    compiled.
    """
    expected = listed(train.words(["one two 3"], splitter=r"\w|\d+"))
    counting._kept_table.cache_clear()

    def refuse(_: Pipeline) -> None:
        raise AssertionError

    monkeypatch.setattr(Pipeline, "table", refuse)
    assert listed(train.words(["one two 3"], splitter=r"\w|\d+")) == expected
    with pytest.raises(AssertionError):
        train.words(["one two 3"], splitter=r"\w|\d+", normalizer="nfc")


class Trickle(io.RawIOBase):
    """A file of which a read returns at most `most` bytes."""

    def __init__(self, data: bytes, most: int) -> None:
        self._file, self._most = io.BytesIO(data), most

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read a few bytes."""
        return self._file.readinto(memoryview(buffer)[: self._most])


@given(st.binary(max_size=40).map(lambda data: data.replace(b"0", b"\n")), st.integers(1, 9), st.integers(1, 9))
def test_lines_in_one_array(data: bytes, read: int, most: int) -> None:
    """Lines in one array have the numbers, bytes and errors of lines in a list, wherever reads divide the file."""
    found: list[Any] = []
    readers: list[Any] = [lines.ended, partial(lines.blocks, separator=lines.LINE_FEED, with_ends=True)]
    for blocks in readers:
        numbered = dict[int, bytes | str]()
        try:
            for block in blocks(Source("name", io.BufferedReader(Trickle(data, read)), None, False), most=most):
                rows: Any = block.lines if isinstance(block.lines, list) else map(block.lines.text, range(len(block.lines)))
                numbered |= {number: bytes(line) for number, line in enumerate(rows, block.first)}
        except TextError as error:
            numbered[0] = str(error)
        found.append(numbered)
    assert found[0] == found[1]
