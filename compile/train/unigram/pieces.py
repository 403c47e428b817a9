"""Kernels that decide which common prefixes of suffixes are seeds of SentencePiece; see `fst.train.sentencepiece.seeds`."""

from __future__ import annotations

from fst.core.jit import kernel

ANY, RESETS, NEVER = 0, -1, -2  # kinds of characters; greater numbers are scripts


@kernel
def find_branches(letters, order, first, depth, count, first_bytes, branches):
    """Decide for each node of the tree whether the first bytes of the letters after its occurrences differ.

    Args:
        letters, order, first, depth, count: see `fst.compile.train.unigram.lattices.Letters` and `Tree`.
        first_bytes: int32[alphabet], the first byte of each letter.
        branches: output, bool[nodes].
    """
    for node in range(len(first)):
        byte, index, end = first_bytes[letters[order[first[node]] + depth[node]]], first[node] + 1, first[node] + count[node]
        while index < end and first_bytes[letters[order[index] + depth[node]]] == byte:
            index += 1
        branches[node] = index < end


@kernel
def check_pieces(letters, order, first, depth, kinds, digits, space, splits_words, splits_scripts, has_runs, valid):
    """Decide which nodes of the tree may be pieces of SentencePiece.

    Args:
        letters, order, first, depth: see `find_branches`.
        kinds: int32[alphabet], the script of each letter; `ANY`: it belongs to any script; `RESETS`: a piece may have another script after
            the letter; `NEVER`: the letter is never in a piece.
        digits: bool[alphabet], whether each letter is a piece by itself.
        space: the letter ▁.
        splits_words: whether ▁ only begins pieces; otherwise, it is not their last letter.
        splits_scripts: whether a piece has one script.
        has_runs: whether pieces of several ▁ are allowed.
        valid: output, bool[nodes].
    """
    for node in range(len(first)):
        begin, size = order[first[node]], depth[node]
        before, spaces, good = ANY, 0, size > 0
        for at in range(size):
            letter = letters[begin + at]
            kind = kinds[letter]
            if kind == NEVER or (digits[letter] and size > 1):
                good = False
                break
            if letter == space:
                spaces += 1
                good = good and (at == 0 or (not splits_words and at < size - 1))
                continue
            kind = before if kind == ANY else ANY if kind == RESETS else kind
            if splits_scripts and kind != ANY and before != ANY and kind != before:
                good = False
                break
            before = kind
        valid[node] = good or (has_runs and spaces == size and size > 0)
