"""Superwords: the two phases of SuperBPE, by `train.bpe` and `train.extend`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.training import extended_by_recount
from support.tiers import examples
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import fst
from fst import train
from fst.train import merges
from fst.train.pipeline import SUPERBPE
from fst.train.result import Trained

SIZE, ADD = 275, 40
PRIVATE = 0xF0000  # the first of the characters that represent tokens in the second phase


def second_phase() -> Any:
    """The pre-tokenizer of the second phase in the scripts of SuperBPE's authors."""
    bytes_alone = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SUPERBPE), "isolated"), bytes_alone])


def drawn(seed: int) -> list[str]:
    """Draw lines of words, numbers and punctuation."""
    random = Random(seed)
    parts = ["the", " the", " way", " by", "by", ": ", ":", ", ", " ", "  ", "12345", "!!", "é", "a", " a", "\n"]
    return ["".join(random.choices(parts, k=random.randint(1, 24))) for _ in range(12)]


def both_phases(texts: list[str], **options: Any) -> tuple[Trained, Trained]:
    """The results of the first phase and of the second phase."""
    first = train.bpe(texts, splitter="gpt2", vocab_size=SIZE)
    return first, train.extend(first, texts, ADD, splitter="superbpe", **options)


def live(trained: Trained) -> Tokenizer:
    """A result as `tokenizers` reads it."""
    return Tokenizer.from_str(json.dumps(trained.to_json()))


def may_be_made(token: str, most: int) -> bool:
    """The rule of SuperBPE's trainer for new tokens."""
    return ":Ġ" not in token and len([word for word in token.split("Ġ") if word]) <= most


lines = st.lists(st.lists(st.sampled_from(["a", "b", " a", " b", "ab", ": ", ":", " ", "12", "!!"]), max_size=14).map("".join), max_size=6)


@given(texts=lines, most=st.none() | st.integers(0, 4))
@examples(40)
def test_superwords_are_those_of_a_recount(texts: list[str], most: int | None) -> None:
    """The tokens of the second phase are the most frequent pairs if all pairs in the longer words are counted again after each merge; with
    `max_words`, pairs of too many words, or with a space after a colon, are left out.
    """
    first, second = both_phases(texts, max_words=most)
    model, words = live(first).model, Counter(word for text in texts for word, _ in second_phase().pre_tokenize_str(text))
    splits = {word: [token.value for token in model.tokenize(word)] for word in words}
    allowed = (lambda _: True) if most is None else (lambda token: may_be_made(token, most))
    size = len(first.vocabulary) + ADD
    assert second.vocabulary == extended_by_recount(words, splits, first.vocabulary, size, is_allowed=allowed)


@pytest.mark.parametrize("seed", range(3))
def test_both_phases_equal_those_of_tokenizers(seed: int) -> None:
    """The merges of both phases equal those of `tokenizers`, if its trainer reads the tokens of the first phase as characters in the second
    phase.
    """
    texts = drawn(seed)
    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    reference.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, show_progress=False))
    first, second = both_phases(texts)
    assert reference.get_vocab() == first.vocabulary
    names = [*first.vocabulary]
    reference.pre_tokenizer = second_phase()
    spelled, phase = list[str](), Tokenizer(models.BPE())
    for text in texts:
        found = reference.encode(text)
        parts = dict.fromkeys(found.word_ids, "")
        for number, part in zip(found.ids, found.word_ids, strict=True):
            parts[part] += chr(PRIVATE + number)
        spelled += parts.values()
    tokens = [chr(PRIVATE + number) for number in range(len(names))]
    phase.train_from_iterator(spelled, trainers.BpeTrainer(vocab_size=len(names) + ADD, initial_alphabet=tokens, show_progress=False))
    made = json.loads(phase.to_str())["model"]["merges"]
    assert second.merges[len(first.merges) :] == [
        tuple("".join(names[ord(token) - PRIVATE] for token in side) for side in pair) for pair in made
    ]


@pytest.mark.parametrize("most", [None, 2])
def test_saved_superwords_have_equal_ids(most: int | None, tmp_path: Path) -> None:
    """The saved ``tokenizer.json`` gives the same ids in `tokenizers` and in this package, on other texts, too."""
    _, second = both_phases(drawn(3), max_words=most)
    second.save(tmp_path / "tokenizer.json")
    reference = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tok = fst.Tokenizer(fst.compile.tokenizer(tmp_path / "tokenizer.json"))
    assert any("Ġ" in token.strip("Ġ") for token in second.vocabulary)
    for text in [*drawn(3), *drawn(4), "by the way: by  the way 1234567 times!!!"]:
        assert tok.encode(text).tolist() == reference.encode(text).ids == second.tokenizer().encode(text).tolist()
        assert tok.decode(tok.encode(text)) == text


def test_second_phase_resumes_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `max_words`, a run that stops after every merge and continues from its checkpoint gives the same vocabulary."""
    first, whole = both_phases(drawn(5), max_words=2)
    monkeypatch.setattr(merges, "STEPS", 1)
    options: dict[str, Any] = {"splitter": "superbpe", "max_words": 2, "checkpoint": tmp_path / "run.npz"}
    while (part := train.extend(first, drawn(5), ADD, deadline=0.0, **options)).stopped == "deadline":
        assert [*part.merges] == [*whole.merges][: len(part.merges)]
    assert part.vocabulary == whole.vocabulary


def test_words_may_be_counted_first() -> None:
    """The longer words may be counted before the second phase, and words of another splitter are refused."""
    first, whole = both_phases(drawn(6))
    words = train.words(drawn(6), splitter="superbpe")
    assert train.extend(first, words, ADD, splitter="superbpe").vocabulary == whole.vocabulary
    with pytest.raises(fst.VocabularyError, match="the split of the words is"):
        train.extend(first, words, ADD)


def test_other_models_have_no_superwords() -> None:
    """A splitter is refused for WordPiece, and so is a splitter into characters, or `max_words`, for words that are not bytes."""
    pieces = train.wordpiece(["a b"], splitter="bert", vocab_size=3, special_tokens=["[UNK]"])
    characters = train.bpe(["a b"], splitter="whitespace", vocab_size=2)
    with pytest.raises(fst.UnsupportedError, match="splitter is given for WordPiece; expected BPE"):
        train.extend(pieces, ["a b"], 1, splitter="superbpe")
    with pytest.raises(fst.UnsupportedError, match="splitter is given for BPE; expected BPE, and a splitter into"):
        train.extend(characters, ["a b"], 1, splitter="superbpe")
    with pytest.raises(fst.UnsupportedError, match="max_words is 4, but the vocabulary is not BPE over bytes"):
        train.extend(characters, ["a b"], 1, max_words=4)


@pytest.mark.parametrize("arguments", [{"add": -1}, {"add": 1, "max_words": "4"}])
def test_wrong_numbers_are_found_before_texts_are_read(arguments: dict[str, Any]) -> None:
    """A wrong number is an error before any text is read."""

    def texts() -> Iterator[str]:
        yield pytest.fail("a text is read")

    with pytest.raises(fst.VocabularyError, match="expected a whole number"):
        train.extend(train.bpe(["a b"], splitter="gpt2", vocab_size=258), texts(), **arguments)


def test_like_refuses_superwords() -> None:
    """`train.like` refuses a vocabulary of superwords, since its files have only the splitter of the second phase."""
    first, both = both_phases(drawn(7))
    assert train.like(first, drawn(8), 270).merges
    for base in (both, live(both)):
        with pytest.raises(fst.UnsupportedError, match="the base tokenizer has superwords, which SuperBPE trains in two phases"):
            train.like(base, drawn(8), 270)
