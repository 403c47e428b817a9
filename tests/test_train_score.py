"""Tests of WordPiece by score, against the code of the course in `naive_training`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import naive_training
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import SHARED, needs_shared
from tiers import examples

import fst
from fst.compile.train import score
from fst.compile.train.control import Control
from fst.compile.train.score import Merger, State

COURSE = (
    "This is the Hugging Face Course . This chapter is about tokenization . This section shows several tokenizer algorithms . "
    "Hopefully , you will be able to understand how they are trained and generate tokens ."
)
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
COUNTS = st.one_of(st.integers(1, 4), st.integers(1, 4).map(lambda count: count * 10**14 + 1), st.integers(1 << 26, 1 << 28))
CORPORA = st.dictionaries(st.text("abc", min_size=1, max_size=9), COUNTS, min_size=1, max_size=10)


def prepared(words: Mapping[str, int], room: int, least: int = 1) -> tuple[list[str], State, Merger]:
    """The letters of words, a state with room for merges, and what advances it."""
    letters = naive_training.score_letters(words)
    tokens = sorted({token for split in letters.values() for token in split})
    cells, numbers = [-1], [0]
    for number, split in enumerate(letters.values()):
        cells += [*map(tokens.index, split), -1]
        numbers += [number] * (len(split) + 1)
    lefts, rights = np.zeros((2, room), np.int32)
    state = State(np.array(cells, np.int32), lefts, rights, counts=np.zeros(room, np.int64), made=np.zeros(1, np.int64))
    return tokens, state, Merger(np.array(numbers, np.int32), np.array([*words.values()], np.int64), len(tokens), least)


def learned(words: Mapping[str, int], size: int, least: int = 1, control: Control | None = None) -> tuple[list[str], bool]:
    """The tokens of words, and whether training came to its end."""
    tokens, state, merger = prepared(words, size - len(prepared(words, 0)[0]), least)
    state, finished = (control or Control()).run(state, merger.advance, total=size, digest="test", prove=merger.prove)
    for left, right in zip(state.lefts[: state.made[0]], state.rights, strict=False):
        tokens.append(tokens[left] + tokens[right].removeprefix("##"))
    return tokens, finished


def test_worked_numbers() -> None:
    """The vocabulary of `hug pug pun bun hugs` is that of the course's code."""
    tokens, _ = learned(HUGS, 100)
    assert tokens == ["##g", "##n", "##s", "##u", "b", "h", "p", "##gs", "hu", "hugs", "hug", "pu", "bu", "bun", "pug", "pun"]


def test_worked_numbers_of_lower_and_newest() -> None:
    """The vocabulary of `low lower newest widest` has the order of the scores."""
    tokens, _ = learned({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 100)
    assert " ".join(tokens[11:]) == "wi wid lo ##st low ##er lower ne new newe wide newest widest"


def test_vocabulary_of_the_course() -> None:
    """The course's four sentences give its vocabulary of 70 tokens, five special ones included."""
    tokens, _ = learned(Counter(COURSE.split()), 65)
    expected = "ab ##fu Fa Fac ##ct ##ful ##full ##fully Th ch ##hm cha chap chapt ##thm Hu Hug Hugg sh th is ##thms ##za ##zat ##ut"
    assert " ".join(tokens[-25:]) == expected


@given(words=CORPORA, room=st.integers(1, 30), least=st.sampled_from([1, 1, 2, 5]))
@examples(4000)
def test_vocabularies_of_short_words_are_those_of_the_course(words: Mapping[str, int], room: int, least: int) -> None:
    """Words of up to three letters have the vocabulary of the course's code, with its ties and its rounding."""
    size = len({token for split in naive_training.score_letters(words).values() for token in split}) + room
    assert learned(words, size, least)[0] == naive_training.wordpiece_by_score(words, size, least)


def test_min_frequency_keeps_rare_pairs_apart() -> None:
    """A pair that is rarer than the least count never merges, however great its score."""
    assert learned(HUGS, 100, 10)[0][7:] == ["hu", "hug", "pu", "pun"]
    assert learned(HUGS, 100, 1000)[0][7:] == []


def test_run_resumes_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops after each few merges, and goes on from its checkpoint, makes the same vocabulary."""
    monkeypatch.setattr(score, "BUDGET", 30)
    monkeypatch.setattr(score, "FIRST_ROWS", 1)
    words = Counter(COURSE.lower().split())
    rounds, finished = 0, False
    while not finished:
        tokens, finished = learned(words, 90, control=Control(deadline=0, checkpoint=tmp_path / "run.npz"))
        rounds += 1
    assert rounds > 5
    assert tokens == naive_training.wordpiece_by_score(words, 90)


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("cells", 0, 0), ("cells", 1, -2), ("cells", 1, 99), ("cells", -1, 3), ("made", 0, 31), ("lefts", 0, 50), ("rights", 0, -1)],
)
def test_damaged_states_are_refused(field: str, place: int, value: int) -> None:
    """A state from a file is refused unless whole tokens tile every word."""
    _, state, merger = prepared(HUGS, 30)
    merger.advance(state)
    merger.prove(state)
    getattr(state, field)[place] = value
    with pytest.raises(fst.VocabularyError, match="the checkpoint is not a state of this run"):
        merger.prove(state)


@needs_shared
@pytest.mark.slow
def test_vocabulary_of_a_book_is_that_of_the_course() -> None:
    """The beginning of a book has the tokens of the course's code, in English and in Chinese."""
    for name in ("en_books_20MB.txt", "docs_zh.md"):
        text = (SHARED / "corpora" / name).read_text("utf-8")[:20_000]
        words = Counter(re.findall(r"\w+|[^\w\s]", text))
        size = len({token for split in naive_training.score_letters(words).values() for token in split}) + 300
        assert learned(words, size)[0] == naive_training.wordpiece_by_score(words, size)
