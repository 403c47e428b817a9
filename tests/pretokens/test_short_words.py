"""The table of short words gives the ids of the table of words."""

from __future__ import annotations

import random

import numpy as np

from fst.automata.rows import Array
from fst.pretokens.short_words import BYTES_SHIFT, FACTOR, LENGTH_SHIFT, MOST_BITS, SHORT, bits_of, most_ids, short_words

WORDS = [bytes(random.Random(seed).choices(b"ab\0", k=1 + seed % 12)) for seed in range(3000)]


def table_of(words: dict[bytes, int]) -> Array:
    """Return slots of a table of words, in the order of the words."""
    keys = np.frombuffer(b"".join(word.ljust(24, b"\0") for word in words), "<u8").reshape(-1, 3)
    values = np.array([len(word) << 32 | number for word, number in words.items()], np.uint64)
    return np.column_stack([keys, values]).ravel()


def hash_of(word: bytes) -> int:
    """The hash of a pre-token."""
    return (int.from_bytes(word[:SHORT], "little") << BYTES_SHIFT | min(len(word), SHORT + 1) << LENGTH_SHIFT) * FACTOR % (1 << 64)


def looked_up(table: Array, word: bytes) -> int | None:
    """The id that a pre-token has in a table, as kernels look it up; None if it has none."""
    bits = bits_of(table)
    value = int(table[hash_of(word) >> 64 - bits]) ^ hash_of(word) << bits & (1 << 64) - 1
    return value if value < most_ids(bits) else None


def near(word: bytes) -> set[bytes]:
    """Pre-tokens that differ from a word by one byte, which is changed, removed or added."""
    places = range(len(word) + 1)
    changed = {word[:at] + bytes([byte]) + word[at + 1 :] for at in places for byte in (0, 97, 98, 99, 255)}
    added = {word[:at] + bytes([byte]) + word[at:] for at in places for byte in (0, 97, 98)}
    return (changed | added | {word[:at] + word[at + 1 :] for at in places} | {word + b"ab" * 5}) - {b""}


def test_lowest_id() -> None:
    """Each slot contains the short word with the lowest id of all short words with this slot."""
    words = {word: 7 * number % 3001 for number, word in enumerate(dict.fromkeys(WORDS))}
    table, kept = short_words(table_of(words)), dict[int, bytes]()
    for word in sorted(filter(lambda word: len(word) <= SHORT, words), key=words.__getitem__):
        kept.setdefault(hash_of(word) >> 64 - bits_of(table), word)
    assert len(table) <= 1 << MOST_BITS
    assert {word: looked_up(table, word) for word in words} == {word: words[word] if word in kept.values() else None for word in words}


def test_near_misses() -> None:
    """Only the words of the table have an id in the table."""
    words = {word: number for number, word in enumerate(dict.fromkeys(WORDS)) if number % 3}
    table = short_words(table_of(words))
    others = set().union(*map(near, words)) - words.keys()
    assert {looked_up(table, word) for word in others} == {None}


def test_free_slots() -> None:
    """No pre-token, of any length up to 8 and with any bytes, has an id in a table without words."""
    draw = random.Random(46)
    pretokens = [draw.randbytes(1 + number % 9) for number in range(20_000)]
    assert {looked_up(np.zeros(2, np.uint64), word) for word in [*pretokens, *WORDS]} == {None}


def test_great_ids() -> None:
    """A word whose id does not fit into a slot is left out."""
    table = short_words(table_of({b"a": 3, b"b": 64, b"c": 63}))
    assert [looked_up(table, word) for word in (b"a", b"b", b"c")] == [3, None, 63]


def test_bytes_after_a_word_are_not_in_its_key() -> None:
    """A key contains only the bytes of its word, even if a slot of a damaged table contains more, so no other item has this key."""
    table = table_of({b"ab": 1, b"abcdefg": 2})
    damaged = table.copy()
    damaged[0::4] |= np.uint64(0xFF << 56)
    assert np.array_equal(short_words(damaged), short_words(table))
