"""WordPiece by score gives the same vocabularies as the code in Hugging Face's course, which is in `naive_training`."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive import training as naive_training
from support.shared_data import SHARED, needs_shared
from support.tiers import examples

import fst
from fst.compile.train.scores import state as score_state
from fst.compile.train.scores.state import Merger, State, widened
from fst.counting.words import Words
from fst.train import wordpiece
from fst.train.result import Trained

COURSE = (
    "This is the Hugging Face Course . This chapter is about tokenization . This section shows several tokenizer algorithms . "
    "Hopefully , you will be able to understand how they are trained and generate tokens ."
)
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
COUNTS = st.one_of(st.integers(1, 4), st.integers(1, 4).map(lambda count: count * 10**14 + 1), st.integers(1 << 26, 1 << 28))
CORPORA = st.dictionaries(st.text("abc", min_size=1, max_size=9), COUNTS, min_size=1, max_size=10)


def train(words: Mapping[str, int], size: int, least: int = 0, **options: Any) -> Trained:
    """Train the vocabulary of words, without showing warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return wordpiece(Words.of_pairs(words.items()), criterion="score", vocab_size=size, min_frequency=least, **options)


def learned(words: Mapping[str, int], size: int, least: int = 0) -> list[str]:
    """Return the tokens that are learned from words."""
    return [*train(words, size, least).vocabulary]


def letters_of(words: Mapping[str, int]) -> int:
    """Return the number of distinct letters, counting those with and without the prefix separately."""
    return len({token for split in naive_training.score_letters(words).values() for token in split})


def test_worked_numbers() -> None:
    """For the course's example words around `hug`, pairs merge in the order of their scores."""
    tokens = learned(HUGS, 100)
    assert tokens == ["##g", "##n", "##s", "##u", "b", "h", "p", "##gs", "hu", "hugs", "hug", "pu", "bu", "bun", "pug", "pun"]


def test_worked_numbers_of_lower_and_newest() -> None:
    """For the words `low lower newest widest`, pairs merge in the order of their scores."""
    tokens = learned({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 100)
    assert " ".join(tokens[11:]) == "wi wid lo ##st low ##er lower ne new newe wide newest widest"


def test_vocabulary_of_the_course() -> None:
    """From the four sentences of the course, the trainer makes the course's vocabulary of 70 tokens."""
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trained = train(Counter(COURSE.split()), 70, special_tokens=specials)
    expected = "ab ##fu Fa Fac ##ct ##ful ##full ##fully Th ch ##hm cha chap chapt ##thm Hu Hug Hugg sh th is ##thms ##za ##zat ##ut"
    assert " ".join([*trained.vocabulary][-25:]) == expected
    assert [*trained.vocabulary][:8] == [*specials, "##a", "##b", "##c"]
    assert trained.stopped == "size"


@given(words=CORPORA, added=st.integers(1, 30), least=st.sampled_from([1, 1, 2, 5]))
@examples(4000)
def test_vocabularies_of_short_words_are_those_of_the_course(words: Mapping[str, int], added: int, least: int) -> None:
    """For words of up to three letters, vocabularies equal those of the course's code, including its choice among ties and its rounding."""
    size = letters_of(words) + added
    assert learned(words, size, least) == naive_training.wordpiece_by_score(words, size, max(least, 1))


def test_min_frequency_keeps_rare_pairs_apart() -> None:
    """A pair that is rarer than `min_frequency` never merges, whatever its score."""
    assert learned(HUGS, 100, 10)[7:] == ["hu", "hug", "pu", "pun"]
    assert [train(HUGS, size, least).stopped for size, least in ((100, 10), (100, 0), (9, 10))] == ["min_frequency", "no pair", "size"]


def test_small_least_counts_are_warned_of() -> None:
    """A `min_frequency` below 10 causes a warning that gives the reason."""
    with pytest.warns(UserWarning, match=r"min_frequency is 9: by score, the rarest pairs merge first"):
        wordpiece(Words.of_pairs(HUGS.items()), criterion="score", vocab_size=10, min_frequency=9)
    wordpiece(Words.of_pairs(HUGS.items()), criterion="score", vocab_size=10, min_frequency=10)


def test_order_of_words_is_that_of_first_occurrence() -> None:
    """If pairs are tied, the pair in the word that occurs first merges, whatever the order of the words in memory."""
    words = Words.of_pairs([("ab", 1), ("cd", 1)])
    assert learned({"ab": 1, "cd": 1}, 5)[4:] == ["ab"]
    for first, token in (([[1, 0, 0], [0, 5, 5]], "cd"), ([[0, 1, 0], [0, 0, 9]], "cd"), ([[0, 1, 1], [0, 1, 2]], "ab")):
        with pytest.warns(UserWarning, match="vocabularies are poor"):
            trained = wordpiece(replace(words, first=np.array(first, np.int64)), criterion="score", vocab_size=5)
        assert [*trained.vocabulary][4:] == [token]


def test_texts_give_the_vocabulary_of_the_course() -> None:
    """For texts that the trainer splits on any number of threads, vocabularies equal those of the course's code."""
    draw = random.Random(5)
    texts = [" ".join("".join(draw.choices("abc", k=draw.randint(1, 5))) for _ in range(6)) for _ in range(40)]
    words = Counter(word for text in texts for word in text.split())
    size = letters_of(words) + 30
    for threads in (1, 2):
        with pytest.warns(UserWarning, match="vocabularies are poor") as noted:
            trained = fst.train.wordpiece(texts, splitter="whitespace", criterion="score", vocab_size=size, threads=threads)
        assert [*trained.vocabulary] == naive_training.wordpiece_by_score(words, size)
        assert {Path(warning.filename).name for warning in noted} == {"test_score.py"}


def test_alphabets_are_those_of_the_words_and_of_the_options() -> None:
    """Letters get ids in the forms (with or without prefix) that occur; initial letters always get ids, and letters beyond the limit are
    deleted.
    """
    assert learned({"ab": 1}, 2) == ["##b", "a"]
    assert [*train({"ab": 1}, 4, initial_alphabet=["xyz", "b"]).vocabulary] == ["##b", "a", "b", "x"]
    assert [*train({"axb": 3, "ab": 1, "a": 9}, 3, limit_alphabet=2).vocabulary] == ["##b", "a", "ab"]
    assert [*train({"axb": 3}, 6, special_tokens=["a", "[X]", "a"]).vocabulary] == ["a", "[X]", "##b", "##x", "ax", "axb"]
    with pytest.raises(fst.VocabularyError, match="vocab_size is 1; expected at least 2, the special tokens and the alphabet"):
        train({"ab": 1}, 1)


def test_special_tokens_equal_to_merges_keep_their_ids() -> None:
    """A merge that makes an existing token adds no second id, and training continues until the size is reached."""
    trained = train(HUGS, 16, special_tokens=["hug", "hugs"])
    others = "##g ##n ##s ##u b h p ##gs hu pu bu bun pug pun"
    assert [*trained.vocabulary] == ["hug", "hugs", *others.split(" ")]
    assert trained.counts.tolist()[:2] == [10, 5]
    assert trained.stopped == "size"


def test_no_words_give_the_special_tokens() -> None:
    """If there are no words, the vocabulary consists of the special tokens."""
    trained = train({}, 10, special_tokens=["[UNK]"])
    assert ([*trained.vocabulary], trained.stopped) == (["[UNK]"], "no pair")


def test_sizes_out_of_reach_take_no_memory() -> None:
    """If the words cannot reach a size, no memory is allocated for the missing tokens."""
    assert train(HUGS, 1 << 50).stopped == "no pair"


def test_counts_are_those_of_the_merges() -> None:
    """The count of a token is its number of occurrences at the time when it was made."""
    trained = train(HUGS, 11)
    assert dict(zip(trained.vocabulary, trained.counts.tolist(), strict=True)) == {
        "##g": 20, "##n": 16, "##s": 5, "##u": 36, "b": 4, "h": 15, "p": 17,
        "##gs": 5, "hu": 15, "hugs": 5, "hug": 10,
    }


def test_run_resumes_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops after every few merges and continues from its checkpoint gives the same vocabulary as an uninterrupted run."""
    monkeypatch.setattr(score_state, "BUDGET", 30)
    monkeypatch.setattr(score_state, "FIRST_ROWS", 1)
    words = Counter(COURSE.lower().split())
    rounds, stopped = 0, "deadline"
    while stopped == "deadline":
        trained = train(words, 93, special_tokens=["th", "fac", "zzz"], deadline=0, checkpoint=tmp_path / "run.npz")
        stopped = trained.stopped
        rounds += 1
    assert rounds > 5
    expected = naive_training.wordpiece_by_score(words, 92)
    assert [*trained.vocabulary] == ["th", "fac", "zzz", *(token for token in expected if token not in ("th", "fac"))]
    assert trained.vocabulary == train(words, 93, special_tokens=["th", "fac", "zzz"]).vocabulary


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("cells", 0, 0), ("cells", 1, -2), ("cells", 1, 99), ("cells", -1, 3), ("made", 0, 31), ("lefts", 0, 50), ("rights", 0, -1)],
)
def test_damaged_states_are_refused(field: str, place: int, value: int) -> None:
    """A checkpoint is refused unless its tokens are valid and cover every word without gaps or overlaps."""
    cells, none = np.array([-1, 0, 1, -1, 2, 1, -1], np.int32), np.zeros(0, np.int32)
    merger = Merger(cells.copy(), np.array([0, 0, 0, 0, 1, 1, 1], np.int32), np.ones(2, np.int64), 3, 1)
    state = widened(State(cells, none, none, np.zeros(0, np.int64), np.zeros(1, np.int64)), 30)
    merger.advance(state)
    merger.prove(state)
    getattr(state, field)[place] = value
    with pytest.raises(fst.VocabularyError, match=f"(cells|{field}) of the checkpoint is not of this run"):
        merger.prove(state)


@needs_shared
@pytest.mark.slow
def test_vocabulary_of_a_book_is_that_of_the_course() -> None:
    """For parts of an English book and of Chinese documents, vocabularies equal those of the course's code."""
    for name in ("en_books_20MB.txt", "docs_zh.md"):
        text = (SHARED / "corpora" / name).read_text("utf-8")[:20_000]
        words = Counter(re.findall(r"\w+|[^\w\s]", text))
        size = letters_of(words) + 300
        assert learned(words, size) == naive_training.wordpiece_by_score(words, size)
