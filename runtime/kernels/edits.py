"""Edits of a stretch between added tokens. `fst.edits.Edit.apply` specifies the result.

Each edit reads the stretch in one array and writes it into another one. Kernels require what `fst.runtime.kernels.normalisation` requires.
"""

from __future__ import annotations

import numpy as np

from fst import edits as of
from fst.jit import inlined, part
from fst.machines import rewriting_arguments
from fst.machines.rewriting_arguments import CONTENT, CONTENT_END, KIND, LEAST, LEFT, RIGHT, RUN, RUN_END, STRING, STRING_END
from fst.runtime.kernels.normalisation import code_at, copy_text, normalise, start_before
from fst.runtime.kernels.numbers import HALF, LOW_HALF, U0, U1
from fst.runtime.kernels.utf_8 import count_characters

WHITE = np.uint8(rewriting_arguments.WHITE)
STRIP, PREPEND, REPLACE = (np.uint64(of.KINDS.index(kind)) for kind in (of.STRIP, of.PREPEND, of.REPLACE))
BEFORE, ALL = 0, 1  # indices into `EditArguments.counts`


@inlined
def copy(text, begin, stop, own, index, into, filled, places, written):
    """Copy characters and their spans, of which the first is that of a number. Returns the new counts."""
    for at in range(begin, stop):
        into[filled] = text[np.uint64(at)]
        filled += U1
    if len(own):
        for _ in range(count_characters(text, begin, stop)):
            places[written] = own[index]
            index += U1
            written += U1
    return filled, written


@inlined
def put_content(row, index, own, strings, into, filled, places, written):
    """Write the content of an edit, whose characters have the span of a number. Returns the new counts."""
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
    """Whether a character belongs to the runs of an edit."""
    at = row[RUN]
    while at < row[RUN_END] and code > runs[at, 1]:
        at += U1
    return at < row[RUN_END] and code >= runs[at, 0]


@part
def length_at(row, text, at, stop, edits):
    """How many bytes an edit replaces from a position on."""
    if row[KIND] == REPLACE:
        size = row[STRING_END] - row[STRING]
        if size > stop - at:
            return U0
        for index in range(size):
            if text[at + np.uint64(index)] != edits.strings[row[STRING] + np.uint64(index)]:
                return U0
        return size
    end, count = at, U0
    while end < stop:
        code, after = code_at(text, end)
        if not holds(row, code, edits.runs):
            break
        end, count = after, count + U1
    return end - at if count >= row[LEAST] else U0


@part
def replace(row, text, stop, own, edits, into, places):
    """Put the content of an edit in place of what it replaces. Returns the size."""
    at = index = filled = written = U0
    while at < stop:
        length = length_at(row, text, at, stop, edits)
        if length:
            index += count_characters(text, at, at + length)
            filled, written = put_content(row, index - U1, own, edits.strings, into, filled, places, written)
            at += length
        else:
            _, after = code_at(text, at)
            filled, written = copy(text, at, after, own, index, into, filled, places, written)
            at, index = after, index + U1
    return filled


@part
def strip(row, text, stop, own, is_inside, kinds, into, places):
    """Copy a stretch without white space at its ends; it has no begin if text stands before. Returns the size."""
    begin = U0
    while row[RIGHT] and stop > U0 and kinds[code_at(text, start_before(text, stop))[0]] & WHITE:
        stop = start_before(text, stop)
    while row[LEFT] and not is_inside and begin < stop and kinds[code_at(text, begin)[0]] & WHITE:
        _, begin = code_at(text, begin)
    filled, _ = copy(text, begin, stop, own, count_characters(text, U0, begin), into, U0, places, U0)
    return filled


@part
def edit(first, last, is_inside, size, rewriter, work):
    """Apply some edits to the stretch in `work`. Returns its size.

    Args:
        first, last: the number of the first edit, and one past the last.
        is_inside: whether text stands before the stretch.
        size: of the stretch.
        rewriter, work: as in `fst.runtime.kernels.rewriting.rewrite`.
    """
    edits, stretch, own, spare, places = rewriter.edits, work.stretch, work.stretch_places, work.spare, work.spare_places
    for number in range(first, last):
        row = edits.rows[np.uint64(number)]
        if row[KIND] == STRIP:
            filled = strip(row, stretch, size, own, is_inside, rewriter.kinds, spare, places)
        elif row[KIND] == PREPEND:
            filled = written = U0
            if size and not is_inside:
                filled, written = put_content(row, U0, own, edits.strings, spare, filled, places, written)
            filled, _ = copy(stretch, U0, size, own, U0, spare, filled, places, written)
        else:
            filled = replace(row, stretch, size, own, edits, spare, places)
        size, _ = copy(spare, U0, filled, places, U0, stretch, U0, own, U0)
    return size


@part
def normalise_and_edit(text, begin, stop, origin, is_inside, rewriter, work):
    """Normalise a stretch between tokens of the raw text into `work`, with all edits. Returns its size.

    The arguments are as in `fst.runtime.kernels.rewriting.put_stretch`.
    """
    stretch, own, before = work.stretch, work.stretch_places, rewriter.edits.counts[BEFORE]
    if before:
        size, _ = copy_text(text, begin, stop, origin, stretch, U0, own, U0)
        size = edit(U0, before, is_inside, size, rewriter, work)
        filled, written = normalise(stretch, U0, size, U0, rewriter, work, work.spare, U0, work.spare_places, U0)
        for index in range(written if len(own) else U0):
            place = work.spare_places[index]
            work.spare_places[index] = own[place & LOW_HALF] & LOW_HALF | own[(place >> HALF) - U1] >> HALF << HALF
        size, _ = copy(work.spare, U0, filled, work.spare_places, U0, stretch, U0, own, U0)
    else:
        size, _ = normalise(text, begin, stop, origin, rewriter, work, stretch, U0, own, U0)
    return edit(before, rewriter.edits.counts[ALL], is_inside, size, rewriter, work)
