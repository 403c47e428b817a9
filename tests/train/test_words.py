"""`train.words` splits texts into words, and counts, stores and merges words."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive.training import words_one_by_one
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import fst
from fst import train
from fst.compile import tokenizer as compile_tokenizer
from fst.compile.sources.tiktoken import ENCODINGS
from fst.counting import merging
from fst.counting import words as counted_words
from fst.counting.words import MAX_COUNT, Words
from fst.errors import FstError, ReadingError, TextError, UnsupportedError, VocabularyError
from fst.pretokens.byte_letters import bytes_of
from fst.train.pipeline import BYTE_LEVEL, METASPACE, NORMALIZERS, SPLITTERS, Pipeline, pipeline_of

pa = pytest.importorskip("pyarrow", reason="tables of words take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables of words take pyarrow: the extra [arrow]")

TEXTS = ["a rose is a rose", "", "is a rose", "Röschen 日本語\n", " a"]
LONG = ("o200k", "cl100k")  # compiling each of these takes a second; "cl100k" has the same splitter as "llama3"
OF_TOKENIZERS = [name for name, pipeline in SPLITTERS.items() if pipeline.rule is None]  # test_sentencepiece.py tests the other splitter
ALPHABET = " \t\n\r\u00a0\u3000\u2581aA1²½ée\u0301ß'sS.!-_日本हिन्दीي\u200b\0\x1c\x85\ufeff😀\u1100\u1161ﬁİſ\u0345"


def live(part: Mapping[str, Any] | None, role: str) -> Any:
    """Make a normalizer or a pre-tokenizer of `tokenizers` from its JSON."""
    document = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    parts = dict.fromkeys(["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"])
    return getattr(Tokenizer.from_str(json.dumps({**document, **parts, role: part})), role)


def words_of_reference(texts: Sequence[str], pipeline: Pipeline) -> Iterator[list[bytes]]:
    """Yield the words into which `tokenizers` splits each text."""
    normalizer, pre_tokenizer = live(pipeline.normalizer, "normalizer"), live(pipeline.pre_tokenizer, "pre_tokenizer")
    for text in texts:
        normalized = text if normalizer is None else normalizer.normalize_str(text)
        words = [normalized] if pre_tokenizer is None else [word for word, _ in pre_tokenizer.pre_tokenize_str(normalized)]
        yield [(bytes_of(word) or b"") if pipeline.are_bytes else word.encode() for word in words if word]


def listed(words: Words) -> dict[bytes, tuple[int, tuple[int, int, int]]]:
    """Convert words to the format that `words_one_by_one` returns."""
    firsts = [tuple(first) for first in words.first.tolist()]
    return dict(zip(words, zip(words.counts.tolist(), firsts, strict=True), strict=True))


def same(one: Words, other: Words) -> bool:
    """Whether two objects contain the same words, apart from the number of documents."""
    arrays = ("text", "ends", "counts", "first")
    return one.split == other.split and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)


def hostile(count: int) -> list[str]:
    """Draw short texts of letters, marks and whitespace of many kinds."""
    random = Random(30)
    return ["".join(random.choices(ALPHABET, k=random.randrange(12))) for _ in range(count)]


def corpora(lines: int) -> list[str]:
    """Return the first lines of corpora in several scripts, with their line feeds."""
    files = sorted((SHARED / "corpora").glob("*"))
    return [line for file in files for line in file.read_text(encoding="utf-8").splitlines(keepends=True)[:lines]]


def need_reference_words(texts: Sequence[str], pipeline: Pipeline) -> None:
    """Check that words, counts and first occurrences equal those of `tokenizers`."""
    assert listed(train.words(texts, splitter=pipeline, threads=1)) == words_one_by_one(words_of_reference(texts, pipeline))


class TestSplitters:
    """Tests of splitters, which may be names, patterns, components or tokenizers."""

    @needs_shared
    @pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in OF_TOKENIZERS])
    def test_named_splitters_split_as_tokenizers(self, name: str) -> None:
        """Each named splitter splits corpora in several scripts and hostile texts into the same words as `tokenizers`."""
        need_reference_words([*corpora(20), *hostile(200)], SPLITTERS[name])

    @needs_shared
    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "normalizer"), thinned(product(["gpt2", "bert", "metaspace"], NORMALIZERS), 2))
    def test_named_pipelines_split_as_tokenizers(self, name: str, normalizer: str) -> None:
        """A named splitter with any named normalizer splits texts into the same words as `tokenizers`."""
        need_reference_words([*corpora(20), *hostile(200)], pipeline_of(name, normalizer))

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("normalizer", "pre_tokenizers_"),
        [
            ("bert", [{"type": "BertPreTokenizer"}]),
            ("nfkc", [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}]),
            (None, [{"type": "WhitespaceSplit"}, {**METASPACE, "prepend_scheme": "first"}]),
            (None, [{**METASPACE, "split": False}]),
            (None, [{**METASPACE, "replacement": "_"}, {"type": "Punctuation", "behavior": "MergedWithNext"}]),
            (None, [{**BYTE_LEVEL, "add_prefix_space": True}]),
            ("nfd", [{"type": "Digits", "individual_digits": False}, BYTE_LEVEL]),
            (None, [{"type": "Split", "pattern": {"Regex": r"\s+|a+"}, "behavior": "Removed", "invert": False}]),
        ],
    )
    def test_compositions_split_as_tokenizers(self, normalizer: str | None, pre_tokenizers_: list[Any]) -> None:
        """Sequences of components split texts into the same words as `tokenizers`, in which the symbol of Metaspace replaces spaces."""
        need_reference_words(hostile(400), pipeline_of({"type": "Sequence", "pretokenizers": pre_tokenizers_}, normalizer))

    def test_pattern_splits_before_bytes(self) -> None:
        """A str that is not a name is used as a regular expression: its matches, and the text between them, are words that consist of
        bytes.
        """
        pipeline = pipeline_of(r"\w+")
        assert pipeline.are_bytes
        need_reference_words(hostile(300), pipeline)

    @pytest.mark.slow
    def test_one_pipeline_has_one_digest(self, tmp_path: Path) -> None:
        """A splitter has the same digest whether it is passed as a name, component, pre-tokenizer, tokenizer, file, folder or table."""
        made = Tokenizer(models.BPE({letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
        made.pre_tokenizer, made.normalizer = pre_tokenizers.ByteLevel(add_prefix_space=False), normalizers.NFC()
        made.save(str(tmp_path / "tokenizer.json"))
        table = compile_tokenizer(made)
        table.save(tmp_path / "table.npz")
        whole = [made, tmp_path, tmp_path / "tokenizer.json", str(tmp_path), table, fst.Tokenizer(table), str(tmp_path / "table.npz")]
        words = [train.words(TEXTS, splitter=splitter) for splitter in whole]
        parts = [("gpt2", "nfc"), (BYTE_LEVEL, {"type": "NFC"}), (made.pre_tokenizer, made.normalizer)]
        words += [train.words(TEXTS, splitter=splitter, normalizer=normalizer) for splitter, normalizer in parts]
        assert len({found.split for found in words}) == 1
        assert all(same(words[0], found) for found in words)

    @pytest.mark.slow
    def test_encodings_of_tiktoken_split_as_the_splitter_of_their_name(self) -> None:
        """An encoding of `tiktoken` splits texts like the named splitter with the same pattern, and is refused if there is no such
        splitter.
        """
        tiktoken = importlib.import_module("tiktoken")
        ranks = {bytes([byte]): byte for byte in range(256)}
        for name, splitter in (("gpt2", "gpt2"), ("cl100k_base", "cl100k")):
            encoding = tiktoken.Encoding("own", pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})
            assert same(train.words(TEXTS, splitter=encoding), train.words(TEXTS, splitter=splitter))
        with pytest.raises(UnsupportedError, match="has no known counterpart"):
            train.words(TEXTS, splitter=tiktoken.Encoding("own", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={}))

    def test_long_patterns_and_texts_are_no_paths(self) -> None:
        """A pattern or text that is too long to be a file name is not looked up as a path."""
        words = train.words(["a b" * 1000], splitter="|".join(["a b"] * 1000))
        assert [*zip(words, words.counts.tolist(), strict=True)] == [(b"a b", 1000)]

    @pytest.mark.slow
    def test_pattern_with_added_tokens_splits_texts_without_them(self) -> None:
        """A splitter with added tokens accepts only texts without these tokens, and refuses other texts with the position of the token."""
        split = {"type": "Split", "pattern": {"Regex": r"<\|end\|>|\p{L}+|[^\s\p{L}]+"}, "behavior": "Removed", "invert": True}
        document = {
            "added_tokens": [{"content": "<|end|>"}],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]},
            "model": {},
        }
        need_reference_words([*hostile(300), "<|en", "d|>"], pipeline_of(document))
        with pytest.raises(TextError, match="document 1 has an added token of the splitter; expected text without them"):
            train.words(["a", "b <|END|>"], splitter=document)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "splitter is None, but documents must be split; expected gpt2, bert"),
            ({"splitter": "gtp2"}, "splitter 'gtp2' is unknown; expected gpt2, bert"),
            ({"splitter": 5}, "splitter is 5; expected gpt2, bert"),
            ({"splitter": "gpt2", "normalizer": "nfq"}, "normalizer 'nfq' is unknown; expected bert"),
            ({"normalizer": "nfc"}, "splitter is None, but a normalizer needs one"),
            ({"splitter": {"type": "Scripts"}}, "pre_tokenizer Scripts: supported are"),
            ({"splitter": {"type": "Split"}}, "malformed"),
            ({"sources": {"a": 1}, "partition": 1}, "partition is 1, but the words are already counted"),
            ({"splitter": "gpt2", "partition": -1}, "partition is -1; expected a whole number from 0"),
            ({"splitter": "gpt2", "min_count": 0}, "min_count is 0; expected a whole number from 1"),
            ({"splitter": "gpt2", "memory": True}, "memory is True; expected a whole number from 1"),
        ],
    )
    def test_wrong_arguments(self, arguments: dict[str, Any], message: str) -> None:
        """An invalid splitter, normalizer or number is refused, and the message lists the valid ones."""
        with pytest.raises(FstError, match=message):
            train.words(**{"sources": TEXTS, **arguments})

    def test_pre_tokenizer_in_python_is_refused(self) -> None:
        """A pre-tokenizer that is written in Python is refused, because it cannot be compiled."""

        class Custom:
            def pre_tokenize(self, _: Any) -> None:
                """Do nothing, because the pre-tokenizer is refused before it is called."""

        with pytest.raises(UnsupportedError, match="PreTokenizer has no stored form"):
            train.words(TEXTS, splitter=pre_tokenizers.PreTokenizer.custom(Custom()))


class TestCounting:
    """Tests of counting: the hash table, threads, memory and long words."""

    @pytest.mark.slow
    @settings(max_examples=30)
    @given(
        st.lists(st.text("ab ", max_size=60), max_size=40),
        st.integers(1, 3),
        st.integers(0, 40),
        st.randoms(use_true_random=False),
    )
    def test_any_cut_gives_the_same_words(self, texts: list[str], threads: int, cut: int, random: Random) -> None:
        """Words do not depend on threads and batches, the counts of partitions add up, and the order of texts affects only first
        occurrences.
        """
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counted_words, "RANGE", 3)
            words = train.words([texts[:cut], texts[cut:]], splitter="gpt2", threads=threads)
            assert listed(words) == words_one_by_one(words_of_reference(texts, SPLITTERS["gpt2"]))
            parts = [train.words(part, splitter="gpt2", partition=number) for number, part in enumerate([texts[:cut], texts[cut:]])]
            merged = Words.merged(parts, split=words.split, threads=threads)
            shuffled = train.words(random.sample(texts, len(texts)), splitter="gpt2", threads=threads)
        for other in (merged, shuffled):
            assert (*other,) == (*words,)
            assert other.counts.tolist() == words.counts.tolist()
        assert np.lexsort(merged.first.T[::-1]).tolist() == np.lexsort(words.first.T[::-1]).tolist()

    def test_words_of_any_length_count(self) -> None:
        """Words of any length are counted separately, even if they have a long common prefix or differ only in trailing zeros."""
        lengths = [1, 23, 24, 25, 26, 47, 48, 49, 5000, 300_000]
        texts = ["a" * length + end for length in lengths for end in ("", "b", "\0", "\0\0")] * 2
        words = train.words(Random(1).sample(texts, len(texts)), splitter="none", threads=2)
        assert [*words] == sorted({text.encode() for text in texts})
        assert {*words.counts.tolist()} == {2}

    @pytest.mark.slow
    def test_table_grows(self) -> None:
        """If there are more words than initial slots in the hash table, all words are counted, with any number of threads."""
        texts = [f"w{number % 50_021:x}" for number in range(100_000)]
        one, three = (train.words(texts, splitter="none", threads=threads) for threads in (1, 3))
        assert listed(one) == words_one_by_one([text.encode()] for text in texts)
        assert same(one, three)

    def test_little_memory_gives_the_same_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If a count exceeds its memory limit, it writes temporary files, gives the same words, and removes the files."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        texts = [f"w{number % 80_011:x} {'x' * (number % 100)}" for number in range(120_000)]
        expected = train.words(texts, splitter="whitespace", min_count=2)
        runs: set[Path] = set()
        found = train.words(
            texts, splitter="whitespace", min_count=2, memory=1, threads=2, progress=lambda *_: runs.update(tmp_path.rglob("text.npy"))
        )
        assert same(found, expected)
        assert len(runs) > 2
        assert [*tmp_path.iterdir()] == []

    def test_failed_count_leaves_no_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If a count ends with an error because of a document, its temporary folder is removed."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        texts = [*(f"w{number}" for number in range(30_000)), "\ud800"]
        with pytest.raises(TextError, match="document 30000, position 0: a lone surrogate"):
            train.words(texts, splitter="none", memory=1)
        assert [*tmp_path.iterdir()] == []

    def test_rare_words_are_left_out(self) -> None:
        """With `min_count`, words with lower counts are omitted, and the result contains the limit."""
        words = train.words(TEXTS, splitter="gpt2", min_count=2)
        assert ([*words], words.min_count) == ([b" a", b" rose"], 2)

    def test_progress_counts_documents_and_bytes(self) -> None:
        """The callback `progress` gets the numbers of documents and bytes that have been read, and at the end the total numbers."""
        seen: list[tuple[int, int]] = []
        words = train.words(TEXTS, splitter="gpt2", progress=lambda *done: seen.append(done))
        assert seen[-1] == (len(TEXTS), sum(len(text.encode()) for text in TEXTS))
        assert words.documents == len(TEXTS)

    def test_error_of_the_first_document_is_raised(self) -> None:
        """If several documents are invalid, the error is about the first of them, with any number of threads."""
        texts = [f"text {number}".encode() for number in range(20_000)]
        texts[9000], texts[19_000] = b"\xff", b"a\xff"
        for threads in (1, 2, 3):
            with pytest.raises(TextError, match="document 9000, position 0: not UTF-8; mend the text, or pass errors='replace'"):
                train.words(texts, splitter="gpt2", threads=threads)

    @pytest.mark.parametrize("size", [1, 200_000])
    def test_replaced_units_are_counted(self, size: int) -> None:
        """With errors="replace", invalid bytes are counted as U+FFFD, both in short and in long documents."""
        texts = [b"a\xff" * size, b"b"]
        expected = train.words([str(text, "utf-8", "replace") for text in texts], splitter="gpt2")
        assert same(train.words(texts, splitter="gpt2", errors="replace"), expected)

    def test_interrupt_stops_all_threads(self) -> None:
        """An exception in the callback, such as KeyboardInterrupt, stops the count in all threads."""

        def stop(*_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train.words(["a"] * 50_000, splitter="gpt2", threads=3, progress=stop)


class TestSources:
    """Tests of the sources of words."""

    @pytest.mark.parametrize(
        "make",
        [
            tuple,
            iter,
            lambda texts: [texts[:2], texts[2:]],
            lambda texts: [text.encode() for text in texts],
            pa.array,
            lambda texts: pa.chunked_array([texts[:1], [None, *texts[1:]]]),
            lambda texts: pa.array(texts).dictionary_encode(),
            lambda texts: pytest.importorskip("polars", reason="polars is not installed").Series(texts),
            lambda texts: pytest.importorskip("pandas", reason="pandas is not installed").Series(texts),
        ],
    )
    def test_texts_of_any_kind_give_the_same_words(self, make: Callable[[list[str]], Any]) -> None:
        """Lists, iterators, batches, bytes and columns give the same words if they contain the same texts."""
        assert same(train.words(make(TEXTS), splitter="gpt2"), train.words(TEXTS, splitter="gpt2"))

    def test_table_with_a_column_of_texts(self) -> None:
        """`column` selects the column of a table that contains the texts."""
        table = pa.table({"text": TEXTS, "other": [*range(len(TEXTS))]})
        assert same(train.words(table, splitter="gpt2", column="text"), train.words(TEXTS, splitter="gpt2"))
        with pytest.raises(VocabularyError, match="columns text, other; expected one called word"):
            train.words(table, splitter="gpt2")

    def test_files_of_any_kind_give_the_same_words(self, tmp_path: Path) -> None:
        """Each line of a text file, including its line feed, is a document, and JSON lines and Parquet files with these lines give the
        same words.
        """
        lines = ["a rose\n", "is a rose\n", "\n", "Röschen"]
        expected = train.words(lines, splitter="gpt2")
        (tmp_path / "a.txt").write_text("".join(lines), encoding="utf-8")
        (tmp_path / "a.jsonl").write_text("".join(json.dumps({"t": line}) + "\n" for line in lines), encoding="utf-8")
        pq.write_table(pa.table({"t": lines}), tmp_path / "a.parquet")
        assert same(train.words(tmp_path / "a.txt", splitter="gpt2"), expected)
        assert same(train.words([str(tmp_path / "a.txt")], splitter="gpt2"), expected)
        assert same(train.words(str(tmp_path / "a.jsonl"), splitter="gpt2", field="t"), expected)
        assert same(train.words([str(tmp_path / "a.parquet")], splitter="gpt2", column="t"), expected)

    def test_wrong_byte_of_a_file_has_its_place(self, tmp_path: Path) -> None:
        """If a file contains an invalid byte, the message contains the file, the line and the position."""
        (tmp_path / "a.txt").write_bytes(b"a\nb\xff\n")
        with pytest.raises(TextError, match=r"a\.txt, line 2, position 1: not UTF-8"):
            train.words(tmp_path / "a.txt", splitter="gpt2")

    def test_missing_names(self, tmp_path: Path) -> None:
        """A missing file is refused, and so is a Parquet file if `column` is not passed."""
        pq.write_table(pa.table({"t": TEXTS}), tmp_path / "a.parquet")
        with pytest.raises(FileNotFoundError):
            train.words(tmp_path / "b.txt", splitter="gpt2")
        with pytest.raises(ReadingError, match="name its texts with column="):
            train.words(tmp_path / "a.parquet", splitter="gpt2")

    def test_list_of_folders_is_refused(self, tmp_path: Path) -> None:
        """A list of folder names is refused instead of being read as texts."""
        with pytest.raises(UnsupportedError, match=r"list of folders.*expected texts or files"):
            train.words([str(tmp_path)], splitter="gpt2")

    @pytest.mark.parametrize("source", [{"hug": 10, "pug": 5}, [("hug", 4), ("pug", 5), ("hug", 6)], iter([(b"hug", 10), (b"pug", 5)])])
    def test_counts_are_words(self, source: Any) -> None:
        """A mapping, or pairs, of words and counts are accepted as counted words."""
        assert [*zip(words := train.words(source), words.counts.tolist(), strict=True)] == [(b"hug", 10), (b"pug", 5)]

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ([("a", 1), ("b", 0)], "pair 1: the count of 'b' is 0; expected a positive whole number"),
            ([("a", 1.5)], "pair 0: the count of 'a' is 1.5"),
            ([("a", True)], "pair 0: the count of 'a' is True"),
            (
                [("b", 1), ("a", MAX_COUNT)],
                "the sum of all counts is 9,223,372,036,854,775,808, of which 9,223,372,036,854,775,807 are of b'a'; expected at most",
            ),
            ([("a\ud800", 1)], "pair 0: the word .* has a lone surrogate"),
            ([("a", 1), (5, 1)], "pair 1: the word is 5; expected str or bytes"),
        ],
    )
    def test_wrong_counts(self, pairs: list[Any], message: str) -> None:
        """A count that is not a positive integer, a sum above 2^63 - 1, and a word that is not text are refused with their position."""
        with pytest.raises(VocabularyError, match=message):
            train.words(pairs)


def by_duckdb(table: Any) -> Any:
    """Add up the counts in a table of words with DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(table)
    return relation.aggregate("word, sum(count) AS count, min(first) AS first, split", "word, split")


def by_polars(table: Any) -> Any:
    """Add up the counts in a table of words with polars."""
    pl = pytest.importorskip("polars")
    frame = pl.from_arrow(table).group_by("word", "split")
    return frame.agg(pl.col("count").sum(), pl.col("first").min())


def by_pandas(table: Any) -> Any:
    """Add up the counts in a table of words with pandas."""
    pytest.importorskip("pandas")
    return table.to_pandas().groupby(["word", "split"], as_index=False).agg({"count": "sum", "first": "min"})


def by_arrow(table: Any) -> Any:
    """Add up the counts in a table of words with Arrow."""
    found = table.group_by(["word", "split"]).aggregate([("count", "sum"), ("first", "min")])
    return found.rename_columns(["word", "split", "count", "first"])


class TestTables:
    """Tests of the conversion of words to tables and back."""

    def test_stored_words_come_back(self, tmp_path: Path) -> None:
        """Words that are saved to Parquet and loaded again are the same, and equal words are saved as equal files."""
        words = train.words(TEXTS, splitter="gpt2", min_count=2)
        for name, threads in (("a", 1), ("b", 2)):
            train.words(TEXTS, splitter="gpt2", min_count=2, threads=threads).save(tmp_path / f"{name}.parquet")
        assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
        loaded = merging.load([tmp_path / "a.parquet"])
        assert same(loaded, words)
        assert loaded.min_count == 2
        assert same(train.words(tmp_path / "a.parquet"), words)

    @settings(max_examples=30)
    @given(st.lists(st.tuples(st.binary(max_size=30), st.integers(1, 1 << 40), *[st.integers(0, (1 << 32) - 1)] * 3)))
    def test_any_words_pass_through_a_table(self, rows: list[Any]) -> None:
        """Words of any bytes, with any counts and first occurrences, are the same after they are converted to a table and back."""
        ends = np.cumsum([len(word) for word, *_ in rows], dtype=np.int64)
        text, counts = np.frombuffer(b"".join(word for word, *_ in rows), np.uint8), np.array([row[1] for row in rows], np.int64)
        first = np.array([row[2:] for row in rows], np.int64).reshape(-1, 3)
        words = Words.combined(text, ends, counts, first, split="x")
        assert same(Words.from_table(words.to_arrow()), words) or not rows

    @pytest.mark.parametrize("group", [by_duckdb, by_polars, by_pandas, by_arrow, lambda table: table])
    def test_engines_merge_partitions(self, group: Callable[[Any], Any]) -> None:
        """Any data engine can merge partitions, by adding up the counts of each word and taking the minimum of `first`."""
        parts = [train.words(TEXTS[begin::3], splitter="gpt2", partition=begin) for begin in range(3)]
        expected = Words.merged(parts, split=parts[0].split)
        assert same(train.words(group(pa.concat_tables([part.to_arrow() for part in parts]))), expected)
        whole = train.words(TEXTS, splitter="gpt2")
        assert ([*expected], expected.counts.tolist()) == ([*whole], whole.counts.tolist())

    def test_table_without_split_takes_that_of_the_splitter(self) -> None:
        """If a table of words contains no split, the words get the split of `splitter`, and words with another split are refused."""
        words = train.words({"word": ["a", "b"], "count": [1, 2]}, splitter="gpt2")
        assert words.split == SPLITTERS["gpt2"].digest
        for splitter, normalizer in (("bert", None), ("gpt2", "nfc")):
            with pytest.raises(VocabularyError, match=r"the split of the words is .*; expected .*, that of the splitter; count"):
                train.words(words, splitter=splitter, normalizer=normalizer)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"word": ["a", None], "count": [1, 1]}, "row 1: word is null"),
            ({"word": ["a", "b"], "count": [1, None]}, "row 1: count is null"),
            ({"word": ["a", "b"], "count": [1, -3]}, "row 1: count is -3; expected a whole number from 1"),
            ({"word": ["a"], "count": [1.5]}, "row 0: count is 1.5; expected a whole number"),
            ({"word": ["a"], "count": ["1"]}, "column count is string; expected int64"),
            ({"word": [1], "count": [1]}, "column word is int64; expected binary or string"),
            ({"word": ["a", "b"], "count": [MAX_COUNT, 1]}, "the sum of all counts is"),
            ({"word": ["a", "b"], "count": [1, 1], "split": ["x", "y"]}, "column split is 'x' and 'y'; expected one split"),
            ({"word": ["a"], "count": [1], "first": ["0" * 31]}, "row 0: first is '0+'; expected 32 hexadecimal digits"),
            ({"word": ["a", "b"], "count": [1, 1], "first": ["0" * 32, "g" * 32]}, "row 1: first is 'g+'; expected 32 hexadecimal digits"),
        ],
    )
    def test_wrong_tables(self, columns: dict[str, Any], message: str) -> None:
        """A table of words with nulls, counts below 1, sums that are too large, mixed splits or wrong columns is refused, and the
        message contains the row.
        """
        with pytest.raises(VocabularyError, match=message):
            Words.from_table(columns)
