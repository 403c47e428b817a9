"""Segmentation with a jieba dictionary: the naive implementation, the walk and the kernel give the same tokens as `jieba`, both in live
runs and in recorded results.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.lattices import JIEBA, JIEBA_LETTERS, ORACLES, refused, walked
from support.naive.search import jieba_block
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample

import fst
from fst.compile import lattice
from fst.compile.machines.segmentation.jieba_user import Frequencies, user_words
from fst.machines.segmentation.jieba import ALL, CHINESE, DEFAULT, LETTER, MODES, SEARCH, SPACE
from fst.machines.segmentation.unit_trie import ENTRY, FREE, LEAF
from fst.runtime.machines.segmentation.lattice import JiebaSegmenter


@examples(600)
@given(
    listed=some.lists(some.tuples(some.text("研究生", min_size=1, max_size=4), some.integers(0, 6)), min_size=1, max_size=9),
    text=some.text("研究生命", max_size=9),
)
def test_jieba_definition(listed: list[tuple[str, int]], text: str) -> None:
    """With any frequencies, including ties, walk and kernel find the same path as the naive implementation."""
    if not any(dict(listed).values()):
        listed.append(("生", 1))
    table = lattice.jieba(listed)
    table.prove()
    frequencies = {word: frequency for word, frequency in dict(listed).items() if frequency}
    expected = jieba_block(frequencies, sum(frequency for _, frequency in listed), text)
    assert fst.Segmenter(table).segment(text) == walked(table, text) == expected
    assert [found in frequencies for found in expected] == [number >= 0 for number in table.run(text)]


@pytest.mark.parametrize("mode", MODES)
@examples(600)
@given(text=some.text(JIEBA_LETTERS, max_size=24))
def test_jieba_kernel(mode: str, text: str) -> None:
    """In every mode, the kernel gives the same tokens and ids as the walk."""
    table = lattice.jieba(JIEBA).with_mode(mode)
    found = fst.Segmenter(table).segment_batch([text], offsets=True)
    assert found[0] == walked(table, text)
    assert found.ids.tolist() == table.run(text)


def test_jieba_ids() -> None:
    """The id of a token is the number of its word; if words are equal, the last one is used, and words with frequency 0 are ignored."""
    segmenter = fst.Segmenter(lattice.jieba([("ab", 1), ("世", 2), ("ab", 3), ("c", 0)], user=[("世界", 9)]))
    found = segmenter.segment_batch(["ab世世界c。"], offsets=True)
    assert (found[0], found.ids.tolist()) == (["ab", "世", "世界", "c", "。"], [2, 1, 4, -1, -1])
    assert [segmenter.words[number] for number in found.ids[:3]] == ["ab", "世", "世界"]


@needs_shared
@pytest.mark.slow
def test_jieba_oracles() -> None:
    """In all three modes, the tokens equal those recorded from `jieba` 0.42.1."""
    rows = [json.loads(line) for line in (ORACLES / "segment_jieba.jsonl").read_text(encoding="utf-8").splitlines()]
    segmenters: dict[Any, Any] = {}
    for row in rows:
        if "dictionary" in row:  # recorded from jieba-rs, whose blocks contain more rare characters than those of jieba
            continue
        added = tuple(map(tuple, row.get("add_words", ())))
        if added not in segmenters:
            segmenters[added] = fst.Segmenter(lattice.jieba(SHARED / "dict" / "jieba_dict.txt", user=added))
        for key, mode in (("cut_no_hmm", DEFAULT), ("cut_all", ALL), ("search_no_hmm", SEARCH)):
            if key in row:
                assert segmenters[added].segment(row["text"], mode=mode) == row[key], row["case_id"]


def jieba_tokenizer(dictionary: Path, folder: Path) -> Any:
    """Load a dictionary in the jieba library."""
    jieba = pytest.importorskip("jieba")
    tokenizer = jieba.Tokenizer(str(dictionary))
    tokenizer.tmp_dir = str(folder)
    return tokenizer


def test_frequencies_that_a_user_leaves_out(tmp_path: Path) -> None:
    """A user's file is read as by `jieba.load_userdict`: words without a frequency get the frequency that jieba computes."""
    finalseg, draw = pytest.importorskip("jieba.finalseg"), random.Random(5)
    for number in range(8):
        path, user = tmp_path / f"{number}.txt", tmp_path / f"user{number}.txt"
        words = {"".join(draw.choices("杭研大厦命a1.", k=draw.randint(1, 4))): draw.randint(0, 90) for _ in range(20)} | {"命": 100}
        path.write_text("".join(f"{word} {frequency} x\n" for word, frequency in words.items()), encoding="utf-8")
        added = ["".join(draw.choices("杭研大厦命a1. -", k=draw.randint(1, 5))).strip() or "命" for _ in range(15)]
        lines = [f"{word}{draw.choice(['', ' 7', ' 0', ' 30'])}{draw.choice(['', ' nz'])}" for word in added]
        user.write_text("\ufeff" + "\r\n".join([*lines, ""]), encoding="utf-8")
        jieba = jieba_tokenizer(path, tmp_path)
        with user.open("rb") as file:
            jieba.load_userdict(file)
        table = lattice.jieba(path, user=user)
        table.prove()
        for word in added:
            assert fst.Segmenter(table).segment(word) == [*jieba.cut(word, HMM=False)], (words, lines, word)
        known = Frequencies([*words], [*words.values()])
        for word, frequency, *_ in user_words(user, 100):
            known.add(word, known.suggested(word) if frequency is None else frequency)
        assert {word: found for word, found in known.known.items() if found} == {word: found for word, found in jieba.FREQ.items() if found}
    finalseg.Force_Split_Words.clear()


def test_words_without_frequencies() -> None:
    """A user's word may be a string; its frequency is computed, so the word is not cut."""
    listed = [("研究", 5), ("生", 9), ("命", 9)]
    assert fst.Segmenter(lattice.jieba(listed)).segment("研究生命") == ["研究", "生", "命"]
    assert fst.Segmenter(lattice.jieba(listed, user=["研究生", ("命", None)])).segment("研究生命") == ["研究生", "命"]


def test_the_installed_dictionary_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a dictionary argument, the dictionary of an installed jieba is compiled."""
    (tmp_path / "dict.txt").write_text("研究 3 v\n", encoding="utf-8")
    monkeypatch.setattr("fst.compile.machines.segmentation.lattice.installed_dictionary", lambda: tmp_path / "dict.txt")
    assert fst.Segmenter(lattice.jieba()).segment("研究") == ["研究"]


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ([1], "entry 0 is 1; expected a word, or a pair of a word and its frequency"),
        ([("a", -1)], "entry 0, 'a': the frequency is -1; expected 0 to"),
        ([("a", 1), ("b", "2")], "entry 1, 'b': the frequency is '2'; expected 0 to"),
        ([""], "entry 0: the word is empty"),
    ],
)
def test_wrong_words_of_users(user: Any, message: str) -> None:
    """A wrong entry of a user is refused with its position."""
    with pytest.raises(fst.VocabularyError, match=re.escape(message)):
        lattice.jieba([("a", 1)], user=user)


def cut_by(jieba: Any, mode: str, text: str) -> list[str]:
    """Return the tokens that the jieba library finds in a text."""
    if mode == SEARCH:
        return [*jieba.cut_for_search(text, HMM=False)]
    return [*jieba.cut(text, cut_all=mode == ALL, HMM=False)]


def joins_apart(tokens: Sequence[str], text: str) -> bool:
    """Whether `jieba` has joined characters that are not adjacent in the text."""
    return any(token not in text for token in tokens)


MODEL_LETTERS = "杭研大厦命的了ab01.%+。 \n世𠮷鿖㐀"


@pytest.mark.parametrize("mode", [DEFAULT, SEARCH])
def test_jieba_model_live(mode: str, tmp_path: Path) -> None:
    """With `jieba`'s model for unknown words, walk and kernel give the same tokens as `jieba`, for random dictionaries and forced
    boundaries.
    """
    finalseg, draw = pytest.importorskip("jieba.finalseg"), random.Random(mode)
    for number in range(6):
        words = {"".join(draw.choices("杭研大厦命a1.", k=draw.randint(1, 4))): draw.randint(0, 9) for _ in range(15)} | {"命": 1}
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{word} {frequency} x\n" for word, frequency in words.items()), encoding="utf-8")
        jieba, user = jieba_tokenizer(path, tmp_path), [("大厦", 0), ("杭研", 0), ("杭研", 2), ("a命", 3)]
        for word, frequency in user:
            jieba.add_word(word, frequency)
        table = lattice.jieba(path, user=user, hmm=True).with_mode(mode)
        table.prove()
        for _ in range(60):
            text = "".join(draw.choices(MODEL_LETTERS, k=draw.randint(0, 24)))
            expected = jieba.lcut_for_search(text) if mode == SEARCH else jieba.lcut(text)
            found = fst.Segmenter(table).segment_batch([text], offsets=True)
            assert found[0] == walked(table, text) == expected, (words, text)
            assert found.ids.tolist() == table.run(text)
    finalseg.Force_Split_Words.clear()


def test_jieba_model_is_that_of_an_installed_jieba(monkeypatch: pytest.MonkeyPatch) -> None:
    """If `jieba` is not installed, a request for its model is refused, and the message contains the extra to install."""
    for name in ("jieba", "jieba.finalseg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fst.UnsupportedError, match=r"jieba, which is not installed: pip install jieba==0.42.1, which the extra jieba has"):
        lattice.jieba(JIEBA, hmm=True)


def test_jieba_live(tmp_path: Path) -> None:
    """With random dictionaries, the tokens equal those of the jieba library."""
    draw = random.Random(1)
    for number in range(12):
        words = {"".join(draw.choices("研究生ab1+", k=draw.randint(1, 4))): draw.randint(0, 9) for _ in range(15)} | {"命": 1}
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{word} {frequency} x\n" for word, frequency in words.items()), encoding="utf-8")
        jieba, segmenter = jieba_tokenizer(path, tmp_path), fst.Segmenter(lattice.jieba(path))
        assert isinstance(segmenter, JiebaSegmenter)
        for _ in range(60):
            text = "".join(draw.choices(JIEBA_LETTERS + "\t\u3000", k=draw.randint(0, 20)))
            for mode in MODES:
                expected = cut_by(jieba, mode, text)
                if not joins_apart(expected, text):
                    assert segmenter.segment(text, mode=mode) == expected, (words, text)


@needs_shared
@pytest.mark.slow
def test_jieba_live_on_documents(tmp_path: Path) -> None:
    """With `jieba`'s default dictionary, the tokens of documents equal those of the jieba library."""
    path = SHARED / "dict" / "jieba_dict.txt"
    jieba, segmenter = jieba_tokenizer(path, tmp_path), fst.Segmenter(lattice.jieba(path))
    with_model = fst.Segmenter(lattice.jieba(path, hmm=True))
    lines = [*(SHARED / "corpora" / "docs_zh.md").read_text(encoding="utf-8").splitlines(keepends=True)]
    found = (SHARED / "dict" / "zh_gsdsimp-ud-dev.conllu").read_text(encoding="utf-8").splitlines()
    for text in sample([*lines, *(line.removeprefix("# text = ") for line in found)][::2], 80):
        for mode in MODES:
            assert segmenter.segment(text, mode=mode) == cut_by(jieba, mode, text)  # type: ignore[call-arg]
        assert with_model.segment(text) == jieba.lcut(text)


def test_files_that_are_no_dictionary_of_jieba(tmp_path: Path) -> None:
    """A line that is not in the format of jieba dictionaries is refused, and the message contains the line number."""
    path = tmp_path / "dict.txt"
    path.write_text("研究 5 v\n生命\n")
    with pytest.raises(fst.VocabularyError, match=r"dict\.txt, line 2: '生命' is not 'word frequency'"):
        lattice.jieba(path)


HARM_JIEBA: dict[str, tuple[str, Any, Any, str]] = {
    "a label of free slots": ("units", ord("a"), FREE, "a unit has the label"),
    "a kind that is none": ("units", 0, 7 << 17, "unit 0 is of kind 7"),
    "a half character in blocks": ("units", 0xD842, CHINESE << 17, "unit 55362 is half a character, and of kind 3, not 0"),
    "a half character that is white": ("units", 0xDFB7, SPACE << 17, "unit 57271 is half a character, and of kind 1, not 0"),
    "a line break in blocks": ("units", ord("\n"), LETTER << 17, "unit 10 is a space or a line break, and inside of blocks"),
    "an entry at the root": ("entries", 0, ENTRY.pack(1, 0), "and slot 0 is not free"),
    "an entry without a label": ("entries", 1, 0, "has the label 0"),
    "a state past the last": ("entries", 1, ENTRY.pack(1, 1 << 20), "leads past the last slot"),
    "a state of two parents": ("entries", 1, ENTRY.pack(1, 0), "this is not a trie"),
    "a value past the last": ("entries", 1, ENTRY.pack(1, LEAF, 999), "has the value 999"),
    "a score that is none": ("scores", 1, np.nan, "score 1 is nan"),
    "a number past the last": ("numbers", 0, 5, "slot 0 has the word 5"),
    "words that are not UTF-8": ("word_bytes", 0, 0xFF, "the words are not UTF-8 at byte 0"),
    "words that end early": ("word_ends", 0, 99, "of the words ends before it begins"),
}
HARM_MODEL: dict[str, tuple[str, Any, Any, str]] = {
    "an emission that is none": ("emits", (1, 2), np.nan, "element 6 of emits is nan"),
    "an emission that is too probable": ("emits", (0, 0), 1.0, "element 0 of emits is 1.0"),
    "a chance that is too small": ("chances", 3, -1e200, "element 3 of chances is -1e\\+200"),
    "a word of no slot": ("forced", -1, 9999, "word 1 that is forced apart is not in the trie"),
    "words in no order": ("forced", 1, 0, "word 1 that is forced apart does not come after word 0"),
}


@pytest.mark.parametrize("name", HARM_MODEL)
def test_damaged_models_of_jieba_are_refused(name: str) -> None:
    """A model for unknown words that violates a precondition of the kernels is refused, and the message gives the reason."""
    pytest.importorskip("jieba")
    refused(lattice.jieba(JIEBA, user=[("研生", 0), ("生命", 0)], hmm=True), *HARM_MODEL[name])


@pytest.mark.parametrize("name", HARM_JIEBA)
def test_damaged_tables_of_jieba_are_refused(name: str) -> None:
    """A table that violates a precondition of the kernels is refused, and the message gives the reason."""
    refused(lattice.jieba(JIEBA), *HARM_JIEBA[name])
