"""A checkpoint that was changed and sealed again with a correct digest is refused, or is safe for kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.tiers import sample, thinned

import fst
from fst import train
from fst.compile.train.merges import merging
from fst.compile.train.scores import state as score_state
from fst.counting.words import Words
from fst.train import merges
from fst.train.checkpoints import members_of

Arrays = dict[str, Any]
RUNS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "bpe": (train.bpe, {"special_tokens": ["ab", "ba"]}),
    "prefix": (train.bpe, {"continuing_subword_prefix": "##"}),
    "careful": (train.bpe, {"continuing_subword_prefix": "a", "end_of_word_suffix": "b", "special_tokens": ["ab"]}),
    "sentencepiece": (train.bpe, {"reference": "sentencepiece"}),
    "score": (train.wordpiece, {"criterion": "score", "special_tokens": ["ab"]}),
    "unigram": (train.unigram, {}),
    "exact": (train.unigram, {"reference": "exact"}),
}
BOUNDARIES = (-3, -2, -1, 0, 1, 2, 3, 7, 1 << 20, (1 << 31) - 1, -1 << 31, 1 << 62, (1 << 63) - 1)


def options_of(kind: str) -> dict[str, Any]:
    """Return the options of a kind of run, with a size that is reached after some merges or prunings."""
    return {"vocab_size": 6 if kind in ("unigram", "exact") else 40, **RUNS[kind][1]}


def words_of(draw: Random) -> Words:
    """Draw words of few letters."""
    letters = draw.choice(("ab", "ab#", "abc"))
    return Words.of_pairs({"".join(draw.choices(letters, k=draw.randint(1, 9))): draw.randint(1, 9) for _ in range(8)}.items())


def stored(kind: str, words: Words, rounds: int, path: Path) -> tuple[str, Arrays] | None:
    """Return the digest and the arrays of a checkpoint after some short rounds, or None if training has already ended."""
    for _ in range(rounds):
        RUNS[kind][0](words, **options_of(kind), deadline=0, checkpoint=path)
        if not path.exists():
            return None
    with np.load(path) as file:
        arrays = dict(file)
    digest, _ = str(arrays.pop("digest")), arrays.pop("seal")
    return digest, arrays


def change(draw: Random, arrays: Arrays) -> str:
    """Change one array at random, and return the name of the array."""
    name = draw.choice([name for name, array in arrays.items() if len(array)])
    array = arrays[name] = arrays[name].copy()
    used = array.shape[0] if draw.random() < 0.5 else min(len(array), 30)
    how = draw.randrange(8)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, other = draw.randrange(used), draw.randrange(len(array))
        if how < 3:
            number = array.dtype.type(0) if array.dtype.kind == "f" else np.iinfo(array.dtype)
            value = draw.choice(BOUNDARIES) if how else draw.randrange(50)
            array[at] = value if array.dtype.kind == "f" else min(max(value, int(number.min)), int(number.max))
        elif how == 3:
            array[at], array[other] = array[other].copy(), array[at].copy()
        elif how == 4:
            array[at] = array[other]
        elif how == 5:
            with np.errstate(over="ignore"):
                array[at] += array.dtype.type(draw.choice((1, 1, 2)))
        elif how == 6:
            array[at : at + 4] = array[at : at + 4][::-1].copy()
        else:
            arrays[name] = array[: draw.randrange(len(array))] if draw.random() < 0.5 else np.append(array, array[:at])
    return name


def resume(kind: str, words: Words, digest: str, arrays: Arrays, path: Path) -> bool:
    """Seal a checkpoint and continue training from it; return whether it was refused."""
    np.savez(path, allow_pickle=False, **members_of(digest, arrays))
    try:
        with np.errstate(all="ignore"):
            RUNS[kind][0](words, **options_of(kind), checkpoint=path)
    except fst.VocabularyError:
        return True
    finally:
        path.unlink(missing_ok=True)
    return False


def fuzz(kind: str, seed: int, folder: Path, mutants: int) -> tuple[int, int]:
    """Continue training from changed checkpoints of one run; return how many were refused and how many accepted."""
    draw, path, counts = Random(f"{kind} {seed}"), folder / "run.npz", [0, 0]
    path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(merges, "STEPS", 1)
        patch.setattr(score_state, "BUDGET", 1)
        words = words_of(draw)
        try:
            found = stored(kind, words, draw.randint(1, 6), path)
        except fst.VocabularyError:  # happens if the words have fewer than two pieces
            return 0, 0
        if found is None:
            return 0, 0
        patch.setattr(merges, "STEPS", draw.choice((1, 1000)))
        assert not resume(kind, words, *found, path)
        for _ in range(mutants):
            changed = dict(found[1])
            for _ in range(draw.choice((1, 1, 1, 2, 3))):
                change(draw, changed)
            counts[not resume(kind, words, found[0], changed, path)] += 1
    return counts[0], counts[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", thinned(RUNS, 4))
def test_changed_checkpoints_are_refused_or_safe(kind: str, tmp_path: Path) -> None:
    """A checkpoint with changed arrays and a correct seal is refused, or training ends without reading outside an array."""
    refused, finished = map(sum, zip(*(fuzz(kind, seed, tmp_path, 20) for seed in range(4)), strict=True))
    assert refused > 10
    assert finished > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_many_changed_checkpoints_are_refused_or_safe(kind: str, tmp_path: Path) -> None:
    """More checkpoints with changed arrays are refused, or training ends."""
    for seed in sample(range(4, 24), 5):
        fuzz(kind, seed, tmp_path, 20)


@pytest.mark.mostly_slow
@pytest.mark.filterwarnings("ignore:min_frequency is 0")
@pytest.mark.parametrize(
    ("kind", "name", "place", "value"),
    [
        ("bpe", "numbers", merging.KNOWN, 1),
        ("bpe", "numbers", merging.HAS_PAIRS, 0),
        ("bpe", "pairs", slice(None), 0),
        ("bpe", "heap", slice(None), 1),
        ("bpe", "pool", slice(None), 3),
        ("bpe", "words", 1, 2),
        ("bpe", "lengths", 0, 9),
        ("bpe", "merges", 0, 9),
        ("careful", "heads", -1, 3),
        ("careful", "others", slice(3, 9), 2),
        ("careful", "records", 1, 0),
        ("sentencepiece", "suspects", slice(2, None), 3),
        ("score", "lefts", 0, 9),
        ("score", "counts", 0, 1 << 62),
        ("score", "cells", 1, -1),
        ("unigram", "scores", -1, -1e300),
    ],
)
def test_arrays_are_refused_by_name(
    kind: str, name: str, place: Any, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint with an array that kernels cannot read safely is refused, and the message contains the array's name."""
    monkeypatch.setattr(merges, "STEPS", 1)
    monkeypatch.setattr(score_state, "BUDGET", 1)
    path = tmp_path / "run.npz"
    words = Words.of_pairs({"abcabc": 3, "abab": 4, "bcbca": 2, "aaaa": 1}.items())
    found = stored(kind, words, 1 if kind == "unigram" else 2, path)
    assert found is not None
    found[1]["heap_records" if name == "heap" else name][place] = value
    np.savez(path, allow_pickle=False, **members_of(*found))
    with pytest.raises(fst.VocabularyError, match=f"{name} of the checkpoint "):
        RUNS[kind][0](words, **options_of(kind), checkpoint=path)


def test_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state with another number of `numbers`, as another version writes it, is refused as such."""
    monkeypatch.setattr(merges, "STEPS", 1)
    path = tmp_path / "run.npz"
    words = Words.of_pairs({"abcabc": 3, "abab": 4}.items())
    found = stored("bpe", words, 2, path)
    assert found is not None
    found[1]["numbers"] = found[1]["numbers"][:-2]
    np.savez(path, allow_pickle=False, **members_of(*found))
    with pytest.raises(fst.VocabularyError, match="the checkpoint is of another version of fst"):
        train.bpe(words, **options_of("bpe"), checkpoint=path)


def test_tokens_are_no_longer_than_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges that double a token again and again are refused before memory is allocated for the token."""
    monkeypatch.setattr(merges, "STEPS", 1)
    words, path = Words.of_pairs({"abcabcabcabc": 3, "bcbca": 2}.items()), tmp_path / "run.npz"
    found = stored("bpe", words, 5, path)
    assert found is not None
    arrays, made = found[1], int(found[1]["numbers"][merging.MERGES])
    arrays["merges"][3 : 3 * made] = np.repeat(np.arange(made - 1) + arrays["merges"][2], 3) + np.tile([0, 0, 1], made - 1)
    np.savez(path, allow_pickle=False, **members_of(*found))
    with pytest.raises(fst.VocabularyError, match="makes a token longer than all words"):
        RUNS["bpe"][0](words, **options_of("bpe"), checkpoint=path)
