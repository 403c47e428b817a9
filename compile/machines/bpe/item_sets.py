"""Build the automaton of a proper merge list. A state is a closed item set, and states are laid out as rows of entries.

Notation, in addition to `fst.compile.machines.bpe.canonical_tokens` and `fst.machines.bpe.automaton`:

- spine(u): u, suc u, suc suc u, …: the tokens at the right end of u.
- C(u): the tokens t with pre t = u.
- T(u): the tokens t that later bytes can complete after a string x with last(x) = u, that is, for x followed by the bytes of suc t, BPE
  makes t at the end.

**Lemma.** t is in T(u) if and only if pre t is on spine(u), and pre t = u or ρ(t) < ρ(c), where c is the token on spine(u) with suc c = pre
t.

*Proof.* BPE executes merges in the order of their ranks. Until a merge crosses the cut between x and suc t, each side is merged as if it
were alone. Suppose that BPE makes t. Then no earlier merge crosses the cut, x alone ends with pre t at rank ρ(t), and pre t is on spine(u).
If pre t is not u, then c uses pre t at a rank above ρ(t). The reason: with a lower rank, the merge of c would be executed first; with the
same rank, c would be t, with pre t = suc t, and the merge of c would be executed first because it is on the left. Conversely, up to rank
ρ(t) the right end of x is merged like pre t alone. No merge of lower rank crosses the cut: it would also cross the cut when BPE runs on t
alone, but there, the merge of rank ρ(t) is the first to cross. At rank ρ(t), pre t and suc t are adjacent, and no merge on the left uses
pre t first. ∎

The lemma is the interval test of Jiang and Gong 2026, *Incremental BPE Tokenization* (arXiv 2605.30813). Here, the test is evaluated at
compile time for all states.

So ``T(u) = C(u) ∪ P(u)`` with ``P(u) = {t ∈ C(suc u) : ρ(t) < ρ(u)} ∪ P(suc u)``. Tokens that BPE makes at the end of the same string are
nested. The last token of the string is the longest of these tokens or, if there are none, the last byte.

An *item* is the unread rest of the strings suc t for t in some T(u): a node in the trie of these strings. Nodes with equal tokens and equal
child nodes are the same item. A *state* consists of F, the last token, and the current items, the oldest first. On a byte, each item is
replaced by the item at the end of its edge for this byte, or dropped if it has no such edge. The next F is the longest completed token,
which the oldest item among those that complete a token completes; if no token is completed, F is the byte itself. The root of the trie of
T(F) becomes the youngest item.

If no item has an edge for a byte, the next state depends only on the byte, and is the target of the root's transition. Therefore, the rows
of states contain only the other transitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import Pool, longer
from fst.automata.rows import BYTE_ROW, ROOT
from fst.automata.trie import NULL, Ints, spread
from fst.compile.layout.rows import TooLargeError, filled, placed
from fst.compile.machines.bpe.canonical_tokens import CanonicalTokens, Spelled
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.bpe.automaton import ENTRY, FINISH, LABELS, MAX_LENGTH

MAX_SLOTS = ENTRY.max_target + 1
MAX_TRANSITIONS = MAX_SLOTS // 4 * 3  # more transitions hardly ever fit into `MAX_SLOTS` slots
MAX_COMPLETIONS = 1 << 26  # maximum sum of |T(u)| over all u; for o200k, the sum is 6 million, and sorting takes 8 bytes per element
FIRST_CAPACITY = 8  # initial capacity of arrays, in items or states per token
intern_items, close_states = (Deferred("fst.compile.machines.bpe.closure", name) for name in ("intern_items", "close_states"))


@dataclass(frozen=True, eq=False)
class Items:
    """The tries of all sets T(u). An item is a node of a trie; equal nodes are the same item.

    Attributes:
        roots: int32[tokens], the root of the trie of T(u), or 0 if T(u) is empty.
        starts: int64[items + 1]; the edges of item i are ``edges[starts[i]:starts[i + 1]]``; item 0 has no edges.
        edges: uint64[n], ``byte << 56 | (1 + completed token, or 0) << 32 | next item, or 0``.
        depth: the length of the longest path, in bytes.
    """

    roots: NDArray[np.int32]
    starts: Ints
    edges: NDArray[np.uint64]
    depth: int


@dataclass(frozen=True, eq=False)
class States:
    """The states and the transitions of the automaton. State 0 is the root, where no byte has been read.

    Attributes:
        last: int32[states], the last token F of each state, see `fst.machines.bpe.automaton`; -1 for the root.
        depths: int32[states], the minimum number of bytes from the root to each state.
        starts: int32[states + 1]; the transitions of state s are ``starts[s]`` to ``starts[s + 1] - 1``. The root has a transition for
            every byte that is a token. If a state has no transition on a byte, the transition of the root applies.
        labels: uint8[n], the byte of each transition.
        targets: int32[n], the target state of each transition.
    """

    last: NDArray[np.int32]
    depths: NDArray[np.int32]
    starts: NDArray[np.int32]
    labels: NDArray[np.uint8]
    targets: NDArray[np.int32]


def close(tokens: CanonicalTokens) -> States:
    """Find all states that are reachable from the root, in breadth-first order."""
    if not tokens.proper:
        raise UnsupportedError("the merge list is improper: it makes a token before one of its parts; no automaton does that")
    items = items_of(tokens)
    widest = 256 * (items.depth + 2)  # few, because each item of a state has read a different number of bytes
    kids, counts, done, touched = np.empty(widest, np.int32), np.zeros(256, np.int32), np.zeros(256, np.int32), np.empty(256, np.uint8)
    key, progress = np.empty(items.depth + 3, np.int32), np.zeros(1, np.int64)
    capacity = FIRST_CAPACITY * len(tokens.rank)
    states = Pool.of(capacity, 9 * capacity + 2 * widest, np.int32)
    depths, starts = np.zeros(capacity, np.int32), np.zeros(capacity + 1, np.int32)
    room = MAX_TRANSITIONS + 256
    labels, targets = np.empty(room, np.uint8), np.empty(room, np.int32)  # arrays use memory only where written
    of_items = items.roots, items.starts, items.edges, tokens.tokens.atoms[:256]
    scratch = kids, counts, done, touched, key, progress
    while not close_states.call(*of_items, states, depths, starts, labels, targets, *scratch):
        if states.room > MAX_SLOTS or starts[progress[0]] > MAX_TRANSITIONS:
            raise TooLargeError(f"the automaton of these merges has more than {MAX_TRANSITIONS:,} transitions: a table has no room")
        states = states.larger()
        depths, starts = longer(depths, states.room), longer(starts, states.room + 1)
    begins, cells = states.rows()
    count, size = len(begins) - 1, starts[len(begins) - 1]
    return States(cells[begins[:-1]], depths[:count].copy(), starts[: count + 1].copy(), labels[:size].copy(), targets[:size].copy())


def items_of(tokens: CanonicalTokens) -> Items:
    """Build the items of all tokens."""
    by_suffix = _by_suffix(tokens)
    keys = _completions(tokens, by_suffix)
    lengths = tokens.tokens.lengths[tokens.right[by_suffix]]
    depth = int(lengths.max(initial=0))
    spelled = tokens.tokens.symbols, tokens.tokens.starts, tokens.tokens.lengths
    stack, open_at = np.empty(len(by_suffix) + depth + 1, np.uint64), np.empty(depth + 1, np.int64)
    capacity = FIRST_CAPACITY * len(tokens.rank)
    roots, items = np.zeros(len(tokens.rank), np.int32), Pool.of(capacity, 4 * capacity, np.uint64)
    while not intern_items.call(keys, by_suffix, tokens.right, *spelled, roots, items, stack, open_at):
        if items.room > MAX_SLOTS:
            raise TooLargeError(f"the merges have more than {items.room} items: a table has no room")
        items = items.larger()
    return Items(roots, *items.rows(), depth)


def _by_suffix(tokens: CanonicalTokens) -> Ints:
    """The canonical tokens t that are not atoms, sorted by the bytes of suc t."""
    spelled, made = tokens.tokens, tokens.made
    right = tokens.right[made]
    data = spelled.symbols.tobytes()
    begins, ends = spelled.starts[right].tolist(), (spelled.starts + spelled.lengths)[right].tolist()
    strings = [data[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return made[sorted(range(len(strings)), key=strings.__getitem__)]


def _completions(tokens: CanonicalTokens, by_suffix: Ints) -> NDArray[np.uint64]:
    """uint64[n], ascending: ``u << 32 | index of t in by_suffix`` for each pair of u and t ∈ T(u)."""
    left, right, rank = tokens.left, tokens.right, tokens.rank.astype(np.int64)
    place_of = np.zeros(len(rank), np.int64)
    place_of[by_suffix] = np.arange(len(by_suffix))
    siblings = tokens.made[np.lexsort((rank[tokens.made], left[tokens.made]))]  # C(0), C(1), …: the tokens by `left`, then by rank
    keys = left[siblings].astype(np.int64) << 32 | rank[siblings]
    found, size = [np.empty(0, np.uint64)], 0
    u = np.flatnonzero((left != NULL) | (tokens.tokens.lengths == 1))
    edge, below = u, np.full(len(u), (1 << 32) - 1)  # an element of spine(u), and the exclusive upper bound of the rank of t
    while len(u):
        first = np.searchsorted(keys, edge << 32)
        counts = np.searchsorted(keys, edge << 32 | below) - first
        size += int(counts.sum())
        if size > MAX_COMPLETIONS:
            raise TooLargeError(f"the merges of {len(rank)} tokens have more than {MAX_COMPLETIONS} completions: there is no room")
        found.append((np.repeat(u, counts) << 32 | place_of[siblings[spread(first, counts)]]).astype(np.uint64))
        inner = right[edge] != NULL
        u, edge, below = u[inner], right[edge[inner]].astype(np.int64), rank[edge[inner]]
    pairs = np.concatenate(found)
    pairs.sort()
    return pairs


count_visits = Deferred("fst.compile.machines.bpe.closure", "count_visits")


@dataclass(frozen=True, eq=False)
class MergeRows:
    """The automaton of a merge list, as the arrays that `fst.machines.bpe.automaton` describes.

    Attributes:
        entries: uint32[slots].
        lengths: uint16[highest id + 1].
        depths: uint16[states], the depth of each state; states are sorted by slot.
        slots: int64[states], the slot of each state.
    """

    entries: NDArray[np.uint32]
    lengths: NDArray[np.uint16]
    depths: NDArray[np.uint16]
    slots: Ints


def lay_out(tokens: Spelled, states: States) -> MergeRows:
    """Lay out the automaton as rows of entries."""
    starts, labels, targets = _with_whole_root(states)
    kept = labels < LABELS
    starts, labels, targets = np.append(0, np.cumsum(kept))[starts], labels[kept], targets[kept]
    slots = placed(ENTRY, starts, labels, _order(tokens, states))
    ids = tokens.ids[states.last]
    ids[ROOT] = 0
    entries = filled(ENTRY, slots, BYTE_ROW, ENTRY.pack(FINISH, ids), "the automaton of these merges")
    entries[np.repeat(slots, np.diff(starts)) + ENTRY.first + labels] = ENTRY.pack(labels, slots[targets])
    lengths = np.zeros(int(tokens.ids.max()) + 1, np.uint16)
    lengths[tokens.ids] = tokens.lengths
    depths = np.minimum(states.depths[np.argsort(slots)], MAX_LENGTH).astype(np.uint16)
    return MergeRows(entries, lengths, depths, slots)


def _with_whole_root(states: States) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """The transitions of all states, completed so that the root has a transition on every label.

    Bytes that are not tokens never occur in texts, so their transitions lead to the target of byte 0.
    """
    held = int(states.starts[1])
    labels = states.labels.astype(np.int64)
    lacking = np.setdiff1d(np.arange(LABELS), labels[:held])
    to = states.targets[:held][labels[:held] == 0]
    starts = states.starts.astype(np.int64)
    starts[1:] += len(lacking)
    return starts, np.concatenate([lacking, labels]), np.concatenate([np.repeat(to, len(lacking)), states.targets])


def _order(tokens: Spelled, states: States) -> Ints:
    """The order in which the rows of states are placed: the root, then by descending expected visits; in a tie, longer rows first.

    The expected number of visits of a state is the sum of the weights of all tokens whose bytes lead through the state. Weights follow
    Zipf's law: low ids are frequent.
    """
    visits = np.zeros(len(states.last))
    weights = 1 / (1.0 + tokens.ids)
    of_states = states.starts, states.labels, states.targets
    count_visits.call(tokens.symbols, tokens.starts, tokens.lengths, weights, *of_states, visits)
    visits[ROOT] = np.inf
    return np.lexsort((-np.diff(states.starts), -visits))
