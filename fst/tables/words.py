"""The table of words: a perfect hash table of words and their ids, so that each of these words takes one look-up.

The key of a word of up to `WORD_SYMBOLS` symbols is three 64-bit numbers with four classes each, padded with 0. The hash is the sum of the
three numbers, each times one of `MULTIPLIERS`. The highest bits of the hash are the index of a bucket; the bits below them, xor the
bucket's displacement, are the index of a slot. A slot contains the key of a word and ``1 << 32 | id``; an unused slot is 0. See
`fst.compile.text.word_table`.

Example: the words "un", "able" and "u" with the ids 1, 2 and 3, in 8 slots and 2 buckets with the displacements 0 and 6. The highest bit
of the hash is the bucket, the next three bits are the index before the displacement::

    word   classes      key            hash           bucket   index xor displacement = slot   content of the slot
    un     1 7          7 << 16 | 1    0xf212…        1        7 xor 6 = 1                     70001, 0, 0, 1 << 32 | 1 (key in hex)
    u      1            1              0x9e37…        1        1 xor 6 = 7                     1, 0, 0, 1 << 32 | 3
    able   2 4 6 5      0x5000600040002  0x3b5e…      0        3 xor 0 = 3                     5000600040002, 0, 0, 1 << 32 | 2
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.automata.rows import MAX_LABEL, MAX_OUTPUT, MULTIPLIERS, WORD_SYMBOLS, Array
from fst.tables.proof import need, need_none


def id_of_word(words: Array, displacements: Array, classes: Sequence[int]) -> int | None:
    """The id of a word, given by its classes; None if the word is not in the table."""
    if not 0 < len(classes) <= WORD_SYMBOLS:
        return None
    key = [sum(number << 16 * place for place, number in enumerate(classes[first : first + 4])) for first in (0, 4, 8)]
    hashed = sum(part * factor for part, factor in zip(key, MULTIPLIERS, strict=True)) % (1 << 64)
    slots, shift = len(words) // 4, 64 - (len(displacements) - 1).bit_length()
    slot = (hashed >> (shift - (slots - 1).bit_length()) ^ int(displacements[hashed >> shift])) % slots
    *found, value = words[4 * slot : 4 * slot + 4].tolist()
    return value & MAX_OUTPUT if found == key else None


def used(words: Array) -> tuple[Array, Array]:
    """The used slots of the table: the classes of each word, uint16[n, 12], and its id, int64[n]."""
    slots = words.reshape(-1, 4)
    slots = slots[slots[:, 3] > 0]
    return slots[:, :3].copy().view(np.uint16), (slots[:, 3] & np.uint64(MAX_OUTPUT)).astype(np.int64)


def prove(words: Array, displacements: Array, named: Array, longest: int) -> None:
    """Prove that every hash leads to a slot, and that each word in the table has exactly one id, the id of a token.

    Args:
        words, displacements: the arrays of the table.
        named: whether each number is the id of a token.
        longest: the number of symbols of the longest word that is looked up.
    """
    need(len(words) % 4 == 0 and _is_power(len(words) // 4), f"words has {len(words)} elements, not 4 for each of 2, 4, 8 … slots")
    buckets = len(displacements)
    need(buckets >= 2 and _is_power(buckets), f"there are {buckets} displacements, not 2, 4, 8 …")
    # 1 + the id if the value is one id; for any other value, a number that is below 1, or too high for an id
    numbers = words[3::4].view(np.int64) - ((1 << 32) - 1)
    known = np.concatenate([[False], named, [False]]).take(numbers, mode="clip")
    wrong = (known != (words[0::4] > 0)) | (known != (words[3::4] > 0))
    need_none(wrong, lambda slot: f"slot {slot} of the table of words is {int(words[4 * slot + 3]):#x}; expected one id of a token")
    if longest < WORD_SYMBOLS:
        beyond = words.reshape(-1, 4)[:, :3].copy().view(np.uint16)[:, longest:]
        need_none(np.any(beyond, axis=1), lambda slot: f"slot {slot} of the table of words: the word has more than {longest} symbols")


def _is_power(number: int) -> bool:
    return number > 0 and number & number - 1 == 0


def prove_without(keys: Array, patterns: Sequence[Sequence[int]]) -> None:
    """Prove that no word contains one of the given patterns, which are strings of classes.

    Args:
        keys: the classes of words, in the form that `used` returns.
        patterns: the patterns of contextual tokens. A kernel searches for these tokens only in words that are not in the table.
    """
    strings: dict[int, set[bytes]] = {}
    may_begin = np.zeros(MAX_LABEL + 1, bool)
    for pattern in patterns:
        strings.setdefault(2 * len(pattern), set()).add(np.array(pattern, np.uint16).tobytes())
        may_begin[pattern[0]] = True
    for first in range(WORD_SYMBOLS):
        some = keys[may_begin[keys[:, first]], first:]
        for size, known in strings.items():
            windows = some[:, : size // 2].tobytes()
            is_held = size <= some.itemsize * some.shape[1] and any(windows[at : at + size] in known for at in range(0, len(windows), size))
            need(not is_held, f"a word of the table of words holds a contextual token at symbol {first}")
