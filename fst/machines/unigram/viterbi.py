"""Unigram: the best path through the possible tokens of a pre-token.

**Best path.** Each token has a score. A pre-token is split into the sequence of tokens with the greatest sum of scores. A character that is
not a token is a separate node; its score is the least score of all tokens minus `PENALTY`. Sums are added from left to right, and rounded
at each step, see below. Nodes are tried in the order of their start positions. A node replaces the best node so far that ends at the same
position only if its sum is greater; in a tie, the first node wins.

**Sums.** If paths have almost equal scores, rounding decides which path is best, and the two references round differently. `WORD_SCOPE`:
``unigram/model.rs`` of ``tokenizers`` cuts a text into words, and sums scores in float64 over each word separately. `TEXT_SCOPE`:
``unigram_model.cc`` of ``sentencepiece`` sums scores in float32 from the beginning of the text. To keep float32 sums precise, sums are
reduced: if the absolute value of the sum at a character is above `LIMIT`, this sum is subtracted from all sums from this character on, see
    `best_path`.

**Pre-tokens.** The compiler also cuts words at each position that no token can cross. Sums then continue from one pre-token to the next.
Sums restart according to `RESTARTS`: at every pre-token, at pre-tokens that begin with a space, or never between two special tokens.

**Certain pre-tokens.** If sums continue, the text before a pre-token affects its best path only by rounding. The sum of a path through n
characters is rounded at most n times. If a pre-token is one token, and its score is greater than the scores of all other paths by more than
n + 1 roundings, this token is the best path after any text, see `are_certain`.

**Words.** With `WORD`, as in SentencePiece's model type ``word``, tokens are whole words; there are no paths and no sums. Texts are cut
before each symbol for a space, and each pre-token is a word, which is one token or unknown.

**Ids.** A character that is not a token is *unknown*; so is a part of the text that spells the unknown token. A run of unknown characters
becomes one string. With `WORD_SCOPE`, this string may be a token. With `TEXT_SCOPE`, this string may be a token of the type `RUN`, which no
path contains: the trie contains such a token after the byte `RUN_BYTE`, which is in no text. Otherwise the string becomes the tokens of its
bytes if all 256 bytes have tokens, else the unknown token. With `WORD`, a run of unknown words becomes one string.

A token may have no id, because the source maps the pieces of SentencePiece to a vocabulary that lacks them. In ids, each such token is the
unknown token, also next to another one. Its number is above all ids.

**Rows.** A trie over bytes contains the tokens, in the format `ENTRY`. A state is the slot of its *head*. The head has the label `HEAD`,
and the depth as its value: the number of bytes from the root. A transition has the next state or `LEAF` as its target; its value is 1 + the
id of the token that ends there, or 0.

**What kernels may assume** once `prove` has passed, for pre-tokens of bytes below 0xF8: no look-up leaves the array; a walk from the root
reads at most `longest` bytes, see `prove`; and a token that ends after n bytes has n bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fst.automata.rows import BYTE_ROW, ROOT, Array, RowFormat
from fst.tables.proof import Each, Transitions, need, need_none, prove_states, prove_transitions

PENALTY = 10.0
WORD_SCOPE, TEXT_SCOPE = SCOPES = "float64", "float32"  # score scopes, stored as the dtypes of sums
PIECE, BEFORE_SPACE, STRETCH, WORD = RESTARTS = "piece", "blank", "stretch", "word"  # where sums restart; `WORD`: no sums
LIMIT = 1e5  # maximum absolute value of a sum that continues, before it is reduced
LABELS, HEAD = 0xF8, 0xFF
ENTRY = RowFormat(label_bits=8, target_bits=28, value_bits=28, dtype=np.uint64, labels=LABELS, own=HEAD, free=0xFE << 56)
LEAF = ROOT  # no transition leads to the root
MAX_DEPTH = (1 << 14) - 1  # maximum number of bytes of a token in a text
MAX_CHARACTER = 4  # maximum number of bytes of a character

# types of tokens, with the numbers that ``.model`` files use for them; no such file has the type `RUN`
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE, RUN = TYPES = range(1, 8)
RUN_BYTE = 0xF7
IN_TEXT = NORMAL, USER_DEFINED
BONUS = 0.1  # score of a user-defined token for each byte after the first

Node = tuple[int, int, int | None]  # start, end, and the id, which is None for an unknown character


def tokens_at(trie: Array, piece: bytes, start: int) -> Iterator[tuple[int, int]]:
    """The end and the id of each token that begins at a position of a pre-token, the shortest token first."""
    state = ROOT
    for at in range(start, len(piece)):
        entry = ENTRY.step(trie, state, piece[at])
        if not entry:
            return
        if entry.value:
            yield at + 1, entry.value - 1
        state = entry.target
        if state == LEAF:
            return


def best_path(trie: Array, scores: Array, unknown: Any, piece: bytes, before: Any, limit: float) -> tuple[list[Node], Any]:
    """The best path through a pre-token, by the slow walk.

    Args:
        trie: see the module docstring.
        scores: the score of each token, float64 or float32.
        unknown: the score of a character that is not a token, with the dtype of `scores`.
        piece: the bytes of the pre-token.
        before: the sum before the pre-token, with the dtype of `scores`.
        limit: the absolute value above which sums are reduced.

    Returns:
        The nodes of the path, and the sum after them.
    """
    sums, nodes = {0: before}, dict[int, Node]()
    start = 0
    for char in piece.decode():
        after = start + len(char.encode())
        if abs(base := sums[start]) > limit:
            sums = {end: total - base for end, total in sums.items() if end >= start}
        found: list[tuple[int, int | None]] = [*tokens_at(trie, piece, start)]
        if after not in (end for end, _ in found):
            found.append((after, None))
        for end, number in found:
            total = sums[start] + (unknown if number is None else scores[number])
            if end not in nodes or total > sums[end]:
                sums[end], nodes[end] = total, (start, end, number)
        start = after
    path, end = list[Node](), len(piece)
    while end:
        path.append(nodes[end])
        end = path[-1][0]
    return path[::-1], sums[len(piece)]


def are_certain(gaps: Array, characters: Array, most: float, scope: str) -> Array:
    """For each pre-token that is a single token, whether this token is certain, see the module docstring.

    Float32 sums are at most slightly above `LIMIT`, and below 2^17, so each rounding changes a sum by at most 2^-8. Float64 sums are below
    2^29 times the greatest score, because a call reads less than 2^29 bytes of text.

    Args:
        gaps: the score of each pre-token as one token, minus the best score of any other path through the pre-token.
        characters: the number of characters of each pre-token.
        most: the greatest absolute value of a score.
        scope: the score scope.
    """
    rounding = 2.0**-8 if scope == TEXT_SCOPE else most * 2.0**-24
    found: Array = (gaps > (characters + 1) * (1.001 * rounding)) & ((characters * most < LIMIT / 8) | (scope == WORD_SCOPE))
    return found


def prove(trie: Array, sizes: Array, longest: int, each: Each = map) -> int:
    """Prove the properties that kernels may assume, see the module docstring.

    Args:
        trie: uint64[slots], see the module docstring.
        sizes: uint16[tokens], the number of bytes of each token, by its id.
        longest: the maximum number of bytes that a walk from the root may read.
        each: `map`, or the `map` of an executor.

    Returns:
        The number of states.
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
    """Return the depths (the values of heads), and prove that they are 0 at the root and below the maximum size of a token."""
    depths = ENTRY.values_of(own)
    need(depths[ROOT] == 0, f"the root of {name} has depth {depths[ROOT]}")
    need_none(depths >= longest, lambda state: f"state {heads[state]} of {name} has depth {depths[state]}; tokens have {longest} bytes")
    return depths
