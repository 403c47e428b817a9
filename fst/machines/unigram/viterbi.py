"""Unigram: the best path through the tokens that a piece could have.

**Best path.** Each token has a score. The tokens of a piece are those, one after the other, whose scores have the greatest sum. A character
that is no token is a node of its own, with the least score of all tokens less `PENALTY`. Sums are added from left to right, and rounded
each time, see below. The best node that ends at a place is the first that is found: nodes are tried by where they begin, from left to
right, and another one must be better, not only as good.

**Sums.** There are two references, and rounding decides between paths that are nearly as good. ``unigram/model.rs`` of ``tokenizers`` cuts
a text into words, and sums float64 over each word by itself: `WORDS`. ``unigram_model.cc`` of ``sentencepiece`` sums float32 from the
beginning of the text: `WHOLE`. To keep them precise, the sum at a character where it is beyond `LIMIT` is subtracted from all that are
known there, see `best_path`.

**Pieces.** The compiler cuts words further, wherever no token can be, and sums carry on from piece to piece. They begin anew as `RESTARTS`
tells: at every piece, at pieces that begin with a blank, or never within a stretch of text.

**Certain pieces.** Sums that carry on depend on what stands before a piece by their rounding alone. A path through n characters is rounded
n times at most. If a single token is better than all other paths through a piece by more than n + 1 roundings, it is so whatever stands
before, see `are_certain`.

**Words.** With `WORD`, as in SentencePiece's kind word, tokens are whole words: there are no paths and no sums. A piece is a word, cut
before each symbol for a blank. It is a token as a whole, or unknown as a whole.

**Ids.** Characters that are no token, and the unknown token where the text spells it, are *unknown*. A run of them becomes one string.
With the sums of `WORDS`, the string may be a token after all. Else it becomes the tokens of its bytes, if all bytes have one, or else the
unknown token.
With `WORD` a run of unknown words is one string.

**Rows.** A trie over bytes holds the tokens. Entries are uint64, ``value 28 | target 28 | label 8``. A state is the slot of its *head*, an
entry with the label `HEAD` whose value is the depth: how many bytes lead there. The transition of state s on byte b is at slot s + 1 + b,
with the label b. Its target is the next state, or `LEAF`; its value is 1 + the id of the token that ends there, or 0. Rows share slots: if
the slot has another label, s has no transition on b. Free slots have the label `FREE`, which matches no byte.

**What kernels may assume** once `prove` has passed, for pieces of bytes below 0xF8: no look-up leaves the array; a walk from the root reads
no more bytes than the depth allows; and a token that ends after n bytes has n bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.tables.proof import CHUNK, Each, by_chunks, need, need_none

PENALTY = 10.0
WORDS, WHOLE = SUMS = "float64", "float32"  # how sums are added
PIECE, BLANK, STRETCH, WORD = RESTARTS = "piece", "blank", "stretch", "word"  # where sums begin anew; `WORD`: there are none
LIMIT = 1e5  # of sums that carry on
LABELS, FREE_LABEL, HEAD = 0xF8, 0xFE, 0xFF
LABEL_BITS, TARGET_BITS = 8, 28
TARGET_SHIFT, VALUE_SHIFT = LABEL_BITS, LABEL_BITS + TARGET_BITS
MAX_SLOTS = MAX_VALUE = 1 << TARGET_BITS
FREE = FREE_LABEL
ROOT = LEAF = 0  # no transition leads to the root
ROW = 1 + 256  # slots that look-ups in a row can reach, whatever the byte
MAX_DEPTH = (1 << 14) - 1  # most bytes of a token that text has
NO_STATE = (1 << 16) - 1  # in proofs, in place of the depth of a slot that is no state: too deep for any transition
MAX_CHARACTER = 4  # most bytes of a character

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = TYPES = range(1, 7)  # of tokens, as ``.model`` files number them
IN_TEXT = NORMAL, USER_DEFINED
BONUS = 0.1  # of a user's own token for each byte after the first

Node = tuple[int, int, int | None]  # begin, end, and the id; None for an unknown character


def tokens_at(trie: Array, piece: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """The ends and the ids of the tokens that begin at a place of a piece, the shortest first."""
    state = ROOT
    for at in range(begin, len(piece)):
        entry = int(trie[state + 1 + piece[at]])
        if entry & (1 << LABEL_BITS) - 1 != piece[at]:
            return
        if entry >> VALUE_SHIFT:
            yield at + 1, (entry >> VALUE_SHIFT) - 1
        state = entry >> TARGET_SHIFT & MAX_SLOTS - 1
        if state == LEAF:
            return


def best_path(trie: Array, scores: Array, unknown: Any, piece: bytes, before: Any, limit: float) -> tuple[list[Node], Any]:
    """The best path through a piece, in slow and plain Python.

    Args:
        trie: see above.
        scores: the score of each token, float64 or float32.
        unknown: the score of a character that is no token, of the same type.
        piece: the piece.
        before: the sum of the path before the piece, of the same type.
        limit: of sums.

    Returns:
        The nodes of the path, and the sum after them.
    """
    sums, nodes = {0: before}, dict[int, Node]()
    begin = 0
    for char in piece.decode():
        after = begin + len(char.encode())
        if abs(base := sums[begin]) > limit:
            sums = {end: total - base for end, total in sums.items() if end >= begin}
        found: list[tuple[int, int | None]] = [*tokens_at(trie, piece, begin)]
        if after not in (end for end, _ in found):
            found.append((after, None))
        for end, number in found:
            total = sums[begin] + (unknown if number is None else scores[number])
            if end not in nodes or total > sums[end]:
                sums[end], nodes[end] = total, (begin, end, number)
        begin = after
    path, end = list[Node](), len(piece)
    while end:
        path.append(nodes[end])
        end = path[-1][0]
    return path[::-1], sums[len(piece)]


def are_certain(gaps: Array, characters: Array, most: float, sums: str) -> Array:
    """Whether pieces are certain that are a single token.

    Float32 sums are hardly beyond `LIMIT`, below 2^17, so each is rounded by at most 2^-8. Float64 sums are below 2^29 scores, which is as
    much text as is read at once.

    Args:
        gaps: how much better each is than all other paths through it.
        characters: how many it has.
        most: the greatest absolute score.
        sums: how sums are added.
    """
    rounding = 2.0**-8 if sums == WHOLE else most * 2.0**-24
    found: Array = (gaps > (characters + 1) * (1.001 * rounding)) & ((characters * most < LIMIT / 8) | (sums == WORDS))
    return found


def labels_of(entries: Array) -> Array:
    """uint8[n], the labels of entries."""
    return entries.astype("<u8", copy=False).view(np.uint8)[::8].copy()


def prove(trie: Array, sizes: Array, longest: int, each: Each = map) -> int:
    """Prove what kernels may assume.

    Args:
        trie: uint64[slots], see above.
        sizes: uint16[tokens], the number of bytes of each token, by its id.
        longest: the most bytes that a walk from the root may read.
        each: `map`, or the `map` of an executor.

    Returns:
        The number of states.

    Raises:
        TableError: the array does not satisfy this; the message names the fault.
    """
    size = len(trie)
    need(ROW <= size <= MAX_SLOTS, f"the trie has {size} slots; a row takes {ROW}, and states can name {MAX_SLOTS}")
    labels = labels_of(trie)
    heads = np.flatnonzero(labels == HEAD)
    need(len(heads) and heads[0] == ROOT, "the first slot of the trie is not a state; it must be the root")
    need(heads[-1] + ROW <= size, f"the row of state {heads[-1]} of the trie ends at slot {heads[-1] + ROW} of {size}")
    depths = trie[heads] >> np.uint64(VALUE_SHIFT)
    need(depths[0] == 0, f"the root of the trie has depth {depths[0]}")
    need_none(depths >= longest, lambda state: f"state {heads[state]} of the trie has depth {depths[state]}; tokens have {longest} bytes")
    depth_of = np.full(size, NO_STATE, np.uint16)
    depth_of[heads] = depths
    by_chunks(each, partial(_prove_transitions, trie, labels, depth_of, sizes), size)
    return len(heads)


def _prove_transitions(trie: Array, labels: Array, depth_of: Array, sizes: Array, first: int) -> None:
    """Prove the transitions of a chunk: each belongs to a state, leads one deeper, and ends a token of as many bytes, if any."""
    taken = first + np.flatnonzero(labels[first : first + CHUNK] < LABELS)
    entries, own = trie[taken], labels[taken]
    sources = taken - 1 - own
    need_none((sources < 0) | (labels[sources] != HEAD), lambda at: f"slot {taken[at]} of the trie belongs to no state")
    depths = depth_of[sources] + np.uint16(1)
    targets = (entries >> np.uint64(TARGET_SHIFT)).astype(np.int64) & MAX_SLOTS - 1
    after = depth_of.take(targets, mode="clip")
    sound = (targets == LEAF) | ((targets < len(trie)) & (after == depths))
    need_none(~sound, lambda at: f"slot {taken[at]} of the trie leads to slot {targets[at]}, no state one deeper than its own")
    values = (entries >> np.uint64(VALUE_SHIFT)).astype(np.int64)
    need_none(values > len(sizes), lambda at: f"slot {taken[at]} of the trie has the value {values[at]}; there are {len(sizes)} tokens")
    wrong = (values > 0) & (sizes.take(values - 1, mode="clip") != depths)
    need_none(wrong, lambda at: f"slot {taken[at]} of the trie ends token {values[at] - 1} after {depths[at]} bytes, and it has others")
