"""Rows that are truncated to a maximum number of ids, and counts of ids."""

from __future__ import annotations

import functools
import itertools
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.machines.documents import ADDED, PIECES
from support.machines.wordpiece import (
    golden_texts,
    pair_of,
    sentences,
)
from support.runtime.offsets import (
    FILLERS,
    digest_of,
    each_vocabulary,
    encoded,
    kept_digest,
    tokenizer,
)
from support.shared_data import needs_shared
from support.tiers import examples, thinned
from tokenizers import Tokenizer

import fst
from fst.runtime.rows import batch


def in_both_kinds(texts: Sequence[str], *threads: int) -> Iterator[tuple[Any, int]]:
    """Texts as str and as bytes, each combined with each number of threads."""
    return itertools.product((list(texts), [text.encode() for text in texts]), threads)


@functools.cache
def truncating(name: str, max_length: int) -> Tokenizer:
    """The reference tokenizer of a vocabulary, with truncation."""
    reference = Tokenizer.from_str(pair_of(name).reference.to_str())
    reference.enable_truncation(max_length)
    return reference


@needs_shared
@each_vocabulary
@pytest.mark.parametrize(("max_length", "around"), thinned(itertools.product((2, 3, 7, 128), (True, False)), 8))
def test_rows_are_cut_as_by_the_reference(name: str, max_length: int, around: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows truncated to n ids, including special tokens, match `tokenizers`, whether or not long texts are read to their end."""
    texts = [*golden_texts()[::7], *("\n".join(sentences()[first : first + 40]) for first in range(0, 2_000, 40))]
    expected = kept_digest(truncating(name, max_length), texts, add_special_tokens=around)
    for few in (1 << 14, 0):
        monkeypatch.setattr(batch, "FEW_CHARACTERS", few)
        monkeypatch.setattr(batch, "MIN_PIECE", few // 8 or 1)
        for rows, threads in in_both_kinds(texts, 1, 2):
            options: dict[str, Any] = {"max_length": max_length, "add_special_tokens": around, "threads": threads}
            found = encoded(pair_of(name).tokenizer, rows, **options)
            assert digest_of(found) == expected
            assert np.array_equal(pair_of(name).tokenizer.encode_batch(rows, **options).ids, found.ids)


@pytest.mark.usefixtures("short_blocks")
@given(
    texts=st.lists(st.lists(st.sampled_from((*PIECES, *FILLERS, " ", "b", "a", "!")), max_size=30).map("".join), max_size=5),
    max_length=st.integers(2, 80),
    around=st.booleans(),
    threads=st.sampled_from([1, 3]),
)
@examples(300)
def test_cut_rows_begin_as_whole_ones(texts: list[str], max_length: int, around: bool, threads: int) -> None:
    """A truncated row begins like the row without a limit and ends with its final special tokens, however much text is read at a time."""
    options: dict[str, Any] = {"add_special_tokens": around}
    after = 1 if around else 0
    whole = tokenizer().encode_batch(texts, offsets=True, **options)
    for rows in (texts, [text.encode() for text in texts]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batch, "FEW_CHARACTERS", 0)
            patch.setattr(batch, "MIN_PIECE", 1)
            found = tokenizer().encode_batch(rows, offsets=True, max_length=max_length, threads=threads, **options)
        for row, given_whole in enumerate(whole):
            begin, end = whole.row_splits[row : row + 2].tolist()
            kept = slice(begin, begin + min(end - begin, max_length) - after)
            last = slice(end - after, end)
            own = slice(*found.row_splits[row : row + 2].tolist())
            for part, of_whole in ((found.ids, whole.ids), (found.offsets, whole.offsets), (found.words, whole.words)):
                assert part is not None
                assert of_whole is not None
                assert part[own].tolist() == [*of_whole[kept].tolist(), *of_whole[last].tolist()], given_whole


@pytest.mark.parametrize("kind", [str, bytes])
def test_long_text_is_not_read_to_its_end(kind: type) -> None:
    """Text far after the last id of a truncated row is not read, and may even be malformed."""
    text: Any = "b " * 100_000 + "\ud800" if kind is str else b"b " * 100_000 + b"\xff"
    assert tokenizer().encode_batch([text, text], max_length=5).ids.tolist() == [2, 7, 7, 7, 3] * 2
    with pytest.raises(fst.TextError, match=r"^row 0, position 200000: "):
        tokenizer().encode_batch([text, text], max_length=150_000)


@pytest.mark.parametrize("max_length", [1, 0, -1])
def test_length_without_room_for_special_tokens_is_refused(max_length: int) -> None:
    """A maximum length below the number of special tokens is refused; without special tokens, any length from 0 is accepted."""
    with pytest.raises(ValueError, match=f"^max_length is {max_length}; expected at least 2, the number of special tokens around a text$"):
        tokenizer().encode_batch(["a"], max_length=max_length)
    if max_length >= 0:
        assert tokenizer().encode_batch(["a a a"], max_length=max_length, add_special_tokens=False).ids.tolist() == [5] * max_length
    else:
        with pytest.raises(ValueError, match="max_length is -1"):
            tokenizer().encode_batch(["a"], max_length=max_length, add_special_tokens=False)


@pytest.mark.parametrize("max_length", [1.0, 5.5, "5", [5]])
def test_length_that_is_no_number_is_refused(max_length: Any) -> None:
    """A maximum length is an integer of Python or `numpy`, and any other value is refused with the argument's name."""
    with pytest.raises(ValueError, match=r"^max_length is .*; expected a whole number$"):
        tokenizer().encode_batch(["a"], max_length=max_length)
    length: Any = np.int64(3)
    assert tokenizer().encode_batch(["a a"], max_length=length).ids.tolist() == [2, 5, 3]


@pytest.mark.slow
@pytest.mark.usefixtures("short_blocks")
@given(
    texts=st.lists(st.lists(st.sampled_from((*PIECES, *ADDED, *FILLERS, " ", "b")), max_size=60).map("".join), max_size=5),
    times=st.sampled_from([1, 30]),
    around=st.booleans(),
)
@examples(100)
def test_counts_are_the_lengths_of_rows(texts: list[str], times: int, around: bool) -> None:
    """The count of a text is the number of its ids, for texts of any length and any number of threads."""
    expected = np.diff(tokenizer().encode_batch(texts * times, add_special_tokens=around).row_splits).tolist()
    for rows, threads in in_both_kinds(texts * times, 1, 3):
        counts = tokenizer().count_tokens(rows, add_special_tokens=around, threads=threads)
        assert counts.dtype == np.int64
        assert counts.tolist() == expected


@pytest.mark.mostly_slow
@pytest.mark.parametrize("kind", [str, bytes])
@pytest.mark.parametrize("rows", [1, 100])
def test_counting_takes_no_more_memory_for_more_text(rows: int, kind: type) -> None:
    """Counting stores no ids, so the memory does not grow with the length of a text or the number of texts."""
    peaks = []
    for size in (1_000_000, 8_000_000):
        text: Any = ("un b " if kind is str else b"un b ") * (size // rows // 5)
        texts = [text] * rows
        tokenizer().count_tokens(texts, threads=1)
        tracemalloc.start()
        counts = tokenizer().count_tokens(texts, threads=1, add_special_tokens=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counts.tolist() == [size // rows // 5 * 2] * rows
    assert peaks[1] < 1.5 * peaks[0]
