"""Unigram training by SentencePiece's rules gives the same results as the trainer of `sentencepiece` 0.2.3, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.naive import sentencepiece_unigram as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst import train
from fst.counting.words import Words
from fst.train.result import Trained

NAMES = {  # argument → option of spm_train
    "n_sub_iterations": "num_sub_iterations",
    "max_piece_length": "max_sentencepiece_length",
    "seed_size": "seed_sentencepiece_size",
    "normalizer": "normalization_rule_name",
}
ALPHABETS = ["ab", "abc ", "abcdef  123", "aбвг дежz "]
ALPHABETS += ["日本語ひらカナー 東京a1", "aé\u0308\u0301xüß 4\uff15", "a1２,. -☃ \u2588", "aa ▁b<s>c<u> x"]
Pairs = list[tuple[str, float]]


def learned(texts: Sequence[str], **options: Any) -> Trained:
    """Return the vocabulary that this package learns from sentences."""
    return train.unigram(iter(texts), reference="sentencepiece", splitter="sentencepiece", **options)


def pieces_of(trained: Trained) -> Pairs:
    """Return the pieces and scores of a vocabulary."""
    return [*zip(trained.vocabulary, trained.scores.tolist(), strict=True)]


def model_of(texts: Sequence[str], options: Mapping[str, Any] | None = None, **arguments: Any) -> bytes:
    """Return the ``.model`` that `sentencepiece` learns from sentences."""
    library, model = pytest.importorskip("sentencepiece"), BytesIO()
    named = {NAMES.get(name, name): value for name, value in arguments.items()}
    library.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, minloglevel=3, **named, **(options or {}))
    return model.getvalue()


def referred(texts: Sequence[str], options: Mapping[str, Any] | None = None, **arguments: Any) -> Pairs:
    """Return the pieces and scores that `sentencepiece` learns from sentences."""
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=model_of(texts, options, **arguments))
    return [(processor.id_to_piece(number), processor.get_score(number)) for number in range(processor.get_piece_size())]


def sentences(random: Random, letters: str) -> list[str]:
    """Return random sentences: of letters, or of a few repeated words."""
    if random.random() < 0.4:
        return ["".join(random.choices(letters, k=random.randrange(1, 40))) for _ in range(random.randrange(3, 80))]
    words = ["".join(random.choices(letters.replace(" ", ""), k=random.randrange(1, 9))) for _ in range(random.randrange(2, 40))]
    return [" ".join(random.choices(words, k=random.randrange(12))) for _ in range(random.randrange(3, 120))]


CHOICES: dict[str, tuple[Any, ...]] = {
    "character_coverage": (0.98, 0.99, 1.0),
    "byte_fallback": (True,),
    "split_digits": (True,),
    "split_by_unicode_script": (False,),
    "split_by_number": (False,),
    "split_by_whitespace": (False,),
    "allow_whitespace_only_pieces": (True,),
    "num_threads": (1, 2, 5, 33),
    "user_defined_symbols": (["<u>", "ab"], ["b", "x"]),
    "max_sentence_length": (10, 30, 50),
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "max_piece_length": (1, 2, 5, 30),
    "shrinking_factor": (0.5, 0.6, 0.95),
    "n_sub_iterations": (1, 3, 5),
    "seed_size": (1, 5, 20, 100),
    "normalizer": ("nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"),
}


def hold(texts: Sequence[str], options: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check that both trainers learn the same pieces with the same order and scores, or both refuse."""
    try:
        expected = referred(texts, options, **arguments)
    except RuntimeError:
        with pytest.raises(fst.VocabularyError):
            learned(texts, options=options, **arguments)
        return
    assert pieces_of(learned(texts, options=options, **arguments)) == expected, (options, arguments)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(40))
def test_pieces_equal_those_of_sentencepiece(seed: int) -> None:
    """From random sentences, with random options, the trainer learns the same pieces with the same order and scores, or both refuse."""
    pytest.importorskip("sentencepiece")
    random = Random(seed)
    for letters in ALPHABETS:
        texts = sentences(random, letters)
        options = {name: random.choice(values) for name, values in CHOICES.items() if random.random() < 0.15}
        arguments = {name: random.choice(values) for name, values in ARGUMENTS.items() if random.random() < 0.15}
        options["hard_vocab_limit"] = random.random() < 0.15
        arguments["vocab_size"] = random.choice([12, 20, 30, 50, 100, 300]) + 256 * ("byte_fallback" in options)
        hold(texts, options, arguments)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("kind", ["char", "word"])
def test_characters_and_words_equal_those_of_sentencepiece(kind: str, seed: int) -> None:
    """From random sentences, the types char and word have the same pieces with the same order and scores, or both trainers refuse."""
    pytest.importorskip("sentencepiece")
    random = Random(f"{kind} {seed}")
    for letters in ALPHABETS:
        texts = sentences(random, letters)
        options = {name: random.choice(values) for name, values in CHOICES.items() if random.random() < 0.2}
        options |= {"model_type": kind, "use_all_vocab": random.random() < 0.2, "hard_vocab_limit": random.random() < 0.3}
        arguments = {name: random.choice(values) for name, values in ARGUMENTS.items() if random.random() < 0.15}
        arguments["vocab_size"] = random.choice([1, 3, 4, 6, 8, 12, 20, 50, 300]) + 256 * ("byte_fallback" in options)
        hold(texts, options, arguments)


def test_characters_and_words_by_definition() -> None:
    """The score of a character or a word is the logarithm of its share, in float32."""
    options = {"character_coverage": 1.0, "hard_vocab_limit": False}
    characters = learned(["aab b"], vocab_size=20, options={**options, "model_type": "char"})
    words = learned(["b a b", "b c"], vocab_size=5, options={**options, "model_type": "word"})
    assert [*characters.vocabulary][3:] == ["a", "b", "▁"]
    assert characters.scores[3:].tolist() == pytest.approx([log(1 / 3)] * 3)
    assert [*words.vocabulary][3:] == ["▁b", "▁a"]
    assert words.scores[3:].tolist() == pytest.approx([log(3 / 5), log(1 / 5)])
    assert words.counts.tolist() == [0, 0, 0, 3, 1]


@pytest.mark.parametrize("kind", ["unigram", "char", "word"])
def test_the_first_sentences_are_used(kind: str) -> None:
    """Without shuffling, `input_sentence_size` limits training to the first sentences that are not skipped, as in `sentencepiece`."""
    texts = ["", "a" * 5000, *(f"ab{'cd' * (number % 7)} {number}" for number in range(200))]
    options = {"model_type": kind, "hard_vocab_limit": False, "input_sentence_size": 150, "shuffle_input_sentence": False}
    assert pieces_of(learned(texts, vocab_size=40, options=options)) == referred(texts, options, vocab_size=40)
    del options["shuffle_input_sentence"]
    with pytest.raises(fst.UnsupportedError, match="the texts have more sentences"):
        learned(texts, vocab_size=40, options=options)
    options["input_sentence_size"] = 201
    assert pieces_of(learned(texts, vocab_size=40, options=options)) == referred(texts, options, vocab_size=40)


@given(some.lists(some.text("ab", min_size=1, max_size=6), min_size=1, max_size=6), some.integers(1, 40), some.integers(1, 3))
@examples(30)
def test_pieces_equal_those_of_the_naive_trainer(words: list[str], size: int, shares: int) -> None:
    """From any sentences, the kernels learn the same pieces and scores as loops over all substrings and paths."""
    texts = [" ".join(words[at::2]) for at in range(min(2, len(words)))]
    letters = len({*"".join(words)}) + 1
    options = {"hard_vocab_limit": False, "num_threads": shares, "character_coverage": 1.0}
    found = learned(texts, vocab_size=letters + size + 3, options=options)
    expected = naive.train(["".join(f"▁{word}" for word in text.split(" ")) for text in texts], letters + size, shares=shares)
    assert pieces_of(found)[3:] == [*expected.items()]


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("wikitext2_test.txt", 7_000), ("ja_wagahai.txt", 4_000)])
def test_pieces_of_a_corpus(name: str, size: int) -> None:
    """From real texts, the trainer learns the same pieces and scores."""
    texts = (SHARED / "corpora" / name).read_text("utf-8").split("\n")
    assert pieces_of(learned(texts, vocab_size=size)) == referred(texts, vocab_size=size)


@pytest.mark.parametrize(("kind", "rule"), [("unigram", "nmt_nfkc"), ("char", "identity"), ("word", "identity")])
def test_the_saved_model_has_the_same_pieces(kind: str, rule: str, tmp_path: Path) -> None:
    """The bytes of the pieces in a saved ``.model`` are those that `sentencepiece` writes; both models and the table give the same ids."""
    library = pytest.importorskip("sentencepiece")
    texts = ["the cat sat on the mat", "a cat and a hat", "hats on cats"] * 9
    options = {"hard_vocab_limit": False, "user_defined_symbols": ["<sep>"], "model_type": kind}
    trained = learned(texts, vocab_size=60, options=options, normalizer=rule)
    trained.save(tmp_path / "own.model")
    own, expected = (tmp_path / "own.model").read_bytes(), model_of(texts, options, vocab_size=60, normalizer=rule)
    schema = pytest.importorskip("sentencepiece.sentencepiece_model_pb2").ModelProto
    models = [schema.FromString(data) for data in (own, expected)]
    for model in models:
        model.ClearField("trainer_spec")
        model.normalizer_spec.ClearField("precompiled_charsmap")
    assert models[0].SerializeToString() == models[1].SerializeToString()
    texts += ["<sep> the ca\u0301t\u3000sat", "ﬁ on"]
    processors = [library.SentencePieceProcessor(model_proto=data) for data in (own, expected)]
    assert processors[0].encode(texts) == processors[1].encode(texts) == [[*trained.tokenizer().encode(text)] for text in texts]
    if kind != "unigram":
        with pytest.raises(fst.UnsupportedError, match=f"type {kind}, which no tokenizer.json has; save a .model"):
            trained.save(tmp_path / "own")


def test_counted_words_are_sentences(tmp_path: Path) -> None:
    """Counted words are sentences of one word, as lines of a word, a tab and a count are for `sentencepiece`; the first can be used."""
    library, model = pytest.importorskip("sentencepiece"), BytesIO()
    words = {"▁low": 5, "▁lower": 2, "▁newest": 6, "▁widest": 3}
    lines = "".join(f"{word[1:]}\t{count}\n" for word, count in words.items())
    (tmp_path / "words.tsv").write_text(lines, encoding="utf-8")
    options = {"input_format": "tsv", "vocab_size": 20, "hard_vocab_limit": False, "minloglevel": 3}
    library.SentencePieceTrainer.train(input=str(tmp_path / "words.tsv"), model_writer=model, **options)
    processor = library.SentencePieceProcessor(model_proto=model.getvalue())
    expected = [(processor.id_to_piece(number), processor.get_score(number)) for number in range(processor.get_piece_size())]
    found = train.unigram(Words.of_pairs(words.items()), reference="sentencepiece", vocab_size=20, options={"hard_vocab_limit": False})
    assert pieces_of(found) == expected
    numbers = Words.of_pairs((f"▁w{number}", 1 + number % 3) for number in range(300))
    limit = {"model_type": "word", "hard_vocab_limit": False, "input_sentence_size": 150}
    first = Words.of_pairs([*zip(map(bytes.decode, numbers), numbers.counts.tolist(), strict=True)][:150])
    wanted = learned_words(first, {**limit, "input_sentence_size": 0})
    assert learned_words(numbers, {**limit, "shuffle_input_sentence": False}) == wanted
    with pytest.raises(fst.UnsupportedError, match="the texts have more sentences"):
        learned_words(numbers, limit)


def learned_words(words: Words, options: Mapping[str, Any]) -> Pairs:
    """The pieces that the trainer learns from counted words."""
    return pieces_of(train.unigram(words, reference="sentencepiece", vocab_size=400, options=options))


def test_the_initial_alphabet_is_required() -> None:
    """Characters of `initial_alphabet` become pieces although no text contains them, like `required_chars` of `sentencepiece`."""
    texts = ["abab ab", "ba ab abab"]
    found = learned(texts, vocab_size=15, initial_alphabet=["z", "é"], options={"hard_vocab_limit": False})
    assert pieces_of(found) == referred(texts, {"hard_vocab_limit": False, "required_chars": "zé"}, vocab_size=15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"treat_whitespace_as_suffix": True}}, "'treat_whitespace_as_suffix'; expected options that are followed exactly"),
        ({"options": {"input_sentence_size": 9}}, "input_sentence_size is 9; expected 0 or at least 101, as in SentencePiece"),
        ({"options": {"model_type": "bpe"}}, "model_type is 'bpe', which is the trainer fst.train.bpe"),
        ({"options": {"model_type": "words"}}, "model_type is 'words'; expected 'unigram', 'char' or 'word'"),
        ({"options": {"user_defined_symbols": ["<a>", "<a>"]}}, "special tokens and symbols are .*; expected each once"),
        ({"options": {"user_defined_symbols": ["b", "▁b"], "model_type": "word"}}, "special tokens and symbols are .*; expected each once"),
        ({"options": {"use_all_vocab": True}}, "use_all_vocab is for model_type 'char' or 'word'"),
        ({"options": {"model_type": "word"}, "vocab_size": 2}, "vocab_size is 2; expected at least 3"),
        ({"options": {"model_type": "char"}, "initial_alphabet": ["z"]}, "no text contains 'z' of initial_alphabet"),
        ({"options": {"num_sub_iterations": 2}}, "the argument n_sub_iterations; pass it as such"),
        ({"options": {"character_coverage": 0.9}}, "character_coverage is 0.9; expected a number from 0.98 to 1"),
        ({"options": {"split_digits": 1}}, "split_digits is 1; expected bool"),
        ({"options": {"user_defined_symbols": [""]}}, "user_defined_symbols are"),
        ({"options": {"user_defined_symbols": 5}}, "user_defined_symbols are 5; expected a list"),
        ({"options": {"user_defined_symbols": '"a,b",c'}}, "expected text without quotes; pass a list"),
        ({"options": 5}, "options are 5; expected names with values"),
        ({"initial_alphabet": [" "]}, "initial_alphabet contains ' '"),
        ({"options": {"user_defined_symbols": ["<s>"]}}, "expected each once"),
        ({"max_piece_length": 513}, "max_piece_length is 513; expected 1 to 512, as in SentencePiece"),
        ({"shrinking_factor": 0.1}, "shrinking_factor is 0.1; expected 0.5 to 0.95"),
        ({"vocab_size": 4}, "vocab_size is 4; expected at least"),
        ({"vocab_size": 400}, "vocab_size is 400; expected at most"),
        ({"min_count": 2}, "min_count is combined with texts"),
        ({"splitter": "metaspace"}, "no rule of SentencePiece"),
    ],
)
def test_options_that_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Options that cannot be followed exactly, values that SentencePiece refuses, and other pipelines are refused by name."""
    given = {"splitter": "sentencepiece", "vocab_size": 20, **arguments}
    with pytest.raises((fst.VocabularyError, fst.UnsupportedError), match=message):
        train.unigram(iter(["abab ab", "ba ab abab"]), reference="sentencepiece", **given)


def test_the_unknown_token_replaces_that_of_the_default() -> None:
    """Without special tokens, `unk_token` is the first of the three meta pieces, like ``unk_piece`` of `sentencepiece`."""
    texts = ["abab ab", "ba ab abab"]
    found = learned(texts, vocab_size=15, unk_token="[UNK]", options={"hard_vocab_limit": False})
    assert pieces_of(found) == referred(texts, {"hard_vocab_limit": False, "unk_piece": "[UNK]"}, vocab_size=15)


def test_malformed_documents_are_named() -> None:
    """The error of a malformed document has its number among all documents, also those that are skipped."""
    for texts in (["ab", "", "b\ud800"], [b"ab", b"", b"b\xff"]):
        with pytest.raises(fst.TextError, match="document 2, position 1: ") as error:
            train.unigram(iter(texts), reference="sentencepiece", splitter="sentencepiece", options={"hard_vocab_limit": False})
        assert error.value.row == 2


def test_texts_of_special_tokens_are_refused() -> None:
    """Texts in which special tokens alone reach the coverage are an error, as for `sentencepiece`."""
    with pytest.raises(fst.VocabularyError, match="no covered characters"):
        learned(["<s>" * 100], options={"character_coverage": 0.98})


def test_a_deadline_during_the_reading_leaves_no_checkpoint(tmp_path: Path) -> None:
    """If the deadline ends the reading, the result is marked, and no checkpoint is written, since no later run has the same texts."""
    found = learned(["abab ab", "ba ab"] * 3, options={"hard_vocab_limit": False}, deadline=0, checkpoint=tmp_path / "run.npz")
    assert found.stopped == "deadline"
    assert not (tmp_path / "run.npz").exists()


def test_words_that_are_refused() -> None:
    """Words without ▁ and words of bytes are refused, and options without the reference."""
    with pytest.raises(fst.VocabularyError, match="does not begin with ▁"):
        train.unigram({"ab": 3}, reference="sentencepiece")
    with pytest.raises(fst.UnsupportedError, match="not of bytes"):
        train.unigram({"ab": 3}, reference="sentencepiece", splitter="gpt2")
    with pytest.raises(fst.UnsupportedError, match="options are those of SentencePiece"):
        train.unigram({"ab": 3}, options={})
    with pytest.raises(fst.VocabularyError, match="no characters"):
        train.unigram(iter(["\u2585", " "]), reference="sentencepiece", splitter="sentencepiece")
