"""Normalize a stretch, the text between two added tokens. `fst.text.normalizer.Normalizer.normalized` specifies the result.

Most characters do not change. A *cluster* is a character together with all directly following characters that may change, or that may
change the previous character. Text between clusters is copied. The characters of a cluster are replaced by their parts, and the parts are
sorted, composed and mapped, as in `fst.text.composition.Composition`.

`fst.text.arguments` describes the arguments. Kernels require that the arrays of `NormalizerWork` and `Normalized` have a capacity of
`expansion_bound` elements per byte of text, plus one space per row.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.matcher import child_of
from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U3, U4
from fst.runtime.kernels.spans import pack_span
from fst.runtime.kernels.unicode import CONTINUATION, character_at
from fst.runtime.kernels.utf_8 import LOW_6, copy_run, put_code
from fst.text import arguments as of
from fst.text import composition

CHANGES, FIRST_PART = np.uint8(of.CHANGES), np.uint64(composition.FIRST_PART)
ITSELF, HANGUL, SYLLABLES = np.uint64(composition.ITSELF), np.uint64(composition.HANGUL), np.uint64(composition.SYLLABLES)
LEADING, VOWELS, TRAILING = np.uint64(composition.LEADING), np.uint64(composition.VOWELS), np.uint64(composition.TRAILING)
VOWEL_COUNT, TRAILING_COUNT = np.uint64(composition.VOWEL_COUNT), np.uint64(composition.TRAILING_COUNT)
FEW = np.uint64(16)  # maximum number of marks for insertion sort
RANKS, NO_ASCII, ASCII_END = of.RANKS, np.uint8(composition.NO_ASCII), np.uint8(0x80)


@inlined
def pack_part(code, taken):
    """Pack an item: a part of a character, and the number of raw characters that it replaces."""
    return code | taken << HALF


@inlined
def part_of(item):
    """Return the code point of an item, and the number of raw characters that it replaces."""
    return item & LOW_HALF, item >> HALF


@inlined
def rank_of(item, ranks):
    """Return the canonical rank of an item; 0 for a starter."""
    return ranks[part_of(item)[0]]


@inlined
def code_at(text, at):
    """Decode the character at a position; return its code point, and the position after it."""
    code = np.uint64(text[at])
    if code < CONTINUATION:
        return code, at + U1
    code, length = character_at(text, at, U4)
    return code, at + (length if length else U3)  # 3 bytes for a surrogate, which is always `fst.text.normalizer.EDGE`


@inlined
def start_before(text, at):
    """Find the start of the character before a position."""
    at -= U1
    while np.uint64(text[at]) & ~LOW_6 == CONTINUATION:
        at -= U1
    return at


@inlined
def put_parts(code, origin, count, characters, normalizer, work):
    """Append the parts of a character to `work.items`, and the index of the character in the raw text to `work.origins`; return the new
    number of elements in each array.
    """
    items, origins = work.items, work.origins
    number = np.uint64(normalizer.numbers[code])
    if number:
        for index in range(np.uint64(normalizer.list_ends[number - U1]), np.uint64(normalizer.list_ends[number])):
            listed = np.uint64(normalizer.lists[index])
            is_first = listed & FIRST_PART > U0
            part = listed & (FIRST_PART - U1)
            origins[characters] = origin
            characters += np.uint64(is_first)
            count = put_syllable(code if part == ITSELF else part, np.uint64(is_first), count, normalizer, items)
        return count, characters
    origins[characters] = origin
    return put_syllable(code, U1, count, normalizer, items), characters + U1


@inlined
def put_syllable(code, taken, count, normalizer, items):
    """Append a part, after decomposing it if it is a Hangul syllable and the normalizer decomposes; return the new number of parts."""
    index = code - HANGUL
    if not normalizer.scalars.decomposes or index >= SYLLABLES:
        items[count] = pack_part(code, taken)
        return count + U1
    index, trailing = index // TRAILING_COUNT, index % TRAILING_COUNT
    items[count] = pack_part(LEADING + index // VOWEL_COUNT, taken)
    items[count + U1] = VOWELS + index % VOWEL_COUNT
    items[count + U1 + U1] = TRAILING + trailing
    return count + U1 + U1 + np.uint64(trailing > U0)


@inlined
def sort_marks(count, ranks, work):
    """Put marks in canonical order by a stable sort of each run of marks by rank."""
    items, at = work.items, U0
    while at < count:
        start = at
        while at < count and rank_of(items[at], ranks):
            at += U1
        if at - start > FEW:
            sort_many(start, at, ranks, work)
        else:
            for index in range(start + U1, at):
                item, place = items[index], np.uint64(index)
                while place > start and rank_of(items[place - U1], ranks) > rank_of(item, ranks):
                    items[place] = items[place - U1]
                    place -= U1
                items[place] = item
        at += U1


@part
def sort_many(start, end, ranks, work):
    """Sort a long run of marks by rank, with a counting sort."""
    items, spare, counts = work.items, work.sorted_items, work.counts
    for rank in range(RANKS + 1):
        counts[rank] = U0
    for index in range(start, end):
        counts[np.uint64(rank_of(items[index], ranks)) + U1] += U1
    for rank in range(RANKS):
        counts[rank + 1] += counts[rank]
    for index in range(start, end):
        rank = np.uint64(rank_of(items[index], ranks))
        spare[counts[rank]] = items[index]
        counts[rank] += U1
    for index in range(end - start):
        items[start + np.uint64(index)] = spare[np.uint64(index)]


@inlined
def composite(first, second, pairs):
    """Return the composition of two characters; 0 if they do not compose."""
    # A difference below 0 becomes a number above every limit, because numbers are unsigned.
    leading, vowel, trailing, syllable = first - LEADING, second - VOWELS, second - TRAILING, first - HANGUL
    if leading * VOWEL_COUNT * TRAILING_COUNT < SYLLABLES and first >= LEADING and vowel < VOWEL_COUNT:
        return HANGUL + (leading * VOWEL_COUNT + vowel) * TRAILING_COUNT
    if syllable < SYLLABLES and syllable % TRAILING_COUNT == U0 and trailing - U1 < TRAILING_COUNT - U1:
        return first + trailing
    return child_of(first, second, pairs)


@inlined
def compose(items, count, ranks, pairs):
    """Compose the items of a cluster in place; return the new number of items. A composed item replaces the raw characters of both of its
    parts.
    """
    starter, has_starter, last, filled = U0, False, np.uint8(0), U0
    for index in range(count):
        item = items[np.uint64(index)]
        code, taken = part_of(item)
        rank, whole = ranks[code], U0
        if has_starter and (last < rank or starter + U1 == filled):
            whole = composite(part_of(items[starter])[0], code, pairs)
        if whole:
            items[starter] = pack_part(whole, part_of(items[starter])[1] + taken)
            continue
        if not rank:
            starter, has_starter = filled, True
        items[filled] = item
        filled += U1
        last = rank
    return filled


@inlined
def put_place(first, last, places, written):
    """Append the span of a character if spans are requested; return the new number of characters in any case."""
    if len(places):
        places[written] = pack_span(first, last)
    return written + U1


@inlined
def put_cluster(count, normalizer, work, text, filled, places, written):
    """Map the items of a cluster to characters and write them; return the new number of bytes and of characters."""
    items, origins, following = work.items, work.origins, U0
    numbers, ends, lists = normalizer.last_numbers, normalizer.last_ends, normalizer.last_lists
    for index in range(count):
        item = items[np.uint64(index)]
        code, taken = part_of(item)
        origin = np.uint64(origins[following if taken or following == U0 else following - U1])
        following += taken
        number = np.uint64(numbers[code])
        if number == U0:
            filled = put_code(code, text, filled)
            written = put_place(origin, origin + U1, places, written)
        else:
            for place in range(np.uint64(ends[number - U1]), np.uint64(ends[number])):
                image = np.uint64(lists[place]) & (FIRST_PART - U1)
                filled = put_code(code if image == ITSELF else image, text, filled)
                written = put_place(origin, origin + U1, places, written)
    return filled, written


@inlined
def copy_text(text, at, end, origin, into, filled, places, written):
    """Copy text that does not change, and the spans of its characters; return the new number of bytes and of characters."""
    if len(places):
        for index in range(at, end):
            if np.uint64(text[np.uint64(index)]) & ~LOW_6 != CONTINUATION:
                written = put_place(origin, origin + U1, places, written)
                origin += U1
    return copy_run(text, at, end, into, filled), written


@part
def normalise(text, at, end, origin, normalizer, work, into, filled, places, written):
    """Normalize and write a stretch, the text between two added tokens.

    Args:
        text, at, end: the stretch.
        origin: the index of the stretch's first character in the raw text.
        normalizer, work: as in `rewrite`.
        into, filled: the output array of bytes, and the number of bytes in the array.
        places, written: the output array of spans, and the number of characters in the output.

    Returns:
        The new number of bytes and of characters.
    """
    kinds = normalizer.kinds
    while at < end:
        start = at
        while at < end and text[at] < ASCII_END and normalizer.ascii[text[at]] != NO_ASCII:
            into[filled] = normalizer.ascii[text[at]]
            filled += U1
            written = put_place(origin, origin + U1, places, written)
            at, origin = at + U1, origin + U1
        if at == end:
            break
        if at > start:  # undo the last character, because the next character may change it
            at, origin, filled, written = at - U1, origin - U1, filled - U1, written - U1
        start, first, last, last_origin = at, origin, at, origin
        code, after = code_at(text, at)
        while at < end and not kinds[code] & CHANGES:
            last, last_origin = at, origin
            at, origin = after, origin + U1
            if at < end:
                code, after = code_at(text, at)
        if at == end:
            filled, written = copy_text(text, start, end, first, into, filled, places, written)
            break
        filled, written = copy_text(text, start, last, first, into, filled, places, written)
        count = characters = U0
        at, origin = last, last_origin
        code, after = code_at(text, at)
        while at < end and (at == last or kinds[code] & CHANGES):
            count, characters = put_parts(code, origin, count, characters, normalizer, work)
            at, origin = after, origin + U1
            if at < end:
                code, after = code_at(text, at)
        sort_marks(count, normalizer.ranks, work)
        if normalizer.scalars.composes:
            count = compose(work.items, count, normalizer.ranks, normalizer.pairs)
        filled, written = put_cluster(count, normalizer, work, into, filled, places, written)
    return filled, written
