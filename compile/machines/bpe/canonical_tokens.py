"""Merge lists of byte-pair encoding (BPE), and their canonical form.

BPE begins with the single bytes of a pre-token. Then it repeatedly merges the adjacent pair of lowest rank (in a tie, the leftmost), until
no adjacent pair is in the list. `fst.compile.machines.bpe.item_sets` and `fst.machines.bpe.automaton` use the same notation:

- t, u, w: tokens; |t|: the number of bytes of t. Tokens of one byte are *atoms*.
- pre t, suc t: the left and the right part of the last merge when BPE runs on the bytes of t alone.
- ρ(t): the rank of this merge; -1 for an atom.
- A token is *canonical* if BPE makes it from its own bytes. In every text, BPE makes only canonical tokens: no merge crosses the ends of
  the bytes that become a token, so BPE merges these bytes as if they were the only text. For the same reason, only the pair (pre t, suc t)
  makes t.
- A merge list is *proper* if ρ(pre t) < ρ(t) and ρ(suc t) < ρ(t) for every canonical t that is not an atom. With a proper list, the ranks
  of the merges that BPE executes never decrease.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import NULL, Ints
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, VocabularyError, listed, quoted
from fst.machines.bpe.affixes import NO_AFFIXES, Affixes, Part, codes_of_parts
from fst.machines.bpe.automaton import MAX_ID, MAX_LENGTH
from fst.machines.bpe.merge_list import pairs_for
from fst.machines.bpe.table import BpeTable

last_merges, insert_pairs = Deferred("fst.compile.machines.bpe.closure", "last_merges"), Deferred("fst.machines.bpe.pairs", "insert_pairs")


@dataclass(frozen=True)
class Merges:
    """A merge list.

    Attributes:
        tokens: the bytes of each token → its id.
        pairs: the left and the right part of each merge, the lowest rank first. If a pair is listed twice, its last rank is used, as in
            `tokenizers`.
        affixes: the prefix and the suffix that occur in the names of tokens.
    """

    tokens: Mapping[bytes, int]
    pairs: Sequence[tuple[bytes, bytes]]
    affixes: Affixes = NO_AFFIXES

    @classmethod
    def of_ranks(cls, ranks: Mapping[bytes, int]) -> Merges:
        """Return the merge list of a vocabulary that has only ranks, as in tiktoken's files. The rank of a pair is the rank of its
        concatenation.

        The list contains only the last merge of each canonical token, because BPE executes no other merges.
        """
        spelled = Spelled.of(ranks)
        by_rank = np.argsort(spelled.ids, kind="stable")
        own = np.empty(len(by_rank), np.int32)
        own[by_rank] = np.arange(len(by_rank), dtype=np.int32)
        left, right, _ = _last_merges(spelled, own, by_rank.astype(np.int32), pairs_for(len(by_rank)))
        names = list(ranks)
        made = by_rank[left[by_rank] != NULL]
        return cls(ranks, [(names[a], names[b]) for a, b in zip(left[made].tolist(), right[made].tolist(), strict=True)])


@dataclass(frozen=True, eq=False)
class Spelled:
    """Tokens as arrays, in the order of the vocabulary.

    Attributes:
        symbols: uint8[n], the bytes of all tokens, concatenated, without affixes.
        codes: uint16[n], the codes of these bytes; see `fst.machines.bpe.affixes`.
        starts: int64[tokens], the start of each token in `symbols`.
        lengths: int64[tokens], |t|.
        ids: int64[tokens], the id of each token.
        atoms: int32[CODES], for each code of a byte, the token of this byte; -1 for a code without a token.
        whole: bool[tokens], whether the token has the prefix and the suffix of a complete pre-token.
    """

    symbols: NDArray[np.uint8]
    codes: NDArray[np.uint16]
    starts: Ints
    lengths: Ints
    ids: Ints
    atoms: NDArray[np.int32]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, tokens: Mapping[bytes, int], affixes: Affixes = NO_AFFIXES) -> Spelled:
        """Convert a vocabulary to arrays."""
        wrong = [number for number in tokens.values() if not 0 <= number <= MAX_ID]
        if wrong:
            raise VocabularyError(f"the vocabulary has the ids {listed(wrong)}; ids are 0 to {MAX_ID}")
        parts = [affixes.part(name) if affixes else Part(name, True, True) for name in tokens]
        ids, lengths = np.array(list(tokens.values()), np.int64), np.array([len(part.body) for part in parts], np.int64)
        firsts, lasts = np.array([part.is_first for part in parts]), np.array([part.is_last for part in parts])
        _refuse_shared_ids(tokens, ids)
        if lengths.max() > MAX_LENGTH:
            raise UnsupportedError(f"a token of {lengths.max()} bytes: there is room for {MAX_LENGTH}")
        symbols = np.frombuffer(b"".join(part.body for part in parts), np.uint8)
        atoms = affixes.atoms({token: number for number, token in enumerate(tokens)})
        codes = codes_of_parts(symbols, lengths, firsts, lasts)
        return cls(symbols, codes, np.cumsum(lengths) - lengths, lengths, ids, atoms, firsts & lasts)


@dataclass(frozen=True, eq=False)
class CanonicalTokens:
    """The canonical tokens of a merge list.

    Attributes:
        tokens: all tokens, canonical or not.
        left, right: int32[tokens], pre t and suc t; -1 for an atom and for a token that is not canonical.
        rank: int32[tokens], ρ(t); -1 where `left` is -1.
        proper: whether the list is proper.
    """

    tokens: Spelled
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    rank: NDArray[np.int32]
    proper: bool

    @property
    def made(self) -> Ints:
        """The canonical tokens that are not atoms."""
        return np.flatnonzero(self.left != NULL)


def canonical_tokens(merges: Merges) -> CanonicalTokens:
    """Find the last merge of every token."""
    spelled = Spelled.of(merges.tokens, merges.affixes)
    keys, result = _numbered(merges)
    pairs = pairs_for(len(keys))
    insert_pairs.call(keys, pairs)
    left, right, rank = _last_merges(spelled, np.full(len(spelled.ids), NULL, np.int32), result, pairs)
    made = left != NULL
    proper = bool(np.all(np.maximum(rank[left[made]], rank[right[made]]) < rank[made]))
    return CanonicalTokens(spelled, left, right, rank, proper)


def pairs_of_ranks(ranks: Mapping[bytes, int]) -> Iterator[tuple[bytes, bytes]]:
    """All pairs of tokens whose concatenation is a token, sorted as in `transformers`: by the rank of the concatenation, then of the left
    token, then of the right token.
    """
    for token in sorted(ranks, key=ranks.__getitem__):
        halves = ((token[:place], token[place:]) for place in range(1, len(token)))
        known = [(left, right) for left, right in halves if left in ranks and right in ranks]
        yield from sorted(known, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))


def _refuse_shared_ids(tokens: Iterable[bytes], ids: Ints) -> None:
    numbers, counts = np.unique(ids, return_counts=True)
    if len(numbers) < len(ids):
        shared = int(numbers[counts.argmax()])
        names = [name for name, number in zip(tokens, ids.tolist(), strict=True) if number == shared]
        raise VocabularyError(f"the tokens {listed(names)} share the id {shared}; each token needs its own")


def _numbered(merges: Merges) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The merges as arrays: the keys ``left << 32 | right``, and the tokens that they make. Tokens are represented by their positions in
    the vocabulary.
    """
    number_of = {token: number for number, token in enumerate(merges.tokens)}
    found = []
    for rank, (left, right) in enumerate(merges.pairs):
        made = left + right[len(merges.affixes.prefix) :]
        fault = _fault(rank, left, right, made, number_of)
        if fault:
            raise VocabularyError(fault)
        found.append((number_of[left] << 32 | number_of[right], number_of[made]))
    pairs, result = zip(*found, strict=True) if found else ((), ())
    return np.array(pairs, np.uint64), np.array(result, np.int32)


def _fault(rank: int, left: bytes, right: bytes, made: bytes, tokens: Mapping[bytes, int]) -> str | None:
    """The error message for a malformed pair; None if the pair is correct."""
    reason = f"merge {rank}, {quoted(left)} with {quoted(right)}"
    if not left or not right:
        return f"{reason}: a part is empty"
    missing = [part for part in (left, right, made) if part not in tokens]
    return f"{reason}: {quoted(missing[0])} is not a token" if missing else None


def _last_merges(
    tokens: Spelled, own: NDArray[np.int32], result: NDArray[np.int32], pairs: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Run BPE on every token, and return the arrays `left`, `right` and `rank` of `CanonicalTokens`; see `last_merges`."""
    order = np.argsort(tokens.lengths, kind="stable")
    left, right, rank = np.full((3, len(order)), NULL, np.int32)
    longest = int(tokens.lengths.max())
    parts, pair_ranks = np.empty(longest, np.int32), np.empty(longest, np.int32)
    of_tokens = tokens.codes, tokens.starts, tokens.lengths, tokens.atoms
    last_merges.call(*of_tokens, order[tokens.lengths[order] > 1], own, result, pairs, parts, pair_ranks, left, right, rank)
    return left, right, rank


def without_automaton(table: BpeTable) -> BpeTable:
    """The table with only its list of merges, which is shorter if its symbols are bytes; see `executed_merges`."""
    merges = executed_merges(table) if table.has_automaton and table.metadata.model.letters.are_bytes else table.merges
    return replace(table, entries=table.entries[:0], depths=table.depths[:0], merges=merges)


def executed_merges(table: BpeTable) -> Array:
    """int32[n, 3], the rows of `merges` that BPE executes without dropout, in their order: the last merge of each canonical token. In a
    vocabulary with only ranks, the list of all merges is more than twice as long.
    """
    known = table.metadata.model.model_tokens
    tokens = dict(zip(table.contents[:known], table.token_ids[:known].tolist(), strict=True))
    name_of = {number: token for token, number in tokens.items()}
    found = canonical_tokens(Merges(tokens, [(name_of[left], name_of[right]) for left, right, _ in table.merges.tolist()]))
    executed: Array = table.merges[np.sort(found.rank[found.made])]
    return executed
