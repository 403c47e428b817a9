"""If several normalizers change a text one after the other, offsets are the same as in `tokenizers`."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.kept import wordpiece
from support.machines.wordpiece import (
    FLAGS,
    mixed,
    texts_of_all_kinds,
    words_by_script,
)
from support.runtime.offsets import (
    PREFIXES,
    Pair,
    each_vocabulary,
    located_pair,
    pair_of_options,
)
from support.shared_data import needs_shared
from support.text.components import (
    BERT,
    COMPOSING,
    DIGITS,
    LOWERCASE,
    NFC,
    NFD,
    NFKC,
    NFKD,
    NORMALIZERS,
    PRE_TOKENIZERS,
    STRIP,
    STRIP_ACCENTS,
    bert,
    document,
    mixtures,
    replaced,
    small_vocabulary,
)
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.tables.header import CONTEXTUAL_FLAGS


@pytest.mark.slow
@pytest.mark.parametrize(("number", "values"), thinned(enumerate(itertools.product(*FLAGS.values())), 3))
def test_options(number: int, values: Sequence[Any], reference: Callable[..., Tokenizer]) -> None:
    """With every combination of options, words of all kinds get the same offsets as in `tokenizers`."""
    options = dict(zip(FLAGS, values, strict=True))
    pair = pair_of_options(reference, **options, continuing_subword_prefix=PREFIXES[number % len(PREFIXES)])
    pair.check(texts_of_all_kinds())


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    thinned(
        [
            *(pytest.param(parts, [BERT, DIGITS], id=name) for name, parts in (NORMALIZERS | COMPOSING).items()),
            *(pytest.param(NORMALIZERS["the quick tour's"], parts, id=f"split at {name}") for name, parts in PRE_TOKENIZERS.items()),
        ],
        24,
    ),
)
def test_components(normalizer: Any, pre_tokenizer: Any, tmp_path: Path) -> None:
    """With any normalizers and pre-tokenizers, texts get the same offsets as in `tokenizers`."""
    texts = mixtures(8, 400)
    pair_of_components(normalizer, pre_tokenizer, tmp_path).check([*texts, *map("[MASK]".join, itertools.pairwise(texts[:100]))])


IN_STEPS = (  # each sequence puts marks in order twice, or creates marks from letters before it puts marks in order
    *("composed after decomposed", "composed again", "BERT's twice", "BERT's with accents, decomposed", "cleaned between two orders"),
    *("a letter replaced by marks", "a letter replaced by a letter with an accent", "lower case first"),
)
MARKS = [  # marks of many canonical classes, characters that decompose to them, and characters that compose
    *"\u0301\u0323\u0308\u0316\u0327\u0307\u0315\u0345\u0340\u0344\u1b44\u302e\u3099\u093c\u0e48\u05b0\u064b\u0651\u0f71\u0f74",
    *"\u0f80\u0f73\u0f81\u0130\u00e9\u1ed9\u01d5\u1ea5\u1e69\u1e9b\u00b4\uff9e\u1100\u1161\u11a8\uac00\u212b\u01d6\u30abaeio x\0\u4e2d",
]


def runs_of_marks(rng: random.Random, count: int) -> list[str]:
    """Make short texts of a few different marks and letters, so most of these occur several times."""
    return ["".join(rng.choices(rng.sample(MARKS, 8), k=rng.randint(2, 12))) for _ in range(count)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", thinned(IN_STEPS, 6))
def test_marks_that_change_places_in_steps(name: str, tmp_path: Path) -> None:
    """Marks that are put in order twice, or created from letters, get the same offsets as in `tokenizers`."""
    pair = pair_of_components((NORMALIZERS | COMPOSING)[name], [BERT], tmp_path)
    assert pair.tokenizer.header["placing"]
    pair.check([*mixtures(8, 500), *runs_of_marks(random.Random(9), 500)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["BERT's", *thinned([pytest.param(name, marks=pytest.mark.slow) for name in PRE_TOKENIZERS if name != "BERT's"], 4)]
)
def test_words_of_marks_in_steps(name: str, tmp_path: Path) -> None:
    """If normalizers put marks in order twice, marks get the same offsets as in `tokenizers` with any pre-tokenizer."""
    pair = pair_of_components([replaced("x", "\u0301\u0323"), LOWERCASE, NFD, STRIP_ACCENTS, NFKD], PRE_TOKENIZERS[name], tmp_path)
    assert pair.tokenizer.header["placing"]
    pair.check(mixtures(9, 100))


@pytest.mark.parametrize("seed", thinned(range(6), 6))
def test_any_sequence_of_normalizers(seed: int, tmp_path: Path) -> None:
    """With any sequence of normalizers, marks get the same offsets as in `tokenizers`, or the sequence is refused."""
    check_any_sequence(seed, 300, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(100, 110), 3))
def test_many_sequences_of_normalizers(seed: int, tmp_path: Path) -> None:
    """With more sequences and more texts, marks get the same offsets as in `tokenizers`, or the sequence is refused."""
    check_any_sequence(seed, 600, tmp_path)


def check_any_sequence(seed: int, count: int, folder: Path) -> None:
    """Draw normalizers and texts, and check that the texts get the same offsets as in `tokenizers`."""
    rng = random.Random(seed)
    try:
        pair = pair_of_components(some_normalizers(rng), [BERT], folder)
    except fst.UnsupportedError:
        return
    pair.check([*runs_of_marks(rng, count), *mixtures(seed, count // 3)])


def some_normalizers(rng: random.Random) -> list[Any]:
    """Draw normalizers, half of which put marks in order."""
    others: list[Callable[[], Any]] = [
        lambda: LOWERCASE,
        lambda: STRIP_ACCENTS,
        lambda: {**STRIP, "strip_left": rng.random() < 0.5},
        lambda: bert(strip_accents=rng.choice([None, True, False]), lowercase=rng.random() < 0.5, clean_text=rng.random() < 0.5),
        lambda: replaced(rng.choice(MARKS), "".join(rng.choices(MARKS, k=rng.randint(0, 3)))),
    ]
    return [rng.choice([NFC, NFD, NFKC, NFKD]) if rng.random() < 0.5 else rng.choice(others)() for _ in range(rng.randint(1, 5))]


def test_streams_locate_in_steps(tmp_path: Path) -> None:
    """A text that is streamed in parts gets the same offsets as in one part, also if marks are put in order in several steps."""
    tok = pair_of_components(NORMALIZERS["lower case first"], [BERT], tmp_path).tokenizer
    stream, text = tok.stream(offsets=True), "\u0130\u0323\u0301 ab\u1b44\u0301 abba " * 9
    for char in text:
        stream.write(char)
    part, whole = stream.close(), tok.encode_batch([text], offsets=True)
    assert part.offsets is not None
    assert whole.offsets is not None
    assert (part.ids.tolist(), part.offsets.tolist()) == (whole.ids.tolist(), whole.offsets.tolist())


@pytest.mark.parametrize("name", thinned(["BERT's twice", "lower case first", "composed before BERT's"], 6))
def test_added_tokens_among_marks_in_steps(name: str, tmp_path: Path) -> None:
    """Added tokens in normalized text and their neighbours get the same offsets as in `tokenizers`, also if marks are
    put in order in several steps.
    """
    tokens = small_vocabulary()
    source = document(NORMALIZERS[name], [BERT], tokens)
    plain, word, stripping = ["normalized"], ["normalized", "single_word"], ["lstrip", "rstrip"]
    kinds = {"ab": plain, "b1": word, "<x>": stripping, "xo": ["single_word"], "1.b": plain}
    source["added_tokens"] += [
        {"id": number, "content": content, "special": False, **{flag: flag in flags for flag in CONTEXTUAL_FLAGS}}
        for number, (content, flags) in enumerate(kinds.items(), len(tokens))
    ]
    rng = random.Random(5)
    texts = ["".join(rng.choices([*rng.sample(MARKS, 8), *kinds, *kinds], k=rng.randint(1, 12))) for _ in range(1500)]
    pair = pair_of_source(source, tmp_path)
    assert pair.tokenizer.header["placing"]
    assert pair.tokenizer.header["late"].keys() == kinds.keys()
    pair.check(texts)


def pair_of_components(normalizer: Any, pre_tokenizer: Any, folder: Path) -> Pair:
    """Build a tokenizer of this package and one of `tokenizers`, with given components and a vocabulary of single characters."""
    return pair_of_source(document(normalizer, pre_tokenizer, small_vocabulary()), folder)


def pair_of_source(source: Any, folder: Path) -> Pair:
    """Build a tokenizer of this package and one of `tokenizers` from a tokenizer.json."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return Pair(Tokenizer.from_file(str(path)), fst.Tokenizer(wordpiece(path)))


@needs_shared
@each_vocabulary
def test_mixed_scripts(name: str) -> None:
    """Texts of adjacent random words of random scripts get the same offsets as in `tokenizers`."""
    rng = random.Random(6)
    located_pair(name).check([*mixed(words_by_script(rng), rng, 10_000)])
