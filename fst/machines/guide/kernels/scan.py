"""The product of an automaton with the trie of a vocabulary: one scan gives the mask of a state.

The nodes of the trie are in depth-first order, so the state stored last at each lower depth is the state on the path of the node. A node
whose byte leads nowhere is left out with its subtree.

Two states often read the same short strings, such as the states in ``.{0,60}``. If the mask of one state is known, only the tokens that are
longer than these strings are scanned for the other state. Or two states read the same strings without a few bytes, such as the states in
two JSON strings, without a quote: then only the tokens with these bytes are scanned.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.guide.arguments import ENOUGH, FAR, LETTERS_GROUP, NEXT, RECENT, SEVERAL, STAMP

BYTE, DEPTH_SHIFT = np.uint32(0xFF), np.uint64(8)
WORD_SHIFT, BIT, ONE, U1 = np.uint32(5), np.uint32(31), np.uint32(1), np.uint64(1)
LETTERS = np.uint64(1 << LETTERS_GROUP)


@inlined
def set_bit(token, row):
    """Set the bit of a token in a mask."""
    row[token >> WORD_SHIFT] |= ONE << (token & BIT)


@inlined
def clear_bit(token, row):
    """Clear the bit of a token in a mask."""
    row[token >> WORD_SHIFT] &= ~(ONE << (token & BIT))


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
            set_bit(token, row)
            node += U1
    return read


@part
def add_twins(trie, row):
    """Set the bits of the tokens that have the same bytes as a token of the trie whose bit is set; arguments as in `scan`."""
    for twin in range(len(trie.twins)):
        token, other = trie.twins[twin, 0], trie.twins[twin, 1]
        row[token >> WORD_SHIFT] |= (row[other >> WORD_SHIFT] >> (other & BIT) & ONE) << (token & BIT)


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
def find_exits(automaton, one, other, work):
    """Find the classes after which two states may read different strings.

    A string without these classes, wherever the two states are `one` and `other`, is read by both states or by neither. All other classes
    lead to pairs of states that read the same strings until the two states are equal, or are `one` and `other` again.

    Args:
        automaton, one, other, work: as in `agreement`; ``work.exits`` gets the classes.

    Returns:
        The groups of bytes of these classes, see `fst.machines.guide.arguments.GROUPS`.
    """
    targets, known = automaton.targets, 0
    for symbol in range(targets.shape[1]):
        first, second = targets[one, symbol], targets[other, symbol]
        work.exits[symbol] = False
        if first == second or (first == one and second == other):
            continue
        found = following_pairs(automaton, one, other, first, second, known, work.pairs) if first >= 0 and second >= 0 else -1
        work.exits[symbol] = found < 0
        known = max(known, found)
    groups = np.uint64(0)
    for byte in range(256):
        if work.exits[automaton.classes[byte]]:
            groups |= work.groups[byte]
    return groups


@part
def following_pairs(automaton, one, other, first, second, known, pairs):
    """Add a pair, and all pairs that follow it, to a list of pairs whose states read the same strings until they are `one` and `other`.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        one, other: the states at which strings may differ.
        first, second: the pair.
        known: the number of pairs in the list.
        pairs: int32[PAIRS, 2], the list.

    Returns:
        The number of pairs in the list; -1 if the pair may read different strings, or if there are more than `SEVERAL` pairs.
    """
    targets, count = automaton.targets, known
    place = known * targets.shape[1]  # the number of a pair and a class: ``pair * classes + class``
    while True:
        if first != second and (first != one or second != other):
            at = 0
            while at < count and (pairs[at, 0] != first or pairs[at, 1] != second):
                at += 1
            if at == SEVERAL:
                return -1
            if at == count:
                pairs[at, 0], pairs[at, 1] = first, second
                count += 1
        if place == count * targets.shape[1]:
            return count
        at, symbol = place // targets.shape[1], place % targets.shape[1]
        first, second = targets[pairs[at, 0], symbol], targets[pairs[at, 1], symbol]
        if first != second and (first < 0 or second < 0):
            return -1
        place += 1


@part
def scan_exits(automaton, trie, state, groups, work, row):
    """Change the mask of a state into the mask of another state; the two states differ only after the classes in ``work.exits``.

    Args:
        automaton, trie, row: as in `scan`.
        state: the other state.
        groups: the result of `find_exits`.
        work: a `fst.machines.guide.arguments.Work`.
    """
    targets, classes, stack = automaton.targets, automaton.classes, work.stack
    stack[0] = state
    node, end, changed = np.uint64(0), np.uint64(len(trie.labels)), np.uint64(0)
    while node < end:
        label, token = trie.labels[node], trie.tokens[node]
        depth, symbol = np.uint64(label) >> DEPTH_SHIFT, classes[label & BYTE]
        source = stack[depth]
        if node >= changed and source == state and work.exits[symbol]:
            changed = np.uint64(trie.skips[node])  # from here on, all tokens of the subtree may differ
            for below in range(node, changed):
                clear_bit(trie.tokens[below], row)
        target = targets[source, symbol]
        if target < 0 or (node >= changed and not trie.groups_below[node] & groups):
            node = np.uint64(trie.skips[node])
        else:
            stack[depth + U1] = target
            set_bit(token, row)
            node += U1


@part
def like(automaton, trie, state, work, row):
    """Fill the mask of a state from the mask of a similar state, if there is one; return whether there is one."""
    best, length = 0, 0
    for back in range(1, RECENT + 1):
        place = (work.states[NEXT] - back) % RECENT
        if work.states[place] >= 0 and length < ENOUGH:
            found = agreement(automaton, work.states[place], state, work)
            if found > length:
                best, length = place, found
    longer = len(trie.by_length) - trie.length_ends[min(length, len(trie.length_ends) - 1)]
    if length and 4 * longer <= len(trie.by_length):
        for word in range(len(row)):
            row[word] = work.rows[best, word]
        for place in range(len(trie.by_length) - longer, len(trie.by_length)):
            token = trie.by_length[place]
            clear_bit(token, row)
        scan(automaton, trie, state, work.stack, row, length + 1)
        return True
    for place in range(RECENT if length else 0):
        if work.states[place] >= 0:
            groups = find_exits(automaton, work.states[place], state, work)
            if not groups & LETTERS:
                for word in range(len(row)):
                    row[word] = work.rows[place, word]
                scan_exits(automaton, trie, state, groups, work, row)
                return True
    return False


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
    add_twins(trie, row)


@kernel
def scan_row(automaton, trie, state, work, row):
    """Fill the mask of a state; arguments as in `fill`."""
    fill(automaton, trie, state, work, row)
