"""The trainer of Unigram gives the same results as the enumerations in `naive_training` and as the trainer of `tokenizers`."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive import training as naive_training
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import fst
from fst.compile.train.unigram.lattices import letters_of, seeds_of
from fst.counting.words import Words
from fst.train import unigram_trainer
from fst.train.checkpoints import members_of
from fst.train.pipeline import SPLITTERS
from fst.train.result import Trained
from fst.train.symbols import code_points_of
from fst.train.unigram_trainer import State, _Run, unigram

NEWEST = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
CORPORA = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=8)
CUT = "\x01"  # the text that separates the words for the trainer of `tokenizers`
NEAR = 1e-9


def trained(words: Mapping[str, int], **options: Any) -> Trained:
    """Return the result of training on words with counts."""
    return unigram(Words.of_pairs(words.items()), **options)


def referred(words: Mapping[str, int], **options: Any) -> dict[str, float]:
    """Return the pieces that `tokenizers` learns and their scores, in the order of their ids."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(CUT, "removed")
    lines = (CUT.join([word] * count) for word, count in words.items())
    tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(show_progress=False, **options))
    return dict(json.loads(tokenizer.to_str())["model"]["vocab"])


def assert_same(found: Mapping[str, float], expected: Mapping[str, float], missing: set[str]) -> None:
    """Check that pieces and scores are equal; characters that are not pieces share their scores, in a random order in `tokenizers`.

    `tokenizers` adds up words in a random order, so the last digits of scores differ, and pieces with equal scores may be in any order.
    """
    assert not found.keys() ^ expected.keys()
    assert all(abs(found[piece] - score) < NEAR for piece, score in expected.items() if piece not in missing)
    assert np.allclose(sorted(found[piece] for piece in missing), sorted(expected[piece] for piece in missing), atol=NEAR, rtol=0)
    assert np.allclose([*found.values()], [*expected.values()], atol=NEAR, rtol=0)


def pieces_of(result: Trained) -> dict[str, float]:
    """Return the score of each token."""
    return dict(zip(result.vocabulary, result.scores.tolist(), strict=True))


def missing_of(vocabulary: Mapping[str, float]) -> set[str]:
    """Return the characters that are not pieces, whose scores descend from the least score of a piece in steps of 0.0001."""
    least, found, penalty = min(vocabulary.values()), set[str](), 0.0
    while step := {token for token, score in vocabulary.items() if len(token) == 1 and score == least + penalty}:
        found |= step
        penalty += 0.0001
    return found


def assert_as_referred(words: Mapping[str, int], **options: Any) -> None:
    """Check that the trainer makes the same pieces as `tokenizers`."""
    found = pieces_of(trained(words, **options))
    assert_same(found, referred(words, **options), missing_of(found))


def some_words(source: random.Random) -> dict[str, int]:
    """Draw words over a few letters."""
    letters = "abcdefghijklmnop"[: source.choice([1, 2, 3, 5, 16])]
    words = ("".join(source.choices(letters, k=source.randint(1, 10))) for _ in range(source.randint(1, 40)))
    return {word: source.randint(1, 6) for word in words}


def some_options(source: random.Random, words: Mapping[str, int]) -> dict[str, Any]:
    """Draw options, with a size that is sufficient for all characters."""
    options: dict[str, Any] = {"vocab_size": source.randint(len({*"".join(words)}) + 4, 80)}
    if source.random() < 0.5:
        options |= {"unk_token": source.choice(["<unk>", "<s>"]), "special_tokens": ["<s>", "</s>"], "initial_alphabet": ["a", "é"]}
    if source.random() < 0.5:
        options |= {"n_sub_iterations": source.randint(1, 3), "shrinking_factor": source.choice([0.3, 0.75, 0.9])}
        options |= {"max_piece_length": source.randint(1, 5), "seed_size": source.randint(1, 50)}
    return options


def corpus(name: str, size: int, pre_tokenizer: Any) -> Counter[str]:
    """Return the words of a real text."""
    text = (SHARED / "corpora" / name).read_bytes()[:size].decode(errors="ignore")
    return Counter(word for line in text.splitlines(keepends=True) for word, _ in pre_tokenizer.pre_tokenize_str(line))


def run_of(words: Mapping[str, int], most: int = 100, reference: str = "huggingface") -> _Run:
    """Return a run before its first round."""
    counted = Words.of_pairs(words.items())
    text = letters_of(counted, *code_points_of(counted, are_bytes=False))
    return _Run(text, seeds_of(text, longest=5, most=1000), most, 0.75, 2, reference)


def spelled(run: _Run, pieces: Any) -> list[str]:
    """Return pieces as strings, without the unknown piece."""
    return run.text.spelled(run.seeds.places[pieces[1:]], run.seeds.lengths[pieces[1:]])


def test_worked_numbers() -> None:
    """From the words `low lower newest widest`, the trainer learns the same pieces and scores as `tokenizers`."""
    found = pieces_of(trained(NEWEST, vocab_size=40))
    tokens, scores = ["e", "s", "t", "low", "n", "w", "we", "d", "i"], [-1.602232, -1.955455, -1.955455, -2.223313, -2.389979]
    expected = dict(zip(tokens, [*scores, -2.681555, -2.73357, -3.173313, -3.173313], strict=True))
    expected |= {"o": -3.673213, "l": -3.673313, "r": -3.673313}
    assert [*found] == [*expected]
    assert all(abs(found[piece] - score) < 2e-4 if piece in "lor" else 1e-6 for piece, score in expected.items())


@examples(60)
@given(CORPORA)
def test_seeds_are_all_frequent_substrings(words: dict[str, int]) -> None:
    """The seeds are all characters and all substrings that occur before at least two different letters, ordered as in `tokenizers`, with
    the logarithms of their shares as scores.
    """
    run, expected = run_of(words), naive_training.unigram_seeds(words, 5)
    assert spelled(run, run.begin().pieces) == [seed for seed, _ in expected]
    shares = np.log([score / sum(score for _, score in expected) for _, score in expected])
    assert np.allclose(run.begin().scores[1:], shares, rtol=1e-12)


@examples(40)
@given(CORPORA)
def test_expectations_are_those_of_all_segmentations(words: dict[str, int]) -> None:
    """The expected count of a piece is the sum of its counts in all segmentations of the words, weighted by the probability of each
    segmentation.
    """
    run = run_of(words)
    state, expected = run.begin(), np.zeros(len(run.seeds.scores))
    unigram_trainer.EXPECT.call(run.lattices, run._scores_of(state), run.sums.best, run.sums.second, expected)
    pieces = spelled(run, state.pieces)
    wanted = naive_training.unigram_expectations(words, dict(zip(pieces, state.scores[1:].tolist(), strict=True)))
    assert np.allclose(expected[1:], [wanted[piece] for piece in pieces], rtol=1e-11)


@examples(60)
@given(CORPORA, st.integers(0, 1 << 30), st.sampled_from(["huggingface", "exact"]), st.integers(2, 30))
def test_pruning_keeps_the_pieces_of_the_greatest_loss(words: dict[str, int], seed: int, reference: str, most: int) -> None:
    """Pruning keeps pieces that cannot be segmented into other pieces, and then pieces whose removal causes the greatest loss."""
    run = run_of(words, most, reference)
    pieces, scores = run.begin().pieces, -5 * np.random.default_rng(seed).random(len(run.seeds.scores))
    state = State(pieces, np.append(np.nan, scores[1:]), np.array([2]))
    by_piece = dict(zip(spelled(run, pieces), state.scores[1:].tolist(), strict=True))
    size = max(most, int(len(pieces) * 0.75))
    expected = naive_training.unigram_pruned(words, by_piece, size, reference == "exact")
    pruned = spelled(run, run.advance(state).state.pieces)
    if size - 1 >= sum(len(piece) == 1 for piece in by_piece):
        assert pruned == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize("seed", range(6))
def test_random_words_as_referred(seed: int) -> None:
    """From random words over one to sixteen letters, the trainer learns the same pieces and scores as `tokenizers`, with any options."""
    source = random.Random(seed)
    for _ in range(15):
        words = some_words(source)
        assert_as_referred(words, **some_options(source, words))


@pytest.mark.slow
def test_many_random_words_as_referred() -> None:
    """From many more random words, the trainer learns the same pieces and scores as `tokenizers`."""
    source = random.Random(100)
    for _ in sample(range(800), 8):
        words = some_words(source)
        assert_as_referred(words, **some_options(source, words))


CORPUS = [
    *(("en_books_20MB.txt", 50_000, 1000), ("docs_zh.md", 60_000, 3000), ("ja_wagahai.txt", 40_000, 2500)),
    *(("docs_hi.md", 60_000, 600), ("docs_ar.md", 40_000, 900), ("docs_ko.md", 40_000, 1800), ("code_python.txt", 20_000, 500)),
]


@needs_shared
@pytest.mark.parametrize(("name", "size", "vocab_size"), CORPUS)
def test_texts_as_referred(name: str, size: int, vocab_size: int) -> None:
    """From texts in several scripts that Metaspace splits, the trainer learns the same pieces and scores as `tokenizers`."""
    assert_as_referred(corpus(name, size, pre_tokenizers.Metaspace()), vocab_size=vocab_size, unk_token="[UNK]")


@needs_shared
def test_bytes_are_spelled_as_referred() -> None:
    """In a byte-level pipeline, words consist of bytes, and pieces are spelled in ByteLevel's letters for bytes, as in `tokenizers`."""
    words = corpus("docs_ja.md", 12_000, pre_tokenizers.ByteLevel(add_prefix_space=False))
    letters = {letter: byte for byte, letter in fst.pretokens.byte_letters.LETTERS.items()}
    raw = Words.of_pairs((bytes(letters[letter] for letter in word), count) for word, count in words.items())
    found = pieces_of(unigram(raw, vocab_size=500, splitter=SPLITTERS["gpt2"]))
    assert_same(found, referred(words, vocab_size=500), missing_of(found))


def test_alphabet_that_fills_the_size_as_referred() -> None:
    """If the characters alone fill the size, all other pieces are still added, as in `tokenizers`, but "exact" adds none."""
    words = {"abcdefgh": 1, "ijklmnop": 1, "abab": 5, "cdcd": 5, "efgefg": 5, "xabcd": 3, "yefg": 3}
    size = len({*"".join(words)})
    assert_as_referred(words, vocab_size=size)
    assert len(trained(words, vocab_size=size).vocabulary) > size
    assert len(trained(words, vocab_size=size, reference="exact").vocabulary) == size


@examples(20)
@given(CORPORA, st.randoms(use_true_random=False))
def test_order_and_splits_of_words_are_nothing(words: dict[str, int], source: random.Random) -> None:
    """The result does not depend on the order of words, or on whether their counts are split into several parts."""
    pairs = [(word, part) for word, count in words.items() for part in [1] * (count - 1) + [1]]
    source.shuffle(pairs)
    first, second = trained(words, vocab_size=20), unigram(Words.of_pairs(pairs), vocab_size=20)
    assert first.vocabulary == second.vocabulary
    assert first.scores.tobytes() == second.scores.tobytes()


@pytest.mark.parametrize("reference", ["huggingface", "exact"])
def test_run_resumes_bit_for_bit(reference: str, tmp_path: Path) -> None:
    """A run that stops after each round and continues from its checkpoint gives the same bytes as an uninterrupted run."""
    words, options = some_words(random.Random(11)), {"vocab_size": 30, "reference": reference}
    whole, path, stops = trained(words, **options), tmp_path / "run.npz", 0
    while (part := trained(words, **options, deadline=0, checkpoint=path)).stopped == "deadline":
        stops += 1
    assert stops > 3
    assert not path.exists()
    assert part.vocabulary == whole.vocabulary
    assert (part.scores.tobytes(), part.counts.tobytes()) == (whole.scores.tobytes(), whole.counts.tobytes())


def test_checkpoint_of_other_seeds_is_refused(tmp_path: Path) -> None:
    """A checkpoint with invalid pieces, scores or round numbers is refused before a kernel reads it."""
    words, path = some_words(random.Random(11)), tmp_path / "run.npz"
    trained(words, vocab_size=30, deadline=0, checkpoint=path)
    with np.load(path) as stored:
        arrays = dict(stored)
    digest, _ = str(arrays.pop("digest")), arrays.pop("seal")
    for name, number in (("pieces", 1 << 30), ("pieces", -1), ("scores", np.inf), ("rounds", -1)):
        broken = {key: value.copy() for key, value in arrays.items()}
        broken[name][-1] = number
        np.savez(path, **members_of(digest, broken))
        with pytest.raises(fst.VocabularyError, match="of the checkpoint"):
            trained(words, vocab_size=30, checkpoint=path)


def test_exact_scores_rare_characters_below_frequent_ones() -> None:
    """With "exact", the characters that are not pieces have lower scores than all pieces, and more frequent characters have higher
    scores.
    """
    words = {"low": 50, "lower": 20, "newest": 60, "widest": 30, "xyz": 1, "zzz": 1}
    found = pieces_of(trained(words, vocab_size=30, reference="exact", initial_alphabet=["é"]))
    assert [*found][-4:] == ["zz", "l", "o", "é"]
    assert [round(found["zz"] - found[token], 6) for token in "loé"] == [0.0001, 0.0002, 0.0003]


@examples(30)
@given(CORPORA)
def test_counts_cover_the_words(words: dict[str, int]) -> None:
    """The counts of tokens are the numbers of their occurrences in one segmentation of all words."""
    result = trained(words, vocab_size=20)
    letters = sum(len(token) * count for token, count in zip(result.vocabulary, result.counts.tolist(), strict=True))
    assert letters == sum(len(word) * count for word, count in words.items())


def test_special_tokens_come_first() -> None:
    """Special tokens have the first ids and the score 0, and the unknown token either comes before them or is one of them."""
    first = trained(NEWEST, vocab_size=30, special_tokens=["<s>", "</s>"], unk_token="<unk>")
    among = trained(NEWEST, vocab_size=30, special_tokens=["<s>", "<unk>"], unk_token="<unk>")
    assert ([*first.vocabulary][:3], first.model["unk_id"], first.scores[:3].tolist()) == (["<unk>", "<s>", "</s>"], 0, [0, 0, 0])
    assert ([*among.vocabulary][:2], among.model["unk_id"], among.special_tokens) == (["<s>", "<unk>"], 1, ("<s>", "<unk>"))
    assert trained(NEWEST, vocab_size=30).model["unk_id"] is None


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ({}, {}, "the words have no characters"),
        ({"": 3}, {}, "the words have no characters"),
        (NEWEST, {"vocab_size": 10, "unk_token": "?"}, "vocab_size is 10; expected at least 11, for 1 special tokens and 10 characters"),
        (NEWEST, {"vocab_size": 0}, "vocab_size is 0; expected a whole number from 1"),
        (NEWEST, {"shrinking_factor": 1.0}, "shrinking_factor is 1.0; expected a number from 0 to below 1"),
        (NEWEST, {"n_sub_iterations": 0}, "n_sub_iterations is 0"),
        (NEWEST, {"max_piece_length": 1 << 16}, "max_piece_length is 65536; expected a whole number from 1 to 65,535"),
        (NEWEST, {"special_tokens": ["<s>", "<s>"]}, "expected each token once"),
        (NEWEST, {"special_tokens": ["low"]}, "special_tokens contain pieces of words: 'low'"),
        ({"a<UNK>b": 2}, {}, "a word contains '<UNK>'"),
    ],
)
def test_bad_input_is_refused(words: dict[str, int], options: dict[str, Any], message: str) -> None:
    """Words without characters, a size that is too small, and an option out of range are refused, and the message contains the allowed
    range.
    """
    with pytest.raises(fst.VocabularyError, match=message):
        trained(words, **options)


def test_size_that_is_never_met_is_refused() -> None:
    """If the number of characters exceeds 1.1 times the size, training is refused, because `tokenizers` would never end, but with
    "exact" it ends.
    """
    words = dict.fromkeys("abcde", 2)
    with pytest.raises(fst.VocabularyError, match="6 pieces that it cannot prune; expected at most 5"):
        trained(words, vocab_size=5)
    assert [*trained(words, vocab_size=5, reference="exact").vocabulary] == [*"abcde"]


@pytest.mark.parametrize(("words", "index"), [([b"a", b"b\xff"], 1), ([b"\xc3", b"\xc3\xa9"], 0), ([b"a\xc3", b"\xa9b"], 0)])
def test_words_that_are_no_utf_8_are_refused(words: list[bytes], index: int) -> None:
    """A word that is not UTF-8 is refused with its index, even if several words joined together are UTF-8."""
    with pytest.raises(fst.VocabularyError, match=f"word {index}, .*, is not UTF-8"):
        unigram(Words.of_pairs((word, 1) for word in words), vocab_size=20)


def test_exact_leaves_special_tokens_out_of_the_pieces() -> None:
    """With "exact", a special token that occurs in words is a single token with the score 0."""
    result = trained(NEWEST, vocab_size=30, special_tokens=["low", "e"], reference="exact")
    assert [*result.vocabulary][:2] == ["low", "e"]
    assert result.scores[:2].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"special_tokens": "<s>"}, "special_tokens is '<s>'; expected a list"),
        ({"unk_token": ""}, "a special token is ''"),
        ({"initial_alphabet": [7]}, "initial_alphabet contains 7"),
    ],
)
def test_tokens_must_be_text(options: dict[str, Any], message: str) -> None:
    """A special token or an initial character that is not text is refused."""
    with pytest.raises(fst.VocabularyError, match=message):
        unigram(Words.of_pairs([("ab", 2)]), **options)


def test_counts_of_characters_must_fit() -> None:
    """Words are refused if the count of a character needs more than 63 bits."""
    with pytest.raises(fst.VocabularyError, match="characters by their counts"):
        unigram(Words.of_pairs([("aaaaaaaa", (1 << 63) - 1)]), vocab_size=20)


def test_other_references_are_refused() -> None:
    """An unknown reference is refused."""
    with pytest.raises(fst.UnsupportedError, match="reference is 'spm'; expected 'huggingface', 'exact' or 'sentencepiece'"):
        trained(NEWEST, reference="spm")
