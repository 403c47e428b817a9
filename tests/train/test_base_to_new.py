"""`train.trim` and `train.extend` make new vocabularies from old ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from support.naive import training as naive_training
from support.shared_data import SHARED, needs_shared
from support.tiers import examples
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import fst
from fst.compile import tokenizer as compiled
from fst.compile.sources.tiktoken import ENCODINGS
from fst.errors import UnsupportedError, VocabularyError
from fst.train.result import Trained

SPECIALS = ["<unk>", "<pad>", "<s>"]


@cache
def lines() -> list[str]:
    """Draw texts over a few letters, some of which have several bytes."""
    draw = random.Random(7)
    words = ["".join(draw.choices("aabcé日", k=draw.randint(1, 8))) for _ in range(80)]
    return [" ".join(draw.choices(words, k=12)) for _ in range(40)]


def trained(model: Any, trainer: Any, pre_tokenizer: Any) -> Tokenizer:
    """Train a tokenizer with `tokenizers`."""
    tok = Tokenizer(model)
    tok.pre_tokenizer = pre_tokenizer
    tok.train_from_iterator(lines(), trainer)
    return tok


def bpe_over_bytes() -> Tokenizer:
    """Train BPE over bytes, with a template and an added token that is not in the model."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False)
    tok = trained(models.BPE(), trainer, pre_tokenizers.ByteLevel(add_prefix_space=False))
    tok.add_tokens([AddedToken("ab", single_word=True)])
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2)])
    tok.enable_padding(pad_token="<pad>", pad_id=1)
    return tok


def bpe_over_characters() -> Tokenizer:
    """Train BPE over characters, with an unknown token and Metaspace."""
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=SPECIALS, show_progress=False)
    tok = trained(models.BPE(unk_token="<unk>", fuse_unk=True), trainer, pre_tokenizers.Metaspace())
    tok.decoder = decoders.Metaspace()
    return tok


def bpe_with_suffix() -> Tokenizer:
    """Train BPE with a suffix at the end of words."""
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=SPECIALS, end_of_word_suffix="</w>", show_progress=False)
    return trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainer, pre_tokenizers.WhitespaceSplit())


def bpe_like_clip() -> Tokenizer:
    """Train BPE over bytes with a suffix and a splitter that refers to added tokens; most bytes have no token with the suffix."""
    suffix, alphabet = "</w>", pre_tokenizers.ByteLevel.alphabet()
    options: Any = {"end_of_word_suffix": suffix, "initial_alphabet": alphabet, "show_progress": False}
    trainer = trainers.BpeTrainer(vocab_size=360, special_tokens=SPECIALS, **options)
    pattern = Regex(r"<unk>|<pad>|<s>|'s|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    splits = [pre_tokenizers.Split(pattern, "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tok = trained(models.BPE(unk_token="<unk>", end_of_word_suffix=suffix), trainer, pre_tokenizers.Sequence(splits))
    tok.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    return tok


def wordpiece() -> Tokenizer:
    """Train WordPiece with a normalizer."""
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIALS, show_progress=False)
    tok = trained(models.WordPiece(unk_token="<unk>"), trainer, pre_tokenizers.WhitespaceSplit())
    tok.normalizer = normalizers.Lowercase()
    return tok


def unigram() -> Tokenizer:
    """Train Unigram with Metaspace."""
    trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False)
    return trained(models.Unigram(), trainer, pre_tokenizers.Metaspace())


def word_level() -> Tokenizer:
    """Train WordLevel."""
    trainer = trainers.WordLevelTrainer(vocab_size=60, special_tokens=SPECIALS, show_progress=False)
    return trained(models.WordLevel(unk_token="<unk>"), trainer, pre_tokenizers.WhitespaceSplit())


KINDS: Mapping[str, tuple[Callable[[], Tokenizer], int]] = {  # a function that makes the base tokenizer, and the number of tokens to keep
    "BPE over bytes": (bpe_over_bytes, 290),
    "BPE over characters": (bpe_over_characters, 40),
    "BPE with a suffix": (bpe_with_suffix, 40),
    "BPE like CLIP": (bpe_like_clip, 320),
    "WordPiece": (wordpiece, 40),
    "Unigram": (unigram, 40),
    "WordLevel": (word_level, 30),
}
LIKE_CLIP = pytest.param("BPE like CLIP", marks=pytest.mark.slow)  # its splitter takes a second to compile
each_kind = pytest.mark.parametrize("kind", [LIKE_CLIP if kind == "BPE like CLIP" else kind for kind in KINDS])


def check_trimmed(old: fst.Tokenizer, new: Any, texts: Iterable[str]) -> tuple[int, int]:
    """Check the ids of texts whose tokens are all kept; return the number of these texts and the number of the other texts."""
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


@pytest.mark.mostly_slow
@each_kind
def test_texts_of_kept_tokens_have_the_mapped_ids(kind: str) -> None:
    """If all tokens of a text are kept, the trimmed vocabulary segments the text into the same tokens, with their new ids."""
    make, keep = KINDS[kind]
    live = make()
    new = fst.train.trim(live, lines(), keep)
    words = sorted({word for line in lines() for word in line.split()})
    same, other = check_trimmed(fst.Tokenizer(compiled(live)), new, [*lines(), *words, "é日", "xyz", "ab <s> abc"])
    assert same > 5
    assert other > 5
    assert len(new.trained.vocabulary) == keep


@pytest.mark.mostly_slow
@each_kind
def test_trimmed_vocabularies_keep_the_order_and_the_special_tokens(kind: str) -> None:
    """The new ids are 0, 1, 2 … in the order of the old ids, and all special tokens are kept."""
    make, keep = KINDS[kind]
    live = make()
    trimmed = fst.train.trim(live, lines(), keep)
    old, new = live.get_vocab(), trimmed.trained.vocabulary
    assert [*new.values()] == [*range(keep)]
    assert [*new] == sorted(new, key=old.__getitem__)
    assert {token: int(trimmed.ids[number]) for token, number in old.items()} == {token: new.get(token, -1) for token in old}
    assert {*SPECIALS} <= {*trimmed.trained.special_tokens}


def test_trimmed_vocabularies_are_read_by_the_reference(tmp_path: Path) -> None:
    """The tokenizer.json of a trimmed vocabulary has the same template, padding and added tokens as the old one, with the new ids."""
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


@cache
def like_clip(way: str) -> tuple[Tokenizer, list[fst.Tokenizer]]:
    """A vocabulary that is made from one like CLIP's and saved in a folder: as read by the reference and by this package, and its table."""
    live = bpe_like_clip()
    ways: Mapping[str, Callable[[], Trained]] = {
        "like": lambda: fst.train.like(live, lines(), 340),
        "extend": lambda: fst.train.extend(live, lines(), 20),
        "trim": lambda: fst.train.trim(live, lines(), 320).trained,
    }
    new = ways[way]()
    with TemporaryDirectory() as folder:
        new.save(f"{folder}/new/")
        reference = Tokenizer.from_file(f"{folder}/new/tokenizer.json")
        return reference, [fst.Tokenizer(compiled(f"{folder}/new/")), new.tokenizer()]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["like", "extend", pytest.param("trim", marks=pytest.mark.slow)])
@given(texts=st.lists(st.text("aABcé日x1'<>/ws ", max_size=12), max_size=8))
@examples(400)
def test_folders_like_clip_are_read(way: str, texts: list[str]) -> None:
    """A vocabulary in which most bytes have no token at the end of a word is read from its folder, and has the ids of `tokenizers`."""
    reference, made = like_clip(way)
    for tok in made:
        assert [tok.encode(text).tolist() for text in texts] == [encoding.ids for encoding in reference.encode_batch(texts)]


def test_most_used_tokens_stay() -> None:
    """The tokens that occur most often in the words are kept; if tokens are equally frequent, those with smaller ids are kept."""
    old = compiled(["[UNK]", "h", "p", "##u", "##g", "##ug", "hug", "pug", "hugu"], unk_token="[UNK]")
    trimmed = fst.train.trim(old, {"hug": 3, "pug": 4, "hug u": 1}, 7)
    assert [*trimmed.trained.vocabulary] == ["[UNK]", "h", "p", "##u", "##g", "hug", "pug"]
    assert trimmed.trained.counts.tolist() == [1, 0, 0, 0, 0, 3, 4]
    assert trimmed.ids.tolist() == [0, 1, 2, 3, 4, -1, 5, 6, -1]
    assert [*fst.train.trim(old, {"hug": 3}, 8).trained.vocabulary] == ["[UNK]", "h", "p", "##u", "##g", "##ug", "hug", "pug"]


def test_parts_of_kept_tokens_stay() -> None:
    """If a token of BPE is kept, so are the parts from which merges make this token, even if they never occur as tokens."""
    ids = {token: number for number, token in enumerate(["a", "b", "c", "ab", "bc", "abc", "ca"])}
    tok = Tokenizer(models.BPE(ids, [("a", "b"), ("ab", "c"), ("c", "a")]))
    trimmed = fst.train.trim(tok, {"abc": 9, "ca": 8, "bcc": 1}, 5)
    assert [*trimmed.trained.vocabulary] == ["a", "b", "c", "ab", "abc"]
    assert [*trimmed.trained.merges] == [("a", "b"), ("ab", "c")]
    assert [*fst.train.trim(tok, {"abc": 9, "ca": 8}, 4).trained.vocabulary] == ["a", "b", "c", "ca"]


def test_sizes_that_are_out_of_range_are_refused() -> None:
    """A size that is above the old size or below the number of required tokens is refused, and the message contains both numbers."""
    live = wordpiece()
    with pytest.raises(VocabularyError, match=r"keep is 121; expected at most 120"):
        fst.train.trim(live, lines(), 121)
    with pytest.raises(VocabularyError, match=r"keep is 3; expected at least 13, the added tokens and the alphabet"):
        fst.train.trim(live, lines(), 3)


MERGING = ["BPE over bytes", "BPE over characters", "BPE with a suffix", LIKE_CLIP, "WordPiece"]


def words_of(live: Tokenizer, texts: Iterable[str]) -> Counter[str]:
    """Return the words into which the pre-tokenizer of a tokenizer splits texts."""
    return Counter(word for text in texts for word, _ in live.pre_tokenizer.pre_tokenize_str(text))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", MERGING)
def test_new_tokens_are_those_of_a_recount(kind: str) -> None:
    """The new tokens are the most frequent pairs of tokens if all pairs are counted again after each merge."""
    live = KINDS[kind][0]()
    words = words_of(live, lines())
    splits = {word: [token.value for token in live.model.tokenize(word)] for word in words}
    prefix = "##" if kind == "WordPiece" else ""
    size = max(live.get_vocab().values()) + 1 + 40
    extended = fst.train.extend(live, lines(), 40)
    assert extended.vocabulary == naive_training.extended_by_recount(words, splits, live.get_vocab(), size, prefix)
    assert extended.stopped == ("size" if len(extended.vocabulary) == size else "no pair")


def undone(ids: Iterable[int], size: int, parts: Mapping[int, Sequence[int]]) -> list[int]:
    """Replace the ids of new tokens by the ids of their parts."""
    return [old for number in ids for old in ([number] if number < size else undone(parts[number], size, parts))]


def check_extended(live: Tokenizer, extended: Trained, texts: Iterable[str]) -> None:
    """Check that the ids of texts equal those of the base tokenizer if new tokens are replaced by their parts."""
    ids, size = extended.vocabulary, max(live.get_vocab().values()) + 1
    parts = {ids[left + right]: (ids[left], ids[right]) for left, right in extended.merges}
    again, tok = Tokenizer.from_str(json.dumps(extended.to_json())), extended.tokenizer()
    for text in texts:
        found = tok.encode(text).tolist()
        assert found == again.encode(text).ids, text
        assert undone(found, size, parts) == live.encode(text).ids, text


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", MERGING[:-1])
def test_new_merges_undone_give_the_old_ids(kind: str) -> None:
    """Extension changes the tokens of a text only by joining adjacent tokens to new tokens, and keeps the old ids and the order of old
    merges.
    """
    live = KINDS[kind][0]()
    extended = fst.train.extend(live, lines(), 40)
    assert {token: extended.vocabulary[token] for token in live.get_vocab()} == live.get_vocab()
    old = json.loads(live.to_str())["model"]["merges"]
    assert [*map(list, extended.merges[: len(old)])] == old
    draw = random.Random(3)
    texts = [" ".join("".join(draw.choices("aabcé日x", k=draw.randint(1, 9))) for _ in range(9)) for _ in range(30)]
    check_extended(live, extended, [*lines(), *texts, "ab abab <s> ab"])
    assert len(extended.merges) > len(old)


SHORT = st.text("abc", min_size=1, max_size=6)


COUNTS = st.dictionaries(SHORT, st.integers(1, 5), min_size=1)


@pytest.mark.slow
@given(merges=st.lists(st.tuples(SHORT, SHORT), max_size=6), words=COUNTS, texts=st.lists(SHORT))
@examples(120)
def test_strings_with_ids_keep_them(merges: list[tuple[str, str]], words: dict[str, int], texts: list[str]) -> None:
    """If a new merge makes an added token, or an old token that no old merge makes, the token keeps its id."""
    made = list(dict.fromkeys(merges))
    tokens = dict.fromkeys(["a", "b", "c", *(token for left, right in made for token in (left, right, left + right))])
    live = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, made))
    live.add_tokens([AddedToken("abc", single_word=True), AddedToken("cab", special=True)])
    extended = fst.train.extend(live, words, 5)
    assert {token: extended.vocabulary[token] for token in live.get_vocab()} == live.get_vocab()
    again, tok = Tokenizer.from_str(json.dumps(extended.to_json())), extended.tokenizer()
    for text in [*words, *texts]:
        assert tok.encode(text).tolist() == again.encode(text).ids


def test_unknown_text_is_in_no_new_token() -> None:
    """No new token contains an unknown character or the byte tokens of such a character."""
    tokens = {"<unk>": 0, "a": 1, "b": 2, **{f"<0x{byte:02X}>": 3 + byte for byte in range(256)}}
    live = Tokenizer(models.BPE(tokens, [], unk_token="<unk>", byte_fallback=True))
    extended = fst.train.extend(live, {"aéb": 9, "ab": 1, "éé": 5}, 3)
    assert [*extended.vocabulary][259:] == ["ab"]
    assert extended.stopped == "no pair"
    piece = fst.train.extend(compiled(["[UNK]", "a", "##b"], unk_token="[UNK]"), {"axb": 9, "abx": 1}, 3)
    assert [*piece.vocabulary] == ["[UNK]", "a", "##b"]


def test_extended_word_level_has_the_most_frequent_words() -> None:
    """A WordLevel vocabulary gets the most frequent words that are not tokens; equally frequent words are ordered by code points."""
    old = Tokenizer(models.WordLevel({"<unk>": 0, "hug": 1, "pug": 7}, unk_token="<unk>"))
    extended = fst.train.extend(old, {"hug": 9, "b": 3, "a": 3, "c": 4, "d": 1}, 3)
    assert extended.vocabulary == {"<unk>": 0, "hug": 1, "pug": 7, "c": 8, "a": 9, "b": 10}
    assert extended.counts.tolist() == [11, 9, 0, 0, 0, 0, 0, 0, 4, 3, 3]


@pytest.mark.slow
def test_extension_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    """A run that stops at its deadline writes a checkpoint, and runs that continue from it give the same vocabulary as an uninterrupted
    run.
    """
    live, path = bpe_over_characters(), tmp_path / "run.npz"
    merges_of = fst.train.extend(live, lines(), 40).merges
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fst.train.merges.STEPS", 20)
        rounds, found = 0, None
        while found is None or found.stopped == "deadline":
            found = fst.train.extend(live, lines(), 40, deadline=0, checkpoint=path)
            rounds += 1
    assert rounds > 2
    assert [*found.merges] == [*merges_of]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("number", ["3", 1.5, None])
def test_numbers_of_tokens_are_whole(number: Any) -> None:
    """A number of tokens that is not an integer is refused, and the message contains the argument's name."""
    with pytest.raises(VocabularyError, match=f"add is {number!r}; expected a whole number"):
        fst.train.extend(wordpiece(), lines(), number)
    with pytest.raises(VocabularyError, match=f"keep is {number!r}; expected a whole number"):
        fst.train.trim(wordpiece(), lines(), number)


def test_impossible_extensions_are_refused() -> None:
    """Extension of a Unigram vocabulary is refused, and so is a negative number of new tokens."""
    with pytest.raises(UnsupportedError, match="the vocabulary is Unigram, and no rule of"):
        fst.train.extend(unigram(), lines(), 10)
    with pytest.raises(VocabularyError, match="add is -1; expected a whole number from 0"):
        fst.train.extend(wordpiece(), lines(), -1)
    live = wordpiece()
    assert fst.train.extend(live, lines(), 0).vocabulary == live.get_vocab()


@pytest.mark.slow
def test_every_form_of_a_base_tokenizer_is_taken(tmp_path: Path) -> None:
    """A `tokenizers.Tokenizer`, an fst.Tokenizer, a table, its file, a tokenizer.json and a trained vocabulary give the same result."""
    live = wordpiece()
    live.save(str(tmp_path / "tokenizer.json"))
    table = compiled(live)
    table.save(tmp_path / "table.npz")
    same = fst.train.trim(live, lines(), 120).trained
    forms = [live, fst.Tokenizer(table), table, tmp_path / "table.npz", str(tmp_path / "tokenizer.json"), tmp_path, same]
    assert len({tuple(fst.train.trim(old, lines(), 40).trained.vocabulary.items()) for old in forms}) == 1


def encoding_of(pattern: str) -> tiktoken.Encoding:
    """Make a small encoding of `tiktoken`."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"bc", b"abc", b" a", b"ca", b"  ", b"   ", b"    "]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 300})


@pytest.mark.slow
def test_encodings_of_tiktoken_are_trimmed_and_extended(tmp_path: Path) -> None:
    """An encoding of `tiktoken` with a known pattern can be trimmed, which gives ranks, and extended with ids after its last id."""
    old = encoding_of(ENCODINGS["cl100k_base"].pattern)
    texts = ["abc ab  a   abc cab xyzzy"] * 3
    trimmed = fst.train.trim(old, texts, 261)
    assert [*trimmed.trained.vocabulary][256:] == ["ab", "abc", "Ġa", "ĠĠ", "<|end|>"]
    trimmed.trained.save(tmp_path / "small.tiktoken")
    assert len((tmp_path / "small.tiktoken").read_text().splitlines()) == 260
    same, _ = check_trimmed(fst.Tokenizer(compiled(old)), trimmed, ["abc abc", "  a", "bc", "    "])
    assert same > 1
    extended = fst.train.extend(old, texts, 2)
    assert extended.vocabulary["<|end|>"] == 300
    assert sorted(extended.vocabulary.values())[-2:] == [301, 302]


def test_vocabularies_without_a_tokenizer_json_are_refused() -> None:
    """An encoding of `tiktoken` with an unknown pattern is refused, because no equivalent tokenizer.json is known."""
    with pytest.raises(UnsupportedError, match="has no known counterpart"):
        fst.train.trim(encoding_of(r"\w+|\W+"), ["ab"], 256)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(("name", "keep"), [("vocab_bpe/mistral01", 12_000), ("vocab/bert-base-cased", 8_000)])
def test_trimmed_vocabularies_of_the_field(name: str, keep: int) -> None:
    """If the vocabularies of Mistral and BERT are trimmed on a corpus, texts of kept tokens have the same tokens as before."""
    text = (SHARED / "corpora" / "en_books_20MB.txt").read_text("utf-8")[:200_000]
    texts: Sequence[str] = text.splitlines(keepends=True)
    old = fst.Tokenizer(compiled(SHARED / name))
    same, _ = check_trimmed(old, fst.train.trim(old, texts, keep), texts)
    assert same > len(texts) // 2


@needs_shared
@pytest.mark.slow
def test_extended_vocabulary_of_the_field() -> None:
    """If GPT-2's vocabulary is extended on Python code, texts have the same tokens as before, except for new tokens."""
    live = Tokenizer.from_file(str(SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json"))
    texts = (SHARED / "corpora" / "code_python.txt").read_text("utf-8")[:300_000].splitlines(keepends=True)
    extended = fst.train.extend(live, texts, 500)
    assert [*extended.vocabulary.values()] == [*range(50_757)]
    check_extended(live, extended, texts[::20])
