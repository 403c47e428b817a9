"""Byte-pair encoding by the list of merges, if no automaton computes its result exactly (see `fst.compile.machines.bpe.canonical_tokens`),
or if the automaton is too large.

BPE begins with the *atoms* of a pre-token, the tokens of its bytes. While the list contains a pair of neighbours, BPE merges the pair of
lowest rank; if this pair occurs several times, the leftmost. A merge is three ids: the left token, the right token, and the token that they
make. The rank of a merge is its row.

A vocabulary may lack bytes. A missing byte becomes the ``unk_token``; with ``fuse_unk``, a run of missing bytes becomes a single
``unk_token``. Without an ``unk_token``, missing bytes are removed, and the tokens around them may merge.

BPE over characters begins with the atoms of its characters (`fst.pretokens.characters`). A character with a token becomes this token. Any
other character becomes the fallback tokens of its bytes if each byte has a fallback token; otherwise it is treated like a missing byte.

**What kernels may assume** once `prove` has passed: every id in a merge has a length, and the length of a merged token is the sum of its
parts' lengths. So a merge does not change the total number of bytes of a pre-token's tokens, or the positions of these bytes. Each token
has at least one byte. The exception is an ``unk_token`` for a character or a whole run: its length is 0, and it is in no merge. A character
with a token has as many bytes as the token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.pretokens.characters import ABSENT
from fst.tables.proof import need, need_none

COLUMNS = LEFT, RIGHT, MADE = range(3)
EMPTY = np.uint64((1 << 64) - 1)  # the key in a free slot
SCRATCH = 8  # number of int32 elements for each byte of a pre-token, see `fst.runtime.machines.bpe.kernels.merge_queue.merge`
RANK_BITS = 24  # the bits of a slot that contain 1 + a rank; the other bits are a mark, see `fst.machines.bpe.ranks`
MOST_MERGES = (1 << RANK_BITS) - 2
insert_pairs, fill_slots = Deferred("fst.machines.bpe.pairs", "insert_pairs"), Deferred("fst.machines.bpe.ranks", "fill_slots")


def steps(ranks: Mapping[tuple[int, int], int], merges: Array, ids: list[int]) -> Iterator[tuple[int, int, int]]:
    """Merge the leftmost pair of lowest rank until no pair has a rank. This is the slow walk.

    Args:
        ranks: the rank of each pair, from `ranks_of`.
        merges: int32[merges, 3].
        ids: the tokens of the bytes of a pre-token; changed in place to the tokens of the pre-token.

    Yields:
        For each merge, before it is done: the rank, the left token and the right token.
    """
    while found := [(ranks[pair], place) for place, pair in enumerate(pairwise(ids)) if pair in ranks]:
        rank, place = min(found)
        yield rank, ids[place], ids[place + 1]
        ids[place : place + 2] = [int(merges[rank, MADE])]


def merged(ranks: Mapping[tuple[int, int], int], merges: Array, ids: list[int]) -> list[int]:
    """The tokens of a pre-token: `ids` after all `steps`."""
    for _ in steps(ranks, merges, ids):
        pass
    return ids


def ranks_of(merges: Array) -> dict[tuple[int, int], int]:
    """The rank of each pair. If a pair is listed twice, its last rank counts."""
    return {(left, right): rank for rank, (left, right, _) in enumerate(merges.tolist())}


def atoms_of(codes: Iterable[int], atoms: Array, fused: int) -> list[int]:
    """The tokens with which BPE begins on a pre-token.

    Args:
        codes: the code of each byte, see `fst.machines.bpe.affixes`.
        atoms: int32[CODES], the token for each byte; `ABSENT` if the byte is removed, because it has neither a token nor a fallback token.
        fused: the token whose runs become a single token; `NOT_FUSED` if no runs fuse.
    """
    found = [int(atoms[code]) for code in codes if atoms[code] != ABSENT]
    return [token for place, token in enumerate(found) if not (place and token == found[place - 1] == fused)]


def atoms_of_characters(pretoken: str, characters: Mapping[tuple[int, bytes], int], rules: Array, atoms: Array) -> list[int]:
    """The tokens with which BPE over characters begins on a pre-token. This function is part of the slow walk, and follows the reference.

    Args:
        pretoken: the text of the pre-token.
        characters, rules: see `fst.pretokens.characters.alphabet`.
        atoms: int32[CODES], the fallback of each byte, or `ABSENT`.
    """
    places, unknown, fuses, falls_back = rules.tolist()
    found, waits = list[int](), False
    for index, char in enumerate(pretoken):
        place, body = ((index > 0) | (index == len(pretoken) - 1) << 1) & places, char.encode()
        fallbacks = atoms[list(body)].tolist()
        if (place, body) in characters:
            found += [unknown] * waits + [characters[place, body]]
            waits = False
        elif falls_back and ABSENT not in fallbacks:
            found += fallbacks
        elif unknown != ABSENT:
            found += [unknown] * (waits and not fuses)
            waits = True
    return found + [unknown] * waits


def pairs_for(count: int) -> NDArray[np.uint64]:
    """Return an empty hash table with capacity for `count` pairs.

    Returns:
        uint64[2 * slots]. A slot has two numbers: a pair, ``left << 32 | right``, or `EMPTY`; and the rank of the pair. The number of slots
        is a power of two, and more than twice the number of pairs.
    """
    return np.full(4 << count.bit_length(), EMPTY)


def slots_of(merges: Array) -> NDArray[np.uint32]:
    """The hash table of the pairs of merges.

    Returns:
        uint32[slots]. A slot is 0 if it is free; otherwise it is 1 + the rank of a merge, with a mark in the highest bits. The number of
        slots is a power of two, and more than twice the number of merges.
    """
    slots = np.zeros(2 << len(merges).bit_length(), np.uint32)
    fill_slots.call(merges, slots)
    return slots


def prove(merges: Array, lengths: Array, atoms: Array) -> None:
    """Prove that merges never change the total number of bytes of a pre-token's tokens.

    Args:
        merges: int32[merges, 3].
        lengths: uint16[ids], the number of bytes of each id's token; 0 for an id without a token.
        atoms: int32[CODES], the one-byte token for each code, or -1.
    """
    need(merges.shape[1] == len(COLUMNS), f"merges has {merges.shape[1]} columns, not {len(COLUMNS)}")
    need(len(merges) <= MOST_MERGES, f"there are {len(merges)} merges; at most {MOST_MERGES} have a rank")
    named = atoms[atoms >= 0]
    need_none(lengths[named] != 1, lambda place: f"token {named[place]} of one byte has {lengths[named[place]]} bytes")
    wrong = np.any((merges < 0) | (merges >= len(lengths)), axis=1)
    need_none(wrong, lambda rank: f"merge {rank} is {merges[rank].tolist()}; expected ids below {len(lengths)}")
    left, right, made = (lengths[merges[:, column]].astype(np.int64) for column in COLUMNS)
    need_none(np.minimum(left, right) == 0, lambda rank: f"merge {rank} is {merges[rank].tolist()}, and a part has no bytes")
    need_none(left + right != made, lambda rank: f"merge {rank} makes {made[rank]} bytes of {left[rank]} and {right[rank]}")
