"""The automaton of a proper merge list: after every byte its state determines the last token so far, and the last tokens give all tokens.

Letters are those of `fst.compile.machines.bpe.canonical`, and

- last(x): the last token of BPE(x);
- spine(u): u, suc u, suc suc u, …, the right edge of u.
- T(u): the tokens t that later bytes can complete when last(x) = u: after x and the bytes of suc t, t is formed at the end.

**Lemma.** t is in T(u) if and only if pre t is on spine(u), and pre t is u itself or ρ(t) < ρ(c), where c is the token on spine(u) with
suc c = pre t.

*Proof.* Merges are executed in the order of their ranks, and until one crosses the cut between x and suc t, both sides are merged as they
would be alone. Suppose that t is formed. Then no merge has crossed the cut before, x alone ends in pre t at rank ρ(t), and pre t is on
spine(u). If c takes pre t, it does so at a rank above ρ(t): one of lower rank would have come first, and one of the same rank is t itself,
with pre t = suc t, and further left. Conversely, up to rank ρ(t) the right edge of x is that of pre t. A merge of lower rank that crosses
the cut would cross it in the run on t alone as well, where none does. At rank ρ(t) the pair of pre t and suc t stands there, and nothing on
its left takes pre t first. ∎

This is the interval test of Jiang and Gong 2026, *Incremental BPE Tokenization* (arXiv 2605.30813). Here it is unfolded into states.

So ``T(u) = C(u) ∪ P(u)`` with ``C(u) = {t : pre t = u}`` and ``P(u) = {t ∈ C(suc u) : ρ(t) < ρ(u)} ∪ P(suc u)``. Tokens that are formed at
the end of one string are nested, and the last token is the longest of them, or the last byte if there is none.

An *item* is the unread rest of the strings suc t for t in some T(u): a node in the trie of these strings. Equal nodes, with equal tokens
and equal nodes below them, are one. A *state* is F, the last token, and the live items, the oldest first. On a byte every item moves
along its edge or dies. The next F is the token that the oldest item completes, which is the longest, or the byte itself; the root of the
trie of T(F) becomes the youngest item.

If a byte continues no item, the next state depends on the byte alone: it is the *default*, the target of the root's transition. Only the
other transitions of a state are listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import NULL, Ints, spread
from fst.compile.machines.bpe.canonical import Canonical
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.bpe.automaton import ENTRY

MAX_SLOTS = ENTRY.max_target + 1
MAX_COMPLETIONS = 1 << 26  # the sum of |T(u)|: o200k has 6 million, and a sort takes 8 bytes for each
FIRST_ROOM = 8  # room for items and states, for each token, at the first attempt
intern_items, close_states = (Deferred("fst.compile.machines.bpe.closure", name) for name in ("intern_items", "close_states"))


@dataclass(frozen=True, eq=False)
class Items:
    """The tries of all T(u), with equal nodes shared.

    Attributes:
        roots: int32[tokens], the root of the trie of T(u), or 0 if T(u) is empty.
        starts: int32[items + 1]; the edges of item i are ``edges[starts[i]:starts[i + 1]]``; item 0 has none.
        edges: uint64[n], ``byte << 56 | (1 + token that is completed, or 0) << 32 | next item, or 0``.
        depth: the length of the longest path, in bytes.
    """

    roots: NDArray[np.int32]
    starts: NDArray[np.int32]
    edges: NDArray[np.uint64]
    depth: int


@dataclass(frozen=True, eq=False)
class States:
    """The automaton. State 0 is the root, where nothing has been read.

    Attributes:
        last: int32[states], F of each state; -1 for the root.
        depths: int32[states], the least number of bytes that lead there.
        starts: int32[states + 1]; the transitions of state s are those from ``starts[s]`` to before ``starts[s + 1]``. The root has one for
            every byte that is a token. Other states take the root's where they have none.
        labels: uint8[n], the byte of each transition.
        targets: int32[n], the state that it leads to.
    """

    last: NDArray[np.int32]
    depths: NDArray[np.int32]
    starts: NDArray[np.int32]
    labels: NDArray[np.uint8]
    targets: NDArray[np.int32]


def close(tokens: Canonical) -> States:
    """The states that the root leads to, in the order of a breadth-first search.

    Raises:
        UnsupportedError: the merge list is improper, or a table has no room for the states.
    """
    if not tokens.proper:
        raise UnsupportedError("the merge list is improper: it makes a token before one of its parts; no automaton does that")
    items = items_of(tokens)
    widest = 256 * (items.depth + 2)  # a state has at most one item for each number of bytes read
    kids, counts, done, touched = np.empty(widest, np.int32), np.zeros(256, np.int32), np.zeros(256, np.int32), np.empty(256, np.uint8)
    key = np.empty(items.depth + 3, np.int32)
    room = FIRST_ROOM * len(tokens.rank)
    labels, targets = np.empty(MAX_SLOTS + 256, np.uint8), np.empty(MAX_SLOTS + 256, np.int32)  # takes memory only as it is written
    while True:
        last, depths, starts, held_from = (np.empty(room + 1, np.int32) for _ in range(4))
        held = np.empty(8 * room + 2 * widest, np.int32)
        slots = np.zeros(1 << (2 * room).bit_length(), np.int32)
        of_items = items.roots, items.starts, items.edges, tokens.tokens.atoms[:256]
        scratch = kids, counts, done, touched, key
        count = close_states.call(*of_items, last, depths, starts, labels, targets, held_from, held, slots, *scratch)
        if count >= 0:
            size = starts[count]
            of_states = last[:count].copy(), depths[:count].copy(), starts[: count + 1].copy()
            return States(*of_states, labels[:size].copy(), targets[:size].copy())
        if room > MAX_SLOTS or count == -2:
            raise UnsupportedError(f"the automaton of these merges has more than {MAX_SLOTS} transitions and states: a table has no room")
        room *= 2


def items_of(tokens: Canonical) -> Items:
    """The items of all tokens.

    Raises:
        UnsupportedError: there are too many.
    """
    by_suffix = _by_suffix(tokens)
    keys = _completions(tokens, by_suffix)
    lengths = tokens.tokens.lengths[tokens.right[by_suffix]]
    depth = int(lengths.max(initial=0))
    spelled = tokens.tokens.symbols, tokens.tokens.starts, tokens.tokens.lengths
    stack, open_at = np.empty(len(by_suffix) + depth + 1, np.uint64), np.empty(depth + 1, np.int64)
    room = FIRST_ROOM * len(tokens.rank)
    while True:
        roots = np.zeros(len(tokens.rank), np.int32)
        starts, edges = np.empty(room + 2, np.int32), np.empty(4 * room, np.uint64)
        slots = np.zeros(1 << (2 * room).bit_length(), np.int32)
        count = intern_items.call(keys, by_suffix, tokens.right, *spelled, roots, starts, edges, slots, stack, open_at)
        if count >= 0:
            return Items(roots, starts[: count + 1].copy(), edges[: starts[count]].copy(), depth)
        if room > MAX_SLOTS:
            raise UnsupportedError(f"the merges have more than {room} items: a table has no room")
        room *= 2


def _by_suffix(tokens: Canonical) -> Ints:
    """The canonical tokens that are no atoms, in the order of the bytes of suc t."""
    spelled, made = tokens.tokens, tokens.made
    right = tokens.right[made]
    data = spelled.symbols.tobytes()
    begins, ends = spelled.starts[right].tolist(), (spelled.starts + spelled.lengths)[right].tolist()
    strings = [data[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return made[sorted(range(len(strings)), key=strings.__getitem__)]


def _completions(tokens: Canonical, by_suffix: Ints) -> NDArray[np.uint64]:
    """uint64[n], the pairs of u and t ∈ T(u), ascending, as ``u << 32 | place of t in by_suffix``."""
    left, right, rank = tokens.left, tokens.right, tokens.rank.astype(np.int64)
    place_of = np.zeros(len(rank), np.int64)
    place_of[by_suffix] = np.arange(len(by_suffix))
    siblings = tokens.made[np.lexsort((rank[tokens.made], left[tokens.made]))]  # C(0), C(1), …, each by rank
    keys = left[siblings].astype(np.int64) << 32 | rank[siblings]
    found, size = [np.empty(0, np.uint64)], 0
    u = np.flatnonzero((left != NULL) | (tokens.tokens.lengths == 1))
    edge, below = u, np.full(len(u), (1 << 32) - 1)  # an element of spine(u), and the rank below which t must be
    while len(u):
        first = np.searchsorted(keys, edge << 32)
        counts = np.searchsorted(keys, edge << 32 | below) - first
        size += int(counts.sum())
        if size > MAX_COMPLETIONS:
            raise UnsupportedError(f"the merges of {len(rank)} tokens have more than {MAX_COMPLETIONS} completions: there is no room")
        found.append((np.repeat(u, counts) << 32 | place_of[siblings[spread(first, counts)]]).astype(np.uint64))
        inner = right[edge] != NULL
        u, edge, below = u[inner], right[edge[inner]].astype(np.int64), rank[edge[inner]]
    pairs = np.concatenate(found)
    pairs.sort()
    return pairs
