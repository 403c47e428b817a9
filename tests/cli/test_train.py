"""`fst train` counts words and trains vocabularies from files, with the same options for inputs and outputs as the other commands."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, execute, written
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import fst
from fst import train
from fst.bridge import from_live
from fst.compile import keywords
from fst.counting.words import Words
from fst.runtime.files.streams import Source
from fst.train import base_tokenizers, merges

TEXTS = [f"{text}\n" for text in ["the cat sat on the mat", "the dog ate the cat", "a cat", "the end é", ""] * 3]
GPT2 = ("--splitter", "gpt2")
BPE = ("train", "bpe", *GPT2, "--vocab-size", "270")
CHARACTERS = ("train", "unigram", "--reference", "sentencepiece", "--option", "model_type=char", "--vocab-size", "20")
SPECIAL = (*BPE, "--special-tokens", "<s>", "--special-tokens", "</s>")
# Runs `fst` and sends SIGTERM after the first round of training.
TERMINATED = """
import signal
from fst.cli.files import progress
from fst.cli.main import main
from fst.train import merges
merges.STEPS = 1
progress.Log.reach = lambda *_: signal.raise_signal(signal.SIGTERM)
main()
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one document per line."""
    return written(tmp_path_factory.mktemp("texts") / "texts.txt", "".join(TEXTS).encode())


@pytest.fixture(scope="module")
def words(texts: Path) -> Path:
    """A file of the counted words of the texts."""
    path = texts.with_name("words.parquet")
    call("train", "words", texts, *GPT2, "-o", path)
    return path


@pytest.fixture(scope="module")
def vocabulary(texts: Path) -> Path:
    """A vocabulary that is trained on the texts."""
    path = texts.with_name("own.json")
    call(*SPECIAL, texts, "-o", path)
    return path


def tokens(path: Path) -> Any:
    """The tokens of a tokenizer.json with their ids."""
    return json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]


class TestWords:
    """`fst train words`."""

    def test_of_lines(self, words: Path) -> None:
        """The counted words of a file of lines, with line feeds, are the same as from the Python function."""
        assert pq.read_table(words).equals(train.words(TEXTS, splitter="gpt2").to_arrow())

    def test_of_all_formats(self, words: Path, tmp_path: Path) -> None:
        """The counted words are the same whether texts are in columns, compressed JSON lines, standard input or lines of a file."""
        pq.write_table(pa.table({"t": TEXTS}), tmp_path / "t.parquet")
        packed = written(tmp_path / "t.jsonl.gz", gzip.compress("".join(json.dumps({"t": text}) + "\n" for text in TEXTS).encode()))
        for given in ((tmp_path / "t.parquet", "--column", "t"), (packed, "--field", "t"), ("-",)):
            call("train", "words", *given, *GPT2, "-o", tmp_path / "o.parquet", stdin="".join(TEXTS).encode())
            assert (tmp_path / "o.parquet").read_bytes() == words.read_bytes()

    def test_partitions(self, texts: Path, words: Path, tmp_path: Path) -> None:
        """The counts of two partitions add up to the counts of all texts, and trainers accept the files of both partitions."""
        for number in range(2):
            call("train", "words", texts, *GPT2, "--partition", str(number), "-o", tmp_path / f"{number}.parquet")
        both = fst.train.words([str(tmp_path / "0.parquet"), str(tmp_path / "1.parquet")])
        assert both.counts.tolist() == (2 * fst.train.words(str(words)).counts).tolist()

    @pytest.mark.parametrize("option", [("--partition", "1"), ("--deadline", "9")])
    def test_options_of_texts(self, words: Path, option: tuple[str, str], tmp_path: Path) -> None:
        """Counted words are refused together with an option for texts."""
        fault = call("train", "words", words, *option, "-o", tmp_path / "w.parquet", code=2).stderr
        assert f"{option[0]} is for texts, and {words} has counted words; leave it out" in fault


class TestTrainers:
    """Commands that train new vocabularies."""

    def test_as_the_reference(self, vocabulary: Path) -> None:
        """The trained tokens and their ids are the same as from the trainer of `tokenizers` on the same lines."""
        reference = Tokenizer(models.BPE())
        reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        special = ["<s>", "</s>"]
        trainer = trainers.BpeTrainer(vocab_size=270, initial_alphabet=alphabet, special_tokens=special, show_progress=False)
        reference.train_from_iterator(TEXTS, trainer)
        assert tokens(vocabulary) == reference.get_vocab()

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("wordpiece", {"splitter": "bert", "normalizer": "bert", "min_frequency": 2, "special_tokens": ["[UNK]"]}),
            ("wordpiece", {"splitter": "bert", "criterion": "score", "min_frequency": 2, "special_tokens": ["[UNK]"]}),
            ("unigram", {"splitter": "metaspace", "special_tokens": ["<unk>"], "unk_token": "<unk>"}),
            ("wordlevel", {"splitter": "whitespace", "special_tokens": ["<unk>"], "unk_token": "<unk>"}),
            ("bpe", {"splitter": r"\w+|\W", "max_token_length": 3}),
            ("bpe", {"splitter": "gpt2", "normalizer": "nfkc"}),
        ],
    )
    def test_as_the_library(self, name: str, options: dict[str, Any], texts: Path, tmp_path: Path) -> None:
        """The options of a command have the effect of the function's arguments."""
        size = {"vocab_size": 280 if name == "bpe" else 30}
        given = [
            word
            for option, value in {**options, **size}.items()
            for each in (value if isinstance(value, list) else [value])
            for word in (f"--{option.replace('_', '-')}", str(each))
        ]
        reason = call("train", name, texts, *given, "-o", tmp_path / "o.json").stderr
        with pytest.warns(UserWarning, match="min_frequency") if "Warning: min_frequency" in reason else nullcontext():
            expected = getattr(train, name)(TEXTS, **options, **size)
        assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8")) == json.loads(json.dumps(expected.to_json()))

    @pytest.mark.slow
    def test_normalizers(self, texts: Path, tmp_path: Path) -> None:
        """--normalizer is the name of a normalizer, a component in JSON, or with the splitter "sentencepiece" the name of a rule."""
        size = ("--vocab-size", "300")
        call("train", "bpe", texts, "--splitter", "gpt2", "--normalizer", '{"type": "Lowercase"}', *size, "-o", tmp_path / "o.json")
        assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["normalizer"] == {"type": "Lowercase"}
        options: dict[str, Any] = {"splitter": "sentencepiece", "normalizer": "nmt_nfkc_cf", "reference": "sentencepiece"}
        given = [word for option, value in options.items() for word in (f"--{option}", value)]
        call("train", "bpe", texts, *given, "--vocab-size", "60", "-o", tmp_path / "o.model")
        fst.train.bpe(TEXTS, **options, vocab_size=60).save(tmp_path / "own.model")
        assert (tmp_path / "o.model").read_bytes() == (tmp_path / "own.model").read_bytes()
        assert b"nmt_nfkc_cf" in (tmp_path / "o.model").read_bytes()

    @pytest.mark.slow
    def test_unigram_of_sentencepiece(self, texts: Path, tmp_path: Path) -> None:
        """With --reference sentencepiece, Unigram trains on whole documents, and --option passes options of spm_train."""
        options = {"hard_vocab_limit": False, "character_coverage": 0.99, "user_defined_symbols": "<a>,<b>"}
        given = [word for name, value in options.items() for word in ("--option", f"{name}={str(value).lower()}")]
        command = ("train", "unigram", "--splitter", "sentencepiece", "--reference", "sentencepiece", "--vocab-size", "40")
        call(*command, texts, *given, "-o", tmp_path / "o.model")
        expected = train.unigram(TEXTS, splitter="sentencepiece", reference="sentencepiece", vocab_size=40, options=options)
        expected.save(tmp_path / "own.model")
        assert (tmp_path / "o.model").read_bytes() == (tmp_path / "own.model").read_bytes()
        assert expected.vocabulary.keys() >= {"<a>", "<b>"}
        call("train", "words", texts, "--splitter", "sentencepiece", "-o", tmp_path / "w.parquet")
        call(*command, tmp_path / "w.parquet", *given, "-o", tmp_path / "o.model")
        failed = call(*command, texts, "--option", "x", "-o", tmp_path / "o.model", code=2)
        assert "'x' has no '='; expected NAME=VALUE" in failed.stderr

    def test_words_for_texts(self, words: Path, vocabulary: Path, tmp_path: Path) -> None:
        """A trainer makes the same vocabulary from counted words as from their texts with the same splitter."""
        call(*SPECIAL, words, "-o", tmp_path / "o.json")
        assert (tmp_path / "o.json").read_bytes() == vocabulary.read_bytes()

    @pytest.mark.slow
    def test_report_by_a_field(self, tmp_path: Path) -> None:
        """With --by, the report has a row for each value of a field, and files without fields are refused."""
        rows = [{"text": text, "lang": lang} for text, lang in (("the cat", "en"), ("die Katze", "de"), ("a dog", "en"))]
        source = written(tmp_path / "in.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
        more = (source, "-o", tmp_path / "o.json", "--report", source, "--by", "lang")
        shown = call(*BPE, "--field", "text", *more).stdout
        trained = train.bpe([row["text"] for row in rows], splitter="gpt2", vocab_size=270)
        assert shown == f"{trained.report(str(source), field='text', by='lang')}\n"
        assert "--by needs a file with columns or fields" in call(*BPE, *more, code=2).stderr

    def test_alphabet_and_affixes(self, tmp_path: Path) -> None:
        """Options set the initial characters, the tokens for bytes, and the suffix, like the trainer's arguments."""
        source = written(tmp_path / "in.txt", b"abab ab\nba\n")
        words = ("train", "bpe", source, "--splitter", "whitespace", "--vocab-size", "290")
        special = ("--special-tokens", "<unk>", "--unk-token", "<unk>")
        call(*words, *special, "--initial-alphabet", "xé", "--byte-fallback", "--end-of-word-suffix", "@", "-o", tmp_path / "o.json")
        arguments: dict[str, Any] = {"initial_alphabet": ["x", "é"], "byte_fallback": True, "end_of_word_suffix": "@", "vocab_size": 290}
        arguments |= {"special_tokens": ["<unk>"], "unk_token": "<unk>", "splitter": "whitespace"}
        assert tokens(tmp_path / "o.json") == train.bpe(["abab ab", "ba"], **arguments).vocabulary

    def test_report(self, texts: Path, tmp_path: Path) -> None:
        """The report on held-out texts goes to standard output, and messages about written files go to standard error."""
        done = call(*BPE, texts, "-o", tmp_path / "o.json", "--report", texts)
        assert "bytes/token" in done.stdout
        assert f"{tmp_path / 'o.json'}: 270 tokens; stopped by size\n" in done.stderr

    @pytest.mark.slow
    @pytest.mark.parametrize("is_interrupted", [False, True])
    def test_checkpoint(self, is_interrupted: bool, vocabulary: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If SIGTERM or the deadline stops a run, the exit code is 143 or 124, and the same command resumes from the checkpoint and gives
        the same result as one uninterrupted run.
        """
        monkeypatch.setattr(merges, "STEPS", 1)
        command: list[str | Path] = [*SPECIAL, texts, "--checkpoint", tmp_path / "run.npz", "-o", tmp_path / "o.json"]
        message = f"{tmp_path / 'run.npz'}: checkpoint; the same command continues from it"
        if is_interrupted:
            assert message in execute([sys.executable, "-c", TERMINATED], *command, code=143).stderr.decode()
            assert not (tmp_path / "o.json").exists()
        else:
            assert message in call(*command, "--deadline", "0", code=124).stderr
            assert len(tokens(tmp_path / "o.json")) < 270
            assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["model"]["stopped"] == "deadline"
        assert (tmp_path / "run.npz").exists()
        call(*command)
        assert (tmp_path / "o.json").read_bytes() == vocabulary.read_bytes()
        assert not (tmp_path / "run.npz").exists()

    def test_deadline_of_a_count(self, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If the deadline ends the count, the exit code is 124, the words or the vocabulary so far are written and marked, and so is a
        vocabulary that is trained on incomplete words.
        """
        monkeypatch.setattr(Source, "chunks", lambda source: iter(source.file))  # each line is a block
        done = call("train", "words", texts, *GPT2, "--deadline", "0", "-o", tmp_path / "o.parquet", code=124)
        assert "words of 1 document; stopped by deadline" in done.stderr
        assert train.words(str(tmp_path / "o.parquet")).is_partial
        call(*BPE, tmp_path / "o.parquet", "-o", tmp_path / "own.json", code=124)
        call(*BPE, texts, "--deadline", "0", "--checkpoint", tmp_path / "run.npz", "-o", tmp_path / "o.json", code=124)
        for name in ("own.json", "o.json"):
            assert json.loads((tmp_path / name).read_text(encoding="utf-8"))["model"]["stopped"] == "deadline"
        assert not (tmp_path / "run.npz").exists()


class TestOldVocabularies:
    """Commands that make a new vocabulary from a base vocabulary."""

    def test_like(self, vocabulary: Path, texts: Path, tmp_path: Path) -> None:
        """`fst train like` trains a vocabulary with the same splitter, special tokens and size as the base vocabulary."""
        call("train", "like", vocabulary, texts, "-o", tmp_path / "o.json")
        assert tokens(tmp_path / "o.json") == tokens(vocabulary)

    def test_like_compiles_no_base_vocabulary(self, vocabulary: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`fst train like` reads the tokenizer.json of the base vocabulary, and compiles its splitter only."""

        def refuse(*_: object) -> None:
            raise AssertionError

        for module in (base_tokenizers, from_live):
            monkeypatch.setattr(module, "compiled", refuse)
        call("train", "like", vocabulary, texts, "-o", tmp_path / "o.json")
        assert tokens(tmp_path / "o.json") == tokens(vocabulary)

    @pytest.mark.parametrize("command", [("like",), ("extend", "--add", "3"), ("trim", "--keep", "265")])
    def test_forms_of_base_models(self, command: tuple[str, ...], vocabulary: Path, tmp_path: Path) -> None:
        """An output format that cannot represent the base model is refused before texts are read."""
        name, *options = command
        done = call("train", name, vocabulary, tmp_path / "none.txt", *options, "-o", tmp_path / "o.txt", code=1)
        assert ".txt is a form of WordPiece, but the vocabulary is BPE" in done.stderr

    def test_table_without_tokens(self, texts: Path, tmp_path: Path) -> None:
        """A table of keywords is refused as a base vocabulary, and the message contains its kind."""
        keywords(["a"]).save(tmp_path / "keywords.npz")
        done = call("train", "like", tmp_path / "keywords.npz", texts, "-o", tmp_path / "o.json", code=1)
        assert "is a table of keywords; expected the table of a tokenizer" in error_of(done)

    def test_extend(self, vocabulary: Path, texts: Path, tmp_path: Path) -> None:
        """`fst train extend` keeps the old tokens and their ids, and adds new tokens after them."""
        call("train", "extend", vocabulary, texts, "--add", "3", "-o", tmp_path / "o.json")
        assert [*tokens(tmp_path / "o.json")][:-3] == [*tokens(vocabulary)]

    def test_extend_by_superwords(self, vocabulary: Path, texts: Path, tmp_path: Path) -> None:
        """With --splitter and --max-words, `fst train extend` writes the vocabulary that `train.extend` returns."""
        call("train", "extend", vocabulary, texts, "--add", "9", "--splitter", "superbpe", "--max-words", "2", "-o", tmp_path / "o.json")
        expected = train.extend(vocabulary, texts, 9, splitter="superbpe", max_words=2)
        assert json.loads((tmp_path / "o.json").read_text()) == expected.to_json()
        assert any("Ġ" in token.strip("Ġ") for token in expected.vocabulary)

    def test_trim(self, vocabulary: Path, texts: Path, tmp_path: Path) -> None:
        """`fst train trim` keeps the requested number of tokens, and --ids writes the new id of each old token."""
        call("train", "trim", vocabulary, texts, "--keep", "265", "--ids", tmp_path / "ids.npy", "-o", tmp_path / "o.json")
        ids = np.load(tmp_path / "ids.npy")
        kept = tokens(tmp_path / "o.json")
        assert len(kept) == 265
        assert {token: ids[number] for token, number in tokens(vocabulary).items() if ids[number] >= 0} == kept


class TestOutputs:
    """Formats of outputs, and errors that are reported before input is read."""

    @pytest.mark.parametrize(
        ("name", "files"),
        [
            ("o/", ["merges.txt", "tokenizer.json", "tokenizer_config.json", "vocab.json"]),
            ("o.tiktoken", ["o.tiktoken"]),
            ("o.npz", ["o.npz"]),
        ],
    )
    def test_forms(self, name: str, files: list[str], texts: Path, tmp_path: Path) -> None:
        """The name of the output determines its format, and a missing folder is created."""
        call(*BPE, texts, "-o", f"{tmp_path}/{name}")
        assert sorted(path.name for path in tmp_path.rglob("*.*")) == files

    def test_folder_that_exists(self, texts: Path, tmp_path: Path) -> None:
        """Existing files in a folder are refused without --overwrite."""
        call(*BPE, texts, "-o", tmp_path)
        before = (tmp_path / "tokenizer.json").read_bytes()
        done = call(*BPE, texts, "--special-tokens", "x", "-o", tmp_path, code=2)
        assert f"{tmp_path}/tokenizer.json exists; pass --overwrite" in done.stderr
        assert (tmp_path / "tokenizer.json").read_bytes() == before
        call(*BPE, texts, "--special-tokens", "x", "--overwrite", "-o", tmp_path)
        assert (tmp_path / "tokenizer.json").read_bytes() != before

    @pytest.mark.parametrize(
        ("command", "output", "code", "reason"),
        [
            (("train", "wordpiece", "--splitter", "bert", "--vocab-size", "9"), "texts.txt", 2, "is also an input"),
            (BPE, "o.bin", 1, "the form of a vocabulary is unknown"),
            ((*BPE, "--report", "none.txt"), "o.txt", 1, ".txt is a form of WordPiece, but the vocabulary is BPE"),
            ((*CHARACTERS, "--report", "none.txt"), "o.json", 1, "but the vocabulary is Char; save a file that ends in .model"),
            ((*CHARACTERS, "--report", "none.txt"), "o/", 1, "but the vocabulary is Char"),
            (BPE, "none/o.json", 1, "no folder"),
            (BPE, "/proc/o.json", 1, "/proc/o.json"),
            (BPE, "/proc/o/", 1, "/proc/o"),
            (BPE, "texts.txt/o/", 1, "Not a directory"),
            ((*BPE, "--checkpoint", "none/run.npz"), "o.json", 1, "no folder"),
            ((*BPE, "--checkpoint", "texts.txt"), "o.json", 2, "is also an input"),
            ((*BPE, "--column", "t"), "o.json", 2, "--column does not go with"),
            ((*BPE, "--normalizer", "{"), "o.json", 2, "--normalizer '{' is not JSON"),
            ((*BPE, "--report", "none.txt"), "o.json", 1, "none.txt: No such file"),
            (("train", "bpe", "--vocab-size", "9", "--splitter", "gpt"), "o.json", 1, "splitter 'gpt' is unknown"),
            (("train", "bpe", "--vocab-size", "9", *GPT2), "o.json", 1, "9"),
            (("train", "words", *GPT2), "o.txt", 2, "words are written as Parquet"),
        ],
    )
    def test_refused(
        self, command: tuple[str, ...], output: str, code: int, reason: str, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An input that cannot be read or an output that cannot be written is an error of one line, and nothing is written."""
        monkeypatch.chdir(tmp_path)
        own = written(tmp_path / "texts.txt", texts.read_bytes())
        assert reason in call(*command, own, "-o", tmp_path / output, code=code).stderr
        assert own.read_bytes() == texts.read_bytes()
        assert [*tmp_path.iterdir()] == [own]

    def test_sum_of_counts_is_too_large(self, tmp_path: Path) -> None:
        """Tables whose counts have a sum above 2^63 - 1 are an error with the most frequent word, and nothing is written."""
        parts = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
        for path, count in zip(parts, (1 << 62, (1 << 62) + 1), strict=True):
            Words.of_pairs([("the", count), ("of", 5)]).save(path)
        done = call("train", "words", *parts, "-o", tmp_path / "o.parquet", code=1)
        assert "the sum of all counts is 9,223,372,036,854,775,819, of which 4,611,686,018,427,387,905 are of b'the'" in done.stderr
        assert sorted(tmp_path.iterdir()) == parts

    def test_no_text(self, tmp_path: Path) -> None:
        """If a document is not text, the message contains the position of the document, and no file is written."""
        wrong = written(tmp_path / "wrong.txt", b"a\n\xff\n")
        assert f"{wrong}, line 2" in error_of(call(*BPE, wrong, "-o", tmp_path / "o.json", code=1))
        assert not (tmp_path / "o.json").exists()
        call(*BPE, wrong, "--errors", "replace", "-o", tmp_path / "o.json")


@pytest.mark.parametrize("trainer", ["unigram", "wordlevel", "like", "extend", "trim", "words"])
def test_help_is_short(trainer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The help has at most 50 lines; that of trainers names the options for reading files, which `fst encode --help` describes."""
    monkeypatch.setenv("COLUMNS", "80")
    found = call("train", trainer, "--help").stdout
    assert found.count("\n") <= 50
    assert "--separator" in found
