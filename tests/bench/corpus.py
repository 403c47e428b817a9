"""A text of any size without repeated passages, whose distinct words grow as those of English books do.

    python tests/bench/corpus.py 100 > text.txt

The number is the size in MB. After n bytes there are 77,827 · (n / 20 MB)^0.52 distinct words, as `tests/bench/train.py` needs them: the
number of 20 MB of English books, and the exponent measured on these. A word is new with the probability that this states. Else a third
of the time it is one of the first `COMMON` words, by Zipf's law, and else it repeats a random earlier word of the text (Simon 1955). The
same size gives the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

WORDS, BYTES, POWER = 77_827, 20e6, 0.52
LETTERS = 5.7  # bytes of a word and of the space after it, on average
COMMON, SHARE = 1000, 0.35
BLOCK, MOST_BLOCK = 1 << 12, 1 << 20  # words that are drawn together; they repeat words before their block
LINE = 12  # words
ONSETS = ("b", "c", "d", "f", "gr", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "th", "br", "ch")
RHYMES = ("a", "ell", "ing", "o", "at", "en", "est", "ound", "ick", "er", "and", "us")


def write(file: IO[bytes], size: int) -> None:
    """Write a text of some bytes, and the rest of its last line."""
    spelled, written = [*_spellings(0, BLOCK)], 0
    for words in blocks(size):
        while len(spelled) <= int(words.max()):
            spelled += _spellings(len(spelled), len(spelled) + BLOCK)
        listed = list(map(spelled.__getitem__, words.tolist()))
        text = b"".join(b" ".join(listed[first : first + LINE]) + b"\n" for first in range(0, len(listed), LINE))
        if written + len(text) >= size:
            file.write(text[: text.index(b"\n", size - written - 1) + 1])
            return
        file.write(text)
        written += len(text)


def blocks(size: int) -> Iterator[NDArray[np.int32]]:
    """The numbers of words, in blocks. Words are numbered as they first appear."""
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


def _spellings(first: int, last: int) -> Iterator[bytes]:
    """The spellings of words: the more often a word is expected, the fewer syllables it has."""
    syllables = [onset + rhyme for onset in ONSETS for rhyme in RHYMES]
    for number in range(first, last):
        rest, word = number, ""
        while not word or rest:
            rest, syllable = divmod(rest, len(syllables))
            word += syllables[syllable]
        yield word.encode()


if __name__ == "__main__":
    write(sys.stdout.buffer, int(float(sys.argv[1]) * 1e6))
