"""Kernels that sort words by their bytes.

The first bytes of each word are numbers, its key. NumPy sorts by the first of them, with vector instructions if the processor has them. A
merge sort from the bottom up then sorts each run of words in which this number is the same. Only long words that begin alike are compared
byte by byte.
"""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, kernel, part

KEYS, LENGTH = np.uint64(4), np.uint64(3)  # numbers of a word: its first bytes, filled up with zeros, in three; and its length
KEY_BYTES = np.uint64(24)
U0, U1, U2, U8, U56 = (np.uint64(number) for number in (0, 1, 2, 8, 56))


@kernel
def make_keys(text, ends, keys, first):
    """Write the keys of words.

    Args:
        text: uint8[n], the bytes of all words, one after the other.
        ends: int64[words], ascending, at most n: where each word ends in `text`.
        keys: uint64[4 * words], filled: of each word its first bytes in three numbers, filled up with zeros, and its length.
        first: uint64[words], filled: the first number of each word.
    """
    begin = U0
    for number in range(len(ends)):
        end, key = np.uint64(ends[number]), np.uint64(number) * KEYS
        for index in range(LENGTH):
            bits = U0
            for place in range(U8):
                at = begin + np.uint64(index) * U8 + np.uint64(place)
                bits = bits << U8 | (np.uint64(text[at]) if at < end else U0)
            keys[key + np.uint64(index)] = bits
        keys[key + LENGTH], first[number] = end - begin, keys[key]
        begin = end


@part
def compared_on(text, ends, one, other, shorter):
    """Compare two words of which at least `shorter` bytes are there, from the end of their keys on; as `compared`, 0 if one goes on."""
    first, second = (np.uint64(ends[one - U1]) if one else U0), (np.uint64(ends[other - U1]) if other else U0)
    for index in range(KEY_BYTES, shorter):
        left, right = text[first + np.uint64(index)], text[second + np.uint64(index)]
        if left != right:
            return -1 if left < right else 1
    return 0


@inlined
def compared(text, ends, keys, one, other):
    """Compare two words by their numbers: -1, 0 or 1 as one is before, equal to or after the other."""
    left, right = one * KEYS, other * KEYS
    for index in range(LENGTH):
        first, second = keys[left + np.uint64(index)], keys[right + np.uint64(index)]
        if first != second:
            return -1 if first < second else 1
    first, second = keys[left + LENGTH], keys[right + LENGTH]
    shorter = min(first, second)
    found = compared_on(text, ends, one, other, shorter) if shorter > KEY_BYTES else 0
    return found if found or first == second else -1 if first < second else 1


@part
def merge(text, ends, keys, begin, middle, end, order, out):
    """Merge two sorted runs of words."""
    left, right = begin, middle
    for place in range(begin, end):
        takes_left = left < middle
        if takes_left and right < end:
            takes_left = compared(text, ends, keys, np.uint64(order[left]), np.uint64(order[right])) <= 0
        out[np.uint64(place)] = order[left] if takes_left else order[right]
        left += np.uint64(takes_left)
        right += np.uint64(not takes_left)


@part
def sort_run(text, ends, keys, begin, end, order, spare):
    """Sort a run of words."""
    width = U1
    while width < end - begin:
        for left in range(begin, end, width * U2):
            middle = min(np.uint64(left) + width, end)
            merge(text, ends, keys, np.uint64(left), middle, min(middle + width, end), order, spare)
        for place in range(begin, end):
            order[np.uint64(place)] = spare[np.uint64(place)]
        width *= U2


@kernel
def sort_words(text, ends, keys, order, spare, begins):
    """Sort words that are sorted by the first numbers of their keys.

    Args:
        text, ends, keys: as in `make_keys`.
        order: int64[words], the numbers of the words, sorted by `first` of `make_keys`; sorted by their bytes in the end.
        spare: int64[words], scratch.
        begins: uint8[words], filled: 1 if a word of this order differs from the one before it, or is the first.
    """
    begin, count = U0, np.uint64(len(ends))
    while begin < count:
        first, end = keys[np.uint64(order[begin]) * KEYS], begin + U1
        while end < count and keys[np.uint64(order[end]) * KEYS] == first:
            end += U1
        sort_run(text, ends, keys, begin, end, order, spare)
        begins[begin] = U1
        for number in range(begin + U1, end):
            place = np.uint64(number)
            found = compared(text, ends, keys, np.uint64(order[place - U1]), np.uint64(order[place]))
            begins[place] = np.uint8(found != 0)
        begin = end
