"""Canonical masks: one scan of the vocabulary gives the tokens that the tokenizer itself would give next.

Three automata read each byte of a token: one for the pattern, one for the cuts, and one for the machine, see
`fst.automata.last_tokens`. A walk has a row of `Work` for each depth, the number of bytes after the state. A scan, for both values of
*begins* (whether a word begins with the token)::

    for each node of the trie, depth first:   advance: row depth → row depth + 1; leave out the subtree if an automaton stops
        if a token ends there, and it is the last token of the word so far:
            survives: is there a text after it that keeps the token?    yes: set its bit;  not found: note the id, for a search in full

**Surviving.** Bytes after a token may become a part of a longer token. So a token is allowed only if some later text of the pattern keeps
the cut after the token. The kernel tries the shortest later text of the pattern and, for each byte, the shortest one that begins with it.
The kernel follows each text up to a position where a word ends, and then steps back from last token to last token to the cut. From that
position on, `live` is enough: for each state of the pattern and each state of the cuts, `live` contains whether the shortest text can be
cut in any way.

For example, the tokens of a WordPiece are a, ab, ##b and ##c. With the pattern ``ab``, the only text after a is b. Then the last token is
ab. The step back from ab leads to the start, not to the cut after a, so only ab is allowed. With the pattern ``ab|ac``, the text c
keeps a, because the tokens of ac are a and ##c, so a and ab are allowed.

**Places.** The row of a walk after a token is a *place*: numbers, and for a best path sums. Equal places are stored once, see
`fst.machines.guide.canonical.Places`, so a place is known by its number.

Preconditions, which `fst.machines.guide.canonical_states` ensures: all states, classes and ids are in range of the arrays; arrays of
`Work` have more rows than the longest token has bytes; every link of the automaton ends at the root or at -1.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.core.jit import inlined, kernel, part

ROOT_SLOT, LABELS = 0, 0xF8
OWN = np.uint32(1 << 31)
BYTE_SHIFT, TARGET = np.uint32(24), np.uint32((1 << 24) - 1)
TRIE_BYTE_SHIFT, TRIE_VALUE_SHIFT, TRIE_FIELD = np.uint64(56), np.uint64(28), np.uint64((1 << 28) - 1)
NO_TOKEN = (1 << 24) - 1
CONTINUES, LEAD_BITS = 0x80, 0xC0
SPACE = 32
TOKEN_BYTE, DEPTH_SHIFT = np.uint32(0xFF), np.uint32(8)
WORD_SHIFT, BIT, ONE = np.uint32(5), np.uint32(31), np.uint32(1)
NUMBERS, SIZE_OF_ENTRY, U1, SCALE = 8, 2, np.uint64(1), 1024.0
TOKEN_SHIFT, NOT_READ, FULL = 32, -1, -2
NOT_FOUND = -1  # instead of a number of tokens


@inlined
def is_lead(byte):
    """Whether a byte begins a character."""
    return byte & LEAD_BITS != CONTINUES


@inlined
def advance_links(machine, work, depth, byte, resets):
    """Read a byte with the automaton with failure links; return whether the word so far has a segmentation."""
    entries, fails = machine.entries, machine.fails
    state = ROOT_SLOT if resets else work.words[depth]
    while True:
        entry = entries[state + 1 + byte]
        if entry >> BYTE_SHIFT == byte:
            break
        state = fails[state] if len(fails) else ROOT_SLOT
        if state < 0:
            return False
    work.words[depth + 1] = entry & TARGET
    limit = machine.scalars.limit
    if limit:
        count = 0 if resets else work.counts[depth]
        count += is_lead(byte) and byte != SPACE
        work.counts[depth + 1] = count
        return count <= limit
    return True


@part
def advance_path(machine, work, depth, byte, resets):
    """Read a byte along the best path; return True. The column of a depth contains the positions from which tokens may still be read."""
    after = depth + 1
    nodes, sums, begins = work.nodes, work.sums, work.begins
    lead, lead_sum = (depth, 0.0) if resets else (work.leads[depth], work.lead_sums[depth])
    count, best, last, has_single = 0, -np.inf, -1, False
    for place in range(1 if resets else work.sizes[depth]):
        node, total, begin = (0, 0.0, depth) if resets else (nodes[depth, place], sums[depth, place], begins[depth, place])
        entry = machine.trie[node + 1 + byte]
        if entry >> TRIE_BYTE_SHIFT != byte:
            continue
        value, target = np.int64(entry >> TRIE_VALUE_SHIFT & TRIE_FIELD), np.int64(entry & TRIE_FIELD)
        if value:
            if total + machine.scores[value - 1] > best:
                best, last = total + machine.scores[value - 1], value - 1
            has_single |= begin == lead
        if target:
            nodes[after, count], sums[after, count], begins[after, count] = target, total, begin
            count += 1
    work.leads[after], work.lead_sums[after] = lead, lead_sum
    if work.chars[after] == 0:  # a character ends here
        if not has_single and lead_sum + machine.unknown[0] > best:
            best, last = lead_sum + machine.unknown[0], -1
        nodes[after, count], sums[after, count], begins[after, count] = 0, best, after
        count += 1
        work.leads[after], work.lead_sums[after] = after, best
    else:
        last = -1
    work.lasts[after], work.sizes[after] = last, count
    return True


@inlined
def advance_word(machine, work, depth, byte, resets):
    """Read a byte with the machine; return whether the word so far has a segmentation."""
    if machine.scalars.is_path:
        return advance_path(machine, work, depth, byte, resets)
    return advance_links(machine, work, depth, byte, resets)


@inlined
def advance_text(machine, work, depth, byte, begins):
    """Advance the automata of the pattern, the cuts and the normalizer over a byte, like `advance`; return whether all three read it."""
    target = machine.targets[work.states[depth], byte]
    if target < 0:
        return False
    char = work.chars[depth]
    found = machine.characters[char, byte]
    if found == 0:
        return False
    begun = work.begun[depth] if char else begins
    cut, norm = work.cuts[depth], work.norms[depth]
    if found < 0:
        cut, norm = machine.cuts[cut, begun, -1 - found], machine.norms[norm, machine.norm_classes[-1 - found]]
        if cut < 0 or norm < 0:
            return False
        found = 0
    work.states[depth + 1], work.cuts[depth + 1], work.chars[depth + 1], work.begun[depth + 1] = target, cut, found, begun
    work.norms[depth + 1] = norm
    return True


@inlined
def advance(machine, work, depth, byte, begins):
    """Read a byte after the row at a depth, into the next row.

    Args:
        machine: a `Machine`.
        work: a `Work`.
        depth: the depth.
        byte: the byte.
        begins: whether a word begins with the byte; without effect inside a character.

    Returns:
        Whether all automata read the byte.
    """
    if not advance_text(machine, work, depth, byte, begins):
        return False
    return advance_word(machine, work, depth, byte, begins and work.chars[depth] == 0)


@inlined
def last_of(machine, work, depth):
    """The last token of the word at a depth; -1: none."""
    if machine.scalars.is_path:
        return work.lasts[depth]
    last = np.int64(machine.entries[work.words[depth]] & TARGET)
    return -1 if last == NO_TOKEN else last


@inlined
def is_live(machine, state, cut):
    """Whether the shortest text after a state, inside a word, can be cut so that no word is too long."""
    left = machine.live[state, cut]
    return left > 0 and (machine.scalars.limit == 0 or left <= machine.scalars.limit)


@inlined
def may_end(machine, work, depth):
    """Whether a word may end at a depth: as the end of a text, or before the shortest text from there."""
    state, cut = work.states[depth], work.cuts[depth]
    if work.chars[depth]:
        return False
    if machine.finals[state] and machine.ends[cut]:
        return True
    number = machine.next_classes[state]
    if number < 0 or machine.risky[number]:
        return False
    cut = machine.cuts[cut, 1, number]
    return cut >= 0 and is_live(machine, machine.next_states[state], cut)


@part
def count_back(machine, work, depth, origin):
    """The number of tokens of the word between the depth `origin` and a depth; `NOT_FOUND` if none of its tokens begins at `origin`."""
    count = np.int64(0)
    while depth > origin:
        last = last_of(machine, work, depth)
        if last < 0:
            return np.int64(NOT_FOUND)
        depth -= machine.sizes[last]
        count += 1
    return count if depth == origin else np.int64(NOT_FOUND)


@part
def read_on(machine, work, depth):
    """Read another byte of the shortest text, inside a word; return whether there is room, and all automata read it."""
    return depth + 1 < len(work.states) and advance(machine, work, depth, machine.next_bytes[work.states[depth]], 0)


@part
def follow(machine, work, depth, origin):
    """Whether the shortest text after a depth keeps the cut at the depth `origin`."""
    while not may_end(machine, work, depth) or count_back(machine, work, depth, origin) < 0:
        if machine.finals[work.states[depth]] or not read_on(machine, work, depth):
            return False
        depth += 1
    return True


@part
def completes(machine, work, depth):
    """Whether the shortest text after the first bytes of a word can be cut."""
    while work.chars[depth]:
        if not read_on(machine, work, depth):
            return False
        depth += 1
    return is_live(machine, work.states[depth], work.cuts[depth])


@part
def survives(machine, work, depth):
    """Whether a text is found that keeps the cut at a depth."""
    if follow(machine, work, depth, depth):
        return True
    is_inside = work.chars[depth] > 0
    for byte in range(256):
        if advance(machine, work, depth, byte, 0) and follow(machine, work, depth + 1, depth):
            return True
        if not is_inside and advance(machine, work, depth, byte, 1) and completes(machine, work, depth + 1):
            return True
    return False


@part
def put_place(machine, work, depth, places):
    """The number of the place at a depth, which is stored if it is new; `FULL` if an array of the store is too small.

    Sums are stored relative to the sum at the beginning of the character, if differences of sums are exact, so that a long word has a
    finite number of places.
    """
    counts, numbers, sums = places.counts, places.numbers, places.sums
    begin, entries = counts.numbers, np.int64(work.sizes[depth]) if machine.scalars.is_path else np.int64(0)
    end = begin + NUMBERS + SIZE_OF_ENTRY * entries
    if counts.places == len(places.ends) or end > len(numbers):
        return np.int64(FULL)
    numbers[begin], numbers[begin + 1], numbers[begin + 2] = work.states[depth], work.cuts[depth], work.chars[depth]
    numbers[begin + 3] = work.begun[depth]
    numbers[begin + 4] = 0 if machine.scalars.is_path else work.words[depth]
    numbers[begin + 5] = work.counts[depth] if machine.scalars.limit else 0
    numbers[begin + 6] = work.leads[depth] - depth if machine.scalars.is_path else 0
    numbers[begin + 7] = work.norms[depth]
    base = work.lead_sums[depth] if machine.scalars.is_exact else 0.0
    sums[begin] = work.lead_sums[depth] - base if machine.scalars.is_path else 0.0
    for entry in range(entries):
        at = begin + NUMBERS + SIZE_OF_ENTRY * entry
        numbers[at], numbers[at + 1] = work.nodes[depth, entry], work.begins[depth, entry] - depth
        sums[begin + 1 + entry] = work.sums[depth, entry] - base
    hashed = np.uint64(end - begin)
    for at in range(begin, end):
        hashed = mixed(hashed ^ np.uint64(numbers[at]))
    for at in range(begin, begin + 1 + entries):
        hashed = mixed(hashed ^ np.uint64(np.int64(sums[at] * SCALE)))
    last, hashed = np.uint64(len(places.slots) - 1), folded(hashed)
    slot = hashed & last
    while places.slots[slot]:
        number = np.int64(places.slots[slot]) - 1
        if places.hashes[number] == hashed and is_same(places, number, begin, end, entries):
            return number
        slot = slot + U1 & last
    number = counts.places
    places.hashes[number], places.ends[number], places.slots[slot] = hashed, end, number + 1
    counts.places, counts.numbers = number + 1, end
    return number


@part
def is_same(places, number, begin, end, entries):
    """Whether a stored place has the numbers and sums from `begin` on."""
    other = places.ends[number - 1] if number else np.int64(0)
    if places.ends[number] - other != end - begin:
        return False
    is_equal = True
    for at in range(end - begin):
        is_equal &= places.numbers[other + at] == places.numbers[begin + at]
    for at in range(1 + entries):
        is_equal &= places.sums[other + at] == places.sums[begin + at]
    return is_equal


@part
def load_place(work, places, number):
    """Write a place into the row at depth 0."""
    begin = places.ends[number - 1] if number else np.int64(0)
    numbers, sums = places.numbers, places.sums
    work.states[0], work.cuts[0], work.chars[0] = numbers[begin], numbers[begin + 1], numbers[begin + 2]
    work.begun[0], work.words[0], work.counts[0] = numbers[begin + 3], numbers[begin + 4], numbers[begin + 5]
    work.leads[0], work.norms[0], work.lead_sums[0] = numbers[begin + 6], numbers[begin + 7], sums[begin]
    work.sizes[0] = entries = (places.ends[number] - begin - NUMBERS) // SIZE_OF_ENTRY
    for entry in range(entries):
        at = begin + NUMBERS + SIZE_OF_ENTRY * entry
        work.nodes[0, entry], work.begins[0, entry] = numbers[at], numbers[at + 1]
        work.sums[0, entry] = sums[begin + 1 + entry]


@kernel
def scan_canonical(machine, trie, twins, fresh, work, places, place, beginning, row, unsure, steps):
    """Set the bits of the tokens after a place, and list the tokens for which no later text is found; or find the steps from the place.

    Args:
        machine: a `Machine`.
        trie: a `fst.machines.guide.vocabulary.Trie`.
        twins: int32[ids], the id in the trie of the token with the same bytes as each token.
        fresh: uint32[nodes], the result of `find_fresh`, or an empty array.
        work: a `Work`.
        places: a `Places`.
        place: the number of the place.
        beginning: uint8[n]. The mask has only tokens that begin with these bytes; the steps have only tokens with which these bytes begin.
            Empty: all tokens.
        row: uint32[words], the mask.
        unsure: int32[ids], filled with the ids of the tokens for which no later text is found.
        steps: an empty array; or int64[2 * ids], to be filled with ``token << 32 | place`` for each token that is the last one of its word
            before any later text. With an array of steps, `row` and `unsure` are left alone.

    Returns:
        The number of ids written to `unsure`, or of elements written to `steps`; `FULL` if an array of `places` is too small.
    """
    load_place(work, places, place)
    count, size, finds_steps = 0, len(beginning), len(steps) > 0
    least = 0 if finds_steps else size  # the minimum number of bytes of a token
    reads_on = size == 0 or not finds_steps  # whether tokens may have bytes after `beginning`
    labels, skips, tokens = trie.labels, trie.skips, trie.tokens
    for begins in range(1 if work.chars[0] else 2):
        node = np.int64(0)
        work.is_fresh[0] = begins
        while node < len(labels):
            label, own = labels[node], node
            depth, byte = np.int64(label >> DEPTH_SHIFT), np.int64(label & TOKEN_BYTE)
            begun = begins if depth == 0 else 0
            reads = byte == beginning[depth] if depth < size else reads_on
            reads = reads and advance_text(machine, work, depth, byte, begun)
            if reads and len(fresh):
                of_root = fresh[node] & TARGET
                if work.is_fresh[depth]:
                    work.words[depth + 1] = of_root
                else:
                    reads = advance_links(machine, work, depth, byte, 0)
                work.is_fresh[depth + 1] = work.words[depth + 1] == of_root
            elif reads:
                reads = advance_word(machine, work, depth, byte, begun)
            if not reads:
                node = np.int64(skips[node])
                continue
            node += 1
            token = np.int64(tokens[own])
            if token >= len(twins) or depth + 1 < least:
                continue
            if len(fresh) and work.is_fresh[depth + 1] and fresh[own] & OWN:
                last = token
            else:
                last = last_of(machine, work, depth + 1)
                if last < 0 or twins[last] != token:
                    continue
            if len(steps):
                found = put_place(machine, work, depth + 1, places)
                if found == FULL:
                    return found
                steps[count] = np.int64(last) << TOKEN_SHIFT | found
                count += 1
                continue
            word, bit = np.uint32(last) >> WORD_SHIFT, ONE << (np.uint32(last) & BIT)
            if row[word] & bit:
                continue
            if may_end(machine, work, depth + 1) or survives(machine, work, depth + 1):
                row[word] |= bit
            else:
                unsure[count] = last
                count += 1
    return np.int64(count)


@kernel
def find_fresh(entries, trie, stack, fresh):
    """Find the state of the machine at each node of the trie if a word begins at the root of the trie, and all links lead to the root.

    Most states of a scan equal the states of `fresh`, because after few bytes of a token, a state does not depend on the bytes before the
    token.

    Args:
        entries: see `fst.automata.last_tokens.LastTokens`.
        trie: a `fst.machines.guide.vocabulary.Trie`.
        stack: int32[longest + 1], the state at each depth.
        fresh: uint32[nodes], the states, to be filled, with the bit `OWN` if the last token is the token of the node.
    """
    stack[0] = ROOT_SLOT
    for node in range(len(fresh)):
        label = trie.labels[node]
        depth, byte = np.int64(label >> DEPTH_SHIFT), np.int64(label & TOKEN_BYTE)
        if byte >= LABELS:  # no text contains the byte
            stack[depth + 1] = fresh[node] = ROOT_SLOT
            continue
        entry = entries[stack[depth] + 1 + byte]
        if entry >> BYTE_SHIFT != byte:
            entry = entries[ROOT_SLOT + 1 + byte]
        stack[depth + 1] = entry & TARGET
        is_own = entries[entry & TARGET] & TARGET == trie.tokens[node]
        fresh[node] = entry & TARGET | (OWN if is_own else np.uint32(0))


@kernel
def walk_token(machine, work, places, place, data, token, begins):
    """Read the bytes of a token after a place.

    Args:
        machine, work, places, place: as in `scan_canonical`.
        data: uint8[n], the bytes.
        token: the id.
        begins: whether a word begins with the first byte; without effect inside a character.

    Returns:
        The next place; `NOT_READ` if the token is not the last token of its word; `FULL` if an array of `places` is too small.
    """
    load_place(work, places, place)
    for depth in range(len(data)):
        if not advance(machine, work, depth, np.int64(data[depth]), begins if depth == 0 else 0):
            return np.int64(NOT_READ)
    return put_place(machine, work, len(data), places) if last_of(machine, work, len(data)) == token else np.int64(NOT_READ)


@kernel
def put_start(machine, work, places):
    """Store the place at depth 0, the beginning of a text."""
    return put_place(machine, work, 0, places)
