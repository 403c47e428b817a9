"""Call the trainers with random words, for the fuzzer in `tests/core/test_bounds.py`, and set the order of ids that a reference has chosen
at random.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import fst
from fst import train
from fst.compile.train.scores import state
from fst.compile.train.unigram import ties
from fst.counting.arguments import counts
from fst.counting.words import Words
from fst.runtime.counting import counter
from fst.runtime.kernels.intrinsics import DISABLED
from fst.train import bpe_trainer, merges, wordpiece_trainer
from fst.train.symbols import Alphabet

SPLITTERS = ("gpt2", "bert", "metaspace", "whitespace", "none")
NORMALIZERS = (None, "nfc", "nfkc", "bert")
SPECIAL = ("<unk>", "a", "ab", "##b")


def counted(draw: random.Random, texts: Sequence[str]) -> tuple[Words, dict[str, Any]]:
    """Count words, and check that two threads, one thread and temporary files give the same counts; sometimes, draw large counts."""
    how: dict[str, Any] = {"splitter": draw.choice(SPLITTERS), "normalizer": draw.choice(NORMALIZERS)}
    found = train.words(texts, threads=1, **how)
    for other in (
        train.words(([text] for text in texts), threads=2, **how),
        train.words([text.encode() for text in texts], threads=2, memory=1, **how),
    ):
        assert [*found] == [*other]
        assert (found.counts.tolist(), found.first.tolist()) == (other.counts.tolist(), other.first.tolist())
    return replace(found, counts=found.counts << draw.choice((0, 0, 40))), how


@contextmanager
def symbols_in(order: Sequence[str]) -> Iterator[None]:
    """In the `with` statement, symbols with a prefix or a suffix get their ids in this order, which `tokenizers` draws at random."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (bpe_trainer, wordpiece_trainer):
            patch.setattr(module, "Alphabet", partial(Alphabet, order=order))
        yield


def drive_trainers(draw: random.Random, texts: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Train every kind of vocabulary, and check that a run that stops after each round gives the same vocabulary as one run."""
    patch.setattr(merges, "STEPS", draw.choice((100, 1 << 21)))
    patch.setattr(state, "BUDGET", draw.choice((100, 1 << 21)))
    if DISABLED:
        patch.setattr(ties, "MOST", 6)
        patch.setattr(ties, "FEW", 3)
    patch.setattr(counter, "counts", lambda slots=16, pool=64: counts(slots, pool))  # tables that must grow
    words, how = counted(draw, texts)
    special, least = draw.sample(SPECIAL, draw.randint(0, 3)), draw.randint(0, 3)
    affixes = draw.choice(({}, {"continuing_subword_prefix": "##"}, {"end_of_word_suffix": "b"}, {"continuing_subword_prefix": "b"}))
    longest = {"max_token_length": draw.randint(2, 5)} if not affixes and draw.random() < 0.3 else {}
    options: dict[str, Any] = {"vocab_size": 2_000, "special_tokens": special, **how}
    resumed(train.bpe, words, **options, min_frequency=least, limit_alphabet=draw.choice((None, 300)), **affixes, **longest)
    resumed(train.bpe, words, **options, min_frequency=least, ties="first", **longest)
    resumed(train.wordpiece, words, **options, min_frequency=least)
    if how["splitter"] != "gpt2":
        with suppress(fst.VocabularyError):  # this error is raised if a word is a special token, because SentencePiece refuses such words
            resumed(train.bpe, words, vocab_size=400, reference="sentencepiece", **how)
    spaced = Words.of_pairs((f"▁{text[:40]}", 1 + number % 3) for number, text in enumerate(texts) if " " not in text)
    with suppress(fst.VocabularyError):  # this error is raised if there are no words, or too many characters
        resumed(train.unigram, spaced, vocab_size=300, reference="sentencepiece", options={"hard_vocab_limit": False})
    with warnings.catch_warnings(), suppress(fst.VocabularyError):  # this error is raised if a piece is a special token
        warnings.simplefilter("ignore", UserWarning)
        resumed(train.wordpiece, words, **options, criterion="score", min_frequency=least)
        letters = len({*words.text.tobytes().decode()}) + 3
        for reference in ("huggingface", "exact"):
            size = letters + draw.randint(0, 40)
            resumed(train.unigram, words, vocab_size=size, unk_token="<x>", special_tokens=["<x>"], reference=reference, **how)


def resumed(trainer: Any, words: Words, **options: Any) -> None:
    """Train in one run, and in several runs of one round each, and check that the vocabularies are equal."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")
        found = trainer(words, **options)
        runs = [trainer(words, deadline=0, checkpoint=path, **options)]
        while path.exists():
            runs.append(trainer(words, deadline=0, checkpoint=path, **options))
    assert (runs[-1].vocabulary, runs[-1].merges, runs[-1].scores.tolist()) == (found.vocabulary, found.merges, found.scores.tolist())
