"""Unigram: the best path through the tokens that a piece could have.

**Best path.** Each token has a score. The tokens of a piece are those, one after the other, whose scores have the greatest sum. A character
that is no token is a node of its own, with the least score of all tokens less `PENALTY`. Sums are added from left to right, and rounded
each time, see below. The best node that ends at a place is the first that is found: nodes are tried by where they begin, from left to
right, and another one must be better, not only as good.

**Sums.** There are two references, and rounding decides between paths that are nearly as good. ``unigram/model.rs`` of ``tokenizers`` cuts
a text into words, and sums float64 over each word by itself: `WORDS`. ``unigram_model.cc`` of ``sentencepiece`` sums float32 from the
beginning of the text: `WHOLE`. To keep them precise, the sum at a character where it is beyond `LIMIT` is subtracted from all that are
known there, see `best_path`.

**Pieces.** The compiler cuts words further, wherever no token can be, and sums carry on from piece to piece. They begin again as `RESTARTS`
tells: at every piece, at pieces that begin with a space, or never within a stretch of text.

**Certain pieces.** Sums that carry on depend on what stands before a piece by their rounding alone. A path through n characters is rounded
n times at most. If a single token is better than all other paths through a piece by more than n + 1 roundings, it is so whatever stands
before, see `are_certain`.

**Words.** With `WORD`, as in SentencePiece's kind word, tokens are whole words: there are no paths and no sums. A piece is a word, cut
before each symbol for a space. It is a token as a whole, or unknown as a whole.

**Ids.** Characters that are no token, and the unknown token where the text spells it, are *unknown*. A run of them becomes one string.
With the sums of `WORDS`, the string may be a token after all. Else it becomes the tokens of its bytes, if all bytes have one, or else the
unknown token.
With `WORD` a run of unknown words is one string.

**Rows.** A trie over bytes holds the tokens, in the format `ENTRY`. A state is the slot of its *head*, which has the label `HEAD` and for
its value the depth, the number of bytes that lead there. The target of a transition is the next state, or `LEAF`; its value is 1 + the id
of the token that ends there, or 0.

**What kernels may assume** once `prove` has passed, for pieces of bytes below 0xF8: no look-up leaves the array; a walk from the root reads
no more bytes than the depth allows; and a token that ends after n bytes has n bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fst.automata.rows import BYTE_ROW, ROOT, Array, RowFormat
from fst.tables.proof import Each, Transitions, need, need_none, prove_states, prove_transitions

PENALTY = 10.0
WORDS, WHOLE = SUMS = "float64", "float32"  # how sums are added
PIECE, BLANK, STRETCH, WORD = RESTARTS = "piece", "blank", "stretch", "word"  # where sums begin again; `WORD`: there are none
LIMIT = 1e5  # of sums that carry on
LABELS, HEAD = 0xF8, 0xFF
ENTRY = RowFormat(label_bits=8, target_bits=28, value_bits=28, dtype=np.uint64, labels=LABELS, own=HEAD, free=0xFE << 56)
LEAF = ROOT  # no transition leads to the root
MAX_DEPTH = (1 << 14) - 1  # most bytes of a token that text has
MAX_CHARACTER = 4  # most bytes of a character

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = TYPES = range(1, 7)  # of tokens, as ``.model`` files number them
IN_TEXT = NORMAL, USER_DEFINED
BONUS = 0.1  # of a user's own token for each byte after the first

Node = tuple[int, int, int | None]  # begin, end, and the id; None for an unknown character


def tokens_at(trie: Array, piece: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """The ends and the ids of the tokens that begin at a place of a piece, the shortest first."""
    state = ROOT
    for at in range(begin, len(piece)):
        entry = ENTRY.step(trie, state, piece[at])
        if not entry:
            return
        if entry.value:
            yield at + 1, entry.value - 1
        state = entry.target
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
    heads = prove_states(ENTRY, trie, BYTE_ROW, "the trie", each)
    depths = prove_depths(trie[heads], heads, longest, "the trie")

    def prove_tokens(some: Transitions) -> None:
        first, targets, values = some.first, ENTRY.targets_of(some.entries), ENTRY.values_of(some.entries)
        wrong = (some.after <= some.before) & (targets != LEAF)
        some.need_none(wrong, lambda at: f"slot {first + at} of the trie leads to slot {targets[at]}, no state one deeper than its own")
        wrong = values > len(sizes)
        some.need_none(wrong, lambda at: f"slot {first + at} of the trie has the value {values[at]}; there are {len(sizes)} tokens")
        wrong = (values > 0) & (sizes.take(values - 1, mode="clip") != some.before)
        read = "slot {} of the trie ends token {} after {} bytes, and it has others"
        some.need_none(wrong, lambda at: read.format(first + at, values[at] - 1, some.before[at]))

    prove_transitions(ENTRY, trie, heads, depths, "the trie", each, prove_tokens)
    return len(heads)


def prove_depths(own: Array, heads: Array, longest: int, name: str) -> Array:
    """Prove that depths, the values of heads, are below the most bytes of a token, and 0 at the root. Returns the depths."""
    depths = ENTRY.values_of(own)
    need(depths[ROOT] == 0, f"the root of {name} has depth {depths[ROOT]}")
    need_none(depths >= longest, lambda state: f"state {heads[state]} of {name} has depth {depths[state]}; tokens have {longest} bytes")
    return depths
