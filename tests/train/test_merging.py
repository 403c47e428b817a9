"""`train.merge_words` merges files of counted words with bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fst import train
from fst.cli.main import main
from fst.counting import merging, parts, tables
from fst.counting.words import MAX_COUNT, Words
from fst.errors import UnsupportedError, VocabularyError

pa = pytest.importorskip("pyarrow", reason="tables of words take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables of words take pyarrow: the extra [arrow]")

TEXTS = ["a rose is a rose", "", "is a rose", "Röschen 日本語\n", " a", "a daisy is no rose"]


def counted(texts: list[str], cuts: list[int], folder: Path) -> list[str]:
    """Count each part of some texts separately, and return the files of counted words."""
    paths = []
    for number, (begin, end) in enumerate(pairwise([0, *sorted(cuts), len(texts)])):
        paths.append(str(folder / f"part-{number}.parquet"))
        train.words(texts[begin:end], splitter="gpt2", partition=number).save(paths[-1])
    return paths


def order(words: Words) -> list[int]:
    """The words in the order of their first occurrences."""
    listed: list[int] = np.lexsort(words.first.T[::-1]).tolist()
    return listed


def in_memory(paths: list[str], path: Path) -> bytes:
    """The file of merged words from a merge in memory."""
    Words.from_table(pa.concat_tables(map(pq.read_table, paths))).save(path)
    return path.read_bytes()


def shuffled(path: str, by: Random) -> None:
    """Shuffle the rows of a file of counted words, and divide each count above 1 into two rows."""
    rows = pq.read_table(path).to_pylist()
    halves = [{**row, "count": half} for row in rows for half in (row["count"] // 2, row["count"] - row["count"] // 2) if half]
    pq.write_table(pa.Table.from_pylist(by.sample(halves, len(halves)), schema=pq.read_schema(path)), path, row_group_size=7)


class TestMerge:
    """Tests of merged files."""

    @settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.text("ab é\n日'", max_size=12), max_size=12),
        st.lists(st.integers(0, 12), max_size=4),
        st.sampled_from([1, 3000, 1 << 29]),
        st.booleans(),
        st.randoms(use_true_random=False),
    )
    def test_parts_give_the_words_of_one_machine(
        self, tmp_path: Path, texts: list[str], cuts: list[int], memory: int, is_shuffled: bool, by: Random
    ) -> None:
        """Parts give the words, the counts and the order of first occurrences of one machine; and the file of a merge in memory, for any
        order of parts, any order of their rows, and any memory.
        """
        paths = counted(texts, [min(cut, len(texts)) for cut in cuts], tmp_path)
        expected = in_memory(paths, tmp_path / "expected.parquet")
        for path in paths:
            if is_shuffled and pq.read_metadata(path).num_rows:
                shuffled(path, by)
        merged = tmp_path / "merged.parquet"
        size = train.merge_words(by.sample(paths, len(paths)), merged, memory=memory)
        words, whole = merging.load([merged]), train.words(texts, splitter="gpt2")
        assert merged.read_bytes() == expected
        assert ([*words], words.counts.tolist(), order(words)) == ([*whole], whole.counts.tolist(), order(whole))
        assert size == len(words)

    @settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.integers(0, 6), min_size=3, max_size=5), st.randoms(use_true_random=False))
    def test_merged_files_merge_again(self, tmp_path: Path, cuts: list[int], by: Random) -> None:
        """Merges of merged files give the same file as one merge of all parts."""
        paths = counted(TEXTS, cuts, tmp_path)
        expected = in_memory(paths, tmp_path / "expected.parquet")
        paths = by.sample(paths, len(paths))
        train.merge_words(paths[:2], tmp_path / "two.parquet")
        train.merge_words([tmp_path / "two.parquet", *paths[2:]], tmp_path / "merged.parquet")
        assert (tmp_path / "merged.parquet").read_bytes() == expected

    @pytest.mark.parametrize("make", [lambda merged: merged, lambda merged: train.words(merged), lambda merged: [merged]])
    def test_trainers_read_merged_files(self, tmp_path: Path, make: Callable[[str], Any]) -> None:
        """A vocabulary of merged words equals the vocabulary of one machine, also if ties depend on first occurrences."""
        train.merge_words(counted(TEXTS, [2, 4], tmp_path)[::-1], merged := str(tmp_path / "merged.parquet"))
        sources = make(merged), TEXTS
        pairs, expected = (train.bpe(source, splitter="gpt2", vocab_size=300).vocabulary for source in sources)
        assert pairs == expected
        with pytest.warns(match="min_frequency"):
            made = [train.wordpiece(source, splitter="gpt2", criterion="score", vocab_size=290) for source in sources]
        scored, expected = (each.vocabulary for each in made)
        assert scored == expected

    def test_blocks_and_groups_do_not_change_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The row groups of a file do not depend on the blocks in which words arrive, and no group has too many rows or too much text."""
        monkeypatch.setattr(tables, "GROUP", 3)
        monkeypatch.setattr(tables, "MOST_TEXT", 9)
        words = train.words(TEXTS, splitter="gpt2")
        words.save(tmp_path / "whole.parquet")
        tables.save((tables.rows_of(words.columns, at, at + 1) for at in range(len(words))), tmp_path / "rows.parquet")
        assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "rows.parquet").read_bytes()
        file = pq.ParquetFile(tmp_path / "whole.parquet")
        groups = [file.read_row_group(number)["word"].to_pylist() for number in range(file.num_row_groups)]
        assert max(map(len, groups)) == 3
        assert all(len(group) == 1 or len(b"".join(group)) <= 9 for group in groups)

    def test_counts_below_the_minimum_are_left_out(self, tmp_path: Path) -> None:
        """`min_count` applies to the sums of all parts, and the file contains the largest minimum of the merge and its parts."""
        paths = counted(TEXTS, [3], tmp_path)
        train.merge_words(paths, tmp_path / "merged.parquet", min_count=3, memory=1)
        assert [*merging.load([tmp_path / "merged.parquet"])] == [b" a", b" rose"]
        train.merge_words([tmp_path / "merged.parquet", paths[0]], tmp_path / "again.parquet")
        assert merging.load([tmp_path / "again.parquet"]).min_count == 3

    def test_parts_of_engines(self, tmp_path: Path) -> None:
        """Parts may lack the columns first and split, and may have words as strings or as a dictionary; rows of all parts are in order."""
        pq.write_table(pa.table({"count": [2, 1], "word": ["b", "a"]}), tmp_path / "0.parquet")
        pq.write_table(pa.table({"word": pa.array(["c", "b"]).dictionary_encode(), "count": [5, 4]}), tmp_path / "1.parquet")
        words = train.words([tmp_path / "0.parquet", tmp_path / "1.parquet"])
        assert [*zip(words, words.counts.tolist(), words.first[:, 2].tolist(), strict=True)] == [(b"a", 1, 1), (b"b", 6, 0), (b"c", 5, 2)]

    def test_more_parts_than_open_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """With any memory, no more than `MOST_OPEN` files are merged at the same time, and the result is the same."""
        paths = counted(TEXTS, [1, 2, 3, 4], tmp_path)
        monkeypatch.setattr(merging, "MOST_OPEN", 2)
        train.merge_words(paths, tmp_path / "merged.parquet", memory=1 << 40)
        assert (tmp_path / "merged.parquet").read_bytes() == in_memory(paths, tmp_path / "expected.parquet")

    def test_minimum_with_too_many_digits(self, tmp_path: Path) -> None:
        """A recorded minimum that is no count is ignored."""
        table = pa.table({"word": ["a"], "count": [1]})
        pq.write_table(table.replace_schema_metadata({tables.MIN_COUNT: "9" * 5000}), tmp_path / "0.parquet")
        assert train.merge_words([tmp_path / "0.parquet"], tmp_path / "merged.parquet") == 1

    def test_no_run_is_left(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A merge with little memory removes its temporary folder, also after an error."""
        paths = counted(TEXTS, [1, 2, 3, 4], tmp_path)
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        train.merge_words(paths, tmp_path / "merged.parquet", memory=1)
        pq.write_table(pa.table({"word": ["b", "a", "a"], "count": [1, 1, 0]}), tmp_path / "bad.parquet")
        with pytest.raises(VocabularyError, match=r"bad\.parquet: row 2: count is 0"):
            train.merge_words([tmp_path / "bad.parquet"], tmp_path / "merged.parquet", memory=1)
        assert [*(tmp_path / "tmp").iterdir()] == []


class TestWrongParts:
    """Tests of parts that cannot be merged."""

    @pytest.mark.parametrize("memory", [1, 1 << 20])
    @pytest.mark.parametrize("rows", [[("the", MAX_COUNT), ("tic", 5)], [("the", MAX_COUNT - 1), ("the", 2)]])
    def test_sum_too_large(self, tmp_path: Path, rows: list[tuple[str, int]], memory: int) -> None:
        """If the sum of all counts is larger than 2^63 - 1, the error contains the most frequent word, and nothing is written."""
        for number, (word, count) in enumerate(rows):
            pq.write_table(pa.table({"word": [word], "count": [count]}), tmp_path / f"{number}.parquet")
        with pytest.raises(VocabularyError, match=r"sum of all counts is 9,223,.*, of which 9,223,372,.* are of b'the'; expected"):
            train.merge_words([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "merged.parquet", memory=memory)
        assert not (tmp_path / "merged.parquet").exists()

    def test_largest_sum(self, tmp_path: Path) -> None:
        """A sum of 2^63 - 1 is exact."""
        for number, count in enumerate([1 << 62, (1 << 62) - 1]):
            pq.write_table(pa.table({"word": ["the"], "count": [count]}), tmp_path / f"{number}.parquet")
        train.merge_words([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "merged.parquet")
        assert merging.load([tmp_path / "merged.parquet"]).counts.tolist() == [MAX_COUNT]

    def test_different_splits(self, tmp_path: Path) -> None:
        """Parts of different splitters, and parts of another splitter than `splitter`, are refused."""
        for splitter in ("gpt2", "bert"):
            train.words(TEXTS, splitter=splitter).save(tmp_path / f"{splitter}.parquet")
        paths = [tmp_path / "gpt2.parquet", tmp_path / "bert.parquet"]
        with pytest.raises(VocabularyError, match=r"the split is '.*' in .*\.parquet, and '.*' in .*\.parquet; expected one split"):
            train.merge_words(paths, tmp_path / "merged.parquet")
        with pytest.raises(VocabularyError, match=r"the split of the words is .*; expected .*, that of the splitter"):
            train.merge_words(paths[:1], tmp_path / "merged.parquet", splitter="bert")

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"word": ["a"]}, "expected one called count"),
            ({"word": ["b", None], "count": [1, 1]}, "row 1: word is null"),
            ({"word": [1], "count": [1]}, "column word is int64; expected binary or string"),
            ({"word": ["a", "b"], "count": [1, 1], "first": ["0" * 32, "g" * 32]}, "row 1: first is 'g+'; expected 32 hexadecimal digits"),
        ],
    )
    def test_wrong_rows(self, tmp_path: Path, columns: dict[str, Any], message: str) -> None:
        """A malformed part is refused with its name and the row, for any memory."""
        pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
        for memory in (1, 1 << 29):
            with pytest.raises(VocabularyError, match=rf"bad\.parquet: .*{message}"):
                train.merge_words([tmp_path / "bad.parquet"], tmp_path / "merged.parquet", memory=memory)


    def test_rows_are_those_of_the_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An error in a later part, or in a later batch of rows, contains the row of the file."""
        monkeypatch.setattr(parts, "AT_ONCE", 1)
        good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
        pq.write_table(pa.table({"word": ["a", "b"], "count": [1, 1]}), good)
        for columns, message in [
            ({"word": ["a", "b"], "count": [1, 0]}, "row 1: count is 0"),
            ({"word": ["a", None], "count": [1, 1]}, "row 1: word is null"),
            ({"word": ["a", None, "c"], "count": [1, 1, 1]}, "row 1: word is null"),
            ({"word": ["a", "b"], "count": [1, 1], "split": ["x", None]}, "row 1: split is null"),
        ]:
            pq.write_table(pa.table(columns), bad)
            with pytest.raises(VocabularyError, match=rf"bad\.parquet: {message}"):
                train.merge_words([good, bad], tmp_path / "merged.parquet")

    @pytest.mark.parametrize(("name", "message"), [("first", r"row 0: first is '.+xff'"), ("split", "column split is not text")])
    def test_strings_that_are_not_text(self, tmp_path: Path, name: str, message: str) -> None:
        """A column of strings that are not UTF-8, or that occurs twice, is refused with its name."""
        wrong = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")])
        columns = {"word": ["a"], "count": [1], name: wrong}
        pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
        pq.write_table(pa.table([*columns.values(), wrong], [*columns, name]), tmp_path / "twice.parquet")
        for read in (lambda path: merging.load([path]), lambda path: train.merge_words([path], tmp_path / "merged.parquet")):
            with pytest.raises(VocabularyError, match=rf"bad\.parquet: {message}"):
                read(tmp_path / "bad.parquet")
            with pytest.raises(VocabularyError, match=rf"twice\.parquet: .*{name}"):
                read(tmp_path / "twice.parquet")

    def test_one_file_is_no_list(self, tmp_path: Path) -> None:
        """A path instead of a list of paths is refused."""
        wrong: Any
        for wrong in ("part.parquet", tmp_path, None):
            with pytest.raises(UnsupportedError, match=r"parts is .*; expected a list of files"):
                train.merge_words(wrong, tmp_path / "merged.parquet")


class TestCommand:
    """`fst train words` with counted parts."""

    def test_parts_are_merged(self, tmp_path: Path) -> None:
        """The command merges counted parts into the file that the function writes, and refuses a partition."""
        paths = counted(TEXTS, [2, 4], tmp_path)
        merged = str(tmp_path / "merged.parquet")
        done = CliRunner().invoke(main, ["train", "words", *paths, "-o", merged], catch_exceptions=False)
        assert (done.exit_code, Path(merged).read_bytes()) == (0, in_memory(paths, tmp_path / "expected.parquet"))
        done = CliRunner().invoke(main, ["train", "words", *paths, "-o", merged, "--partition", "3"])
        assert done.exit_code == 2
        assert "has counted words" in done.output
