"""Write a text of any size without repeated passages; its number of distinct words grows as in English books.

    python tests/bench/corpus.py 100 > text.txt

The argument is the size in MB. The text is for `tests/bench/train.py`. After n bytes, it has 77,827 · (n / 20 MB)^0.52 distinct words,
because 20 MB of English books have 77,827 distinct words, and the exponent was measured on them. This formula determines the probability of
a new word. Of the other words, a third are among the first `COMMON` words, by Zipf's law; the rest repeat a random earlier word of the text
(Simon 1955). Equal sizes give equal bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

WORDS, BYTES, POWER = 77_827, 20e6, 0.52
LETTERS = 5.7  # average number of bytes of a word and the space after it
COMMON, SHARE = 1000, 0.35
BLOCK, MOST_BLOCK = 1 << 12, 1 << 20  # number of words of a block, which are drawn together and repeat only words of earlier blocks
LINE = 12  # number of words
ONSETS = ("b", "c", "d", "f", "gr", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "th", "br", "ch")
RHYMES = ("a", "ell", "ing", "o", "at", "en", "est", "ound", "ick", "er", "and", "us")


def write(file: IO[bytes], size: int) -> None:
    """Write a text of at least `size` bytes, up to the end of a line."""
    spelled, written = [*spellings(0, BLOCK)], 0
    for words in blocks(size):
        while len(spelled) <= int(words.max()):
            spelled += spellings(len(spelled), len(spelled) + BLOCK)
        listed = list(map(spelled.__getitem__, words.tolist()))
        text = b"".join(b" ".join(listed[first : first + LINE]) + b"\n" for first in range(0, len(listed), LINE))
        if written + len(text) >= size:
            file.write(text[: text.index(b"\n", size - written - 1) + 1])
            return
        file.write(text)
        written += len(text)


def blocks(size: int) -> Iterator[NDArray[np.int32]]:
    """Yield blocks of words; each word is its number in the order of first occurrence."""
    chance = np.random.default_rng(7)
    most = int(size / LETTERS * 1.5)
    drawn = np.empty(most, np.int32)
    drawn[:COMMON] = np.arange(COMMON)
    yield drawn[:COMMON]
    shares = np.cumsum(1 / np.arange(3, COMMON + 3))
    count = known = COMMON
    while count < most:
        block = min(max(BLOCK, min(count // 8, MOST_BLOCK)), most - count)
        expected = WORDS * ((count + np.arange(1, block + 1)) * LETTERS / BYTES) ** POWER
        new = np.flatnonzero(chance.random(block) < np.diff(expected, prepend=max(expected[0] - 1, known)))
        found = drawn[chance.integers(0, count, block)]
        common = np.flatnonzero(chance.random(block) < SHARE)
        found[common] = np.searchsorted(shares, chance.random(len(common)) * shares[-1])
        found[new] = np.arange(known, known + len(new))
        drawn[count : count + block] = found
        yield found
        count, known = count + block, known + len(new)


def spellings(first: int, last: int) -> Iterator[bytes]:
    """Yield the spellings of words; words with a higher expected frequency have fewer syllables."""
    syllables = [onset + rhyme for onset in ONSETS for rhyme in RHYMES]
    for number in range(first, last):
        rest, word = number, ""
        while not word or rest:
            rest, syllable = divmod(rest, len(syllables))
            word += syllables[syllable]
        yield word.encode()


if __name__ == "__main__":
    write(sys.stdout.buffer, int(float(sys.argv[1]) * 1e6))
