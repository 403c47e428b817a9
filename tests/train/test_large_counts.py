"""Counts near 2^31, 2^53 and 2^63: they are added, stored and used for training without overflow."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fst.counting import merging
from fst.counting.words import MAX_COUNT, Words
from fst.tables.strings import stored_bytes
from fst.train import bpe, wordpiece

pytest.importorskip("pyarrow", reason="tables of words take pyarrow: the extra [arrow]")

WEIGHTED = st.lists(
    st.tuples(st.sampled_from([b"", b"a", b"ab", b"b"]), st.integers(1, 1 << 59), st.tuples(*[st.integers(0, 3)] * 3)), max_size=8
)
short_words = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 5), max_size=8)


@pytest.mark.parametrize("trainer", [bpe, wordpiece])
@given(words=short_words, factor=st.sampled_from([(1 << 31) - 1, 1 << 31, 1 << 33, 1 << 53, 1 << 54]))
@settings(max_examples=20, deadline=None)
def test_large_counts_do_not_overflow(trainer: Any, words: dict[str, int], factor: int) -> None:
    """If all counts are multiplied by a number, merges stay the same and the counts of tokens are multiplied, up to counts near 2^63."""
    small, large = (trainer(Words.of_pairs((word, times * count) for word, count in words.items()), vocab_size=20) for times in (1, factor))
    assert (large.merges, large.vocabulary) == (small.merges, small.vocabulary)
    assert large.counts.tolist() == [factor * count for count in small.counts.tolist()]


@pytest.mark.parametrize("count", [(1 << 31) - 1, 1 << 31, (1 << 32) + 1, 1 << 53, MAX_COUNT - 1])
def test_large_counts_are_stored_and_added(count: int, tmp_path: Path) -> None:
    """Counts up to 2^63 - 1 are stored in Parquet, added from several files, and merged."""
    parts = [Words.of_pairs([("a", count - 1), ("b", 1)]), Words.of_pairs([("a", 1)])]
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}.parquet")
    for words in (merging.load(tmp_path.glob("*.parquet")), Words.merged(parts, split=parts[0].split)):
        assert [*zip(words, words.counts.tolist(), strict=True)] == [(b"a", count), (b"b", 1)]


@given(WEIGHTED)
def test_equal_words_are_merged(rows: list[tuple[bytes, int, tuple[int, int, int]]]) -> None:
    """Rows with the same word become one word with the sum of the counts and the earliest first occurrence."""
    spelled, counts, first = [word for word, _, _ in rows], [count for _, count, _ in rows], [place for _, _, place in rows]
    arrays = np.array(counts, np.int64), np.array(first, np.int64).reshape(-1, 3)
    words = Words.combined(*stored_bytes(spelled), *arrays, split="")
    own = {word: [row for row in rows if row[0] == word] for word in sorted({*spelled})}
    found = [(word, count, tuple(place)) for word, count, place in zip(words, words.counts.tolist(), words.first.tolist(), strict=True)]
    assert found == [(word, sum(row[1] for row in same), min(row[2] for row in same)) for word, same in own.items()]


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.integers(1, 5)), min_size=1, max_size=4), st.integers(1, 6))
def test_rare_words_are_left_out_after_merging(parts: list[dict[str, int]], least: int) -> None:
    """With `min_count`, merged words are exactly those whose total is at least this; left out of each part, a word loses less than this in
    each part.
    """
    total = {word: sum(part.get(word, 0) for part in parts) for word in sorted({*chain(*parts)})}
    counted = [Words.of_pairs(part.items()) for part in parts]
    late = Words.merged(counted, split=counted[0].split, min_count=least)
    assert [*zip(late, late.counts.tolist(), strict=True)] == [(word.encode(), count) for word, count in total.items() if count >= least]
    early = Words.merged([words.at_least(least) for words in counted], split=counted[0].split)
    kept = dict(zip(early, early.counts.tolist(), strict=True))
    assert all(0 <= count - kept.get(word.encode(), 0) <= len(parts) * (least - 1) for word, count in total.items())
