"""The kernels: bare functions over arrays. What they compute is `fst.machines.wordpiece.Walk`, one symbol after the other.

Text goes through them in chunks of some thousand symbols, and each chunk through six loops. Each loop does one thing to all of a chunk,
and hardly any of them has a branch that depends on the text, so that the processor works at many places of the text at a time::

    read_plain     characters → symbols (classes): one look-up each; read_other does special tokens, lists and runs of marks
    find_words     symbols → the places at which words begin and end
    find_slots     words → where a hash table of the vocabulary's own words has them, if it does; by then it is on its way to the cache
    look_up        words → ids; words that the table does not hold leave a gap
    transduce      the words that are left, all at once, a symbol at a time through δ′ and σ′; their ids go into the gaps
    emit           ids → their final place, without the gaps, and with the frame of each text

Some added tokens are found in normalised text, or depend on what stands around them. Those inside words, which the table of words then
does not hold, are found between ``look_up`` and ``transduce`` (``find_tokens``), and what is left of such a word goes on as words of its
own (``cut_words``), until the ids of all are put together (``join_words``). Texts in which one of the others may stand are noted, and
`fst.runtime.fallback_added_tokens` reads those again; their symbols come back to ``encode_read``.

Where places are asked for, `read` notes for each symbol the characters that it comes from, and a seventh loop, ``locate``, writes before
the last one which characters each id stands for.

The table of words is compiled from the vocabulary: nothing is cached, and the first text is as fast as the last one.

Kernels check nothing. What they take for granted:

- the table is one that `fst.proof` has proven, or that the compiler has just made;
- ``text`` is valid UTF-16 in the processor's own byte order, and ``starts`` ascends within it and never cuts a character
  (`fst.runtime.texts` sees to that);
- ``ids`` has room for the ids of each text by the bound of `fst.proof` (3 for each unit of UTF-16), for the frame around it, for the
  symbols that were kept, and for `SLACK` more, which may be written and are not counted;
- the arrays of ``work`` have the sizes that `fst.runtime.tokenizer` gives them, and only this file writes to them.

Indices are unsigned: a signed one costs a test for negative values at every access. Constants stand in this file, since `fst.kernel_cache`
keeps compiled kernels by what is in it; a test holds them against `fst.machines.wordpiece`.
"""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, kernel, object_kernel, part
from fst.runtime.kernels.intrinsics import (
    at_least,
    bytes_length,
    bytes_of,
    characters,
    classes_looked_up,
    classes_of,
    equal_to,
    hash_of,
    is_key,
    ones,
    prefetch,
    string_length,
    trailing_zeros,
    widen,
)

U0, U1, U2, U3, U4, U6, U7, U8, U16, U32 = (np.uint64(n) for n in (0, 1, 2, 3, 4, 6, 7, 8, 16, 32))
U10, U21, U42, U48, U54, U63, U64 = (np.uint64(n) for n in (10, 21, 42, 48, 54, 63, 64))
LOW_7, LOW_10 = np.uint64((1 << 7) - 1), np.uint64((1 << 10) - 1)
SURROGATE, HIGH_SURROGATE = np.uint64(0xFC00), np.uint64(0xD800)
UTF_16, ITEMS = HIGH_SURROGATE, U1  # what begins a pair of items: a high surrogate; nothing

# Entries and records: next 24 | kind 2 | output 22 | label 16.
NEXT, OUTPUT = np.uint64((1 << 24) - 1), np.uint64((1 << 22) - 1)
KIND_SHIFT, OUTPUT_SHIFT, LABEL_SHIFT = np.uint64(24), np.uint64(26), np.uint64(48)
RARE = np.uint64(1 << 25)  # the bit that the rare kinds have, MANY and FAIL
MANY, FAIL, LIST = (np.uint64(n) for n in (2, 3, 3))
LAST_OUTPUT = np.uint64(1 << 31)  # the bit END of the pool
FENCE = OUTPUT << OUTPUT_SHIFT  # all bits that the record A of a fence may have
ROOT = U0
STARTS_SPECIAL, HAS_MARKS, CONTINUES_RUN = (np.uint64(n) for n in (1, 2, 4))
RANK_SHIFT, CLASS = np.uint64(16), np.uint64(0xFFFF)
NOT_PLAIN = np.uint16(0x8000)  # in `direct`: a character that is not one symbol, or not always

# The table of words: a slot is a key of 12 classes, 0 after the last, and the value ``count << 32 | id``.
LONGEST_WORD = np.uint64(12)
HALF, LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)

SLACK = 16  # elements that a loop may touch past the last one
FAILED = np.uint64(1 << 63)
GRAM_MULTIPLIER = np.uint64(0x9E3779B185EBCA87)
OWN, BEGINNING, BORDER = (np.uint64(n << 10) for n in range(3))  # where the set of grams of a kind begins
ENDS, BEGINS, IN_WORD, CLEAR = (np.uint8(n) for n in (1, 2, 4, 8))
NO_NODE = np.uint32((1 << 32) - 1)
SKIP, REST, LENGTH, VALUE, ENDING, LEAST, IS_INNER = 0, 1, 2, 3, 4, 5, 6  # fields of a node of a trie, see `fst.runtime.matching`
START, READ, NODE = 0, 1, 2  # places in the memo of `match_at`
BEYOND = np.uint64(128)  # symbols that there is room for past `limit`: three of a character, and what is loaded with the last

# The place of a symbol: ``first character | one past the last << 32``.
STEP = np.uint64((1 << 32) + 1)  # from the place of a character to that of the next
AT_START = np.uint64(1 << 32)  # the place of the first character

# The arrays of a target where ids alone are asked for. Numba knows how many there are, and leaves out what else kernels can do, a third of
# what it would compile; but only where that is compared in the very condition.
IDS_ALONE = 4

# A machine is (direct, a_records, b_records, alone, entries, pool, words, displacements, pages, blocks, lists, special_edges, numbers,
# key_masks, lengths, grams, added_edges, sides, special_nodes, added_nodes), a target is (prefix, suffix, ids, ends, offsets,
# numbers_of_words, suspects), and work is (symbols, masks, stops, scratch, events, active, results, state, slots, places, tokens, pieces,
# begins, memo, symbol_memo); see `encode_rows`.
DEAD, UNK, LONGEST, PARTS, END, BUCKET_SHIFT, SLOT_SHIFT, SECONDS = 0, 1, 2, 3, 4, 5, 6, 7  # places in `numbers`
GRAMS, BORDERS, HAS_BORDERS, INSIDE, SHORTEST, FILLER, BLANK_CLASS = 8, 9, 10, 11, 12, 13, 14
KEPT, COUNT, ROW, OPEN, BEFORE, WORD, BESIDE = 0, 1, 2, 3, 4, 5, 6  # places in `state`


@inlined
def label_at(items, at, pair):
    """The label at a place, and where the next one begins. A label is an item, or a code point if `pair` is `UTF_16`."""
    first = np.uint64(items[at])
    if first & SURROGATE != pair:
        return first, at + U1
    return (first & LOW_10) + U64 << U10 | np.uint64(items[at + U1]) & LOW_10, at + U2


@inlined
def class_of(code, machine):
    """The class of a code point."""
    pages, blocks = machine[8], machine[9]
    return np.uint64(blocks[np.uint64(pages[code >> U7]) << U7 | code & LOW_7])


@inlined
def class_at(text, at, machine):
    """The class of the character at a place, and where the next one begins."""
    code, after = label_at(text, at, UTF_16)
    return class_of(code, machine), after


@inlined
def may_begin_special(text, at, stop, seconds, unknown):
    """Filter: could a special token begin at a place whose character begins one? Its second unit and earlier walks rule most places out.

    Earlier walks have shown that none begins before the place `unknown`, see `match_at`.
    """
    return at >= unknown and (at + U1 == stop or seconds >> (np.uint64(text[at + U1]) & U63) & U1 > U0)


@inlined
def is_other(found, text, at, stop, seconds, unknown):
    """Whether `read_other` is to see to a character, for what `direct` has of it."""
    return found == NOT_PLAIN or (found > NOT_PLAIN and may_begin_special(text, at, stop, seconds, unknown))


@part
def read_plain(text, at, stop, symbols, filled, direct, seconds, unknown):
    """Read characters that are one symbol each, up to one that is not; where that is, and how many symbols there are then."""
    while at + U32 <= stop:
        unsure = classes_of(direct, U0, text, at, symbols, filled)
        if unsure and not direct[text[at + trailing_zeros(unsure)]] & NOT_PLAIN:
            unsure = classes_looked_up(direct, U0, text, at, symbols, filled)
        while unsure:
            known = trailing_zeros(unsure)
            found = direct[text[at + known]]
            if is_other(found, text, at + known, stop, seconds, unknown):
                return at + known, filled + known
            symbols[filled + known] = found & ~NOT_PLAIN
            unsure &= unsure - U1
        at += U32
        filled += U32
    while at < stop:
        found = direct[text[at]]
        if found & NOT_PLAIN:
            if is_other(found, text, at, stop, seconds, unknown):
                break
            found ^= NOT_PLAIN
        symbols[filled] = found
        at += U1
        filled += U1
    return at, filled


@inlined
def child_of(node, label, edges):
    """The node that a label leads to from another, 0 if there is none; the root is 0, and nobody's child."""
    last = np.uint64(len(edges)) - U1
    slot = (node << U21 ^ label) * GRAM_MULTIPLIER >> HALF & last
    while edges[slot, 0] != NO_NODE and (np.uint64(edges[slot, 0]) != node or np.uint64(edges[slot, 1]) != label):
        slot = slot + U1 & last
    return U0 if edges[slot, 0] == NO_NODE else np.uint64(edges[slot, 2])


@kernel
def link_nodes(parents, labels, depths, order, overlapping, edges, nodes):
    """Fill in the fields of each node of a `fst.runtime.matching.Trie` that follow from its edges and its `ENDING`.

    Args:
        parents, labels, depths: uint32[nodes], the parent of each node, the label that leads to it, and the items on its path.
        order: int64[nodes], the nodes by their depth, the root first.
        overlapping: whether a walk may start inside a string that an earlier walk has found.
        edges: as in `fst.runtime.matching.Trie`.
        nodes: likewise; `ENDING` and `IS_INNER` are given, all other fields are filled.
    """
    nodes[0, VALUE] = nodes[0, LEAST] = -1
    for node in order[1:]:
        parent, label, depth, ending = np.uint64(parents[node]), np.uint64(labels[node]), np.uint64(depths[node]), nodes[node, ENDING]
        length, value, least = nodes[parent, LENGTH], nodes[parent, VALUE], nodes[parent, LEAST]
        if ending >= 0:
            length, value, least = depth, ending, ending if least < 0 else min(least, ending)
        skip, rest = depth, U0
        if parent != ROOT and (ending < 0 or overlapping):
            skip, rest = np.uint64(nodes[parent, SKIP]), np.uint64(nodes[parent, REST])
            # From `skip` on, the parent's path is the path of `rest`. Extend that by the label, or skip on, unless a string begins there.
            while rest or skip == np.uint64(depths[parent]):
                child = child_of(rest, label, edges)
                if child or not rest:
                    skip, rest = skip if child else depth, child
                    break
                if nodes[rest, LENGTH]:
                    rest = U0
                    break
                skip, rest = skip + np.uint64(nodes[rest, SKIP]), np.uint64(nodes[rest, REST])
        nodes[node, SKIP], nodes[node, REST], nodes[node, LENGTH], nodes[node, VALUE], nodes[node, LEAST] = skip, rest, length, value, least


@part
def match_at(items, pair, at, end, more, edges, nodes, memo):
    """The node at which a walk from a place ends. It says which strings begin at the place; 0 if none does.

    Items that an earlier walk has read are not read again. Callers ask for places in ascending order, until they reset `memo`; for places
    inside a string that was found they ask only if the trie is `overlapping`.

    Args:
        items, pair: a text, as UTF-16 or as other items, see `label_at`.
        at, end: the place, and where the text ends.
        more: whether the text goes on after `end`.
        edges, nodes: see `fst.runtime.matching.Trie`.
        memo: uint64[3]: the first place that no walk has settled; how far the walk from there has read; and its node.

    Returns:
        The node; and whether the text after `end` may complete a string here, or a longer one.
    """
    start, read, node = memo[START], memo[READ], memo[NODE]
    while start < at and node:
        start, node = start + np.uint64(nodes[node, SKIP]), np.uint64(nodes[node, REST])
        read = read if node else start
    if start < at:
        start = read = at
    is_open = False
    while start == at or node:
        while read < end:
            label, after = label_at(items, read, pair)
            child = child_of(node, label, edges)
            if child == U0:
                break
            node, read = child, after
        is_open = more and read == end and nodes[node, IS_INNER] > 0
        if node == U0 or is_open or nodes[node, LENGTH]:
            break
        start, node = start + np.uint64(nodes[node, SKIP]), np.uint64(nodes[node, REST])
        read = read if node else start
    memo[START], memo[READ], memo[NODE] = start, read, node
    return (node, is_open) if start == at else (U0, False)


@part
def special_at(text, at, end, more, edges, nodes, memo):
    """The longest special token at a place, before an end.

    Returns:
        Where it ends, or the place itself where there is none; its class; whether the text after `end` may complete one, or a longer one.
    """
    node, is_open = match_at(text, UTF_16, at, end, more, edges, nodes, memo)
    return at + np.uint64(nodes[node, LENGTH]), np.uint64(nodes[node, VALUE]), is_open


@inlined
def ranks_of(record, lists):
    """A bit for each rank of canonical ordering that is in a list of symbols."""
    ranks = U0
    first = record & NEXT
    for index in range(np.uint64(lists[first])):
        ranks |= U1 << (np.uint64(lists[first + U1 + index]) >> RANK_SHIFT)
    return ranks


@inlined
def run_end(text, at, end, more, record, machine, memo):
    """Where the run of marks ends that begins before a place, with a class; with `more`, the end of the text if that is open.

    And the ranks in it, none if it leaves no symbol.
    """
    a_records, lists = machine[1], machine[10]
    ranks, seen = ranks_of(record, lists), record >> OUTPUT_SHIFT
    while at < end:
        number, after = class_at(text, at, machine)
        record = a_records[number]
        flags = record >> OUTPUT_SHIFT & OUTPUT
        if record >> KIND_SHIFT & U3 != LIST or not flags & CONTINUES_RUN:
            break
        if flags & STARTS_SPECIAL:
            special_end, _, is_open = special_at(text, at, end, more, machine[11], machine[18], memo)
            if more and is_open:
                return end, U0
            if special_end > at:
                break
        ranks |= ranks_of(record, lists)
        seen |= flags
        at = after
    return at, ranks if seen & HAS_MARKS else U0


@inlined
def is_fence(record):
    """Whether a class, by its record A, is a blank with a number."""
    return record > U0 and record & ~FENCE == U0


@inlined
def put_list(number, rank, filled, place, machine, work):
    """Add the symbols of a list that have a rank, all at one place; how many symbols there are then.

    A fence that comes after its like takes it away, and is not added; nor is a mark that leaves no symbol.
    """
    a_records, lists = machine[1], machine[10]
    symbols, places = work[0], work[9]
    first = a_records[number] & NEXT
    for index in range(np.uint64(lists[first])):
        symbol = np.uint64(lists[first + U1 + np.uint64(index)])
        if symbol >> RANK_SHIFT == rank:
            own = symbol & CLASS
            if filled and np.uint64(symbols[filled - U1]) == own and is_fence(a_records[own]):
                filled -= U1
            elif own > U0:
                symbols[filled] = own
                places[filled] = place
                filled += U1
    return filled


@inlined
def pairs(text, at, stop):
    """How many characters of a text have two units."""
    count = U0
    while at < stop:
        count += np.uint64(np.uint64(text[at]) & SURROGATE == HIGH_SURROGATE)
        at += U1
    return count


@inlined
def read_other(text, at, stop, more, run_flags, filled, place, machine, work):
    """Read what is not one symbol: a special token, a character of a list, or one that `direct` does not know; of a run of marks the end.

    Where the text goes on elsewhere (`more`) and what begins here may go on with it, nothing is read. A list with one of `run_flags`
    begins a run of marks, unless it is empty. Of a run that leaves no symbol, or has one character, all is read. Inlined: to hand over all
    arrays takes four times as long as to read a character of four bytes.

    Returns:
        Where the next begins; how many symbols there are then; of a run of marks that `read_run` is to read the ranks, else 0.
    """
    a_records, numbers = machine[1], machine[12]
    symbols, places, memo = work[0], work[9], work[13]
    number, after = class_at(text, at, machine)
    record = a_records[number]
    if record >> KIND_SHIFT & U3 != LIST:
        symbols[filled] = number
        places[filled] = place
        return after, filled + U1, U0
    flags = record >> OUTPUT_SHIFT & OUTPUT
    if flags & STARTS_SPECIAL and may_begin_special(text, at, stop, numbers[SECONDS], memo[START]):
        special_end, special, is_open = special_at(text, at, stop, more, machine[11], machine[18], memo)
        if more and is_open:
            return at, filled, U0
        if special_end > at:
            symbols[filled] = special
            places[filled] = place + (special_end - at - pairs(text, at, special_end) - U1 << HALF)
            return special_end, filled + U1, U0
    if not flags & run_flags or not machine[10][record & NEXT]:
        return after, put_list(number, U0, filled, place, machine, work), U0
    end, ranks = run_end(text, after, stop, more, record, machine, memo)
    if more and end == stop:
        return at, filled, U0
    while ranks and end == after:  # a character by itself is in order
        filled = put_list(number, trailing_zeros(ranks), filled, place, machine, work)
        ranks &= ranks - U1
    return end, filled, ranks


@inlined
def number_places(places, begin, end, place):
    """Give symbols the places of as many characters, one after the other."""
    for index in range(end - begin):
        places[begin + np.uint64(index)] = place + np.uint64(index) * STEP


@inlined
def put_bits(mask, base, numbers, count):
    """Write the places of the bits of a mask, from a first number on; how many numbers there are then."""
    found, index = ones(mask), U0
    while index < found:
        for offset in range(8):  # eight at a time: the number of rounds is predicted better than the number of bits
            numbers[count + index + np.uint64(offset)] = base + trailing_zeros(mask)
            mask &= mask - U1
        index += U8
    return count + found


@part
def find_words(symbols, filled, numbers, masks, begins, stops, omits):
    """Where each word begins, and where it ends: at a symbol that is not a part of words. There may be nothing between the two.

    A blank that follows such a symbol ends nothing, and has no id: with `omits` it is left out.

    Returns:
        How many words there are; where the next one begins is written too.
    """
    last = filled + U63 >> U6
    for word in range(last):
        base = np.uint64(word) << U6
        masks[word << 1] = at_least(symbols, base, numbers, PARTS)
        masks[word << 1 | 1] = equal_to(symbols, base, numbers, BLANK_CLASS) if omits else U0
    if filled & U63:
        masks[last - U1 << U1] &= (U1 << (filled & U63)) - U1
    masks[last << U1 | U1] = U0
    count = after = before = U0  # words that end; words that are begun after; whether one ends right before
    begins[0] = 0
    for word in range(last):
        mask, base = masks[word << 1], np.uint64(word) << U6
        left_out = masks[word << 1 | 1] & (mask << U1 | before) & mask
        before = mask >> U63
        next_left_out = left_out >> U1 | (before & masks[(word << 1) + 3]) << U63
        count = put_bits(mask & ~left_out, base, stops, count)
        after = put_bits(mask & ~next_left_out, base + U1, begins, after + U1) - U1
    return count


@inlined
def mask_for(length):
    """The place of the mask that makes a key of a word of a length."""
    return min(length, LONGEST_WORD + U1) << U2


@part
def find_slots(symbols, begins, stops, count, words, displacements, key_masks, numbers, slots):
    """Find the slot of each word. Slots are fetched here and looked at in a loop of its own, which is a third faster than both in one."""
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = numbers[BUCKET_SHIFT], numbers[SLOT_SHIFT]
    for index in range(count):
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        hashed = hash_of(symbols, start, key_masks, mask_for(end - start))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[index] = slot


@part
def look_up(symbols, begins, stops, slots, count, alone, words, key_masks, last, scratch, events):
    """Look up words, and what ends them.

    Returns:
        How many ids there are, gaps included, and how many events. An event is a word that was not found, the end of a text, or both:
        ``gap | start << 32`` (where its ids go; where the word starts, or its end if it was found) and its end.
    """
    place, event = U0, U0
    for index in range(count):
        start, end, slot = np.uint64(begins[index]), np.uint64(stops[index]), slots[index]
        length = end - start
        ended = np.uint64(symbols[end])
        own = alone[ended]
        found = is_key(symbols, start, key_masks, mask_for(length), words, slot)
        if found and ended != last:
            value = words[slot + U3]
            scratch[place] = np.int32(value & LOW_HALF)
            place += value >> HALF
        else:
            value = words[slot + U3] if found else U0
            scratch[place] = np.int32(value & LOW_HALF)
            place += value >> HALF
            start = end if found else start
            events[event] = place | start << HALF
            events[event + U1] = end
            event += U2
            # An id for each symbol at most, and one that is written and not counted.
            place += U0 if start == end else length + U1
        scratch[place] = np.int32(own & LOW_HALF)
        place += own >> HALF
    return place, event


@inlined
def four_at(symbols, at):
    """Four symbols as one number."""
    four = U0
    for index in range(4):
        four |= np.uint64(symbols[at + np.uint64(index)]) << np.uint64(16 * index)
    return four


@inlined
def is_gram(symbols, at, width, kind, grams):
    """Whether so many symbols, up to eight, are in the set of grams of a kind; the set may hold a few more than it should."""
    inner = min(width, U4)
    shift = U64 - (inner << U4)
    gram = four_at(symbols, at) << shift ^ four_at(symbols, at + (width - inner)) << shift << U8
    hashed = gram * GRAM_MULTIPLIER
    bits = np.uint64(grams[kind | hashed >> U54])
    return bits >> (hashed >> U48 & U63) & bits >> (hashed >> U42 & U63) & U1


@inlined
def near(symbols, at, width, grams):
    """A bit for each of four places at which an added token may begin; all are looked at, so that nothing depends on what is found."""
    found = U0
    for offset in range(4):
        found |= is_gram(symbols, at + np.uint64(offset), width, BEGINNING, grams) << np.uint64(offset)
    return found


@inlined
def is_known(symbols, at, end, beyond, kind, widths, grams):
    """Whether there is a gram of one of some widths at a place; `beyond` is what counts, 1 or 0, where one would go on beyond an end."""
    found = U0
    while widths:  # all of them: how many there are is predicted, which one it is would not be
        width = trailing_zeros(widths)
        found |= is_gram(symbols, at, width, kind, grams) if at + width <= end else beyond
        widths &= widths - U1
    return found > U0


@inlined
def token_at(symbols, first, end, before, edges, nodes, sides, memo):
    """The longest added token at a place of a word that ends before `end`, with what stands before the place.

    Returns:
        Where it ends, or the place itself where there is none; its class, 0 if it does not count here; and whether it takes a second
        reading to tell.
    """
    node, _ = match_at(symbols, ITEMS, first, end, U0, edges, nodes, memo)
    stop = first + np.uint64(nodes[node, LENGTH])
    if stop == first:
        return first, U0, False
    kind, unclear = np.uint64(nodes[node, VALUE]), nodes[node, LEAST] == 0
    if kind & U1:
        beside = sides[before], sides[np.uint64(symbols[stop])]
        if (beside[0] | beside[1]) & IN_WORD:
            kind = U0
        else:
            unclear |= kind == U1 or not beside[0] & beside[1] & CLEAR
    return stop, kind >> U1, unclear


@part
def find_tokens(symbols, events, count, machine, target, state, tokens, memo):
    """Find the added tokens that stand inside words: such a word is an event, since the table of words holds none.

    Texts are noted of which a second reading is to tell what stands in them: also those with a word too long to be here as a whole.

    Returns:
        Twice how many tokens there are; `tokens` has of each ``first symbol | one past the last << 32`` and ``event | class << 32``.
    """
    numbers, grams, edges, sides, nodes = machine[12], machine[15], machine[16], machine[17], machine[19]
    suspects, row = target[6], state[ROW]
    memo[START] = memo[READ] = memo[NODE] = U0
    shortest, longest, found = numbers[SHORTEST], numbers[LONGEST], U0
    for index in range(U0, count, U2):
        start, end = events[index] >> HALF, events[index + U1]
        if end - start > longest:
            suspects[row] = 1
        elif end - start >= shortest:
            free, last = start, end - shortest  # where the last token has ended, and where the last one may begin
            for four in range(start, last + U1, U4):
                places = near(symbols, four, shortest, grams)
                while places:
                    first = four + trailing_zeros(places)
                    places &= places - U1
                    if is_known(symbols, first, end, U0, OWN, numbers[INSIDE], grams):
                        before = np.uint64(symbols[first - U1]) if first else state[BESIDE]
                        stop, number, unclear = token_at(symbols, first, end, before, edges, nodes, sides, memo)
                        if unclear:
                            suspects[row] = 1
                        if first >= free and stop > first:
                            free = stop
                            tokens[found], tokens[found + U1] = first | stop << HALF, index | number << HALF
                            found += U2 if number else U0
        row += U1 if symbols[end] == numbers[END] else U0
    return found


@part
def cut_words(symbols, events, count, tokens, found, numbers, places, pieces):
    """Write tokens over the symbols that they are found in, each as a word of its own, and make events of what is left of the words.

    Returns:
        Twice how many `pieces` there are: events, those without tokens among them as they are. The ids of a piece go where those of its
        symbols would have gone in the gap of its word, so that none needs more room.
    """
    known, token = U0, U0
    tokens[found + U1] = LOW_HALF  # no event
    for index in range(U0, count, U2):
        event, end = events[index], events[index + U1]
        gap, start = event & LOW_HALF, event >> HALF
        begin = start
        while tokens[token + U1] & LOW_HALF == index:
            first, stop = tokens[token] & LOW_HALF, tokens[token] >> HALF
            places[first] = places[first] & LOW_HALF | places[stop - U1] >> HALF << HALF
            for at in range(first, stop):
                symbols[at] = numbers[FILLER]
            symbols[first] = tokens[token + U1] >> HALF
            pieces[known], pieces[known + U1] = gap + (begin - start) | begin << HALF, first
            known += U2 if begin < first else U0
            begin = stop
            token += U2
        pieces[known], pieces[known + U1] = gap + (begin - start) | begin << HALF, end
        known += U2
    return known


@inlined
def join_piece(scratch, gap, place, result, numbers):
    """Move the ids of a piece of a word to a place in its gap; where the next one goes."""
    if result & FAILED:
        scratch[place] = np.int32(numbers[UNK])
        return place + U1
    for index in range(gap, result):
        scratch[place] = scratch[index]
        place += U1
    return place


@part
def join_words(symbols, events, tokens, found, alone, scratch, results, numbers):
    """Put the ids of tokens, and of what is left of the words that hold them, where the ids of these words go."""
    token = U0
    while token < found:
        index = tokens[token + U1] & LOW_HALF
        event, end = events[index], events[index + U1]
        place, start = event & LOW_HALF, event >> HALF
        gap, begin = place, start
        while tokens[token + U1] & LOW_HALF == index:
            first = tokens[token] & LOW_HALF
            if begin < first:
                place = join_piece(scratch, gap + (begin - start), place, results[first], numbers)
            scratch[place] = np.int32(alone[np.uint64(symbols[first])] & LOW_HALF)
            place += U1
            begin = tokens[token] >> HALF
            token += U2
        if begin < end:
            place = join_piece(scratch, gap + (begin - start), place, results[end], numbers)
        results[end] = place


@part
def find_bordered_suspects(symbols, filled, begins, stops, count, machine, target, row, memo):
    """Note texts in which an added token may stand that words end in, by the first of its symbols that ends one."""
    numbers, grams, edges, sides, nodes = machine[12], machine[15], machine[16], machine[17], machine[19]
    suspects = target[6]
    memo[START] = memo[READ] = memo[NODE] = U0
    for index in range(count):
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        ended = np.uint64(symbols[end])
        side = sides[ended]
        if side & BEGINS or (side & ENDS and end > start and is_known(symbols, end - U1, filled, U1, BORDER, numbers[BORDERS], grams)):
            for first in range(start, end + U1):
                if is_known(symbols, first, filled, U1, OWN, numbers[GRAMS], grams):
                    node, is_open = match_at(symbols, ITEMS, first, filled, U1, edges, nodes, memo)
                    if is_open or nodes[node, LEAST] == 0:
                        suspects[row] = 1
        row += U1 if ended == numbers[END] else U0


@inlined
def prefetch_step(entries, state, symbols, following, a_records):
    """Have what a state's next step may load brought into the cache: its finish entry, and its transition by the symbol that follows."""
    prefetch(entries, state)
    prefetch(entries, state + (a_records[np.uint64(symbols[following])] >> LABEL_SHIFT))


@inlined
def sort_words(symbols, machine, events, count, active, results, longer):
    """Sort the words of events by length, the longest first, with the states that their first symbols lead to.

    An active word is ``state | place of its next id << 32`` and its first symbol. Events without a symbol, and with too many, are last.

    Returns:
        The length of the longest; `longer` has of each length how many words are of that or longer, and of the next one 0.
    """
    a_records, b_records, entries, numbers = machine[1], machine[2], machine[4], machine[12]
    longest, most = numbers[LONGEST], U0
    for length in range(min(longest, events[count - U1]) + U2 if count else U2):  # no word is longer than where the last one ends
        longer[length] = U0
    for index in range(U0, count, U2):
        event, end = events[index], events[index + U1]
        length = end - (event >> HALF)
        results[end] = FAILED if length > longest else event & LOW_HALF
        length = U0 if length > longest else length
        longer[length] += U1
        most = max(most, length)
    before = U0
    for index in range(most + U1):
        length = most - np.uint64(index)
        words = longer[length]
        longer[length] = before
        before += words
    for index in range(U0, count, U2):
        event, end = events[index], events[index + U1]
        start = event >> HALF
        length = U0 if end - start > longest else end - start
        rank = longer[length] << U1
        longer[length] += U1
        number = np.uint64(symbols[start])
        label = a_records[number] >> LABEL_SHIFT
        state = entries[ROOT + label] & NEXT if label else b_records[number]  # no id yet, and a transition for every label
        prefetch_step(entries, state, symbols, start + min(length, U1), a_records)
        active[rank] = state | event << HALF
        active[rank + U1] = start
    return most


@inlined
def put_pooled(pool, output, scratch, place):
    """Write the ids of a list of the pool; where the next one goes."""
    while pool[output] < LAST_OUTPUT:
        scratch[place] = np.int32(pool[output])
        place += U1
        output += U1
    scratch[place] = np.int32(pool[output] & OUTPUT)
    return place + U1


@inlined
def finish_words(step, first, last, machine, scratch, active, results):
    """Write the ids that words of so many symbols end with."""
    entries, pool = machine[4], machine[5]
    for index in range(first << U1, last << U1, U2):
        state, place, start = active[index] & LOW_HALF, active[index] >> HALF, active[index + U1]
        entry = entries[state]
        kind, output = entry >> KIND_SHIFT & U3, entry >> OUTPUT_SHIFT & OUTPUT
        scratch[place] = np.int32(output)
        place += kind & U1
        if kind == MANY:
            place = put_pooled(pool, output, scratch, place)
        results[start + step] = FAILED if kind == FAIL else place


@part
def transduce(symbols, machine, scratch, events, count, active, results, longer):
    """Send the words of events through the transducer, all of them at once, a symbol at a time: none waits for another's memory.

    Those that go on are the first ones, since they are sorted. Where the ids of a word end, or `FAILED`, is written to the place of the
    symbol that ends it.
    """
    a_records, entries, pool, numbers = machine[1], machine[4], machine[5], machine[12]
    most = sort_words(symbols, machine, events, count, active, results, longer)
    for step in range(U1, most + U1):
        going_on = longer[step + U1]
        finish_words(step, going_on, longer[step], machine, scratch, active, results)
        for index in range(U0, going_on << U1, U2):
            state, place, start = active[index] & LOW_HALF, active[index] >> HALF, active[index + U1]
            record = a_records[np.uint64(symbols[start + step])]
            label = record >> LABEL_SHIFT
            entry = entries[state + label]
            default = entry >> LABEL_SHIFT != label
            follow = (record if default else entry) & NEXT
            # On the default it is the finish entry that counts. It is loaded always: a branch would often be mispredicted.
            entry = entries[state + (U0 if default else label)]
            output = entry >> OUTPUT_SHIFT & OUTPUT
            scratch[place] = np.int32(output)
            place += entry >> KIND_SHIFT & U1
            if entry & RARE:
                if entry >> KIND_SHIFT & U3 == MANY:
                    place = put_pooled(pool, output, scratch, place)
                else:
                    place -= U1
                    follow = numbers[DEAD]
            prefetch_step(entries, follow, symbols, start + step + U1, a_records)
            active[index] = follow | place << HALF


@inlined
def put_place(places, first, last, offsets, words, at, word):
    """Write the characters that an id stands for, those of the symbols from the first to the last, and the number of its word."""
    place = places[first] & LOW_HALF | places[last] >> HALF << HALF  # as one number, since LLVM then writes both halves at once
    offsets[at << U1] = np.int32(place & LOW_HALF)
    offsets[at << U1 | U1] = np.int32(place >> HALF)
    words[at] = np.int32(word)


@inlined
def locate_found(symbols, begins, stops, index, stop, alone, places, offsets, words, at, word):
    """Write the places of words that were found and of what ends them, up to the word that ends at a stop."""
    while np.uint64(stops[index]) != stop:
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        own = alone[np.uint64(symbols[end])] >> HALF
        present = np.uint64(start < end)  # 0 of an empty word: its place is written, and not counted
        put_place(places, start, end - present, offsets, words, at, word)
        at += present
        word += present
        put_place(places, end, end, offsets, words, at, word)
        at += own
        word += own
        index += U1
    return index, at, word


@inlined
def locate_missing(scratch, gap, result, start, end, lengths, places, offsets, words, at, word):
    """Write the places of the ids of a word, which is cut by the lengths of its tokens; that never leads out of the word."""
    for place in range(gap, result):
        token = np.uint64(scratch[place]) << U1 | np.uint64(place > gap)
        first, after = min(start, end - U1), min(start + np.uint64(lengths[token]), end)
        put_place(places, first, max(after, first + U1) - U1, offsets, words, at, word)
        at += U1
        start = after
    return at


@part
def locate(symbols, begins, stops, count, scratch, events, known, results, machine, target, work):
    """Write the places of the ids that `emit` is going to write, in the same order."""
    alone, numbers, lengths = machine[3], machine[12], machine[14]
    offsets, words, state, places = target[4], target[5], work[7], work[9]
    around = np.uint64(len(target[0]) + len(target[1]))
    index, at, word = U0, state[COUNT], state[WORD]
    stops[count] = np.uint32(LOW_HALF)  # no place of a symbol: there is no stop after the last
    for event in range(U0, known, U2):
        end = events[event + U1]
        index, at, word = locate_found(symbols, begins, stops, index, end, alone, places, offsets, words, at, word)
        start = np.uint64(begins[index])
        gap, missing, result = events[event] & LOW_HALF, events[event] >> HALF, results[end]
        present = np.uint64(start < end)
        if missing == end or result & FAILED:
            put_place(places, start, end - present, offsets, words, at, word)
            at += present
        else:
            at = locate_missing(scratch, gap, result, start, end, lengths, places, offsets, words, at, word)
        word += present
        own = alone[np.uint64(symbols[end])] >> HALF
        put_place(places, end, end, offsets, words, at, word)
        at += own
        word += own
        if symbols[end] == numbers[END]:
            at += around
            word = U0
        index += U1
    _, _, state[WORD] = locate_found(symbols, begins, stops, index, LOW_HALF, alone, places, offsets, words, at, word)


@inlined
def copy(source, begin, end, ids, at):
    """Copy ids, sixteen at a time; where the next one goes."""
    for index in range(U0, end - begin, U16):
        for offset in range(16):
            ids[at + np.uint64(index) + np.uint64(offset)] = source[begin + np.uint64(index) + np.uint64(offset)]
    return at + (end - begin)


@inlined
def frame(around, at, target):
    """Write ids that stand before or after a text; where the next one goes.

    Inlined: a call would hand over all arrays, and cost a row of Python code a tenth of its time.
    """
    ids = target[2]
    for index in range(len(around)):
        ids[at] = around[index]
        if len(target) > IDS_ALONE and len(target[4]):
            offsets, words = target[4], target[5]
            words[at] = -1
            offsets[at << U1] = offsets[at << U1 | U1] = 0
        at += U1
    return at


@part
def emit(symbols, scratch, written, events, count, results, machine, target, state):
    """Write ids to their final place, and end texts."""
    prefix, suffix, ids, ends = target[0], target[1], target[2], target[3]
    numbers = machine[12]
    at, begin, row = state[COUNT], U0, state[ROW]
    for index in range(U0, count, U2):
        event, end = events[index], events[index + U1]
        gap, start = event & LOW_HALF, event >> HALF
        result = results[end]
        if result & FAILED:
            at = copy(scratch, begin, gap, ids, at)
            ids[at] = np.int32(numbers[UNK])
            at += U1
        else:
            at = copy(scratch, begin, result, ids, at)
        begin = gap if start == end else gap + (end - start) + U1
        if symbols[end] == numbers[END]:
            at = frame(suffix, at, target)
            ends[row] = at
            row += U1
            if row < np.uint64(len(ends)):
                at = frame(prefix, at, target)
    state[COUNT], state[ROW] = copy(scratch, begin, written, ids, at), row


@part
def encode_symbols(filled, machine, target, work):
    """Encode the words that are complete; how many symbols are kept, those of the last word."""
    symbols, masks, stops, scratch, events, active, results, state, slots, places, tokens, pieces, begins, _, symbol_memo = work
    alone, words, displacements, numbers, key_masks = machine[3], machine[6], machine[7], machine[12], machine[13]
    # A fence at the end may be taken away by the next symbol: the word before it may go on.
    fenced = filled > U0 and is_fence(machine[1][np.uint64(symbols[filled - U1])])
    filled -= U1 if fenced else U0
    found = find_words(symbols, filled, numbers, masks, begins, stops, U1)
    find_slots(symbols, begins, stops, found, words, displacements, key_masks, numbers, slots)
    written, count = look_up(symbols, begins, stops, slots, found, alone, words, key_masks, numbers[END], scratch, events)
    of_words, known, cut = events, count, U0
    if len(target) > IDS_ALONE and len(target[6]):
        if numbers[HAS_BORDERS]:
            find_bordered_suspects(symbols, filled, begins, stops, found, machine, target, state[ROW], symbol_memo)
        cut = find_tokens(symbols, events, count, machine, target, state, tokens, symbol_memo)
        if cut:
            of_words, known = pieces, cut_words(symbols, events, count, tokens, cut, numbers, places, pieces)
            if len(target[4]):  # once more, with all blanks: one after a token may end what an event has
                found = find_words(symbols, filled, numbers, masks, begins, stops, U0)
    transduce(symbols, machine, scratch, of_words, known, active, results, slots)  # slots are looked at already
    if len(target) > IDS_ALONE and len(target[4]):
        locate(symbols, begins, stops, found, scratch, of_words, known, results, machine, target, work)
    if len(target) > IDS_ALONE and cut:
        join_words(symbols, events, tokens, cut, alone, scratch, results, numbers)
    emit(symbols, scratch, written, events, count, results, machine, target, state)
    start = np.uint64(begins[found])
    state[BESIDE] = np.uint64(symbols[start - U1]) if found else state[BESIDE]
    kept = min(filled - start, numbers[LONGEST] + U1)  # a longer word is not looked up, however long it is
    for index in range(kept):
        symbols[index] = symbols[start + np.uint64(index)]
    if len(target) > IDS_ALONE and len(target[4]) and kept:
        end = places[filled - U1]
        for index in range(kept):
            places[index] = places[start + np.uint64(index)]
        places[kept - U1] = end  # where the word goes on after what was left out of it
    if fenced:
        symbols[kept], places[kept] = symbols[filled], places[filled]
        kept += U1
    return kept


@inlined
def next_place(text, turn, place, machine):
    """Where what follows the next character begins that has a list with anything in it, and the place of that character."""
    a_records, lists = machine[1], machine[10]
    while True:
        number, turn = class_at(text, turn, machine)
        place += STEP
        if lists[a_records[number] & NEXT]:
            return turn, place


@part
def read_run(text, begin, stop, ranks, at, turn, place, filled, machine, work):
    """Read a run of marks in canonical order: go through it once for each rank that it has, from one place on, as far as there is room.

    Places stay in the order of the text: the first symbol of each character, whichever it is, takes the next place of a character that has
    any, and other symbols that of the one before them.

    Returns:
        The ranks that are left, and for the next call where it goes on, whose turn it is, and its place; how many symbols there are.
    """
    limit = np.uint64(len(work[0])) - BEYOND
    a_records, lists = machine[1], machine[10]
    while ranks and filled < limit:
        rank = trailing_zeros(ranks)
        while at < stop and filled < limit:
            number, at = class_at(text, at, machine)
            first = a_records[number] & NEXT
            if lists[first] and np.uint64(lists[first + U1]) >> RANK_SHIFT == rank:
                turn, place = next_place(text, turn, place, machine)
            filled = put_list(number, rank, filled, place, machine, work)
        if at == stop:
            ranks, at = ranks & ranks - U1, begin
    return ranks, at, turn, place, filled


@kernel
def encode_rows(text, starts, more, machine, target, work):
    """The ids of texts.

    Args:
        text: uint16[n], UTF-16 of all texts.
        starts: int64[rows + 1], where each text begins; the last is where the last one ends.
        more: uint64, 1 where the last text goes on in the next call, else 0.
        machine: arrays of `fst.machines.wordpiece.Tables`, and what the tokenizer makes of them:
            direct: uint16[65536], the class of each unit of UTF-16, `NOT_PLAIN` where `read_other` is to see to it, both where it is to do
                so if a special token may begin there.
            a_records, b_records: uint64[classes + 1], the records of each class, and those of a blank for the end of a text.
            alone: uint64[classes + 1], of what ends a word ``1 << 32 | id`` if it is a word of its own, else 0.
            entries, pool, words, displacements, pages, blocks, lists: see `fst.machines.wordpiece.Tables`.
            special_edges, special_nodes: the `fst.runtime.matching.Trie` of its `specials`, with classes for values.
            numbers: uint64[15], the dead state; the unknown token's id; the symbols in the longest word that is looked up; the first class
                that is no part of a word; the class that stands for the end of a text; what a hash is shifted by to make a bucket, and a
                slot, both < 64; a bit for the lowest 6 bits of each second unit of a special token, all bits if there is one of a single
                unit. Of added tokens a bit for each width that a gram has, 1 to 8 symbols, of those in which words end; and for each width
                of those at a border; whether there are any; a bit for each width of those inside words; the symbols of the shortest of
                them, at most 8, or more than any word has; and the class of a blank, which takes the place of what is left of a token.
                Last, the class of blanks that are left out where they end nothing, or 0, which no symbol has.
            key_masks: uint64[4 * 14], what makes a key of the sixteen symbols from the start of a word on, for each length; for lengths
                over 12, which no key has, it leaves the 13th symbol.
            lengths: uint32[2 * ids], the symbols of each token where a word begins with it, and where it continues one; only used where
                places are asked for.
            grams: uint64[3 * 1024], three sets, two bits of a hash in a word that it names: `OWN`, the first symbols of added tokens, as
                many as each has, and 8 at most; `BEGINNING`, of those inside words as many as the shortest has; `BORDER`, those from before
                the first place at which a word ends in one.
            added_edges, added_nodes: the `fst.runtime.matching.Trie` of the added tokens by their symbols. The value of a token is 0 if
                texts that hold it are read again, 1 if they are read again only where it may be a whole word, and else, for a token inside
                words, ``class << 1``, | 1 if it only counts as a whole word.
            sides: uint8[classes + 1], bits. 1: words end in an added token at it; 2: they do so as one begins; of whatever stands beside
                an added token that only counts as a whole word 4, `IN_WORD`: it does not count there; 8, `CLEAR`: it counts there.
        target: where ids go, and whatever else is asked for; the last three arrays are there together or not at all.
            prefix, suffix: int32[n], ids put around each text.
            ids: int32[n], filled from ``state[COUNT]`` on.
            ends: int64[rows - more], filled: where the ids of each text end.
            offsets: int32[2 * n], filled like `ids`, the first character in its text that an id stands for and one past the last, 0 and 0
                for those put around a text; or empty: then no places are asked for, as where it is not there.
            words: int32[n], filled likewise: the number of the word in its text that an id belongs to, -1 for those put around it.
            suspects: uint8[rows], set to 1 for texts in which an added token may stand; or empty: then nobody looks, as where it is not
                there.
        work: what is kept between calls, and what is not.
            symbols: uint16[n]; masks: uint64[n // 32]; stops, begins: uint32[n]; scratch: int32[2 * n]; events: uint64[2 * n];
            active: uint64[2 * n]; results, slots, places: uint64[n]; tokens, pieces: uint64[2 * n];
            memo, symbol_memo: uint64[3], see `match_at`.
            state: uint64[7], all zero before the first call: symbols kept; ids written so far; row of the call; whether the last call had
                `more`; where places are asked for, characters and words of that text so far; the class that ended the word before the
                symbols kept.

    Returns:
        Where reading stopped: the end, or with `more` before a character that what follows may belong to.
    """
    symbols, state, places, memo = work[0], work[7], work[9], work[13]
    direct, numbers = machine[0], machine[12]
    prefix, located = target[0], len(target) > IDS_ALONE and len(target[4]) > 0
    # Marks that leave no symbol count only where something is to be located.
    run_flags = HAS_MARKS | CONTINUES_RUN if located else HAS_MARKS
    rows, limit = np.uint64(len(starts)) - U1, np.uint64(len(symbols)) - BEYOND
    filled, at = state[KEPT], np.uint64(starts[0])
    memo[START], memo[READ], memo[NODE] = at, at, U0
    before = state[BEFORE] - at  # with it, the place of a character's first unit is its number in its text
    state[ROW] = U0
    if rows and not state[OPEN]:
        state[COUNT] = frame(prefix, state[COUNT], target)
    state[OPEN] = more
    for row in range(rows):
        stop = np.uint64(starts[row + U1])
        goes_on = U1 if more and row + U1 == rows else U0
        while at < stop:
            first, known = at, filled
            at, filled = read_plain(text, at, min(stop, at + (limit - filled)), symbols, filled, direct, numbers[SECONDS], memo[START])
            if located:
                number_places(places, known, filled, AT_START + (first + before) * STEP)
            tried = stop
            while at < stop and filled < limit and at != tried and direct[text[at]] & NOT_PLAIN:
                tried = at
                place = AT_START + (at + before) * STEP
                at, filled, ranks = read_other(text, at, stop, goes_on, run_flags, filled, place, machine, work)
                begin, turn, place = tried, tried, place - STEP
                while ranks:
                    if filled >= limit:
                        filled = encode_symbols(filled, machine, target, work)
                    ranks, begin, turn, place, filled = read_run(text, tried, at, ranks, begin, turn, place, filled, machine, work)
                if located:
                    before -= pairs(text, tried, at)
            if filled >= limit:
                filled = encode_symbols(filled, machine, target, work)
                if len(target) > IDS_ALONE and len(target[6]) and target[6][row]:
                    at = stop  # the text is read again, and as a whole
            if at == tried:
                break
        if not goes_on:
            symbols[filled] = numbers[END]
            filled += U1
            before = U0 - stop
            if filled >= limit:
                filled = encode_symbols(filled, machine, target, work)
    state[KEPT], state[BEFORE] = encode_symbols(filled, machine, target, work), before + at
    return at


@kernel
def encode_read(read, places, machine, target, work):
    """The ids of texts whose symbols are known.

    Args:
        read: uint16[n], classes of symbols, one or more, and what stands for the end of a text after each.
        places: uint64[n], which characters of its text each comes from, ``first | one past the last << 32``.
        machine, target, work: as in `encode_rows`.
    """
    symbols, state, own_places = work[0], work[7], work[9]
    limit = np.uint64(len(symbols)) - BEYOND
    state[COUNT] = frame(target[0], state[COUNT], target)
    filled = U0
    for index in range(len(read)):
        symbols[filled], own_places[filled] = read[index], places[index]
        filled += U1
        if filled >= limit:
            filled = encode_symbols(filled, machine, target, work)
    encode_symbols(filled, machine, target, work)


# What follows reads texts with contextual added tokens, those that depend on normalised text or on their neighbours, for `encode_read`.
# It follows the reference step by step: first tokens in raw text, then the symbols of the text between them, then tokens among symbols.
# Symbols are (numbers, places, sources, ordinals), each with an item for each symbol:
# - numbers, uint16: its class;
# - places, uint64: the characters of its text that it comes from, ``first | one past the last << 32``;
# - sources, uint32: the character, counted through all texts, that it is made of; `NO_SOURCE` for added tokens and ends of texts;
# - ordinals, uint8: how many symbols of that character stand before it.
WORD_PART, BEGINS_WORD, ENDS_WORD, SPACED, WHITE, MIXED, BEGINS_RAW = (np.uint8(1 << n) for n in range(7))  # kinds of code points
SINGLE_WORD, LSTRIP, RSTRIP = (np.int32(1 << n) for n in range(3))  # flags of added tokens
NO_SOURCE = np.uint32((1 << 32) - 1)


@inlined
def put_symbol(number, first, last, source, ordinal, filled, symbols):
    """Add a symbol that comes from the characters from `first` to before `last`; how many symbols there are then."""
    numbers, places, sources, ordinals = symbols
    numbers[filled] = number
    places[filled] = first | last << HALF
    sources[filled] = source
    ordinals[filled] = ordinal
    return filled + U1


@inlined
def put_run(codes, first, stop, start, filled, machine, symbols):
    """Add the symbols of characters that are lists, in canonical order; `start` is the first character of their text.

    Places stay in the order of the text, as in `read_run`.
    """
    a_records, lists = machine[1], machine[10]
    ranks = U0
    for at in range(first, stop):
        ranks |= ranks_of(a_records[class_of(np.uint64(codes[at]), machine)], lists)
    turn, place = first, first - start
    while ranks:
        rank = trailing_zeros(ranks)
        ranks &= ranks - U1
        for at in range(first, stop):
            listed = a_records[class_of(np.uint64(codes[at]), machine)] & NEXT
            count, ordinal = np.uint64(lists[listed]), U0
            if count and np.uint64(lists[listed + U1]) >> RANK_SHIFT == rank:
                while not lists[a_records[class_of(np.uint64(codes[turn]), machine)] & NEXT]:
                    turn += U1
                place = turn - start
                turn += U1
            for index in range(U1, count + U1):
                symbol = np.uint64(lists[listed + index])
                if symbol >> RANK_SHIFT == rank and symbol & CLASS:
                    filled = put_symbol(symbol & CLASS, place, place + U1, at, ordinal, filled, symbols)
                ordinal += np.uint64(symbol & CLASS > U0)
    return filled


@part
def put_characters_of(codes, first, stop, start, filled, machine, symbols):
    """Add the symbols of some characters of a text that begins at `start`; how many symbols there are then."""
    a_records = machine[1]
    at = first
    while at < stop:
        number = class_of(np.uint64(codes[at]), machine)
        record, end = a_records[number], at + U1
        if record >> KIND_SHIFT & U3 != LIST:
            filled = put_symbol(number, at - start, end - start, at, U0, filled, symbols)
        else:
            is_run = record >> OUTPUT_SHIFT & (HAS_MARKS | CONTINUES_RUN)
            while is_run and end < stop:
                following = a_records[class_of(np.uint64(codes[end]), machine)]
                if following >> KIND_SHIFT & U3 != LIST or not following >> OUTPUT_SHIFT & CONTINUES_RUN:
                    break
                end += U1
            filled = put_run(codes, at, end, start, filled, machine, symbols)
        at = end
    return filled


@kernel
def count_symbols(codes, machine):
    """The most symbols that characters may become. Each counts as at least one, since an added token may take its place."""
    a_records, lists = machine[1], machine[10]
    count = U0
    for at in range(np.uint64(len(codes))):
        record = a_records[class_of(np.uint64(codes[at]), machine)]
        count += max(np.uint64(lists[record & NEXT]), U1) if record >> KIND_SHIFT & U3 == LIST else U1
    return count


@inlined
def is_in_word(codes, first, stop, start, end, kinds):
    """Whether a word goes on before or after some characters of a text."""
    return (first > start and kinds[codes[first - U1]] & WORD_PART) or (stop < end and kinds[codes[stop]] & WORD_PART)


@kernel
def read_raw(codes, starts, machine, edges, nodes, tokens, kinds, end_class, memo, symbols):
    """The symbols of texts, with the added tokens in raw text, found as by the reference's ``AddedVocabulary.find_matches``.

    Args:
        codes: uint32[n], code points of all texts.
        starts: int64[rows + 1], where each text begins, and where the last one ends.
        machine: as in `encode_rows`.
        edges, nodes: the `fst.runtime.matching.Trie` of the tokens.
        tokens: int32[tokens, 2], their classes and their flags.
        kinds: uint8[0x110000], what each code point is to a token beside it.
        end_class: what stands for the end of a text.
        memo: uint64[3].
        symbols: filled, room for as many as `count_symbols` says, and one more for each text.

    Returns:
        How many symbols there are.
    """
    memo[START] = memo[READ] = memo[NODE] = filled = U0
    for row in range(len(starts) - 1):
        start, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        at = begun = white = start  # the next to look at; the first that is not put yet; up to where a token has taken white space
        while at < end:
            if not kinds[codes[at]] & BEGINS_RAW:
                at += U1
                continue
            node, _ = match_at(codes, ITEMS, at, end, U0, edges, nodes, memo)
            if not nodes[node, LENGTH]:
                at += U1
                continue
            first, stop = at, at + np.uint64(nodes[node, LENGTH])
            at = stop
            number, flags = tokens[nodes[node, VALUE], 0], tokens[nodes[node, VALUE], 1]
            if flags & SINGLE_WORD and is_in_word(codes, first, stop, start, end, kinds):
                continue
            while flags & LSTRIP and first > begun and kinds[codes[first - U1]] & WHITE:
                first -= U1
            if flags & RSTRIP:
                stop = max(stop, white)
                while stop < end and kinds[codes[stop]] & WHITE:
                    stop += U1
                white = stop
            # The next token may lie in white space that this one has taken; then nothing stands between the two.
            filled = put_characters_of(codes, begun, max(first, begun), start, filled, machine, symbols)
            filled = put_symbol(number, first - start, stop - start, NO_SOURCE, U0, filled, symbols)
            begun = stop
        filled = put_characters_of(codes, begun, end, start, filled, machine, symbols)
        filled = put_symbol(end_class, end - start, end - start + U1, NO_SOURCE, U0, filled, symbols)
    return filled


@inlined
def is_part(codes, symbols, at, kind, kinds, mixed):
    """Whether a symbol is a part of a word on one side. Its character decides by its kind, `BEGINS_WORD` or `ENDS_WORD`.

    For characters of which only some symbols are parts, `mixed` lists these symbols: ``code point << 8 | ordinal``, ascending.
    """
    _, _, sources, ordinals = symbols
    if sources[at] == NO_SOURCE:
        return False
    code = np.uint64(codes[sources[at]])
    own = kinds[code]
    if not own & MIXED:
        return own & (kind | SPACED) == kind
    key, low, high = code << U8 | np.uint64(ordinals[at]), U0, np.uint64(len(mixed))
    while low < high:
        middle = low + high >> U1
        if mixed[middle] < key:
            low = middle + U1
        else:
            high = middle
    return low < np.uint64(len(mixed)) and mixed[low] == key


@inlined
def is_spaced(codes, symbols, at, kinds):
    """Whether normalisation puts blanks around a symbol."""
    sources = symbols[2]
    return sources[at] != NO_SOURCE and kinds[codes[sources[at]]] & SPACED > 0


@kernel
def find_normalized(codes, count, symbols, edges, nodes, tokens, begins, kinds, mixed, blank, memo, numbers, places):
    """The symbols of `read_raw`, with added tokens in normalised text in place of their symbols.

    Args:
        codes, kinds, memo: as in `read_raw`.
        count: how many symbols there are; the last one is the end of a text.
        symbols: those of `read_raw`.
        edges, nodes, tokens: as in `read_raw`, for tokens by their symbols.
        begins: uint8[classes + 1], 1 for classes that a token begins with.
        mixed: uint64[n], see `is_part`.
        blank: the class of blanks.
        numbers, places: uint16[count] and uint64[count], filled.

    Returns:
        How many symbols there are then.
    """
    own_numbers, own_places, _, _ = symbols
    memo[START] = memo[READ] = memo[NODE] = filled = at = last = U0
    while at < count:
        stop = at + U1
        number, flags, is_token = np.int32(0), np.int32(0), False
        if begins[own_numbers[at]]:
            node, _ = match_at(own_numbers, ITEMS, at, count, U0, edges, nodes, memo)
            if nodes[node, LENGTH]:
                stop = at + np.uint64(nodes[node, LENGTH])
                number, flags = tokens[nodes[node, VALUE], 0], tokens[nodes[node, VALUE], 1]
                is_token = not flags & SINGLE_WORD or not (
                    (at > U0 and is_part(codes, symbols, at - U1, ENDS_WORD, kinds, mixed))
                    or is_part(codes, symbols, stop, BEGINS_WORD, kinds, mixed)
                )
        if not is_token:
            while at < stop:
                numbers[filled], places[filled] = own_numbers[at], own_places[at]
                filled += U1
                at += U1
            continue
        begin, end = own_places[at] & LOW_HALF, own_places[stop - U1] >> HALF
        if flags & LSTRIP:
            while at > last and own_numbers[at - U1] == blank:
                at -= U1
                filled -= U1
                begin = own_places[at] & LOW_HALF
            if at > last and is_spaced(codes, symbols, at - U1, kinds):
                begin = own_places[at - U1] & LOW_HALF
        if flags & RSTRIP:
            while own_numbers[stop] == blank:
                end = own_places[stop] >> HALF
                stop += U1
            if is_spaced(codes, symbols, stop, kinds):
                end = own_places[stop] >> HALF
        numbers[filled], places[filled] = number, begin | end << HALF
        filled += U1
        at = last = stop
    return filled


# What follows makes UTF-16 of UTF-8: Unicode 17, table 3-7, says which sequences of bytes are characters.
U11, U12, U18 = (np.uint64(n) for n in (11, 12, 18))
CONTINUATION, TWO, THREE, FOUR = (np.uint64(n) for n in (0x80, 0xC2, 0xE0, 0xF0))  # the least bytes that begin, or go on
SURROGATES, SUPPLEMENTARY, LOW_SURROGATE = np.uint64(0xD800 >> 11), np.uint64(0x10000), np.uint64(0xDC00)


@inlined
def follower(data, at):
    """The six bits of a byte that continues a character; what is 64 or more is none."""
    return np.uint64(data[at]) ^ CONTINUATION


@inlined
def character_at(data, at, left):
    """The code point at a place before which so many bytes are left, and how many bytes it has; none where there is no character."""
    first = np.uint64(data[at])
    if first < THREE:
        if first < TWO or left < U2:
            return U0, U0
        second = follower(data, at + U1)
        return (first & np.uint64(0x1F)) << U6 | second, (U2 if second < U64 else U0)
    if first < FOUR:
        if left < U3:
            return U0, U0
        second, third = follower(data, at + U1), follower(data, at + U2)
        code = (first & np.uint64(0xF)) << U12 | second << U6 | third
        return code, (U3 if second | third < U64 and code >> U11 and code >> U11 != SURROGATES else U0)
    if left < U4:
        return U0, U0
    second, third, fourth = follower(data, at + U1), follower(data, at + U2), follower(data, at + U3)
    code = (first & np.uint64(0xF)) << U18 | second << U12 | third << U6 | fourth
    return code, (U4 if second | third | fourth < U64 and code - SUPPLEMENTARY < SUPPLEMENTARY << U4 else U0)


@inlined
def put_code(code, text, filled):
    """Write a code point as one unit or two; where the next one goes."""
    if code >= SUPPLEMENTARY:
        code -= SUPPLEMENTARY
        text[filled] = HIGH_SURROGATE | code >> U10
        filled += U1
        code = LOW_SURROGATE | code & LOW_10
    text[filled] = code
    return filled + U1


@inlined
def put_characters(data, at, stop, text, filled):
    """Write a run of ASCII, and a run of characters that are not; whether they are UTF-8."""
    while at < stop and np.uint64(data[at]) < CONTINUATION:
        text[filled] = data[at]
        at += U1
        filled += U1
    while at < stop and np.uint64(data[at]) >= CONTINUATION:
        code, length = character_at(data, at, stop - at)
        if length == U0:
            return at, filled, False
        filled = put_code(code, text, filled)
        at += length
    return at, filled, True


@inlined
def put_utf_8(data, at, stop, text, filled):
    """Write UTF-8 from one place to before another as units, 32 at a time where it is ASCII; where the next goes, and whether it is UTF-8.

    What is behind the place is read too, and written, if there is any; it is written again when its turn comes.
    """
    is_text = True
    while at < stop and is_text:
        if at + U32 <= np.uint64(len(data)):
            wide = widen(data, at, text, filled)
            plain = min(U32 if wide == U0 else trailing_zeros(wide), stop - at)
            at += plain
            filled += plain
            if wide == U0:  # a branch: the next step need not wait for the zeros
                continue
        at, filled, is_text = put_characters(data, at, stop, text, filled)
    return filled, is_text


@kernel
def transcode(data, starts, text, unit_starts):
    """UTF-16 of rows of UTF-8, 32 bytes at a time where they are ASCII.

    Args:
        data: uint8[n].
        starts: int64[rows + 1], where each row begins in it, ascending; the last is n.
        text: uint16[n + 32], filled.
        unit_starts: int64[rows + 1], filled: where each row begins in it, and the last one ends.

    Returns:
        How many rows are UTF-8 before the first that is not.
    """
    rows, filled = np.uint64(len(starts)) - U1, U0
    unit_starts[0] = 0
    for row in range(rows):
        filled, is_text = put_utf_8(data, np.uint64(starts[row]), np.uint64(starts[row + U1]), text, filled)
        if not is_text:
            return row
        unit_starts[row + U1] = filled
    return rows


# What follows makes rows for a model of the ids of texts: `plan_rows` says which ids go into each row, `lay_out` puts them there.
# A sample is (rows of the first text: from, before; of the second: from, before; whether it is a pair); a row of a plan is (ids of the
# first text: from, before; of the second: from, before; whether it is a pair; sample; length without padding).
KEEP, LONGEST_FIRST, ONLY_FIRST, ONLY_SECOND = 0, 1, 2, 3


@inlined
def kept(first, second, paired, strategy, room):
    """How many ids of a first and of a second text a strategy keeps; -1 where it cannot make them fit."""
    over = first + second - room
    if strategy == KEEP or over <= 0:
        return first, second
    if room == 0:
        return 0, 0
    if strategy == ONLY_FIRST:
        return (first - over if first > over else -1), second
    if strategy == ONLY_SECOND:
        return first, (second - over if paired and second > over else -1)
    if not paired:
        return room, second
    short = min(first, second)
    long = max(short, room - short)
    if short + long > room:
        short, long = room >> 1, room - (room >> 1)
    return (long, short) if first > second else (short, long)


@inlined
def count_windows(count, size, stride):
    """How many windows there are over some ids; 0 where they would not move on."""
    if size >= count:
        return 1
    if size == 0:
        return 2
    if stride >= size:
        return 0
    return (count - stride - 1) // (size - stride) + 1


@inlined
def window(begin, end, size, stride, from_left, index):
    """Where a window begins and ends. Where nothing is kept, the first has nothing and the second has it all."""
    if size == 0:
        return begin, (end if index else begin)
    if size >= end - begin:
        return begin, end
    step = index * (size - stride)
    if from_left:
        return max(end - step - size, begin), end - step
    return begin + step, min(begin + step + size, end)


@kernel
def plan_rows(splits, samples, cut, plan):
    """Truncate samples, and say which ids go into each row.

    Args:
        splits: int64[texts + 1], where the ids of each text begin.
        samples: int64[samples, 5].
        cut: int64[9], the strategy; room for one text, and for two, >= 0; how many ids a window shares with the one before it; whether ids
            are cut off on the left; whether there is a row for each window, or for the first alone; ids that a template adds to one text,
            and to two; whether the second text of a pair stands before the first.
        plan: int64[rows, 7], filled. Rows for which there is no room in it are counted, and not written.

    Returns:
        How many rows there are; the length of the longest first row of a sample; those of the shortest and the longest of all rows; and the
        first sample that cannot be truncated so, or -1.
    """
    strategy, stride, from_left, every, reverse = cut[0], cut[3], cut[4], cut[5], cut[8]
    rows, longest, least, most = 0, 0, np.int64(1 << 62), 0
    for sample in range(len(samples)):
        paired = samples[sample, 4]
        begin, end = splits[samples[sample, 0]], splits[samples[sample, 1]]
        begin_2, end_2 = splits[samples[sample, 2]], splits[samples[sample, 3]]
        size, size_2 = kept(end - begin, end_2 - begin_2, paired, strategy, cut[1 + paired])
        count, count_2 = count_windows(end - begin, size, stride), count_windows(end_2 - begin_2, size_2, stride)
        if min(size, size_2) < 0 or count * count_2 == 0:
            return rows, longest, least, most, sample
        added = cut[6 + paired]
        longest = max(longest, size + size_2 + added)
        inner = count if reverse else count_2
        for turn in range(count * count_2 if every else 1):
            if rows < len(plan):
                # The windows of the text that stands first are the outer ones. Those with its first window, but one, come last.
                place = turn + inner - 1 if turn else 0
                again = place >= count * count_2
                outer_index = 0 if again else place // inner
                inner_index = place - count * count_2 + 1 if again else place % inner
                index, index_2 = (inner_index, outer_index) if reverse else (outer_index, inner_index)
                plan[rows, 0], plan[rows, 1] = window(begin, end, size, stride, from_left, index)
                plan[rows, 2], plan[rows, 3] = window(begin_2, end_2, size_2, stride, from_left, index_2)
                plan[rows, 4], plan[rows, 5] = paired, sample
                plan[rows, 6] = length = plan[rows, 1] - plan[rows, 0] + plan[rows, 3] - plan[rows, 2] + added
                least, most = min(least, length), max(most, length)
            rows += 1
    return rows, longest, least, most, -1


@inlined
def put(out, plane, at, count, value):
    """Write a value into some places of a plane, one after the other."""
    for index in range(count):
        out[plane, at + np.uint64(index)] = value


@inlined
def put_pieces(out, at, count, pieces, piece, first):
    """Write what a piece of a template has for each plane, from a first one on."""
    for plane in range(first, len(out)):
        put(out, np.uint64(plane), at, count, pieces[piece, 1 + plane])


@kernel
def lay_out(values, plan, single, pair, width, from_left, out):
    """Put what ids have into the places that a plan says, and constants beside it.

    Args:
        values: int32[ids], for the first plane: the ids themselves, or something else that each of them has.
        plan: int64[rows, 7].
        single, pair: int64[pieces, 1 + planes], templates. The first field of a piece is 0 where the first text stands, 1 where the second
            does, -1 for a special token; the others are for the planes, a text's first excepted. The last piece is padding.
        width: rows are padded to so many places; longer ones stay as they are.
        from_left: whether they are padded on the left.
        out: int64[planes, n], filled: rows, one after the other.
    """
    at = U0
    for row in range(len(plan)):
        pieces = pair if plan[row, 4] else single
        last = len(pieces) - 1
        blank = np.uint64(max(width - plan[row, 6], 0))
        if from_left:
            put_pieces(out, at, blank, pieces, last, 0)
            at += blank
        for piece in range(last):
            text = pieces[piece, 0]
            if text < 0:
                put_pieces(out, at, U1, pieces, piece, 0)
                at += U1
                continue
            begin, end = np.uint64(plan[row, 2 * text]), np.uint64(plan[row, 2 * text + 1])
            for index in range(end - begin):
                out[U0, at + np.uint64(index)] = values[begin + np.uint64(index)]
            put_pieces(out, at, end - begin, pieces, piece, 1)
            at += end - begin
        if not from_left:
            put_pieces(out, at, blank, pieces, last, 0)
            at += blank


# What follows lays out rows of a list of Python's str or bytes. The list keeps them alive, they do not change, and while such a kernel runs
# nobody else may change the list: `fst.runtime.texts` hands over one that nobody else has. Lengths come first, so that nothing is laid out
# where it would be too little, and rows of another kind are found before what else is wrong.
OF_STR, OF_BYTES = 0, 1
LAST_BITS, FIRST_SURROGATE = np.uint16(0xF800), np.uint16(0xD800)


@inlined
def rows_that_fit(rows, count, limits, kind):
    """How many rows of a list go into a block; -1 where one of them is of another kind."""
    most, longest, least = limits
    left, fitting = most, 0
    while fitting < count:
        length = bytes_length(rows, fitting) if kind == OF_BYTES else string_length(rows, fitting)
        if length < 0:
            return -1
        if length > min(left, longest):
            break
        left -= length
        fitting += 1
    return fitting if fitting >= least else 0


@inlined
def put_narrow(data, text, at):
    """Copy bytes to units, none beyond the last; whether they are ASCII."""
    end, wide = np.uint64(len(data)), U0
    if end < U32:
        for index in range(end):
            text[at + np.uint64(index)] = data[np.uint64(index)]
            wide |= np.uint64(data[np.uint64(index)]) & CONTINUATION
    else:
        place = U0
        while place + U32 <= end:
            wide |= widen(data, place, text, at + place)
            place += U32
        wide |= widen(data, end - U32, text, at + end - U32)
    return at + end, wide == U0


@inlined
def put_units(units, text, at):
    """Copy units; whether one is a surrogate."""
    wrong = np.uint16(0)
    for index in range(np.uint64(len(units))):
        unit = units[np.uint64(index)]
        text[at + np.uint64(index)] = unit
        wrong |= np.uint16(unit & LAST_BITS == FIRST_SURROGATE)
    return at + np.uint64(len(units)), wrong != 0


@inlined
def put_codes(codes, text, at):
    """Write code points as units; whether one is a surrogate."""
    wrong = U0
    for index in range(np.uint64(len(codes))):
        code = np.uint64(codes[np.uint64(index)])
        wrong |= np.uint64(code >> U11 == SURROGATES)
        at = put_code(code, text, at)
    return at, wrong != 0


@object_kernel
def gather_strings(rows, count, limits, text, starts):
    """UTF-16 of the first rows of a list of str.

    Args:
        rows, count: the address of the list, and how many rows it has.
        limits: (characters of all rows, at most; of one row, at most; how many rows there are at least, else none).
        text: uint16[n], room for two units for each of so many characters, filled.
        starts: int64[count + 1], filled: where each row begins in it, and the last one ends.

    Returns:
        How many rows they are, -1 where one is no str; and whether they are text: nothing in them is a surrogate.
    """
    fitting = rows_that_fit(rows, count, limits, OF_STR)
    at, any_wrong = U0, False
    starts[0] = 0
    for row in range(fitting):
        narrow, units, codes = characters(rows, row)
        at, _ = put_narrow(narrow, text, at)
        at, wrong = put_units(units, text, at)
        any_wrong |= wrong
        at, wrong = put_codes(codes, text, at)
        any_wrong |= wrong
        starts[row + 1] = at
    return fitting, not any_wrong


@object_kernel
def gather_bytes(rows, count, limits, text, starts):
    """UTF-16 of the first rows of a list of bytes of UTF-8.

    Args:
        rows, count, limits, text, starts: as in `gather_strings`, with bytes in the place of characters; up to 32 units behind the last one
            may be written.

    Returns:
        How many rows they are, -1 where one is no bytes; and whether they are text.
    """
    fitting = rows_that_fit(rows, count, limits, OF_BYTES)
    at, are_text = U0, True
    starts[0] = 0
    for row in range(fitting):
        data = bytes_of(rows, row)
        after, is_text = put_narrow(data, text, at)
        if not is_text:
            after, is_text = put_utf_8(data, U0, np.uint64(len(data)), text, at)
        at = after
        are_text &= is_text
        starts[row + 1] = at
    return fitting, are_text
