"""Replace the strings of a charsmap in a stretch, the text between two added tokens. `fst.text.charsmap.Charsmap.apply` specifies the
result.

A *hit* is a character that is a string of the charsmap, or the second character of a string. Kernels search for strings only around hits,
and copy all other characters.

`fst.text.charsmap_arguments` describes the arguments. The requirements of `fst.runtime.text.kernels.composition` apply, and
`fst.automata.double_array.read` must have checked the double array.
"""

from __future__ import annotations

import numpy as np

from fst.automata import double_array
from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.spans import join_spans, pack_span, span_of
from fst.runtime.kernels.unicode import CONTINUATION
from fst.runtime.kernels.utf_8 import LOW_6, copy_run, count_characters
from fst.runtime.text.kernels.composition import code_at, start_before
from fst.runtime.text.kernels.stops import next_stop
from fst.text import charsmap as of
from fst.text import clusters
from fst.text.charsmap_arguments import IS_SECOND as SECOND_BIT

SHORT, IS_SECOND = np.uint64(of.SHORT), np.uint8(SECOND_BIT)
APART, TOGETHER, IN_CONJUNCT, IN_PICTOGRAPH = (
    np.uint8(found) for found in (clusters.APART, clusters.TOGETHER, clusters.IN_CONJUNCT, clusters.IN_PICTOGRAPH)
)
CONSONANT, PICTOGRAPH, EXTEND, LINKER, NONJOINER, JOINER = (
    np.uint8(kind)
    for kind in (clusters.CONSONANT, clusters.PICTOGRAPH, clusters.EXTEND, clusters.LINKER, clusters.NONJOINER, clusters.JOINER)
)
LABEL, HAS_VALUE, IS_SHIFTED, VALUE = (
    np.uint64(bits) for bits in (double_array.LABEL, double_array.HAS_VALUE, double_array.IS_SHIFTED, double_array.VALUE - 1)
)
OFFSET_SHIFT, SHIFT = np.uint64(double_array.OFFSET_SHIFT), np.uint64(double_array.SHIFT)
OFFSET = np.uint64((1 << 21) - 1)


@inlined
def base_of(node, units):
    """Compute the base of a node in the double array, which is the position of the node's children."""
    unit = np.uint64(units[node])
    return node ^ (unit >> OFFSET_SHIFT & OFFSET) << (SHIFT if unit & IS_SHIFTED else U0)


@inlined
def find(text, at, end, is_shortest, charsmap):
    """Find the shortest or the longest string of the charsmap that begins at a position.

    Returns:
        The size of the string, and the index of its replacement text plus 1; 0 and 0 if no string begins there.
    """
    units = charsmap.units
    base, size, value = base_of(U0, units), U0, U0
    for place in range(at, end):
        byte = np.uint64(text[place])
        node = base ^ byte
        if byte == U0 or np.uint64(units[node]) & LABEL != byte:
            break
        base = base_of(node, units)
        if np.uint64(units[node]) & HAS_VALUE:
            size, value = np.uint64(place) + U1 - at, (np.uint64(units[base]) & VALUE) + U1
            if is_shortest:
                break
    return size, value


@inlined
def class_before(text, at, classes):
    """Look up the cluster class of the character before a position."""
    return classes[code_at(text, start_before(text, at))[0]]


@part
def is_joined(text, at, found, classes):
    """Whether a character belongs to the cluster of the previous character, where the rule `found` depends on the text before both
    characters.
    """
    has_linker = False
    if found == IN_PICTOGRAPH:
        at = start_before(text, at)  # the joiner
    while at > U0:
        kind = class_before(text, at, classes)
        is_between = kind in (EXTEND, LINKER) or (kind == NONJOINER if found == IN_PICTOGRAPH else kind == JOINER)
        if not is_between:
            return kind == PICTOGRAPH if found == IN_PICTOGRAPH else has_linker and kind == CONSONANT
        has_linker = has_linker or kind == LINKER
        at = start_before(text, at)
    return False


@inlined
def is_together(text, at, kind, charsmap):
    """Whether the character at a position, of class `kind`, belongs to the cluster of the previous character."""
    found = charsmap.pairs[class_before(text, at, charsmap.classes), kind]
    return found == TOGETHER or (found > TOGETHER and is_joined(text, at, found, charsmap.classes))


@inlined
def are_apart(text, at, code, charsmap):
    """Whether no cluster contains both a character and the previous character; True if the charsmap does not use clusters."""
    return not charsmap.scalars.in_clusters or charsmap.pairs[class_before(text, at, charsmap.classes), charsmap.classes[code]] == APART


@inlined
def cluster_at(text, at, stop, charsmap):
    """Find the start and the end of the cluster around a character; for a cluster of `SHORT` or more bytes, return `at` twice."""
    classes = charsmap.classes
    code, end = code_at(text, at)
    start, kind = at, classes[code]
    while start > U0 and end - start < SHORT and is_together(text, start, kind, charsmap):
        start = start_before(text, start)
        kind = classes[code_at(text, start)[0]]
    while end < stop and end - start < SHORT:
        code, after = code_at(text, end)
        if not is_together(text, end, classes[code], charsmap):
            break
        end = after
    return (start, end) if end - start < SHORT else (at, at)


@inlined
def string_in_cluster(text, at, after, code, stop, charsmap):
    """Find the string at a hit by clusters; return its begin, its end, and the index of its replacement text plus 1; the index is 0 if
    nothing is replaced.
    """
    start, end = cluster_at(text, at, stop, charsmap)
    if end - start > after - at:
        first, _ = code_at(text, start)
        value = np.uint64(charsmap.values[first])
        if value == U0:
            _, value = find(text, start, end, True, charsmap)
        if value:
            return start, end, value
    return at, after, np.uint64(charsmap.values[code])


@inlined
def longest_string(text, lowest, at, after, code, end, charsmap):
    """Find the longest string at a hit that does not begin before `lowest`; the result is as in `string_in_cluster`."""
    if at > lowest and charsmap.kinds[code] & IS_SECOND:
        before = start_before(text, at)
        size, value = find(text, before, end, False, charsmap)
        if size:
            return before, before + size, value
    size, value = find(text, at, end, False, charsmap)
    return (at, at + size, value) if size else (at, after, U0)


@inlined
def next_hit(text, at, end, charsmap):
    """Find the next hit; return its position, the position after the hit, and its code point; `end`, `end` and 0 if there is no hit."""
    at = next_stop(text, at, end, charsmap.stops, U0)
    while at < end:
        code, after = code_at(text, at)
        if charsmap.kinds[code]:
            return at, after, code
        at = next_stop(text, after, end, charsmap.stops, U0)
    return end, end, U0


@inlined
def put_text(texts, place, into, filled):
    """Copy a replacement text, which ends at a NUL; return the new number of bytes, and the number of characters of the text."""
    count = U0
    while texts[place]:
        byte = texts[place]
        into[filled] = byte
        filled, place = filled + U1, place + U1
        count += np.uint64(np.uint64(byte) & ~LOW_6 != CONTINUATION)
    return filled, count


@inlined
def align(own, read, old, new, is_added, places, written):
    """Write the spans of the characters in a replacement text, as `fst.text.charsmap._aligned` does.

    Args:
        own, read: the spans of the stretch, and the index of the first replaced character.
        old, new: the number of replaced characters, and the number of characters in the replacement text.
        is_added: whether this replacement directly follows another replacement that added characters.
        places, written: the output array of spans, and the number of spans in the array.

    Returns:
        The new number of spans, and whether this replacement added characters.
    """
    if not new and is_added:
        places[written - U1] = own[read]
    for index in range(new):
        places[written] = own[read + min(np.uint64(index), old - U1)]
        written += U1
    return written, new > old


@inlined
def consume(own, read, old, new, extends, places, written):
    """Write the spans of the characters in a replacement text, as `fst.text.charsmap._consumed` does; return the new number of spans."""
    start, end = span_of(join_spans(own[read], own[read + old - U1]))
    if not new and written and extends:
        places[written - U1] = pack_span(span_of(places[written - U1])[0], end)
    for index in range(new):
        places[written] = pack_span(start, end if np.uint64(index) + U1 == new else start)
        written += U1
    return written


@inlined
def replace_strings(text, stop, own, charsmap, into, places):
    """Apply a charsmap to a stretch, and return the size of the result.

    Args:
        text, stop: the stretch.
        own: the spans of the stretch's characters; empty if spans are not requested.
        charsmap: the charsmap.
        into, places: the output arrays: bytes, and the span of each character.
    """
    in_clusters, has_spans = charsmap.scalars.in_clusters > U0, len(own) > 0
    at = index = filled = written = lag = U0  # `lag`: number of characters removed at the start, see `_aligned`
    is_added = False
    while at < stop:
        lowest = at
        hit, after, code = next_hit(text, at, stop, charsmap)
        start, end, value = hit, after, U0
        if hit < stop:
            if in_clusters:
                start, end, value = string_in_cluster(text, hit, after, code, stop, charsmap)
            else:
                start, end, value = longest_string(text, lowest, hit, after, code, stop, charsmap)
        copied = start if value else end
        filled = copy_run(text, lowest, copied, into, filled)
        if has_spans and copied > lowest:
            for _ in range(count_characters(text, lowest, copied)):
                places[written] = own[index - lag]
                written, index = written + U1, index + U1
            is_added = False
        if value:
            filled, new = put_text(charsmap.texts, value - U1, into, filled)
            if has_spans:
                old = count_characters(text, start, end)
                if not in_clusters:
                    written = consume(own, index, old, new, charsmap.scalars.extends > U0, places, written)
                elif new or written:
                    written, is_added = align(own, index - lag, old, new, is_added, places, written)
                else:
                    lag += old
                index += old
        at = end
    return filled
