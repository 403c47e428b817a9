"""The table of short words gives the ids of the table of words."""

from __future__ import annotations

import random

import numpy as np

from fst.automata.rows import MULTIPLIERS, Array
from fst.pretokens.short_words import MOST_BITS, SHORT, shift_of, short_words

WORDS = [bytes(random.Random(seed).choices(b"ab\0", k=1 + seed % 12)) for seed in range(3000)]


def table_of(words: dict[bytes, int]) -> Array:
    """Return slots of a table of words, in the order of the words."""
    keys = np.frombuffer(b"".join(word.ljust(24, b"\0") for word in words), "<u8").reshape(-1, 3)
    values = np.array([len(word) << 32 | number for word, number in words.items()], np.uint64)
    return np.column_stack([keys, values]).ravel()


def test_lowest_id() -> None:
    """Each slot contains the short word with the lowest id of all short words with this slot."""
    words = {word: 7 * number % 3001 for number, word in enumerate(dict.fromkeys(WORDS))}
    found = short_words(table_of(words)).reshape(-1, 2)
    expected = np.zeros_like(found)
    for word, number in sorted(words.items(), key=lambda item: -item[1]):
        if len(word) <= SHORT:
            key = int.from_bytes(word, "little") | len(word) << 56
            expected[key * MULTIPLIERS[0] % (1 << 64) >> shift_of(found)] = key, number
    assert len(found) <= 1 << MOST_BITS
    assert np.array_equal(found, expected)


def test_bytes_after_a_word_are_not_in_its_key() -> None:
    """A key has only the bytes of its word, whatever else a slot of a damaged table contains, so that no other item has this key."""
    table = table_of({b"ab": 1, b"abcdefg": 2})
    damaged = table.copy()
    damaged[0::4] |= np.uint64(0xFF << 56)
    assert np.array_equal(short_words(damaged), short_words(table))
