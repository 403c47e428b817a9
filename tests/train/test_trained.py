"""The libraries that define file formats read the files of trained vocabularies, and give the same ids as the table."""

from __future__ import annotations

import io
import json
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sentencepiece
import tiktoken
import tokenizers
from support.shared_data import SHARED
from tiktoken.load import load_tiktoken_bpe
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

import fst
from fst import train
from fst.compile.sources.tiktoken import ENCODINGS
from fst.errors import TextError, UnsupportedError, VocabularyError
from fst.train.pipeline import SPLITTERS, Pipeline
from fst.train.renumbering import renumbered
from fst.train.result import Trained

SPECIALS = ["<unk>", "<s>", "</s>"]
WORDS = [
    *("hug", "hugs", "pug", "pun", "bun", "bunny", "the", "these", "then", "there"),
    *("a", "an", "and", "andy", "hand", "handy", "bandit", "é", "日本", "日本語", "語"),
]
CORPUS = [" ".join(WORDS[place % n] for place in range(1, n * 3)) for n in range(5, len(WORDS) + 1)]
HOSTILE = ["", " ", "  hug   pug ", "\n", "\thug\r\n", "日本語日本", "x\u0301e\u0301", "\0", "▁hug▁", "🤗 hug 🤗🤗", "a\u3000a"]


def transformers() -> Any:
    """The library `transformers`; the test is skipped if it is not installed."""
    return pytest.importorskip("transformers", reason="transformers is not installed")


def of_reference(reference: Any, specials: Sequence[str]) -> Trained:
    """Convert the vocabulary of a `tokenizers.Tokenizer` to a training result."""
    document = json.loads(reference.to_str())
    model = dict(document["model"])
    kind, vocabulary, merges = model.pop("type"), model.pop("vocab"), model.pop("merges", [])
    scores = [score for _, score in vocabulary] if kind == "Unigram" else []
    ids = [token for token, _ in vocabulary] if kind == "Unigram" else sorted(vocabulary, key=vocabulary.__getitem__)
    return Trained(
        kind,
        {token: number for number, token in enumerate(ids)},
        counts=np.zeros(len(ids), np.int64),
        stopped="size",
        merges=[(left, right) for left, right in merges],
        scores=np.array(scores),
        special_tokens=specials,
        pipeline=Pipeline(*(document[part] for part in ("normalizer", "pre_tokenizer", "decoder"))),
        model=model,
    )


def taught(model: Any, trainer: Any, pre_tokenizer: Any, normalizer: Any = None, decoder: Any = None) -> Any:
    """Train a `tokenizers.Tokenizer` on the corpus."""
    reference: Any = tokenizers.Tokenizer(model)
    reference.pre_tokenizer, reference.normalizer, reference.decoder = pre_tokenizer, normalizer, decoder
    reference.train_from_iterator(CORPUS, trainer)
    return reference


@cache
def byte_level() -> Trained:
    """Train byte-level BPE."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer: Any = trainers.BpeTrainer(vocab_size=300, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False)
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return of_reference(taught(models.BPE(), trainer, splitter, decoder=decoders.ByteLevel()), ["<|end|>"])


@cache
def wordpiece() -> Trained:
    """Train WordPiece with BERT's normalizer and pre-tokenizer."""
    trainer: Any = trainers.WordPieceTrainer(vocab_size=80, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False)
    parts = pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer(), decoders.WordPiece()
    model: Any = models.WordPiece(unk_token="[UNK]")
    return of_reference(taught(model, trainer, *parts), ["[UNK]", "[CLS]", "[SEP]"])


@cache
def characters() -> Trained:
    """Train BPE over characters, with ▁ before each text."""
    trainer: Any = trainers.BpeTrainer(vocab_size=80, special_tokens=SPECIALS, show_progress=False)
    model: Any = models.BPE(unk_token="<unk>", fuse_unk=True)
    parts = pre_tokenizers.Metaspace(prepend_scheme="never"), normalizers.Prepend("▁"), decoders.Metaspace()
    return of_reference(taught(model, trainer, *parts), SPECIALS)


@cache
def unigram() -> Trained:
    """Train Unigram, with ▁ before each text."""
    trainer: Any = trainers.UnigramTrainer(vocab_size=60, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False)
    parts = pre_tokenizers.Metaspace(prepend_scheme="never"), normalizers.Prepend("▁"), decoders.Metaspace()
    return of_reference(taught(models.Unigram(), trainer, *parts), SPECIALS)


@cache
def word_level() -> Trained:
    """Train WordLevel."""
    trainer: Any = trainers.WordLevelTrainer(vocab_size=20, special_tokens=["<unk>"], show_progress=False)
    model: Any = models.WordLevel(unk_token="<unk>")
    return of_reference(taught(model, trainer, pre_tokenizers.WhitespaceSplit()), ["<unk>"])


KINDS = {found.__name__: found for found in (byte_level, wordpiece, characters, unigram, word_level)}
each_kind = pytest.mark.parametrize("kind", KINDS)


def texts() -> list[str]:
    """Return the corpus, hostile texts, and texts of the shared data if it exists."""
    shared = SHARED / "hostile" / "blns.json"
    return [*CORPUS, *HOSTILE, *(json.loads(shared.read_text("utf-8")) if shared.is_file() else [])]


@cache
def ids_of(trained: Trained) -> list[list[int]]:
    """Return the ids that the table gives all texts."""
    return [row.tolist() for row in trained.tokenizer().encode_batch(texts(), add_special_tokens=False)]


@pytest.mark.mostly_slow
@each_kind
def test_tokenizer_json_is_read_by_tokenizers(kind: str, tmp_path: Path) -> None:
    """With the saved tokenizer.json, `tokenizers` gives the same ids as the table."""
    trained, path = KINDS[kind](), tmp_path / "any.json"
    trained.save(path)
    reference = tokenizers.Tokenizer.from_file(str(path))
    assert [reference.encode(text, add_special_tokens=False).ids for text in texts()] == ids_of(trained)


@each_kind
def test_folder_is_read_by_transformers(kind: str, tmp_path: Path) -> None:
    """With the saved folder, `transformers` gives the same ids as the table, and the folder compiles to the same vocabulary."""
    trained, folder = KINDS[kind](), tmp_path / "new" / "folder"
    trained.save(folder)
    reference = transformers().PreTrainedTokenizerFast.from_pretrained(folder)
    assert [reference.encode(text, add_special_tokens=False) for text in texts()] == ids_of(trained)
    assert fst.Tokenizer(fst.compile.tokenizer(folder)).get_vocab() == trained.tokenizer().get_vocab()


def test_vocab_json_and_merges_txt_are_read_by_tokenizers(tmp_path: Path) -> None:
    """With the saved vocab.json and merges.txt of a byte-level BPE, `tokenizers` gives the same ids as the table."""
    trained = byte_level()
    trained.save(tmp_path)
    reference: Any = tokenizers.ByteLevelBPETokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    reference.add_special_tokens(["<|end|>"])
    assert [reference.encode(text).ids for text in texts()] == ids_of(trained)
    trained.save(tmp_path / "alone" / ".." / "vocab.json")
    assert json.loads((tmp_path / "vocab.json").read_text("utf-8")) == trained.vocabulary


def test_vocab_txt_is_read_by_transformers(tmp_path: Path) -> None:
    """With the saved vocab.txt, the BERT tokenizer of `transformers` gives the same ids as the table."""
    wordpiece().save(tmp_path / "vocab.txt")
    reference = transformers().BertTokenizerFast(vocab=str(tmp_path / "vocab.txt"))
    assert [reference.encode(text, add_special_tokens=False) for text in texts()] == ids_of(wordpiece())


def test_ranks_are_read_by_tiktoken(tmp_path: Path) -> None:
    """With the saved .tiktoken file, its pattern and its special tokens, `tiktoken` gives the same ids as the table, and the file
    compiles to the same ids.
    """
    path, special = tmp_path / "a.tiktoken", {"<|end|>": 0}
    byte_level().save(path)
    pattern = str(ENCODINGS["gpt2"].pattern)
    reference = tiktoken.Encoding("a", pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(str(path)), special_tokens=special)
    expected = ids_of(byte_level())
    assert [reference.encode(text, allowed_special="all") for text in texts()] == expected
    own = fst.Tokenizer(fst.compile.bpe(path, pattern=pattern, special=special))
    assert [row.tolist() for row in own.encode_batch(texts())] == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", ["characters", "unigram"])
def test_model_is_read_by_sentencepiece(kind: str, tmp_path: Path) -> None:
    """With the saved .model, `sentencepiece` gives texts without special tokens the same ids as the table, and the file compiles to the
    same ids.
    """
    trained, path = KINDS[kind](), tmp_path / "a.model"
    trained.save(path)
    reference: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    own = fst.Tokenizer(fst.compile.tokenizer(path))
    for text, ids in zip(texts(), ids_of(trained), strict=True):
        assert reference.encode(text) == own.encode(text).tolist() == ids, text
    assert [reference.unk_id(), reference.bos_id(), reference.eos_id(), reference.pad_id()] == [0, 1, 2, -1]


def test_sentencepiece_reads_its_own_bpe(tmp_path: Path) -> None:
    """If BPE is trained by SentencePiece's rules and saved as .model, its pieces and ids equal those that SentencePiece's trainer gives."""
    train.bpe(CORPUS, vocab_size=60, splitter="sentencepiece", reference="sentencepiece").save(tmp_path / "a.model")
    own: Any = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    written = io.BytesIO()
    options: dict[str, Any] = {"vocab_size": 60, "model_type": "bpe", "character_coverage": 1.0, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=written, **options)
    reference: Any = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    assert [own.id_to_piece(number) for number in range(60)] == [reference.id_to_piece(number) for number in range(60)]
    assert own.encode(texts()) == reference.encode(texts())


def test_usual_normalizer_is_read_by_sentencepiece(tmp_path: Path) -> None:
    """The splitter "sentencepiece" normalizes like SentencePiece with default settings: it strips texts and joins runs of spaces."""
    changed(unigram(), pipeline=SPLITTERS["sentencepiece"]).save(tmp_path / "a.model")
    reference: Any = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "a.model"))
    own = changed(unigram(), pipeline=SPLITTERS["sentencepiece"]).tokenizer()
    for text in [*CORPUS, "  hug   pug ", "\thug\r\n", "ﬁ Ｈug", "▁hug", ""]:
        assert reference.encode(text) == own.encode(text).tolist(), text


def test_a_full_disk_leaves_no_folder(tmp_path: Path) -> None:
    """If the files cannot be written, the folders that were created for them are removed."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # maximum size of a file in bytes
    try:
        with pytest.raises(OSError, match="File too large"):
            wordpiece().save(tmp_path / "new" / "folder")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_table_is_saved(tmp_path: Path) -> None:
    """Saving a result as .npz writes the compiled table."""
    wordpiece().save(tmp_path / "a.npz")
    assert fst.Tokenizer.load(tmp_path / "a.npz").get_vocab() == wordpiece().tokenizer().get_vocab()


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("byte_level", "vocab.txt", "form of WordPiece"),
        ("wordpiece", "merges.txt", "form of BPE"),
        ("wordpiece", "a.tiktoken", "form of BPE"),
        ("characters", "a.tiktoken", "not strings of bytes"),
        ("word_level", "a.model", "form of Unigram and BPE"),
        ("byte_level", "a.model", "no unknown token"),
        ("unigram", "a.bin", "form of a vocabulary is unknown"),
    ],
)
def test_inexpressible_vocabularies_are_refused(kind: str, name: str, reason: str, tmp_path: Path) -> None:
    """A format that cannot represent a vocabulary is refused with the reason, and no file is written."""
    with pytest.raises(UnsupportedError, match=reason):
        KINDS[kind]().save(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_empty_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty path is refused."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedError, match="path is ''"):
        KINDS["wordpiece"]().save("")
    assert not [*tmp_path.iterdir()]


def changed(trained: Trained, **parts: Any) -> Trained:
    """Return a result in which some attributes are replaced."""
    return Trained(**{**vars(trained), **parts})


def test_merges_without_ranks_are_refused(tmp_path: Path) -> None:
    """Saving as .tiktoken is refused if the ids are not in the order of the merges."""
    trained = byte_level()
    *others, first, second = trained.vocabulary
    swapped = {token: number for number, token in enumerate([*others, second, first])}
    with pytest.raises(UnsupportedError, match="its ids are not ranks"):
        changed(trained, vocabulary=swapped).save(tmp_path / "a.tiktoken")


def test_merges_without_scores_are_refused(tmp_path: Path) -> None:
    """Saving as .model is refused if merging by scores would give other results than the list of merges."""
    tokens = {token: number for number, token in enumerate(["<unk>", "▁", "a", "b", "c", "bc", "ab", "abc"])}
    merges = [("b", "c"), ("a", "b"), ("ab", "c")]
    with pytest.raises(UnsupportedError, match="merge of 'ab' and 'c' makes a token that scores make from other parts"):
        changed(characters(), vocabulary=tokens, merges=merges, special_tokens=["<unk>"]).save(tmp_path / "a.model")


def test_words_that_are_special_leave_a_gap(tmp_path: Path) -> None:
    """If a special token is also a word, the ids have a gap, which is the same in the saved file and in the table."""
    trained = train.wordlevel(["<unk> hug hug pug"], vocab_size=9, splitter="whitespace", special_tokens=["<unk>", "<s>"])
    assert 0 not in trained.vocabulary.values()
    trained.save(tmp_path / "a.json")
    reference = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    for text in ["hug pug", "bun <s>", "<unk>"]:
        assert reference.encode(text).ids == trained.tokenizer().encode(text).tolist()


def test_scores_are_those_that_the_reference_reads() -> None:
    """In a Unigram table, scores equal those that `tokenizers` parses from the tokenizer.json, which are not always the nearest floats."""
    trained = unigram()
    scores = np.where(np.arange(len(trained.scores)) < 3, 0.0, -13.543037414550781)
    found = changed(trained, scores=scores)
    assert found.to_json()["model"]["vocab"][9][1] == -13.543037414550781
    assert sorted({*found.table().arrays()["scores"].tolist()}) == [-13.54303741455078, 0.0]


def test_repr_is_short() -> None:
    """The repr of a result is a single line with its kind, its size and the reason why training stopped."""
    assert repr(word_level()) == "<Trained WordLevel: 20 tokens, stopped by 'size'>"


@pytest.mark.slow
def test_flags_and_templates_come_through() -> None:
    """The saved tokenizer.json contains the flags of special tokens, the padding and nested templates, all with the new ids."""
    token = {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    template = {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": {"[CLS]": token}}
    named = {"pad_id": 7, "pad_type_id": 0, "pad_token": "[SEP]"}
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, **named}
    further = {"post_processor": {"type": "Sequence", "processors": [template]}, "padding": padding}
    trained = changed(wordpiece(), flags={"[SEP]": {"lstrip": True}}, further=further)
    assert trained.tokenizer().encode("hug").tolist()[0] == trained.vocabulary["[CLS]"]
    document = trained.to_json()
    assert document["post_processor"]["processors"][0]["special_tokens"]["[CLS]"]["ids"] == [trained.vocabulary["[CLS]"]]
    assert document["padding"]["pad_id"] == trained.vocabulary["[SEP]"]
    assert [added["lstrip"] for added in document["added_tokens"]] == [False, False, True]
    assert tokenizers.Tokenizer.from_str(json.dumps(document)).encode("hug").ids == trained.tokenizer().encode("hug").tolist()


def test_missing_tokens_of_templates_are_named() -> None:
    """A post-processor is refused if it contains a token that the vocabulary lacks, and the message contains the token."""
    with pytest.raises(VocabularyError, match=r"'\[SEP\]', which is not a token"):
        renumbered({"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]}, {"[CLS]": 0})


def figures(tok: fst.Tokenizer, held_out: Sequence[str]) -> list[int]:
    """Compute the numbers of a `fst.train.report.Row` by counting text by text and word by word."""
    counts = Counter(number for text in held_out for number in tok.encode(text, add_special_tokens=False).tolist())
    words = whole = 0
    for text in held_out:
        spans = tok(text, add_special_tokens=False, return_offsets_mapping=True)
        unknown = tok.id_to_token(tok._metadata.model.unk_id)
        known = (tok.id_to_token(number) != unknown for number in spans["input_ids"])
        tokens = [(*span, is_known) for span, is_known in zip(spans["offset_mapping"], known, strict=True)]
        for word in re.finditer(r"[^\W_]+", text):
            touching = [token for token in tokens if token[0] < word.end() and token[1] > word.start()]
            whole += len(touching) == 1 and touching[0][0] <= word.start() and touching[0][1] >= word.end() and touching[0][2]
            words += 1
    sizes = [len(held_out), sum(len(text.encode()) for text in held_out), sum(map(len, held_out)), words, counts.total()]
    return [*sizes, whole, counts[tok._metadata.model.unk_id], len(counts), sum(count < 10 for count in counts.values())]


@pytest.mark.parametrize("kind", ["wordpiece", "characters", "unigram"])
def test_report_counts(kind: str) -> None:
    """The numbers in a report equal the sums over all texts and words."""
    held_out = [*CORPUS, "hugs, pugs; 日本! 🤗 puns", "", "the bunny hugs a zzz"]
    (row,) = KINDS[kind]().report(held_out).rows
    assert [*vars(row).values()] == ["all", *figures(KINDS[kind]().tokenizer(), held_out)]


COLUMNS = {"body": ["hug pug", "日本", "bun", None], "language": ["en", "ja", "en", "ja"]}


def test_report_has_a_row_for_each_language() -> None:
    """With `by`, a report has a row for each value of this column, and a last row for all texts."""
    report = unigram().report(COLUMNS, column="body", by="language")
    assert [(row.name, row.texts, row.bytes) for row in report.rows] == [("en", 2, 10), ("ja", 1, 6), ("all", 3, 16)]
    assert unigram().report(pa.table(COLUMNS), column="body", by="language") == report
    for arguments in ({"by": "lang"}, {"column": "text"}):
        with pytest.raises(TextError, match="have no column"):
            unigram().report(COLUMNS, **{"column": "body", **arguments})


def test_report_of_polars() -> None:
    """A report reads a data frame of Polars."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    report = unigram().report(COLUMNS, column="body", by="language")
    assert unigram().report(polars.DataFrame(COLUMNS), column="body", by="language") == report
    with pytest.raises(TextError, match="have no columns"):
        unigram().report(["hug"], by="language")


def test_report_reads_files(tmp_path: Path) -> None:
    """A report on a text file, on JSON lines or on a Parquet column contains the same numbers as a report on the same texts in memory."""
    columns = {"body": ["hug pug", "日本", "bun"], "language": ["en", "ja", "en"]}
    expected = unigram().report(columns, column="body", by="language")
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert unigram().report(tmp_path / "a.parquet", column="body", by="language") == expected
    lines = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True))
    (tmp_path / "a.jsonl").write_text(lines, "utf-8")
    assert unigram().report([str(tmp_path / "a.jsonl")], field="body", by="language") == expected
    (tmp_path / "a.txt").write_text("hug pug\n日本\nbun\n", "utf-8")
    assert unigram().report(tmp_path / "a.txt").rows == expected.rows[-1:]
    for name, arguments in (("a.parquet", {"column": "body"}), ("a.jsonl", {"field": "body"})):
        with pytest.raises(TextError, match="has no"):
            unigram().report(tmp_path / name, by="lang", **arguments)


def test_report_is_a_table_and_a_chart() -> None:
    """A report is printed with one line per row, and its SVG chart is well-formed and contains the names of all rows."""
    report = unigram().report({"text": ["hug"], "by": ["<en> & more"]}, by="by")
    assert [line.split()[0] for line in str(report).splitlines()] == ["texts", "<en>", "all", f"{report.size}"]
    drawn = {element.text for element in ElementTree.fromstring(report.svg()).iter()}
    assert {"<en> & more", "all", "bytes a token"} <= drawn


def test_report_of_no_texts_is_zero() -> None:
    """In a report on no texts, all numbers are zero."""
    (row,) = wordpiece().report([]).rows
    assert [row.tokens, row.bytes_per_token, row.whole_words, row.unknown_rate] == [0, 0, 0, 0]


def test_pickles_with_former_names_load() -> None:
    """Pickles that contain the former names of modules load, and so do imports by these names."""
    names = ["fst.compile.train.old.trimming.Trimmed", "fst.bridge.report.Report", "fst.compile.train.pipeline.Pipeline"]
    code = "import pickle\n"
    for name in [*names, "fst.compile.train.result.Trained"]:
        module, _, last = name.rpartition(".")
        pickled = f"c{module}\n{last}\n.".encode()
        code += f"found = pickle.loads({pickled!r})\n"
        code += f"import {module}; assert found is {name} and found.__module__.startswith('fst.train.')\n"
    subprocess.run([sys.executable, "-c", code], check=True)
