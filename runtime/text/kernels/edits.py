"""Apply edits to a stretch, the text between two added tokens. `fst.text.edits.Edit.apply` specifies the result.

Each edit reads the stretch from one array and writes the result to another array. The requirements of
`fst.runtime.text.kernels.composition` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.spans import join_spans, pack_span, span_of
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK, copy_run, count_characters
from fst.runtime.text.kernels.charsmap import replace_strings
from fst.runtime.text.kernels.composition import code_at, copy_text, normalise, put_place, start_before
from fst.runtime.text.kernels.stops import next_stop
from fst.runtime.text.kernels.whitespace import SPACE_BYTE
from fst.text import arguments, charsmap, stops
from fst.text import edits as of
from fst.text.arguments import CONTENT, CONTENT_END, KIND, LEAST, LEFT, RIGHT, RUN, RUN_END, STRING, STRING_END
from fst.text.whitespace import BREAK

WHITE, BREAK_BYTE = np.uint8(arguments.WHITE), np.uint8(ord(BREAK))
STOPS_SIZE = np.uint64(stops.SIZE)
STRIP, PREPEND, REPLACE, SPACES, CHARSMAP = (
    np.uint64(of.ALL_KINDS.index(kind)) for kind in (of.STRIP, of.PREPEND, of.REPLACE, of.SPACES, charsmap.CHARSMAP)
)


@inlined
def copy(text, start, end, own, index, into, filled, places, written):
    """Copy characters, and the spans of the characters, which begin at ``own[index]``; return the new number of bytes and of characters."""
    filled = copy_run(text, start, end, into, filled)
    if len(own):
        for _ in range(count_characters(text, start, end)):
            places[written] = own[index]
            index += U1
            written += U1
    return filled, written


@inlined
def put_content(row, index, own, strings, into, filled, places, written):
    """Write the replacement of an edit, each character with the span ``own[index]``; return the new number of bytes and of characters."""
    for at in range(row[CONTENT], row[CONTENT_END]):
        into[filled] = strings[np.uint64(at)]
        filled += U1
    if len(own):
        for _ in range(count_characters(strings, row[CONTENT], row[CONTENT_END])):
            places[written] = own[index]
            written += U1
    return filled, written


@inlined
def holds(row, code, runs):
    """Whether an edit applies to a character, that is, whether one of the edit's ranges of code points contains it."""
    at = row[RUN]
    while at < row[RUN_END] and code > runs[at, 1]:
        at += U1
    return at < row[RUN_END] and code >= runs[at, 0]


@inlined
def has_string(row, text, at, stop, edits):
    """Whether an edit's string is found at a position."""
    size, index = row[STRING_END] - row[STRING], U0
    if size > stop - at:
        return False
    while index < size and text[at + index] == edits.strings[row[STRING] + index]:
        index += U1
    return index == size


@inlined
def is_at_edges(row, text, at, end, stop):
    """Whether a run begins and ends a line as far as an edit requires this."""
    begins = not row[LEFT] or at == U0 or text[at - U1] == BREAK_BYTE
    return begins and (not row[RIGHT] or end == stop or text[end] == BREAK_BYTE)


@inlined
def match_of(row, text, at, stop, edits):
    """Find how many bytes an edit reads at a position, and whether it replaces them."""
    end, count = at, U0
    while row[KIND] != REPLACE and end < stop:
        code, after = code_at(text, end)
        if not holds(row, code, edits.runs):
            break
        end, count = after, count + U1
    is_run = row[KIND] == REPLACE or (count >= row[LEAST] and is_at_edges(row, text, at, end, stop))
    if is_run and has_string(row, text, end, stop, edits):
        return end + (row[STRING_END] - row[STRING]) - at, True
    return end - at, False


@inlined
def replace(row, table, text, end, own, edits, into, places):
    """Replace all matches of an edit; return the size of the result in bytes.

    Args:
        row, table: the edit, and the start of its table in ``edits.stops``.
        text, end, own: the stretch, and the spans of its characters.
        edits: all edits.
        into, places: the output arrays: bytes, and the span of each character.
    """
    at = copied = index = filled = written = U0
    while at < end:
        at = next_stop(text, at, end, edits.stops, table)
        length, is_match = match_of(row, text, at, end, edits) if at < end else (U0, False)
        if is_match:
            filled, written, index = copy_more(text, copied, at, own, index, into, filled, places, written)
            index += count_characters(text, at, at + length) if len(own) else U0
            filled, written = put_content(row, index - U1, own, edits.strings, into, filled, places, written)
            copied = at + length
        at += max(length, U1)
    filled, _, _ = copy_more(text, copied, end, own, index, into, filled, places, written)
    return filled


@inlined
def copy_more(text, start, end, own, index, into, filled, places, written):
    """Copy characters and spans as in `copy`; return also the index of the next character."""
    before = written
    filled, written = copy(text, start, end, own, index, into, filled, places, written)
    return filled, written, index + (written - before)


@inlined
def strip(row, text, end, own, is_inside, kinds, into, places):
    """Copy a stretch without the whitespace at its ends, and return the new size. Whitespace at the start is not removed if text precedes
    the stretch.
    """
    start = U0
    while row[RIGHT] and end > U0 and kinds[code_at(text, start_before(text, end))[0]] & WHITE:
        end = start_before(text, end)
    while row[LEFT] and not is_inside and start < end and kinds[code_at(text, start)[0]] & WHITE:
        _, start = code_at(text, start)
    filled, _ = copy(text, start, end, own, count_characters(text, U0, start), into, U0, places, U0)
    return filled


@inlined
def stands_at_end(row, text, end, edits):
    """Return the size of the space, or of the edit's string, at the end of a text; 0 if the text ends with neither."""
    if end and text[end - U1] == SPACE_BYTE:
        return U1
    size = row[STRING_END] - row[STRING]
    return size if size <= end and has_string(row, text, end - size, end, edits) else U0


@inlined
def space(row, text, stop, own, origin, end, is_inside, more, edits, into, places):
    """Apply an edit of kind `SPACES`, see `fst.text.edits.Edit`; return the size of the result. Other arguments are as in `strip`.

    Args:
        origin, end: the index of the stretch's first character in the raw text, and one past the last character.
        more: whether text follows, so that no space is added at the end.
    """
    removes, has_spans, puts = row[RIGHT] > U0, len(own) > 0, row[CONTENT_END] > row[CONTENT] and not more
    at = index = filled = written = U0
    begun = origin
    while removes and not is_inside and at < stop and text[at] == SPACE_BYTE and (not has_spans or span_of(own[index])[0] == begun):
        begun = span_of(own[index])[1] if has_spans else begun
        at, index = at + U1, index + U1
    if removes and not is_inside and at == stop and (not has_spans or begun == end):
        return U0
    if row[LEFT] and not is_inside:
        into[filled] = SPACE_BYTE
        filled, written = filled + U1, put_place(begun, begun, places, written)
    was_space = removes and not is_inside
    while at < stop:
        byte = text[at]
        is_first, is_space = byte & LEAD_MASK != CONTINUES, byte == SPACE_BYTE
        if not (was_space and is_space):
            into[filled] = byte
            filled += U1
            if has_spans and is_first:
                places[written] = own[index]
                written += U1
        was_space = removes and is_space
        at, index = at + U1, index + np.uint64(is_first)
    size = stands_at_end(row, into, filled, edits) if removes else U0
    while size:
        filled -= size
        if has_spans:
            written -= U1
            end, _ = span_of(places[written])
        size = stands_at_end(row, into, filled, edits)
    if puts:
        into[filled] = SPACE_BYTE
        filled, written = filled + U1, put_place(end, end, places, written)
    for place in range(written if has_spans else U0):
        after = np.uint64(place) + U1
        places[place] = pack_span(span_of(places[place])[0], span_of(places[after])[0] if after < written else end)
    return filled


@part
def edit(first, last, origin, end, is_inside, more, size, is_spare, normalizer, work):
    """Apply edits to the stretch in `work`; return the size of the result, and 1 if the result is in the spare array, otherwise 0.

    Args:
        first, last: the index of the first edit, and one past the last edit.
        origin, end: the index of the stretch's first character in the raw text, and one past the last character.
        is_inside, more: whether text, not an added token, directly precedes the stretch; and whether text directly follows it.
        size, is_spare: the size of the stretch; and uint64, 1 if the stretch is in the spare array (for a literal bool, numba would compile
            the function again).
        normalizer, work: as in `fst.runtime.text.kernels.normalizer.rewrite`.
    """
    edits, stretch, own, into, places = normalizer.edits, work.stretch, work.stretch_places, work.spare, work.spare_places
    if is_spare:
        stretch, own, into, places = into, places, stretch, own
    for number in range(first, last):
        row = edits.rows[np.uint64(number)]
        if row[KIND] == STRIP:
            size = strip(row, stretch, size, own, is_inside, normalizer.kinds, into, places)
        elif row[KIND] == PREPEND:
            filled = written = U0
            if size and not is_inside:
                filled, written = put_content(row, U0, own, edits.strings, into, filled, places, written)
            size, _ = copy(stretch, U0, size, own, U0, into, filled, places, written)
        elif row[KIND] == SPACES:
            size = space(row, stretch, size, own, origin, end, is_inside, more, edits, into, places)
        elif row[KIND] == CHARSMAP:
            size = replace_strings(stretch, size, own, normalizer.charsmap, into, places)
        else:
            size = replace(row, np.uint64(number) * STOPS_SIZE, stretch, size, own, edits, into, places)
        stretch, own, into, places = into, places, stretch, own
        is_spare ^= U1
    return size, is_spare


@part
def normalise_and_edit(text, start, stop, origin, is_inside, more, normalizer, work):
    """Normalize a stretch of the raw text, and apply all edits; return the size of the result, and 1 if the result is in the spare array,
    otherwise 0.

    The arguments are as in `fst.runtime.text.kernels.normalizer.put_stretch`.
    """
    before, every, has_maps = normalizer.scalars.edits_before, normalizer.scalars.edits, normalizer.scalars.has_maps
    end = origin + (count_characters(text, start, stop) if len(work.stretch_places) else U0)
    if has_maps and not before:
        size, _ = normalise(text, start, stop, origin, normalizer, work, work.stretch, U0, work.stretch_places, U0)
        return edit(U0, every, origin, end, is_inside, more, size, U0, normalizer, work)
    size, _ = copy_text(text, start, stop, origin, work.stretch, U0, work.stretch_places, U0)
    size, is_spare = edit(U0, before, origin, end, is_inside, more, size, U0, normalizer, work)
    if has_maps:
        stretch, own, into, places = work.stretch, work.stretch_places, work.spare, work.spare_places
        if is_spare:
            stretch, own, into, places = into, places, stretch, own
        size, written = normalise(stretch, U0, size, U0, normalizer, work, into, U0, places, U0)
        for index in range(written if len(own) else U0):
            first, end_of_part = span_of(places[index])
            places[index] = join_spans(own[first], own[end_of_part - U1])
        is_spare ^= U1
    return edit(before, every, origin, end, is_inside, more, size, is_spare, normalizer, work)
