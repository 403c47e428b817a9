"""The examples that need neither a cluster nor a pretrained model."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from click.testing import CliRunner
from hypothesis import given
from hypothesis.strategies import integers, sampled_from, text
from support.core.trainers import symbols_in
from support.shared_data import EXAMPLES, SHARED, needs_shared
from support.tiers import examples

import fst
from fst import train
from fst.compile import bpe, tokenizer

pa = pytest.importorskip("pyarrow", reason="the examples take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="the examples take pyarrow: the extra [arrow]")

RUN = re.compile(r"^```sh\npython examples/(\w+)\.py (.*)\n```\n+<!-- output -->\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNS = [
    (page.name, *run) for page in sorted((EXAMPLES.parent / "docs").glob("*.md")) for run in RUN.findall(page.read_text(encoding="utf-8"))
]
ENGLISH = str(EXAMPLES / "english-uncased-8000.txt")
TEXTS = ["Wolfgang is unaffable.", "", "Two\r", "日本 and Ünterföhring 😀 " * 20, "the end"]


@pytest.fixture(autouse=True)
def _examples() -> Iterator[None]:
    """Make the examples importable."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield


class TestStaticEmbedding:
    """`examples/static_embedding.py`."""

    def test_embeddings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """Both tokenizers give the same embeddings, also for texts without tokens, and both times are printed."""
        static_embedding = importlib.import_module("static_embedding")
        models = importlib.import_module("tokenizers.models")
        made = importlib.import_module("tokenizers").Tokenizer(models.WordPiece({"[UNK]": 0, "un": 1, "##able": 2}, unk_token="[UNK]"))
        made.pre_tokenizer = importlib.import_module("tokenizers.pre_tokenizers").BertPreTokenizer()
        made.save(str(tmp_path / "tokenizer.json"))
        (tmp_path / "texts.txt").write_text("unable un\n\nun ☃\n \n", encoding="utf-8")
        monkeypatch.setattr("sys.argv", ["static_embedding.py", str(tmp_path / "tokenizer.json"), str(tmp_path / "texts.txt")])
        static_embedding.main()
        theirs, ours, same = capsys.readouterr().out.splitlines()
        assert [theirs.split()[0], ours.split()[0], same] == ["tokenizers:", "fst:", "same embeddings"]
        model = static_embedding.StaticModel(made)
        found = model.embed(model.tokenize(["unable", ""]))
        assert np.allclose(found, [model.weights[1:3].mean(axis=0), np.zeros(static_embedding.DIMENSIONS)])


class TestRedactNames:
    """`examples/redact_names.py`."""

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
    def test_names(self, kind: Any, tmp_path: Path) -> None:
        """Names are replaced in a column of any type, and everything else is unchanged, including types."""
        from redact_names import main

        texts = ["Zoë met Ann Lee.", None, "nobody", "Lee, Ann Lee, Leeds and 李"]
        table = pa.table({"n": range(4), "text": pa.array(texts, pa.string()).cast(kind), "last": list("abcd")})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
        (tmp_path / "names.txt").write_text("Ann Lee\nZoë\nLee\n李\n", encoding="utf-8")
        out = tmp_path / "out.parquet"
        done = CliRunner().invoke(main, [str(tmp_path / "names.txt"), str(tmp_path / "in.parquet"), "-o", str(out), "--by", "***"])
        assert done.exit_code == 0, done.output
        expected = ["*** met ***.", None, "nobody", "***, ***, Leeds and ***"]
        found = pq.read_table(out)
        assert found.schema == pq.read_schema(tmp_path / "in.parquet")
        assert found.to_pydict() == {"n": [0, 1, 2, 3], "text": expected, "last": list("abcd")}

    def test_missing_column(self, tmp_path: Path) -> None:
        """A missing column is wrong usage, and no file is written."""
        from redact_names import main

        pq.write_table(pa.table({"body": ["x"]}), tmp_path / "in.parquet")
        (tmp_path / "names.txt").write_text("Ann\n")
        done = CliRunner().invoke(main, [str(tmp_path / "names.txt"), str(tmp_path / "in.parquet"), "-o", str(tmp_path / "out.parquet")])
        assert done.exit_code == 2
        assert "has no column 'text', of body" in done.output
        assert not (tmp_path / "out.parquet").exists()


@pytest.fixture(scope="module")
def english() -> fst.Tokenizer:
    """The tokenizer of the vocabulary in the folder of the examples."""
    return fst.Tokenizer(tokenizer(ENGLISH))


@pytest.fixture(scope="module")
def gpt() -> fst.Tokenizer:
    """A byte-level BPE whose tokens depend on the spaces before them, with several tokens for most characters."""
    tokens = [*(bytes([byte]) for byte in range(256)), b" t", b"he", b" the", b" b", b"the", b"in", b"\n\n", b"  "]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return fst.Tokenizer(bpe(tiktoken.Encoding("small", pat_str=r"\s?\w+|\s?[^\w\s]+|\s+", mergeable_ranks=ranks, special_tokens={})))


@pytest.fixture
def lines(tmp_path: Path) -> str:
    """A file with one text per line."""
    path = tmp_path / "lines.txt"
    path.write_bytes("".join(f"{text}\n" for text in TEXTS).encode())
    return str(path)


def printed(main: Any, *words: str) -> list[str]:
    """The lines that a program prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported
@pytest.mark.parametrize(("page", "program", "words", "output"), RUNS, ids=[run[1] for run in RUNS])
def test_pages(page: str, program: str, words: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a page shows the output of a program, the program really prints it."""
    if program == "replace_tokenizer":
        pytest.importorskip("transformers", minversion="5", reason="the extra [transformers] is not installed")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    shutil.copy(EXAMPLES.parent / "LICENSE", tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = printed(importlib.import_module(program).main, *words.split())
    shown = [line for line in output.splitlines() if program != "count_tokens" or find_spec(line.partition(":")[0])]
    assert lines == shown, page


@needs_shared
@pytest.mark.slow
def test_chinese_normalizer(tmp_path: Path) -> None:
    """With the tagger and the verbalizer of WeTextProcessing, the example of speech reads Chinese numbers and sums."""
    (tmp_path / "notes.txt").write_text("2023年有3个，价格是¥12.5。\n\n", encoding="utf-8")
    machines = [str(SHARED / "oracles" / "morphology" / f"zh_tn_{step}.fst.gz") for step in ("tagger", "verbalizer")]
    main = importlib.import_module("normalize_speech").main
    words = [str(tmp_path / "notes.txt"), "--tagger", machines[0], "--verbalizer", machines[1]]
    assert printed(main, *words) == ["二零二三年有三个,价格是十二点五元.", ""]


def test_pages_are_found() -> None:
    """At least four pages show the output of a program."""
    assert len(RUNS) >= 4


class TestTrainingData:
    """`examples/training_data.py`."""

    @pytest.mark.slow
    def test_files(self, english: fst.Tokenizer, lines: str, tmp_path: Path) -> None:
        """The program writes the ids and an index of the lines, and prints their numbers."""
        from training_data import main, read_index

        prefix = str(tmp_path / "train.v1")
        first, second, _ = printed(main, ENGLISH, lines, "-o", prefix)
        expected = [english.encode(text).tolist() for text in TEXTS]
        assert first == f"{prefix}.idx: 5 sequences, as tok.encode gives them"
        assert second == f"{prefix}.bin: {sum(map(len, expected))} ids of type uint16 in 5 documents"
        assert [row.tolist() for row in read_index(prefix)] == expected

    def test_window(self) -> None:
        """A training example is a run of ids from any position, and the run that begins one id later."""
        from training_data import window

        found = [window(np.arange(6, dtype=np.uint16), 4, np.random.default_rng(seed)) for seed in range(20)]
        assert {(tuple(given), tuple(following)) for given, following in found} == {
            ((0, 1, 2, 3), (1, 2, 3, 4)),
            ((1, 2, 3, 4), (2, 3, 4, 5)),
        }


class TestCountWords:
    """`examples/count_words.py`."""

    def test_parts_make_the_words_of_one_machine(self, tmp_path: Path) -> None:
        """Word counts of parts that DuckDB merges are the same as those of one machine, and give the same vocabulary."""
        pytest.importorskip("duckdb", reason="the example takes duckdb")
        count_words = importlib.import_module("count_words")
        names = [str(tmp_path / f"{number}.txt") for number in range(3)]
        for number, name in enumerate(names):
            Path(name).write_text("".join(f"{text}\n" for text in TEXTS[number:]) * 10, encoding="utf-8")
        counts, vocabulary = printed(count_words.main, *names)
        assert re.fullmatch(r"3 parts, \d+ words, [\d,]+ occurrences: as one machine counts them", counts)
        assert vocabulary == "the vocabulary is that of one machine, byte for byte"
        parts = [count_words.count(name, number, tmp_path) for number, name in enumerate(names)]
        merged = count_words.merge(parts, tmp_path)
        merged.save(tmp_path / "duckdb.parquet")
        fst.train.words(parts).save(tmp_path / "fst.parquet")
        assert (tmp_path / "duckdb.parquet").read_bytes() == (tmp_path / "fst.parquet").read_bytes()


class TestChunks:
    """`examples/chunks.py`."""

    @examples(300)
    @given(
        text=text("thein ,\n日é😀\x00", max_size=60), limit=integers(7, 20), overlap=integers(0, 6), name=sampled_from(["english", "gpt"])
    )
    def test_spans(self, text: str, limit: int, overlap: int, name: str, english: fst.Tokenizer, gpt: fst.Tokenizer) -> None:
        """Chunks cover a text in order, no chunk exceeds the limit, and each count is the number of tokens of the chunk's text."""
        from chunks import chunks

        tok = {"english": english, "gpt": gpt}[name]
        found = list(chunks(tok, text, limit, overlap))
        assert [chunk.tokens for chunk in found] == [len(tok.encode(text[chunk.start : chunk.end])) for chunk in found]
        assert max(chunk.tokens for chunk in found) <= limit
        assert (found[0].start, found[-1].end) == (0, len(text))
        assert all(before.start < after.start <= before.end <= after.end for before, after in pairwise(found))
        if not overlap:
            assert "".join(text[chunk.start : chunk.end] for chunk in found) == text

    def test_white_space(self, english: fst.Tokenizer) -> None:
        """A chunk ends at whitespace if its second half contains any, and the next chunk continues there."""
        from chunks import chunks

        text = "unaffable unaffable unaffable"  # three tokens per word
        assert [text[chunk.start : chunk.end] for chunk in chunks(english, text, 7)] == ["unaffable", " unaffable", " unaffable"]
        assert next(chunks(english, "unaffableness", 4)).end == len("unaff")

    def test_too_small(self, english: fst.Tokenizer) -> None:
        """A limit that is too small for a character is refused, and the message contains the position of the character."""
        from chunks import chunks

        with pytest.raises(ValueError, match="a chunk of 2 tokens is too small for the text at character 0"):
            list(chunks(english, "one two", 2))


class TestLambdaHandler:
    """`examples/lambda_handler.py`."""

    def test_handler(self, english: fst.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The handler answers an event with the number of tokens of each text."""
        tokenizer(ENGLISH).save(tmp_path / "table.npz")
        shutil.copy(EXAMPLES / "lambda_handler.py", tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        from lambda_handler import handler

        assert json.loads(json.dumps(handler({"texts": TEXTS}, None))) == {"tokens": english.count_tokens(TEXTS).tolist()}


class TestLearnVocabulary:
    """`examples/learn_vocabulary.py`."""

    @needs_shared
    def test_the_vocabulary_beside_it(self) -> None:
        """From the same text and with the same order of continuing letters, the program learns the vocabulary in the folder of the
        examples.
        """
        shipped = Path(ENGLISH).read_text(encoding="utf-8").splitlines()
        words = train.words([SHARED / "corpora" / "en_books_20MB.txt"], splitter="bert", normalizer="bert")
        letters = [token for token in shipped if token.startswith("##") and len(token) == len("##a")]
        specials = importlib.import_module("learn_vocabulary").SPECIALS
        with symbols_in(letters):
            assert [*train.wordpiece(words, vocab_size=len(shipped), special_tokens=specials).vocabulary] == shipped

    def test_program(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The program writes the learned tokens, one per line."""
        monkeypatch.setattr(sys, "argv", ["learn_vocabulary.py", str(EXAMPLES.parent / "LICENSE"), str(tmp_path / "learnt.txt")])
        runpy.run_path(str(EXAMPLES / "learn_vocabulary.py"), run_name="__main__")
        learnt = (tmp_path / "learnt.txt").read_text(encoding="utf-8").splitlines()
        assert learnt[1] == "[UNK]"
        assert "software" in learnt


class TestChat:
    """`examples/chat.py`."""

    def test_turns(self) -> None:
        """After each turn, the ids are those of the whole conversation, and only the ids of the last message are read."""
        chat = importlib.import_module("chat")
        found = CliRunner().invoke(chat.main, [ENGLISH, str(EXAMPLES.parent / "LICENSE"), "--turns", "4"], catch_exceptions=False)
        assert found.exit_code == 0
        numbers = [[int(number) for number in re.findall(r"(\d+) (?:ids|to read)", line)] for line in found.output.splitlines()]
        assert len(numbers) == 4
        assert numbers[0][0] == 0
        assert all(cached > 200 and read < 30 for cached, read in numbers[1:])

    def test_another_beginning(self, english: fst.Tokenizer) -> None:
        """A conversation with another beginning has no ids in the cache."""
        chat = importlib.import_module("chat")
        server = chat.Conversation(english)
        server.receive("unaffable[SEP]")
        assert server.receive("un[SEP]") == (0, 2)
        assert server.receive("un[SEP]unaffable[SEP]") == (2, 4)
