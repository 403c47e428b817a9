"""Kernels that sort words by their bytes, and copy words in a new order.

The key of a word is four numbers: three for its first 24 bytes, and its length. NumPy sorts words by the first number, with vector
instructions if the processor has them. Each run of words whose first numbers are equal is then sorted by insertion in blocks, and by
merges of blocks. Only words that share their first 24 bytes are compared byte by byte.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part

KEYS, LENGTH = np.uint64(4), np.uint64(3)  # number of 64-bit numbers in a key; the index of the word's length among these numbers
KEY_BYTES = np.uint64(24)
BLOCK = np.uint64(8)  # number of words that are sorted by insertion
U0, U1, U2, U8, U56 = (np.uint64(number) for number in (0, 1, 2, 8, 56))


@kernel
def make_keys(text, ends, keys, first):
    """Write the key of each word, by which words are sorted.

    Args:
        text: uint8[n], the bytes of all words, concatenated.
        ends: int64[words], ascending, at most n: the end of each word in `text`.
        keys: uint64[4 * words], filled: for each word, its first 24 bytes in three numbers, padded with zeros, and its length.
        first: uint64[words], filled: the first number of each key.
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
    """Compare the bytes of two words from byte `KEY_BYTES` to byte `shorter`, the length of the shorter word; return -1, 0 or 1 like
    `compared`.
    """
    first, second = (np.uint64(ends[one - U1]) if one else U0), (np.uint64(ends[other - U1]) if other else U0)
    for index in range(KEY_BYTES, shorter):
        left, right = text[first + np.uint64(index)], text[second + np.uint64(index)]
        if left != right:
            return -1 if left < right else 1
    return 0


@inlined
def compared(text, ends, keys, one, other):
    """Compare two words, given by index: -1, 0 or 1 if `one` sorts before `other`, is equal to it, or sorts after it."""
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
def is_before(text, ends, keys, one, other):
    """Whether word `one` sorts before another word; equal words are sorted by index."""
    found = compared(text, ends, keys, one, other)
    return found < 0 or (found == 0 and one < other)


@part
def sort_block(text, ends, keys, begin, end, order):
    """Sort a few words."""
    for place in range(begin + U1, end):
        word, at = order[np.uint64(place)], np.uint64(place)
        while at > begin and is_before(text, ends, keys, np.uint64(word), np.uint64(order[at - U1])):
            order[at] = order[at - U1]
            at -= U1
        order[at] = word


@part
def merge(text, ends, keys, begin, middle, end, order, out):
    """Merge two adjacent sorted runs of words."""
    left, right = begin, middle
    for place in range(begin, end):
        takes_left = left < middle
        if takes_left and right < end:
            takes_left = is_before(text, ends, keys, np.uint64(order[left]), np.uint64(order[right]))
        out[np.uint64(place)] = order[left] if takes_left else order[right]
        left += np.uint64(takes_left)
        right += np.uint64(not takes_left)


@part
def sort_run(text, ends, keys, begin, end, order, spare):
    """Sort a run of words."""
    for left in range(begin, end, BLOCK):
        sort_block(text, ends, keys, np.uint64(left), min(np.uint64(left) + BLOCK, end), order)
    width = BLOCK
    while width < end - begin:
        for left in range(begin, end, width * U2):
            middle = min(np.uint64(left) + width, end)
            merge(text, ends, keys, np.uint64(left), middle, min(middle + width, end), order, spare)
        for place in range(begin, end):
            order[np.uint64(place)] = spare[np.uint64(place)]
        width *= U2


@kernel
def sort_words(text, ends, keys, firsts, order, spare, begins):
    """Sort words that are already sorted by the first numbers of their keys. Equal words are sorted by index.

    Args:
        text, ends, keys: as in `make_keys`.
        firsts: uint64[words], `first` of `make_keys`, sorted.
        order: int64[words], indices of words, in the order of `firsts`; on return, sorted by the bytes of the words.
        spare: int64[words], scratch.
        begins: uint8[words], filled in sorted order: 1 for the first word, and for each word that differs from the previous word.
    """
    begin, count = U0, np.uint64(len(ends))
    while begin < count:
        first, end = firsts[begin], begin + U1  # not from `keys`: most words are alone in their run, so their keys are never read
        while end < count and firsts[end] == first:
            end += U1
        begins[begin] = np.uint8(1)
        if end > begin + U1:
            sort_run(text, ends, keys, begin, end, order, spare)
        for number in range(begin + U1, end):
            place = np.uint64(number)
            found = compared(text, ends, keys, np.uint64(order[place - U1]), np.uint64(order[place]))
            begins[place] = np.uint8(found != 0)
        begin = end


@kernel
def copy_words(text, begins, ends, out):
    """Copy words. No load depends on an earlier one, so the processor waits for several loads at the same time, although words in a new
    order are at random places.

    Args:
        text: uint8[n], bytes that contain all words.
        begins: int64[words], the first byte of each word in `text`.
        ends: int64[words], the end of each word in `out`.
        out: uint8[m], the words, concatenated, to be filled.
    """
    begin = np.int64(0)
    for word in range(len(ends)):
        end, first = ends[word], begins[word] - begin
        for place in range(begin, end):
            out[place] = text[first + place]
        begin = end
