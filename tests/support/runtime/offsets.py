"""Encode texts with offsets, by the package and by the reference, and compare the rows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support import answers
from support.kept import wordpiece
from support.machines.documents import compiled
from support.machines.wordpiece import (
    CASED,
    OF_ALL_KINDS,
    PART,
    UNCASED,
    pair_of,
    ways,
)
from tokenizers import Tokenizer

import fst
from fst.machines.wordpiece.table import WordPieceTable

FILLERS = ("b un! ", "é 世b ", "𐐨 \U0001f600")
BLOCK = 64
each_vocabulary = pytest.mark.parametrize("name", [UNCASED, CASED])


@dataclass(frozen=True)
class Rows:
    """The ids of texts with their offsets and words, and the number of ids in each text."""

    ids: list[int]
    offsets: list[int]
    words: list[int]
    lengths: list[int]


def rows_of(found: fst.Batch) -> Rows:
    """The rows of a batch."""
    assert found.offsets is not None
    assert found.words is not None
    return Rows(found.ids.tolist(), found.offsets.ravel().tolist(), found.words.tolist(), np.diff(found.row_splits).tolist())


def encoded(tokenizer: fst.Tokenizer, texts: Any, **options: Any) -> fst.Batch:
    """Encode texts with offsets, without special tokens around them."""
    return tokenizer.encode_batch(texts, **{"add_special_tokens": False, "offsets": True, **options})


def located(tokenizer: fst.Tokenizer, texts: Any, **options: Any) -> Rows:
    """Encode texts, and return the rows."""
    return rows_of(encoded(tokenizer, texts, **options))


def digest_of(found: fst.Batch) -> str:
    """The digest of all members of a batch."""
    assert found.offsets is not None
    assert found.words is not None
    return answers.digest(found.ids, found.offsets.ravel(), found.words, np.diff(found.row_splits))


def kept_digest(reference: Tokenizer, texts: Sequence[str], **options: Any) -> str:
    """The digest of all results of the reference, from `answers.json` or computed."""

    def ask() -> str:
        rows = referred(reference, texts, **options)
        flat = [np.array(numbers, np.int32) for numbers in (rows.ids, rows.offsets, rows.words)]
        return answers.digest(*flat, np.array(rows.lengths, np.int64))

    return answers.answer(answers.question(f"{sorted(options.items())} {reference.to_str()}", texts), ask)


def referred(reference: Tokenizer, texts: Sequence[str], **options: Any) -> Rows:
    """Encode texts with the reference, and return the rows."""
    rows = Rows([], [], [], [])
    # The texts are encoded in parts, because Python's garbage collector is slow with many lists in memory.
    for first in range(0, len(texts), PART):
        for encoding in reference.encode_batch(list(texts[first : first + PART]), **{"add_special_tokens": False, **options}):
            rows.ids.extend(encoding.ids)
            rows.offsets.extend(itertools.chain.from_iterable(encoding.offsets))
            rows.words.extend(-1 if word is None else word for word in encoding.word_ids)
            rows.lengths.append(len(encoding.ids))
    return rows


@dataclass(frozen=True, eq=False)
class Pair:
    """A tokenizer of `tokenizers` and one of this package, with the same vocabulary and options."""

    reference: Tokenizer
    tokenizer: fst.Tokenizer

    def check(self, texts: Sequence[str], **options: Any) -> None:
        """Check that all texts get the same results as from the reference, as str and bytes, on one thread and two; a failure shows the
        text that differs.
        """
        expected = kept_digest(self.reference, texts, **options)
        for rows, threads in ways(texts):
            if digest_of(encoded(self.tokenizer, rows, threads=threads, **options)) != expected:
                self._show(rows, texts, threads=threads, **options)

    def _show(self, rows: Any, texts: Sequence[str], **options: Any) -> None:
        """Fail with a message that shows the first row that differs."""
        options.pop("threads")
        for row, text in zip(rows, texts, strict=True):
            wanted, given = referred(self.reference, [text], **options), located(self.tokenizer, [row], **options)
            if wanted != given:
                pytest.fail(f"{text!a:.200}:\nreference {wanted!a:.800}\npackage   {given!a:.800}")
        pytest.fail("texts differ in a batch that do not differ each by itself")


@functools.cache
def tables(longest: int = 100, layout: str = "auto") -> WordPieceTable:
    """Compile the vocabulary that all tests of offsets share."""
    return compiled(layout=layout, max_input_chars_per_word=longest)


@functools.cache
def tokenizer(longest: int = 100) -> fst.Tokenizer:
    """Make the tokenizer that all tests of offsets share."""
    return fst.Tokenizer(tables(longest))


@functools.cache
def located_pair(name: str) -> Pair:
    """Load a real vocabulary with both libraries, for comparisons of offsets."""
    pair = pair_of(name)
    return Pair(pair.reference, pair.tokenizer)


PREFIXES = ("##", "", "a", "é", "[MASK]", "\u0301", "▁")


@functools.lru_cache(maxsize=1)
def pair_of_options(reference: Callable[..., Tokenizer], **options: Any) -> Pair:
    """Build a pair with the given options, from a vocabulary with tokens of all kinds."""
    prefix = options.get("continuing_subword_prefix", "##")
    tokens = [*dict.fromkeys(prefix + token[2:] if token[:2] == "##" else token for token in OF_ALL_KINDS)]
    return Pair(reference(tokens, **options), fst.Tokenizer(wordpiece(tokens, **options)))
