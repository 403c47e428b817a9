"""Rewrite texts to the outputs of their best paths. `fst.machines.best_path.table` describes paths, and its slow walk is their
specification.

    text    t  h  e     3     c  a  t  s
    layers  →  →  →  →  →  →  →  →  →  →     `walk`: one look-up a byte; a layer that is not kept yet is made
    path    ←  ←  ←  ←  ←  ←  ←  ←  ←  ←     `write`: twice, to find the size of the output and to write it from its end

Memory is bounded, but texts are not. So when the arrays are full, or a part of a text ends, `settle` finds the last *certain* item: the
item that is on the paths to all items of the current layer. `settle` writes the path up to the certain item. The state of the certain item
and the position after it are a *place*, from which reading continues. If there is no certain item after the current place, the caller must
enlarge the arrays.

Kernels check nothing, and require UTF-8, and a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.best_path import arguments
from fst.runtime.kernels.constants import U0, U1, U8
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.machines.best_path.kernels.layers import (
    DEAD,
    EPSILON,
    NO_ARC,
    NO_ROOM,
    WIDE,
    back_of,
    begin_layer,
    clear,
    move_of,
    next_layer,
)

ROW, FILLED, AT, STATE, REPORT = arguments.ROW, arguments.FILLED, arguments.AT, arguments.STATE, arguments.REPORT
CLOCK, START = arguments.CLOCK, arguments.START
DONE, FULL, NEEDS_OUTPUT, NO_PATH, TOO_WIDE = (
    np.uint64(result)
    for result in (arguments.DONE, arguments.FULL, arguments.NEEDS_OUTPUT, arguments.NO_PATH, arguments.TOO_WIDE)
)


@inlined
def string_bounds(arc, table):
    """Return the begin and the end of the string that an arc writes."""
    string = np.uint64(table.outputs[arc])
    return np.uint64(table.string_ends[string - U1]) if string else U0, np.uint64(table.string_ends[string])


@inlined
def back_at(depth, item, work):
    """For an item, return the item before the last arc, and the last arc; `depth` is the place of the item's layer in the trail."""
    return back_of(work.backs[np.uint64(work.trail[depth]) + item])


@part
def size_of(depth, item, table, work):
    """Measure the output of the path to an item.

    Args:
        depth, item: the place of the item's layer in the trail, and the number of the item in this layer.
    """
    size = U0
    item, arc = back_at(depth, item, work)
    while arc != NO_ARC:
        start, end = string_bounds(arc, table)
        size += end - start
        depth -= np.uint64(np.uint64(table.labels[arc]) != EPSILON)
        item, arc = back_at(depth, item, work)
    return size


@inlined
def put_spans(spans, start, at, out_spans, filled, end):
    """Give the bytes from `filled` to `end` of the output the span of the byte before a position of the text; at the start of the row,
    `start`, an empty span.
    """
    first = last = 0
    if at > start:
        first, last = spans[(at - U1) << U1], spans[(at << U1) - U1]
    for index in range(filled, end):
        place = np.uint64(index) << U1
        out_spans[place], out_spans[place | U1] = first, last


@part
def write(depth, item, start, place, spans, out, out_spans, table, work):
    """Write the output of the path to an item, given as in `size_of`; return `DONE` or `NEEDS_OUTPUT`. `start` is the start of the row."""
    at = place[FILLED] + size_of(depth, item, table, work)
    if at > np.uint64(len(out)):
        place[REPORT] = at
        return NEEDS_OUTPUT
    place[FILLED] = at
    item, arc = back_at(depth, item, work)
    while arc != NO_ARC:
        first, last = string_bounds(arc, table)
        if len(spans):
            put_spans(spans, start, place[AT] + depth, out_spans, at - (last - first), at)
        at -= last - first
        put_bytes(table.string_bytes, first, last, out, at)
        depth -= np.uint64(np.uint64(table.labels[arc]) != EPSILON)
        item, arc = back_at(depth, item, work)
    return DONE


@part
def last_certain(depth, count, table, work):
    """Find the last item that lies on the paths to all items of a layer.

    Args:
        depth, count: the place of the layer in the trail, and the number of items in the layer.

    Returns:
        The place of the item's layer in the trail, and the item. If the place is 0, there is no item after the start of the trail.
    """
    items = work.queue  # the items of one layer that are on the paths
    for index in range(count):
        items[np.uint64(index)] = index
    while depth > U0 and count > U1:
        work.counts[CLOCK] += U1
        kept, first = U0, np.uint64(work.trail[depth])
        for index in range(count):
            item, arc = back_of(work.backs[first + np.uint64(items[np.uint64(index)])])
            while np.uint64(table.labels[arc]) == EPSILON:
                item, arc = back_of(work.backs[first + item])
            if work.marks[item] != work.counts[CLOCK]:
                work.marks[item] = work.counts[CLOCK]
                items[kept] = item
                kept += U1
        depth, count = depth - U1, kept
    return depth, np.uint64(items[U0])


@part
def settle(depth, move, start, place, spans, out, out_spans, table, work):
    """Write the path up to the last certain item, and move the place to the position after this item.

    Args:
        depth, move: the current layer's place in the trail, and the move to it.
        start: the start of the row.

    Returns:
        `DONE`, `FULL` if there is no certain item after the place, or `NEEDS_OUTPUT`.
    """
    layer, _ = move_of(move)
    depth, item = last_certain(depth, np.uint64(work.begins[layer + U1]) - np.uint64(work.begins[layer]), table, work)
    if depth == U0:
        return FULL
    if write(depth, item, start, place, spans, out, out_spans, table, work) == NEEDS_OUTPUT:
        return NEEDS_OUTPUT
    place[AT] += depth
    place[STATE] = table.targets[back_at(depth, item, work)[1]]
    return DONE


@part
def start_at(state, table, work):
    """Return the move to the layer of a state and its ε-arcs, or `NO_ROOM` or `WIDE`. The layer at the start of a text is made once."""
    if state != table.start[0]:
        return begin_layer(state, table, work)
    if work.counts[START] == U0:
        move = begin_layer(state, table, work)
        if move == WIDE:
            return move
        work.counts[START] = move
    return work.counts[START]


@part
def walk(text, at, end, move, table, work):
    """Make the trail of a text, given the move to its first layer.

    Returns:
        The position where reading stopped, the move to the layer there, and the next move, if it is the reason to stop: `NO_ROOM`, `WIDE`,
        or a move to `DEAD`.
    """
    trail, moves, depth = work.trail, work.moves, U0
    layer, trail[depth] = move_of(move)
    last = min(end, at + np.uint64(len(trail)) - U1)
    while at < last:
        byte = np.uint64(text[at])
        following = moves[layer << U8 | byte]
        if following == NO_ROOM:
            following = next_layer(layer, byte, table, work)
        if following in (NO_ROOM, WIDE) or move_of(following)[0] == DEAD:
            return at, move, following
        move = following
        at += U1
        depth += U1
        layer, trail[depth] = move_of(move)
    return at, move, move


@part
def end_row(start, stop, move, place, spans, out, out_spans, table, work):
    """Write the end of a complete row, given the move to its last layer; return the result."""
    end = np.uint64(work.ends[move_of(move)[0]])
    if end == U0:
        place[REPORT] = stop
        return NO_PATH
    return write(stop - place[AT], end - U1, start, place, spans, out, out_spans, table, work)


@part
def rewrite_row(text, start, end, is_open, place, spans, out, out_spans, table, work):
    """Rewrite a row from the current place on; return the result."""
    is_new = False  # whether all kept layers were made since the current place was reached
    while True:
        move = start_at(place[STATE], table, work)
        if move == NO_ROOM:
            clear(work)
            is_new, move = True, start_at(place[STATE], table, work)
        at, following = place[AT], move
        if move != WIDE:
            at, move, following = walk(text, at, end, move, table, work)
        if following == WIDE or move_of(following)[0] == DEAD:
            place[REPORT] = at
            return TOO_WIDE if following == WIDE else NO_PATH
        if at == end and not is_open:
            return end_row(start, end, move, place, spans, out, out_spans, table, work)
        result = settle(at - place[AT], move, start, place, spans, out, out_spans, table, work)
        if at == end:
            return DONE if result == FULL else result
        if result == NEEDS_OUTPUT or (result == FULL and (is_new or following != NO_ROOM)):
            return result
        is_new = following == NO_ROOM
        if is_new:
            clear(work)


@inlined
def copy_row(text, start, end, filled, place, spans, out, out_spans):
    """Copy a row without a path, after the first `filled` bytes of the output; return the result."""
    if filled + (end - start) > np.uint64(len(out)):
        place[REPORT] = filled + (end - start)
        return NEEDS_OUTPUT
    place[FILLED] = put_bytes(text, start, end, out, filled)
    if len(spans):
        for index in range((end - start) << U1):
            out_spans[(filled << U1) + np.uint64(index)] = spans[(start << U1) + np.uint64(index)]
    return DONE


@kernel
def rewrite(text, starts, more, place, spans, out, out_starts, out_spans, table, work):
    """Rewrite rows of text.

    Args:
        text: uint8[n]; starts: int64[rows + 1], the start of each row, and the end of the last row.
        more: uint64, 1 if the last row continues in the next call, which then passes the text from ``place[AT]`` on.
        place: uint64[5], the place where the call begins; after the call, the place where the next call continues. `ROW`: the row. `AT`:
            the position in the text.
            `STATE`: the state at this position. `FILLED`: the number of bytes in the output. `REPORT`: see below.
        spans: int32[2 * n], the span of each byte of `text`: the first character that became the byte, and one past the last character;
            empty if no spans are requested.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last row. The first element is not written.
        out_spans: int32[2 * capacity], the output, or empty.
        table: `fst.machines.best_path.arguments.Arguments`; work: `fst.machines.best_path.arguments.Work`.

    Returns:
        `DONE`, or the reason why the call stopped in a row: `FULL`: call again with larger working arrays. `NEEDS_OUTPUT`: call again with
        an output of at least ``place[REPORT]`` bytes, the first ``place[FILLED]`` of which are kept. `NO_PATH`, `TOO_WIDE`: the text has no
        path, or the weights of its paths differ too much; ``place[REPORT]`` is the position.
    """
    rows = np.uint64(len(starts)) - U1
    while place[ROW] < rows:
        row = place[ROW]
        start, end, is_open = np.uint64(starts[row]), np.uint64(starts[row + U1]), more != U0 and row + U1 == rows
        result = rewrite_row(text, start, end, is_open, place, spans, out, out_spans, table, work)
        if result == NO_PATH and table.copies[0]:
            result = copy_row(text, start, end, np.uint64(out_starts[row]), place, spans, out, out_spans)
        if result != DONE or is_open:
            return result
        out_starts[row + U1] = place[FILLED]
        place[ROW], place[AT], place[STATE] = row + U1, end, table.start[0]
    return DONE
