"""Make merge lists over bytes from scores, as in SentencePiece, and from merges over characters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from math import copysign

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.bpe.canonical_tokens import Merges
from fst.errors import UnsupportedError, quoted
from fst.machines.bpe.affixes import Affixes, Part
from fst.machines.bpe.automaton import UTF8_BYTES

Key = tuple[float, float]  # a sort key for scores; of two pieces, SentencePiece makes the piece with the lower key first
Pair = tuple[str, str]


def merges_of_scores(scores: Mapping[str, float], characters: Collection[str]) -> list[Pair]:
    """Convert scores to a merge list, the lowest rank first. Only pieces of several characters that merges may make have scores."""
    keys = {piece: _key(score) for piece, score in scores.items()}
    splits = dict[str, list[Pair]]()
    for piece in sorted(keys, key=len):
        if found := [*_splits(piece, splits, characters)]:
            splits[piece] = found
    merges = list[Pair]()
    for _, group in groupby(sorted(splits, key=keys.__getitem__), keys.__getitem__):
        for piece in _ordered([*group], keys, splits):
            merges += splits[piece]
    return merges


def _key(score: float) -> Key:
    """The sort key of a score. Since SentencePiece compares the bits of scores, 0 is greater than -0."""
    return -score, -copysign(1, score)


def _splits(piece: str, made: Collection[str], characters: Collection[str]) -> Iterator[Pair]:
    """The pairs of pieces whose concatenation is a given piece."""
    for place in range(1, len(piece)):
        pair = piece[:place], piece[place:]
        if all(part in characters or part in made for part in pair):
            yield pair


def _ordered(tied: Sequence[str], keys: Mapping[str, Key], splits: Mapping[str, Sequence[Pair]]) -> Sequence[str]:
    """Order pieces with equal scores so that merging by this order gives the same pieces as merging by equal scores.

    If the second part of piece a is the first part of piece b, the two can overlap in a text. Piece a is ordered before such a piece b,
    because a is on the left, and of pairs with equal scores, the leftmost is merged first. A piece that contains one of the ordered pieces
    must have a lower score.
    """
    if len(tied) == 1:
        return tied
    runs = _runs(tied, splits)
    if runs is not None:
        return runs
    last = {piece: pair for piece in tied if (pair := last_merge(piece, keys))}
    users = _users(last, keys, splits)
    for piece, user in users:
        if keys[user] <= keys[piece]:
            raise UnsupportedError(f"piece {quoted(user)} has the part {quoted(piece)}, whose score is neither higher nor unique")
    followers = dict[str, list[str]]()
    for piece, (first, _) in last.items():
        followers.setdefault(first, []).append(piece)
    graph = {piece: set[str]() for piece in last}
    for piece, (_, second) in last.items():
        for other in followers.get(second, ()):
            if other != piece:
                graph[other].add(piece)
    try:
        return [*TopologicalSorter(graph).static_order()]
    except CycleError as error:
        cycle = error.args[1]
        first, second = quoted(cycle[0]), quoted(cycle[1])
        raise UnsupportedError(f"pieces {first} and {second} have the same score, and each may overlap the other") from None


def _users(pieces: Collection[str], keys: Mapping[str, Key], splits: Mapping[str, Sequence[Pair]]) -> Iterator[Pair]:
    """Yield each piece with the longer pieces whose last merge has this piece as a part."""
    for user, pairs in splits.items():
        if any(part in pieces for pair in pairs for part in pair):
            for part in last_merge(user, keys) or ():
                if part in pieces:
                    yield part, user


def last_merge(piece: str, keys: Mapping[str, Key]) -> Pair | None:
    """The last merge when BPE encodes a piece's string; None if BPE does not make the piece.

    Examples:
        >>> last_merge("hug", {"ug": (1.0, 0.0), "hu": (2.0, 0.0), "hug": (3.0, 0.0)})
        ('h', 'ug')
    """
    parts = [*piece]
    while len(parts) > 2:
        found = [(keys[pair], place) for place, pair in enumerate(map("".join, pairwise(parts))) if pair in keys and pair != piece]
        if not found:
            return None
        _, place = min(found)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts[0], parts[1]


def _runs(tied: Sequence[str], splits: Mapping[str, Sequence[Pair]]) -> list[str] | None:
    """Order pieces that all repeat the same character, if no other piece contains this character twice in a row; otherwise None.

    In a run of this character, SentencePiece extends the leftmost piece first, so the longest piece comes first in the order. An order by
    the powers of two in the sizes is preferred if it gives the same result: then each piece follows its parts, so the merge list is proper
    and has an automaton.
    """
    char = tied[0][0]
    if any({*piece} != {char} for piece in tied) or any(char * 2 in piece and {*piece} != {char} for piece in splits):
        return None
    if len({*map(len, tied)}) < sum({*piece} == {char} for piece in splits):
        return None
    longest = max(map(len, tied))
    by_power = sorted(map(len, tied), key=lambda size: (size & size - 1 > 0, -(size & -size) if size & size - 1 else 0, size))
    by_size = sorted(map(len, tied), reverse=True)
    is_same = all(_cut(count, by_power) == _cut(count, by_size) for count in range(4 * longest))
    return [char * size for size in (by_power if is_same else by_size)]


def _cut(count: int, order: Iterable[int]) -> list[int]:
    """The sizes of the pieces into which a run of `count` equal characters is merged, if `order` is the order of merges."""
    ranks = {size: rank for rank, size in enumerate(order)}
    parts = [1] * count
    while True:
        found = [(ranks[size], place) for place, size in enumerate(map(sum, pairwise(parts))) if size in ranks]
        if not found:
            return parts
        _, place = min(found)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


Merge = tuple[bytes, bytes]


def over_bytes(merges: Merges) -> Merges:
    """Convert a merge list over characters to a merge list over bytes.

    New merges, of lower ranks than all others, build each character from its bytes, from left to right. For example, é is merged from C3
    and A9, and ▁ from E2 and 96, then from the result and 81. These merges also make *partial characters*, here E2 96. Both bytes and
    partial characters become new
    tokens, with greater ids than the old tokens. The new merges apply only inside characters, so each character is complete before other
    merges apply.
    """
    built = [merge for name in merges.tokens for merge in _building(merges.affixes, name)]
    built.sort(key=lambda merge: len(merge[0]) + len(merge[1]))
    places = (merges.affixes.name(part) for byte in UTF8_BYTES for part in merges.affixes.places(byte))
    prefix = len(merges.affixes.prefix)
    names = (*places, *(name for left, right in built for name in (left, right, left + right[prefix:])))
    fresh = [name for name in dict.fromkeys(names) if name not in merges.tokens]
    first = max(merges.tokens.values(), default=-1) + 1
    tokens = {**merges.tokens, **{name: number for number, name in enumerate(fresh, first)}}
    return Merges(tokens, [*dict.fromkeys(built), *merges.pairs], merges.affixes)


def _building(affixes: Affixes, name: bytes) -> Iterator[Merge]:
    """The merges that build a token of one character from its bytes, from left to right; empty for other tokens."""
    body, is_first, is_last = affixes.part(name)
    if 1 < len(body) <= 4 and len(body.decode(errors="replace")) == 1:
        for size in range(2, len(body) + 1):
            left = Part(body[: size - 1], is_first, not affixes.suffix)
            right = Part(body[size - 1 : size], not affixes.prefix, is_last if size == len(body) else not affixes.suffix)
            yield affixes.name(left), affixes.name(right)


def stand_ins(tokens: Iterable[bytes], known: int) -> NDArray[np.int32]:
    """The number by which each token is represented in the automaton: for a partial character, the number of its last byte; for every other
    token, the number of the token.

    A backward walk arrives at a partial character only if the character is unknown. The walk then visits the previous bytes one by one.
    The tokens are the result of `over_bytes`, without affixes; the first `known` tokens are old.
    """
    names = [*tokens]
    number_of = {name: number for number, name in enumerate(names)}
    return np.array([*range(known), *(number_of[name[-1:]] for name in names[known:])], np.int32)
