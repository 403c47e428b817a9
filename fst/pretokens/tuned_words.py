"""Tuned words: frequent pre-tokens of several tokens, which are in the table of words with their ids, so that these pre-tokens need no
walk. The words are chosen from texts when a table is compiled, see `fst.bridge.tuning`; their ids are those of the walk.

``tuned`` contains the ids of all tuned words, one word after another, and `PADDING` zeros, because kernels copy 8 ids at a time. In the
table of words, the slot of a tuned word contains the *number* of the word in place of an id: ``start | number of ids << COUNT_SHIFT |
1 << BIT``, where ``start`` is the index of the first id in ``tuned``. No id has this bit.

For example, if " unhappily" has the ids 555, 71 and 1642 at the indices 8 to 10 of ``tuned``, its number is ``8 | 3 << 20 | 1 << 30``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fst.automata.rows import Array
from fst.core.json_fields import Rule, record, stored_as, whole
from fst.tables.proof import need, need_none

MOST_IDS = 8  # maximum number of ids of a word
PADDING = MOST_IDS - 1
MOST_WORDS, MOST_BYTES = 1 << 16, 4_000_000  # maximum number of words, and of bytes by which they enlarge a table
COUNT_SHIFT, BIT = 20, 30  # positions in a number
START, COUNT = (1 << COUNT_SHIFT) - 1, (1 << 4) - 1  # masks for the start, and for the shifted number of ids
DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Tuning:
    """The origin of tuned words.

    Attributes:
        words: the number of words.
        texts: the SHA-256 of the texts that the words were chosen from, concatenated in UTF-8, in hexadecimal digits.
    """

    words: int = stored_as(whole(1, MOST_WORDS))
    texts: str = stored_as(Rule(lambda value: isinstance(value, str) and DIGEST.fullmatch(value) is not None, "64 hexadecimal digits"))


TUNING = record(Tuning, "a mapping of 'words', a number, and 'texts', a SHA-256")


def numbers_of(counts: Array) -> Array:
    """uint64[words], the number of each word; `counts`: int64[words], the number of ids of each word, in the order of ``tuned``."""
    starts = np.cumsum(counts) - counts
    found: Array = (starts | counts << COUNT_SHIFT | 1 << BIT).astype(np.uint64)
    return found


def are_tuned(numbers: Array) -> Array:
    """Whether each number or id, from the slots of a table of words, is the number of a tuned word."""
    found: Array = numbers >> numbers.dtype.type(BIT) == 1
    return found


def prove_tuned(tuned: Array, numbers: Array, sizes: Array, lengths: Array, words: int) -> Array:
    """Prove that each tuned word has 2 to 8 tokens, which together have as many bytes as the word, and that the number of tuned words is
    `words`.

    Args:
        tuned: the ids of tuned words.
        numbers: int64[slots], the number or the id in each slot of the table of words.
        sizes: int64[slots], the length of the word in each slot.
        lengths: uint16[ids], the number of bytes of each id, or 0.

    Returns:
        bool[slots], whether the slot contains a tuned word.
    """
    found = are_tuned(numbers)
    slots = np.flatnonzero(found)
    need(len(slots) == words, f"the table of words contains {len(slots)} tuned words; expected {words}, as in the header")
    need((words > 0) == (len(tuned) > 0), f"tuned has {len(tuned)} elements for {words} tuned words")
    starts, counts = numbers[slots] & START, numbers[slots] >> COUNT_SHIFT & (1 << BIT - COUNT_SHIFT) - 1
    wrong = (starts + MOST_IDS > len(tuned)) | (counts < 2) | (counts > MOST_IDS)
    need_none(wrong, lambda word: f"slot {slots[word]} of the table of words contains {numbers[slots[word]]:#x}, no number of a tuned word")
    places = np.arange(MOST_IDS)
    ids = tuned[starts[:, None] + places] if words else np.zeros((0, MOST_IDS), np.int32)
    own = np.where((ids >= 0) & (ids < len(lengths)), lengths.take(ids, mode="clip"), 0).astype(np.int64)
    is_own = places < counts[:, None]
    wrong = (is_own & (own == 0)).any(axis=1) | ((own * is_own).sum(axis=1) != sizes[slots])
    need_none(wrong, lambda word: f"slot {slots[word]} of the table of words has {sizes[slots[word]]} bytes, and its tokens have others")
    return found
