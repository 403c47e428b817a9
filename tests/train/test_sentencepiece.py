"""BPE training by SentencePiece's rules gives the same results as the trainer of `sentencepiece` 0.2.3."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst import train
from fst.compile.text.edits.rules import RULES
from fst.counting.words import Words
from fst.train import bpe, merges
from fst.train.pipeline import SPLITTERS
from fst.train.result import Trained


def reference_of(words: Mapping[str, int], folder: Path, **options: Any) -> list[tuple[str, float]]:
    """Return the pieces and scores that `sentencepiece` learns from words without ▁."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path, model = folder / "words.tsv", BytesIO()
    path.write_text("".join(f"{word}\t{count}\n" for word, count in words.items()), encoding="utf-8")
    fixed = {"model_type": "bpe", "normalization_rule_name": "identity", "hard_vocab_limit": False, "minloglevel": 2}
    options = {"character_coverage": 1.0, **options}
    sentencepiece.SentencePieceTrainer.train(input=str(path), input_format="tsv", model_writer=model, **fixed, **options)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [(processor.id_to_piece(number), processor.get_score(number)) for number in range(processor.get_piece_size())]


def learned(words: Mapping[str, int], **options: Any) -> list[tuple[str, float]]:
    """Return the pieces and scores that this package learns."""
    return pieces_of(bpe(marked(words), reference="sentencepiece", **options))


def marked(words: Mapping[str, int]) -> Words:
    """Put ▁ before each word."""
    return Words.of_pairs(("▁" + word, count) for word, count in words.items())


def pieces_of(result: Trained) -> list[tuple[str, float]]:
    """Return the pieces and scores of a result."""
    return [*zip(result.vocabulary, result.scores.tolist(), strict=True)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("letters", ["a", "ab", "abcd", "aé1", "a漢ア", "ab-'1", "aе́"])
def test_pieces_equal_those_of_sentencepiece(letters: str, tmp_path: Path) -> None:
    """From random words, the trainer learns the same pieces as `sentencepiece`, with the same order and scores, including pieces that
    never occur.
    """
    random = Random(letters)
    for _ in range(25):
        size = random.choice([4, 9, 20])
        words = {"".join(random.choices(letters, k=random.randint(1, size))): random.randint(1, 6) for _ in range(random.randint(1, 14))}
        vocab_size = len({*"".join(words)}) + 4 + random.randint(1, 40)
        assert learned(words, vocab_size=vocab_size) == reference_of(words, tmp_path, vocab_size=vocab_size)


def test_pieces_that_never_occur_fill_the_vocabulary() -> None:
    """A pair that existed only for a short time, while a run of letters merged, becomes a piece although it does not occur in the
    result.
    """
    result = bpe(marked({"aaaa": 1}), vocab_size=20, reference="sentencepiece")
    assert dict(zip(result.vocabulary, result.counts.tolist(), strict=True))["aaa"] == 0


def test_special_tokens_and_bytes_come_first(tmp_path: Path) -> None:
    """Special tokens and the tokens of bytes are the first pieces, and a special token inside a word splits the word."""
    words = {"a<s>b": 5, "ab": 2}
    assert learned(words, vocab_size=12) == reference_of(words, tmp_path, vocab_size=12)
    found = learned(words, vocab_size=270, byte_fallback=True)
    assert found == reference_of(words, tmp_path, vocab_size=270, byte_fallback=True)
    assert [piece for piece, _ in found][2:5] == ["</s>", "<0x00>", "<0x01>"]


def test_words_with_the_reserved_character_are_skipped(tmp_path: Path) -> None:
    """A word that contains U+2585 is ignored."""
    words = {"ba\u2585ba": 9, "\u2585": 3, "aab": 2, "ab": 1}
    assert learned(words, vocab_size=9) == reference_of(words, tmp_path, vocab_size=9)


def test_length_of_pieces_is_limited(tmp_path: Path) -> None:
    """A piece has at most 16 characters, or `max_token_length` characters if this option is set."""
    words = {"abcdefghijklmnopqrstuvwxyz": 3}
    assert learned(words, vocab_size=60) == reference_of(words, tmp_path, vocab_size=60)
    assert learned(words, vocab_size=60, max_token_length=3) == reference_of(words, tmp_path, vocab_size=60, max_sentencepiece_length=3)


def test_limited_alphabet_ends_words_at_rare_characters(tmp_path: Path) -> None:
    """A character beyond `limit_alphabet` ends a word, like rare characters in `sentencepiece`."""
    words = {"abcab": 99, "abzab": 1}
    found = reference_of(words, tmp_path, vocab_size=20, character_coverage=0.99)
    assert ("z", found[-1][1]) not in found
    assert learned(words, vocab_size=20, limit_alphabet=4) == found


@pytest.mark.slow
def test_run_in_pieces_gives_equal_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops after every merge and continues gives the same pieces as an uninterrupted run."""
    random, path = Random(3), tmp_path / "run.npz"
    words = marked({"".join(random.choices("ab", k=random.randint(1, 9))): 2 for _ in range(12)})
    options: dict[str, Any] = {"vocab_size": 30, "reference": "sentencepiece"}
    whole = bpe(words, **options)
    monkeypatch.setattr(merges, "STEPS", 1)
    while (part := bpe(words, deadline=0, checkpoint=path, **options)).stopped == "deadline":
        pass
    assert (pieces_of(part), part.merges) == (pieces_of(whole), whole.merges)


def test_options_without_a_counterpart_are_refused() -> None:
    """Words of bytes, options that `sentencepiece` does not have, and a size that is too small are refused."""
    words = marked({"ab": 1})
    with pytest.raises(fst.UnsupportedError, match="words of text, not of bytes"):
        bpe(words, reference="sentencepiece", splitter=SPLITTERS["gpt2"])
    with pytest.raises(fst.UnsupportedError, match="SentencePiece has no min_frequency"):
        bpe(words, reference="sentencepiece", min_frequency=2)
    with pytest.raises(fst.VocabularyError, match="vocab_size is 5; expected at least 6"):
        bpe(words, reference="sentencepiece", vocab_size=5)


HOSTILE = (
    *("10～20 km", "全角～波", "ｶﾞ ガ ｶ", "가 가 각", "👨‍👩‍👧", "e\u0301\u0316", "e\u0316\u0301", "É", "\u200d", "\ufeff", "\u061c"),
    *("\t", "\n", "  "),
    *("▁", "ﬁ", "①", "İ", "Ａ", "ς", "㎏", "\u3099", "ᄀ", "ㅏ", "a", "b", "<s>", "\u00a0", "\x00", "日", "𝐀", "é", "\u0345", "ꭰ"),
)
LINES = [*HOSTILE[:10], " ".join(HOSTILE[:22]), "ＡＢab ab ﬁ É 10～20 km", "全角～波 ガ 가각"] * 2
SIZES = {"vocab_size": 88, "character_coverage": 1.0, "model_type": "bpe", "minloglevel": 2}
SPLIT: dict[str, Any] = {"splitter": "sentencepiece", "vocab_size": 88}


def processor(data: bytes) -> Any:
    """The processor of `sentencepiece` for a model."""
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)


@cache
def model_of_the_library(rule: str) -> Any:
    """The processor that `sentencepiece` trains on `LINES` with a normalization rule."""
    written = BytesIO()
    library = pytest.importorskip("sentencepiece")
    texts = iter([line for line in LINES if "\x00" not in line])
    library.SentencePieceTrainer.train(sentence_iterator=texts, model_writer=written, normalization_rule_name=rule, **SIZES)
    return processor(written.getvalue())


@cache
def trained(rule: str) -> Trained:
    """The result of this package for the same texts."""
    return train.bpe([line for line in LINES if "\x00" not in line], **SPLIT, normalizer=rule, reference="sentencepiece")


@cache
def saved(rule: str) -> tuple[fst.Tokenizer, Any]:
    """The tokenizer of a result, and the processor of its ``.model``."""
    with TemporaryDirectory() as folder:
        trained(rule).save(Path(folder) / "a.model")
        return trained(rule).tokenizer(), processor((Path(folder) / "a.model").read_bytes())


each_rule = pytest.mark.parametrize("rule", RULES)


@pytest.mark.mostly_slow
@each_rule
def test_pieces_of_texts_equal_those_of_sentencepiece(rule: str) -> None:
    """From texts that a normalization rule changes, the trainer learns the same pieces as `sentencepiece`."""
    reference = model_of_the_library(rule)
    assert pieces_of(trained(rule)) == [(reference.id_to_piece(number), reference.get_score(number)) for number in range(88)]


@pytest.mark.slow
@given(texts=some.lists(some.one_of(some.sampled_from(HOSTILE), some.text(max_size=3)), max_size=10), rule=some.sampled_from(RULES))
@examples(100)
def test_saved_model_has_the_ids_of_the_table(texts: list[str], rule: str) -> None:
    """For any text, `sentencepiece` gives the same ids with the saved .model and with its own model as the table gives."""
    own, reference = saved(rule)
    text = "".join(texts)
    assert own.encode(text).tolist() == reference.encode(text) == model_of_the_library(rule).encode(text)


@pytest.mark.slow
def test_table_is_that_of_the_saved_model(tmp_path: Path) -> None:
    """The table of a result is the table that the saved .model compiles to."""
    trained("nmt_nfkc").save(tmp_path / "a.model")
    assert trained("nmt_nfkc").table().dumps() == fst.compile.tokenizer(tmp_path / "a.model").dumps()


@pytest.mark.slow
@given(texts=some.lists(some.one_of(some.sampled_from(HOSTILE), some.text(max_size=3)), max_size=10))
@examples(60)
def test_saved_unigram_model_has_the_ids_of_the_table(texts: list[str]) -> None:
    """For any text, `sentencepiece` gives the same ids with a saved Unigram model as the table gives."""
    own, reference = saved_unigram()
    assert own.encode("".join(texts)).tolist() == reference.encode("".join(texts))


@cache
def saved_unigram() -> tuple[fst.Tokenizer, Any]:
    """The tokenizer of a Unigram vocabulary, and the processor of its ``.model``."""
    result = train.unigram(LINES, **SPLIT, unk_token="<unk>", special_tokens=["<unk>", "<s>"])
    with TemporaryDirectory() as folder:
        result.save(Path(folder) / "a.model")
        return result.tokenizer(), processor((Path(folder) / "a.model").read_bytes())


@pytest.mark.mostly_slow
@each_rule
def test_words_are_those_of_the_normalizer_of_sentencepiece(rule: str) -> None:
    """Texts are normalized as in `sentencepiece`, and a word begins at each ▁."""
    library = pytest.importorskip("sentencepiece")
    spaces = dict.fromkeys(("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"), True)
    by = library.SentencePieceNormalizer(rule_name=rule, **spaces)
    texts = [*HOSTILE, *map("".join, pairwise(HOSTILE)), *LINES]
    found = train.words(texts, splitter="sentencepiece", normalizer=rule)
    expected = Counter(word for text in texts for word in re.findall("▁[^▁]*|^[^▁]+", by.normalize(text)))
    assert {word.decode(): count for word, count in zip(found, found.counts.tolist(), strict=True)} == expected


@pytest.mark.slow
def test_counted_words_name_their_rule() -> None:
    """Words that were counted with a rule need no splitter in training, and another rule is refused."""
    words = train.words(LINES, splitter="sentencepiece", normalizer="nfkc_cf")
    options: dict[str, Any] = {"vocab_size": 88, "reference": "sentencepiece"}
    assert pieces_of(train.bpe(words, **options)) == pieces_of(trained("nfkc_cf"))
    with pytest.raises(fst.VocabularyError, match=r"expected .*, that of the splitter"):
        train.bpe(words, **options, splitter="sentencepiece")


def test_rules_need_their_splitter() -> None:
    """A rule of `sentencepiece` is refused with another splitter."""
    with pytest.raises(fst.UnsupportedError, match=r"'nmt_nfkc_cf' is a rule of sentencepiece; .* it needs the splitter 'sentencepiece'"):
        train.words(["a"], splitter="metaspace", normalizer="nmt_nfkc_cf")


@pytest.mark.slow
def test_normalizers_of_tokenizers_are_refused_in_a_model(tmp_path: Path) -> None:
    """NFKC of `tokenizers` is refused in a .model, because the rule nfkc of `sentencepiece` differs."""
    result = train.unigram(["ﬁ ab ab"], splitter="metaspace", normalizer="nfkc", vocab_size=20, unk_token="<unk>")
    with pytest.raises(fst.UnsupportedError, match="NFKC has no counterpart in SentencePiece: its rule nfkc differs for rare characters"):
        result.save(tmp_path / "a.model")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_vocabularies_like_a_trained_one_have_its_rule(tmp_path: Path) -> None:
    """A vocabulary like one that was trained with a rule has the same rule, pieces and ids."""
    old = trained("nmt_nfkc_cf")
    options: dict[str, Any] = {"vocab_size": len(old.vocabulary), "reference": "sentencepiece"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = train.like(old, [line for line in LINES if "\x00" not in line], **options)
        new.save(tmp_path / "new.model")
    old.save(tmp_path / "old.model")
    assert (tmp_path / "new.model").read_bytes() == (tmp_path / "old.model").read_bytes()
    assert new.tokenizer().encode("ＡＢ～").tolist() == old.tokenizer().encode("ＡＢ～").tolist()


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", ["wordpiece", "wordlevel"])
@pytest.mark.parametrize("counted", [False, True])
def test_rules_need_pieces(kind: str, counted: bool) -> None:
    """WordPiece and WordLevel are refused with a rule, because neither their files nor their tables can contain it."""
    source = train.words(LINES, splitter="sentencepiece") if counted else LINES
    options: dict[str, Any] = {} if counted else {"splitter": "sentencepiece"}
    with pytest.raises(fst.UnsupportedError, match="runs the rule nmt_nfkc of sentencepiece, and the vocabulary is Word"):
        getattr(train, kind)(source, vocab_size=60, **options)


def test_a_tokenizer_json_is_written_with_a_warning(tmp_path: Path) -> None:
    """If the table has the ids of `sentencepiece`, saving a tokenizer.json warns of other ids, and the file is as in converters."""
    with pytest.warns(UserWarning, match="a tokenizer.json cannot express the normalizer of sentencepiece"):
        trained("nmt_nfkc").save(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert [part["type"] for part in document["normalizer"]["normalizers"]] == ["Precompiled", "Strip", "Replace"]
    tok = fst.Tokenizer(fst.compile.tokenizer(tmp_path / "tokenizer.json"))
    assert tok.encode("10～20 km").tolist() == trained("nmt_nfkc").tokenizer().encode("10～20 km").tolist()


@pytest.mark.slow
def test_a_result_is_a_splitter() -> None:
    """A result whose words were made by a rule splits other texts by this rule."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert train.words(LINES, splitter=trained("nfkc")).split == train.words([], splitter="sentencepiece", normalizer="nfkc").split


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["docs_zh.md", "docs_ar.md", "docs_hi.md", "docs_ja.md", "docs_ko.md", "multi_sentences_500.jsonl"])
def test_pieces_of_corpora(name: str, tmp_path: Path) -> None:
    """From texts in several scripts, the trainer learns the same pieces as `sentencepiece`."""
    text = (SHARED / "corpora" / name).read_text(encoding="utf-8")[:600_000].replace("\t", " ").replace("▅", "")
    words = Counter(text.split())
    assert learned(words, vocab_size=9000) == reference_of(words, tmp_path, vocab_size=9000)
