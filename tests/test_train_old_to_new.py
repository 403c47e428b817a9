"""Tests of vocabularies that are made from old ones: trimmed ones, and extended ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from shared_data import SHARED, needs_shared
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import fst
from fst.compile import tokenizer as compiled
from fst.errors import UnsupportedError, VocabularyError

SPECIALS = ["<unk>", "<pad>", "<s>"]


@cache
def lines() -> list[str]:
    """Texts over a few letters, some of several bytes."""
    draw = random.Random(7)
    words = ["".join(draw.choices("aabcé日", k=draw.randint(1, 8))) for _ in range(80)]
    return [" ".join(draw.choices(words, k=12)) for _ in range(40)]


def trained(model: Any, trainer: Any, pre_tokenizer: Any) -> Tokenizer:
    """A live tokenizer."""
    tok = Tokenizer(model)
    tok.pre_tokenizer = pre_tokenizer
    tok.train_from_iterator(lines(), trainer)
    return tok


def bpe_over_bytes() -> Tokenizer:
    """BPE over bytes, with a template and an added token that the model lacks."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False)
    tok = trained(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=False))
    tok.add_tokens([AddedToken("ab", single_word=True)])
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2)])
    tok.enable_padding(pad_token="<pad>", pad_id=1)
    return tok


def bpe_over_characters() -> Tokenizer:
    """BPE over characters, with an unknown token and Metaspace."""
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=SPECIALS, show_progress=False)
    tok = trained(models.BPE(unk_token="<unk>", fuse_unk=True), trainer, pre_tokenizers.Metaspace())
    tok.decoder = decoders.Metaspace()
    return tok


def bpe_with_suffix() -> Tokenizer:
    """BPE with a suffix at the end of words."""
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=SPECIALS, end_of_word_suffix="</w>", show_progress=False)
    return trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainer, pre_tokenizers.WhitespaceSplit())


def wordpiece() -> Tokenizer:
    """WordPiece with a normalizer."""
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIALS, show_progress=False)
    tok = trained(models.WordPiece(unk_token="<unk>"), trainer, pre_tokenizers.WhitespaceSplit())
    tok.normalizer = normalizers.Lowercase()
    return tok


def unigram() -> Tokenizer:
    """Unigram with Metaspace."""
    trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False)
    return trained(models.Unigram(), trainer, pre_tokenizers.Metaspace())


def word_level() -> Tokenizer:
    """WordLevel."""
    trainer = trainers.WordLevelTrainer(vocab_size=60, special_tokens=SPECIALS, show_progress=False)
    return trained(models.WordLevel(unk_token="<unk>"), trainer, pre_tokenizers.WhitespaceSplit())


KINDS: Mapping[str, tuple[Callable[[], Tokenizer], int]] = {  # and how many tokens to keep
    "BPE over bytes": (bpe_over_bytes, 290),
    "BPE over characters": (bpe_over_characters, 40),
    "BPE with a suffix": (bpe_with_suffix, 40),
    "WordPiece": (wordpiece, 40),
    "Unigram": (unigram, 40),
    "WordLevel": (word_level, 30),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def check_trimmed(old: fst.Tokenizer, new: Any, texts: Iterable[str]) -> tuple[int, int]:
    """Compare ids of texts whose tokens are all kept. Returns the numbers of texts with and without such tokens alone."""
    tok, same, other = new.trained.tokenizer(), 0, 0
    for text in texts:
        ids = new.ids[old.encode(text)]
        if (ids >= 0).all():
            assert tok.encode(text).tolist() == ids.tolist(), text
            same += 1
        else:
            assert len(tok.encode(text)) > 0
            other += 1
    return same, other


@each_kind
def test_texts_of_kept_tokens_have_the_mapped_ids(kind: str) -> None:
    """A text whose tokens all stay has these tokens in the trimmed vocabulary, by their new ids."""
    make, keep = KINDS[kind]
    live = make()
    new = fst.train.trim(live, lines(), keep)
    words = sorted({word for line in lines() for word in line.split()})
    same, other = check_trimmed(fst.Tokenizer(compiled(live)), new, [*lines(), *words, "é日", "xyz", "ab <s> abc"])
    assert same > 5
    assert other > 5
    assert len(new.trained.vocabulary) == keep


@each_kind
def test_trimmed_vocabularies_keep_the_order_and_the_special_tokens(kind: str) -> None:
    """New ids are 0, 1, 2 … in the order of the old ones; special tokens, their flags, templates and padding are there."""
    make, keep = KINDS[kind]
    live = make()
    trimmed = fst.train.trim(live, lines(), keep)
    old, new = live.get_vocab(), trimmed.trained.vocabulary
    assert [*new.values()] == [*range(keep)]
    assert [*new] == sorted(new, key=old.__getitem__)
    assert {token: int(trimmed.ids[number]) for token, number in old.items()} == {token: new.get(token, -1) for token in old}
    assert {*SPECIALS} <= {*trimmed.trained.special_tokens}


def test_trimmed_vocabularies_are_read_by_the_reference(tmp_path: Path) -> None:
    """The saved tokenizer.json has the templates, the padding and the added tokens of the old one, with new ids."""
    live = bpe_over_bytes()
    new = fst.train.trim(live, lines(), 290).trained
    new.save(tmp_path / "tokenizer.json")
    again, tok = Tokenizer.from_file(str(tmp_path / "tokenizer.json")), new.tokenizer()
    assert again.get_vocab() == new.vocabulary
    assert new.vocabulary["ab"] == 289
    for text in [*lines(), "ab", "abab ab é"]:
        assert again.encode(text).ids == tok.encode(text).tolist()
        assert 289 in again.encode(text).ids or " ab " not in f" {text} "
    assert again.padding == live.padding
    assert again.encode("a").tokens == live.encode("a").tokens


def test_most_used_tokens_stay() -> None:
    """Tokens stay by their use in the words, then by their ids, and the counts are those of the words."""
    old = compiled(["[UNK]", "h", "p", "##u", "##g", "##ug", "hug", "pug", "hugu"], unk_token="[UNK]")
    trimmed = fst.train.trim(old, {"hug": 3, "pug": 4, "hug u": 1}, 7)
    assert [*trimmed.trained.vocabulary] == ["[UNK]", "h", "p", "##u", "##g", "hug", "pug"]
    assert trimmed.trained.counts.tolist() == [1, 0, 0, 0, 0, 3, 4]
    assert trimmed.ids.tolist() == [0, 1, 2, 3, 4, -1, 5, 6, -1]
    assert [*fst.train.trim(old, {"hug": 3}, 8).trained.vocabulary] == ["[UNK]", "h", "p", "##u", "##g", "##ug", "hug", "pug"]


def test_parts_of_kept_tokens_stay() -> None:
    """A token of BPE keeps the parts that its merges need, even if no text has them by themselves."""
    ids = {token: number for number, token in enumerate(["a", "b", "c", "ab", "bc", "abc", "ca"])}
    tok = Tokenizer(models.BPE(ids, [("a", "b"), ("ab", "c"), ("c", "a")]))
    trimmed = fst.train.trim(tok, {"abc": 9, "ca": 8, "bcc": 1}, 5)
    assert [*trimmed.trained.vocabulary] == ["a", "b", "c", "ab", "abc"]
    assert [*trimmed.trained.merges] == [("a", "b"), ("ab", "c")]
    assert [*fst.train.trim(tok, {"abc": 9, "ca": 8}, 4).trained.vocabulary] == ["a", "b", "c", "ca"]


def test_sizes_that_are_out_of_range_are_refused() -> None:
    """A size above the old one, or below what must stay, is an error with both numbers."""
    live = wordpiece()
    with pytest.raises(VocabularyError, match=r"keep is 121; expected at most 120"):
        fst.train.trim(live, lines(), 121)
    with pytest.raises(VocabularyError, match=r"keep is 3; expected at least 13, the added tokens and the alphabet"):
        fst.train.trim(live, lines(), 3)


def test_every_form_of_an_old_tokenizer_is_taken(tmp_path: Path) -> None:
    """A live tokenizer, an fst.Tokenizer, a table, its file, a tokenizer.json and a trained vocabulary give the same result."""
    live = wordpiece()
    live.save(str(tmp_path / "tokenizer.json"))
    table = compiled(live)
    table.save(tmp_path / "table.npz")
    same = fst.train.trim(live, lines(), 120).trained
    forms = [live, fst.Tokenizer(table), table, tmp_path / "table.npz", str(tmp_path / "tokenizer.json"), tmp_path, same]
    assert len({tuple(fst.train.trim(old, lines(), 40).trained.vocabulary.items()) for old in forms}) == 1


def test_vocabularies_without_a_tokenizer_json_are_refused() -> None:
    """An encoding of tiktoken is refused, since no tokenizer.json expresses its pattern."""
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    encoding = tiktoken.Encoding("small", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(UnsupportedError, match="with the pattern of tiktoken"):
        fst.train.trim(encoding, ["ab"], 256)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(("name", "keep"), [("vocab_bpe/gpt2", 12_000), ("vocab_bpe/mistral01", 8_000), ("vocab/bert-base-cased", 8_000)])
def test_trimmed_vocabularies_of_the_field(name: str, keep: int) -> None:
    """GPT-2, Mistral and BERT, trimmed on a corpus, divide its texts as before where all tokens stay."""
    text = (SHARED / "corpora" / "en_books_20MB.txt").read_text("utf-8")[:200_000]
    texts: Sequence[str] = text.splitlines(keepends=True)
    old = fst.Tokenizer(compiled(SHARED / name))
    same, _ = check_trimmed(old, fst.train.trim(old, texts, keep), texts)
    assert same > len(texts) // 2
