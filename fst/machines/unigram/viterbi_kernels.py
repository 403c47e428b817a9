"""Parts of kernels that find the best path through a pre-token; `fst.machines.unigram.viterbi.best_path` specifies the result.

The compiler also calls these functions. All functions require a trie that `fst.machines.unigram.viterbi.prove` accepts, and a pre-token in
UTF-8.
"""

from __future__ import annotations

import numpy as np

from fst.automata import rows
from fst.core.jit import inlined, part
from fst.machines.unigram import viterbi
from fst.machines.unigram.viterbi import ENTRY

U0, U1, U3 = map(np.uint64, (0, 1, 3))
RUN_BYTE = np.uint64(viterbi.RUN_BYTE)
TARGET, VALUE = np.uint64(ENTRY.max_target), np.uint64(ENTRY.max_value)
VALUE_SHIFT, LABEL_SHIFT = np.uint64(ENTRY.value_shift), np.uint64(ENTRY.label_shift)
ROOT, LEAF = np.uint64(rows.ROOT), np.uint64(viterbi.LEAF)
TWO_BYTES, THREE_BYTES, FOUR_BYTES = np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)
UNSET = 0  # the size at a position where no node ends yet


@inlined
def character_size(byte):
    """The number of bytes of a character, from its first byte."""
    return U1 + np.uint64(byte >= TWO_BYTES) + np.uint64(byte >= THREE_BYTES) + np.uint64(byte >= FOUR_BYTES)


@inlined
def shift_of(sums):
    """The logarithm to base 2 of the number of bytes that store a size: 1 if a token may have more than 255 bytes, else 0. For `sums`, see
    `find_best`.
    """
    return np.uint64(len(sums) > 256)


@inlined
def size_at(sizes, at, index, shift):
    """Read the size at an index of the array that begins at ``sizes[at]``. If `shift` is 0, the same byte is read twice."""
    first = at + (index << shift)
    return np.uint64(sizes[first]) | np.uint64(sizes[first + shift]) << (shift << U3)


@inlined
def put_size(size, sizes, at, index, shift):
    """Write a size in the format of `size_at`."""
    first = at + (index << shift)
    sizes[first + shift] = size >> (shift << U3)
    sizes[first] = size


@part
def find_best(text, start, end, trie, scores, unknown, before, limit, sums, sizes, at):
    """Find the best node that ends at each position of a pre-token. Only the size of a node is stored; `node_of` finds the node by its
    bytes.

    Args:
        text, start, end: the text, and the bounds of the pre-token.
        trie: see `fst.machines.unigram.viterbi`.
        scores, unknown, before, limit: the score of each token, the score of a character that is not a token, the sum before the pre-token,
            and the absolute value above which sums are reduced. All have the dtype of sums.
        sums: output, float64[2 ** n] or float32, with more elements than a token has bytes: the sums of the best paths to the last
            positions. The index is the lower n bits of the position.
        sizes, at: output from `at` on, uint8, one or two elements for each byte of the pre-token, see `shift_of`: the number of bytes of
            the best node that ends with this byte, or `UNSET`; see `size_at`.

    Returns:
        The sum of the best path.
    """
    mask, place = np.uint64(len(sums)) - U1, start
    for index in range(at, at + (end - start << shift_of(sums))):
        sizes[np.uint64(index)] = UNSET
    sums[start & mask] = before
    while place < end:
        if abs(sums[place & mask]) > limit:
            rebase(place, start, end, mask, sums, sizes, at)
        so_far = sums[place & mask]
        after = place + character_size(np.uint64(text[place]))
        state, reached, is_token, is_open = ROOT, place, False, True
        while is_open:
            byte = np.uint64(text[reached])
            entry = trie[state + U1 + byte]
            is_open = entry >> LABEL_SHIFT == byte
            if is_open:
                reached += U1
                value = entry >> VALUE_SHIFT & VALUE
                if value:
                    offer(scores[value - U1] + so_far, reached - place, reached, mask, sums, sizes, at, start)
                    is_token |= reached == after
                state = entry & TARGET
                is_open = state != LEAF and reached < end
        if not is_token:
            offer(unknown + so_far, after - place, after, mask, sums, sizes, at, start)
        place = after
    return sums[end & mask]


@part
def rebase(place, start, end, mask, sums, sizes, at):
    """Subtract the sum at a position from itself, and from all sums computed so far for later positions."""
    base, shift = sums[place & mask], shift_of(sums)
    sums[place & mask] = 0
    for after in range(place + U1, min(place + mask, end) + U1):
        if size_at(sizes, at, after - start - U1, shift) != UNSET:
            sums[after & mask] -= base


@inlined
def offer(total, size, end, mask, sums, sizes, at, start):
    """Store a node if it is the first that ends at its position, or better than the best node so far."""
    shift = shift_of(sums)
    if size_at(sizes, at, end - start - U1, shift) == UNSET or total > sums[end & mask]:
        sums[end & mask] = total
        put_size(size, sizes, at, end - start - U1, shift)


@inlined
def node_size(node, lengths):
    """The number of bytes of a node, given the lengths of all tokens. A node is a token id; or for an unknown character, minus its number
    of bytes.
    """
    return np.uint64(lengths[np.uint64(node)]) if node >= 0 else np.uint64(-node)


@inlined
def node_of(text, start, end, trie):
    """The node for a span of a text."""
    value = token_of(text, start, end, trie)
    return np.int32(value - U1) if value else -np.int32(end - start)


@inlined
def token_of(text, start, end, trie):
    """1 + the id of the token that equals a span of a text; 0 if no token equals the span."""
    return token_from(ROOT, text, start, end, trie)


@part
def token_from(state, text, start, end, trie):
    """1 + the id of the token that equals the string of a state of the trie and a span of a text; 0 if no token equals it."""
    at, value = start, U0
    while at < end:
        byte = np.uint64(text[at])
        entry = trie[state + U1 + byte]
        at += U1
        if entry >> LABEL_SHIFT != byte or (at < end and entry & TARGET == LEAF):
            return U0
        state, value = entry & TARGET, entry >> VALUE_SHIFT & VALUE
    return value


@part
def run_of(text, start, end, trie):
    """1 + the id of the token of the type `fst.machines.unigram.viterbi.RUN` that equals a span of a text; 0 if no such token equals it."""
    entry = trie[ROOT + U1 + RUN_BYTE]
    if entry >> LABEL_SHIFT != RUN_BYTE:
        return U0
    return token_from(entry & TARGET, text, start, end, trie)
