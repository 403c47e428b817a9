"""The product of an automaton with the trie of a vocabulary: one scan gives the mask of a state.

The nodes of the trie are in depth-first order, so the states on the path of a node are those that were stored last at each depth. A node
whose byte leads nowhere is left out with its subtree.

Two states often read the same short strings, such as the states in ``.{0,60}``. If the mask of one of them is known, only the tokens that
are longer than these strings are scanned for the other.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.guide.arguments import ENOUGH, FAR, NEXT, RECENT, STAMP

BYTE, DEPTH_SHIFT = np.uint32(0xFF), np.uint64(8)
WORD_SHIFT, BIT, ONE, U1 = np.uint32(5), np.uint32(31), np.uint32(1), np.uint64(1)


@part
def scan(automaton, trie, state, stack, row, shortest):
    """Set the bits of the tokens that a state reads completely; return the number of nodes that were read.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        trie: a `fst.machines.guide.vocabulary.Trie`.
        state: the state.
        stack: int32[longest + 1], the state at each depth.
        row: uint32[words + 1], the mask; the last word gets the bits of nodes without tokens.
        shortest: subtrees whose tokens are all shorter are left out.
    """
    targets, classes = automaton.targets, automaton.classes
    labels, skips, tokens = trie.labels, trie.skips, trie.tokens
    stack[0] = state
    node, end, read = np.uint64(0), np.uint64(len(labels)), np.uint64(0)
    while node < end:
        label = labels[node]
        depth = np.uint64(label) >> DEPTH_SHIFT
        target = targets[np.uint64(stack[depth]), np.uint64(classes[label & BYTE])]
        read += U1
        if target < 0 or (shortest and trie.longest_below[node] < shortest):
            node = np.uint64(skips[node])
        else:
            stack[depth + U1] = target
            token = tokens[node]
            row[token >> WORD_SHIFT] |= ONE << (token & BIT)
            node += U1
    return read


@part
def agreement(automaton, one, other, work):
    """The largest length, at most `FAR`, up to which two states read the same strings; possibly less, if that is simpler.

    Pairs of states are visited in the order of the shortest strings that lead to them. A pair is not visited again, because the strings to
    it are then longer.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        one, other: the states.
        work: a `fst.machines.guide.arguments.Work`.
    """
    targets, pairs, partners = automaton.targets, work.pairs, work.partners
    work.states[STAMP] += 1
    stamp = work.states[STAMP] << 32
    pairs[0, 0], pairs[0, 1] = one, other
    first_pair, count, length = 0, 1, 0
    while first_pair < count and length < FAR:
        level = count
        for place in range(first_pair, level):
            left, right = pairs[place, 0], pairs[place, 1]
            for symbol in range(targets.shape[1]):
                first, second = targets[left, symbol], targets[right, symbol]
                if first == second or (first >= 0 and partners[first] == stamp | second):
                    continue
                if first < 0 or second < 0 or count == len(pairs):
                    return length
                partners[first] = stamp | second
                pairs[count, 0], pairs[count, 1] = first, second
                count += 1
        first_pair, length = level, length + 1
    return FAR


@part
def like(automaton, trie, state, work, row):
    """Fill the mask of a state from that of a similar state, if there is one; return whether there is."""
    best, length = 0, 0
    for back in range(1, RECENT + 1):
        place = (work.states[NEXT] - back) % RECENT
        if work.states[place] >= 0 and length < ENOUGH:
            found = agreement(automaton, work.states[place], state, work)
            if found > length:
                best, length = place, found
    longer = len(trie.by_length) - trie.length_ends[min(length, len(trie.length_ends) - 1)]
    if not length or 4 * longer > len(trie.by_length):
        return False
    for word in range(len(row)):
        row[word] = work.rows[best, word]
    for place in range(len(trie.by_length) - longer, len(trie.by_length)):
        token = trie.by_length[place]
        row[token >> WORD_SHIFT] &= ~(ONE << (token & BIT))
    scan(automaton, trie, state, work.stack, row, length + 1)
    return True


@part
def fill(automaton, trie, state, work, row):
    """Fill the mask of a state.

    Args:
        automaton, trie, state, row: as in `scan`; the mask may contain anything.
        work: a `fst.machines.guide.arguments.Work` for this automaton and this trie.
    """
    if not like(automaton, trie, state, work, row):
        for word in range(len(row)):
            row[word] = np.uint32(0)
        read = scan(automaton, trie, state, work.stack, row, 0)
        if read > np.uint64(len(trie.labels)) >> np.uint64(4):
            place = work.states[NEXT]
            work.states[place], work.states[NEXT] = state, (place + 1) % RECENT
            for word in range(len(row)):
                work.rows[place, word] = row[word]
    for twin in range(len(trie.twins)):
        token, other = trie.twins[twin, 0], trie.twins[twin, 1]
        row[token >> WORD_SHIFT] |= (row[other >> WORD_SHIFT] >> (other & BIT) & ONE) << (token & BIT)


@kernel
def scan_row(automaton, trie, state, work, row):
    """Fill the mask of a state; arguments as in `fill`."""
    fill(automaton, trie, state, work, row)
