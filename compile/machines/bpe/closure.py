"""Kernels of the BPE compiler, which find the last merge of every token, and the items and states of `fst.compile.machines.bpe.item_sets`.

Kernels allocate no memory; the caller provides the arrays. If an array is too small, the kernel returns False, and the caller calls the
kernel again with larger arrays.

Example: the merges a+b (rank 0), b+c (1) and ab+c (2). T(a) = {ab}, T(b) = {bc} and T(ab) = {abc}. bc is not in T(ab), since its rank is
above that of ab::

    item 1, the root of T(a)     b: completes ab          state 1   a    items 1     b → 4
    item 2, the root of T(b)     c: completes bc          state 2   b    items 2     c → 5
    item 3, the root of T(ab)    c: completes abc         state 3   c
                                                          state 4   ab   items 3     c → 6
    state 0, the root: a → 1, b → 2, c → 3                states 5 and 6   bc, abc
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import CELLS, FULL, ITEMS, intern
from fst.core.jit import kernel
from fst.machines.bpe.pairs import NO_RANK, insert, key_of, rank_of

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


@kernel
def last_merges(symbols, starts, lengths, atoms, order, own, result, pairs, parts, pair_ranks, left, right, rank):
    """Find the last merge of each token: run BPE on the token's bytes until two parts are left.

    Args:
        symbols, starts, lengths, atoms: `codes`, `starts`, `lengths` and `atoms` of `fst.compile.machines.bpe.canonical_tokens.Spelled`.
        order: int64[n], the tokens of two or more bytes. Short tokens come first, so that the pairs inside a token are inserted before the
            token is visited.
        own: int32[tokens], for each token, the rank of any pair that concatenates to it; -1: only pairs in the merge list have ranks.
        result: int32[ranks], the token that the merge of each rank makes.
        pairs: uint64[2 * slots], see `fst.machines.bpe.merge_list.pairs_for`. For each token with a rank in `own`, the kernel inserts
            the pair of its last merge.
        parts, pair_ranks: int32[longest token], scratch.
        left, right, rank: output for canonical tokens, int32[tokens], initially -1.
    """
    for token in order:
        count = lengths[token]
        spelled = True
        for place in range(count):
            parts[place] = atoms[symbols[starts[token] + place]]
            spelled &= parts[place] >= 0
        if not spelled:
            continue
        for place in range(count - 1):
            pair_ranks[place] = rank_of(parts[place], parts[place + 1], pairs)
        while count > 2:
            best = 0
            for place in range(1, count - 1):
                if pair_ranks[place] < pair_ranks[best]:
                    best = place
            if pair_ranks[best] == NO_RANK:
                break
            parts[best] = result[pair_ranks[best]]
            count -= 1
            for place in range(best + 1, count):
                parts[place] = parts[place + 1]
                pair_ranks[place - 1] = pair_ranks[place]
            if best > 0:
                pair_ranks[best - 1] = rank_of(parts[best - 1], parts[best], pairs)
            if best < count - 1:
                pair_ranks[best] = rank_of(parts[best], parts[best + 1], pairs)
        found = own[token] if own[token] >= 0 else pair_ranks[0]
        if count > 2 or found == NO_RANK:
            continue
        left[token], right[token], rank[token] = parts[0], parts[1], found
        if own[token] >= 0:
            insert(key_of(parts[0], parts[1]), found, pairs)


@kernel
def intern_items(keys, by_suffix, right, symbols, starts_of, lengths, roots, items, stack, open_at):
    """Build the trie of every set T(u) of `fst.compile.machines.bpe.item_sets`, and number the nodes from the leaves up; equal nodes get
    the same number.

    As in the construction of a minimal automaton from sorted strings (Daciuk et al. 2000), the nodes on the path of the last string are
    *open*, so they may get more edges. The edges of open nodes are on a stack, with the edges of deeper nodes on top.

    Args:
        keys: uint64[n], sorted: ``u << 32 | index of t in by_suffix`` for each t ∈ T(u).
        by_suffix: int64[made tokens], sorted by suc t.
        right: int32[tokens], suc t.
        symbols, starts_of, lengths: `symbols`, `starts` and `lengths` of `fst.compile.machines.bpe.canonical_tokens.Spelled`.
        roots: output, int32[tokens], initially 0; see `fst.compile.machines.bpe.item_sets.Items`.
        items: the `fst.automata.hashing.Pool` of the edges of each item. Item 0 has none.
        stack: uint64[made tokens + depth + 1], scratch.
        open_at: int64[depth + 1], scratch: the position on the stack where the edges of each open node begin.

    Returns:
        Whether all items are stored; otherwise `items` is too small.
    """
    intern(stack, 0, 0, items)
    top, length, before = 0, 0, 0
    for index in range(len(keys)):
        u, token = keys[index] >> HALF, by_suffix[keys[index] & LOW]
        suffix = right[token]
        begin, size = starts_of[suffix], lengths[suffix]
        shared = 0
        while shared < length and symbols[before + shared] == symbols[begin + shared]:
            shared += 1
        for depth in range(length - 1, shared, -1):
            item = intern(stack, open_at[depth], top, items)
            if item == FULL:
                return False
            top = open_at[depth]
            stack[top - 1] |= np.uint64(item)
        for depth in range(shared, size):
            if depth > shared or shared == length:
                open_at[depth] = top
            stack[top] = np.uint64(symbols[begin + depth]) << np.uint64(56)
            top += 1
        stack[top - 1] |= np.uint64(token + 1) << HALF
        length, before = size, begin
        if index + 1 < len(keys) and keys[index + 1] >> HALF == u:
            continue
        for depth in range(length - 1, -1, -1):
            item = intern(stack, open_at[depth], top, items)
            if item == FULL:
                return False
            top = open_at[depth]
            if depth:
                stack[top - 1] |= np.uint64(item)
            else:
                roots[u] = item
        length = 0
    return True


@kernel
def close_states(roots, item_starts, edges, atoms, states, depths, starts, labels, targets, kids, counts, done, touched, key, progress):
    """Find all states that are reachable from the root, breadth first. A call continues after the last complete state.

    Args:
        roots, item_starts, edges: `roots`, `starts` and `edges` of `fst.compile.machines.bpe.item_sets.Items`.
        atoms: int32[256], the token of each byte; -1 for a byte without a token.
        states: the `fst.automata.hashing.Pool` of states, each with its last token and its items.
        depths, starts, labels, targets: output, the arrays of `fst.compile.machines.bpe.item_sets.States`.
        kids, counts, done: scratch for each byte. They contain the items after the byte, the number of these items, and 1 + the token that
            the byte completes. `counts` and `done` are initially 0.
        touched: scratch for the bytes on which the current state has transitions.
        key: int32[maximum number of items + 2], scratch: a state.
        progress: int64[1], initially 0: the number of complete states.

    Returns:
        Whether all states are complete; otherwise an array of states or of transitions is too small.
    """
    most = len(kids) // 256
    key[0] = -1
    intern(key, 0, 1, states)
    depths[0] = starts[0] = 0
    while progress[0] < states.counts[ITEMS]:
        state = progress[0]
        size = starts[state]
        if size + 256 > len(targets) or states.counts[ITEMS] + 256 > len(depths):
            return False
        if states.counts[CELLS] + 256 * (most + 2) > len(states.cells):
            return False
        used = 0
        if state == 0:
            for byte in range(256):
                if atoms[byte] >= 0:
                    done[byte] = atoms[byte] + 1
                    touched[used] = byte
                    used += 1
        for place in range(states.starts[state] + 1, states.starts[state + 1]):
            item = states.cells[place]
            for edge_place in range(item_starts[item], item_starts[item + 1]):
                edge = edges[edge_place]
                byte = np.int64(edge >> np.uint64(56))
                completed, kid = np.int32(edge >> HALF & np.uint64(0xFFFFFF)), np.int32(edge & LOW)
                if done[byte] == 0 and counts[byte] == 0:
                    touched[used] = byte
                    used += 1
                if done[byte] == 0:
                    done[byte] = completed
                if kid:
                    kids[byte * most + counts[byte]] = kid
                    counts[byte] += 1
        for place in range(used):
            byte = np.int64(touched[place])
            token = done[byte] - 1 if done[byte] else atoms[byte]
            key[0] = token
            width = 1
            for kid in range(counts[byte]):
                key[width] = kids[byte * most + kid]
                width += 1
            if roots[token]:
                key[width] = roots[token]
                width += 1
            counts[byte], done[byte] = 0, 0
            count = states.counts[ITEMS]
            target = intern(key, 0, width, states)
            if target == count:
                depths[target] = depths[state] + 1
            labels[size] = byte
            targets[size] = target
            size += 1
        starts[state + 1] = size
        progress[0] = state + 1
    return True


@kernel
def count_visits(symbols, starts_of, lengths, weights, starts, labels, targets, visits):
    """Compute the expected visits of each state: follow the transitions on the bytes of every token, and add the token's weight to each
    state on the path.

    Args:
        symbols, starts_of, lengths: `symbols`, `starts` and `lengths` of `fst.compile.machines.bpe.canonical_tokens.Spelled`.
        weights: float64[tokens].
        starts, labels, targets: the arrays of `fst.compile.machines.bpe.item_sets.States`. The path ends before a byte for which neither
            the state nor the root has a transition.
        visits: output, float64[states], initially 0.
    """
    for token in range(len(weights)):
        state = 0
        for place in range(starts_of[token], starts_of[token] + lengths[token]):
            at, end = starts[state], starts[state + 1]
            while at < end and labels[at] != symbols[place]:
                at += 1
            if at == end:
                at, end = starts[0], starts[1]
                while at < end and labels[at] != symbols[place]:
                    at += 1
            if at == end:
                break
            state = targets[at]
            visits[state] += weights[token]
