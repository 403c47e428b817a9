"""The kernel of look-up over running text. `fst.machines.lookup.text_walk` describes the tokens, and specifies tokens and walk.

    row:    match ─→ token with analyses          letters ─→ unknown token          other character ─→ nothing

If a text continues, the kernel stops before the first token that later text may change, and the caller passes the units after this position
again. A row that takes too many steps gets the id SLOW.

Kernels check nothing, and require a table that has passed `Table.prove`, and text in UTF-16. If the ids do not fit into the output, they
are only counted.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U3
from fst.runtime.kernels.unicode import HIGH_SURROGATE, SURROGATE
from fst.runtime.machines.lookup.kernels.arcs import (
    ALONE,
    CURSOR,
    EPSILON,
    FAILED,
    FLAG_SHIFT,
    LAST,
    READ,
    READ_MASK,
    SLICE,
    TARGET,
    TOO_MANY,
    VALUE,
    VALUE_SHIFT,
    WRITTEN,
    arc_at,
    condition_of,
    frame_after,
    pack_read,
    pack_written,
    pauses_of,
    push,
    read_of,
    slice_of,
    written_of,
)
from fst.runtime.machines.lookup.kernels.found import FULL, MAX_ANALYSES, OVER, SLOW, collect_finals, put, put_analyses
from fst.runtime.machines.lookup.kernels.symbols import MAX_SYMBOLS, characters_of, is_letter, symbol_at

MAX_STEPS = np.uint64(layout.STEPS * 64)


@part
def section_of(state, frame, table, work):
    """Return 1 + the greatest section of a state's finals whose conditions hold, 0 if there is no such final, or `TOO_MANY`."""
    own = table.entries[state]
    final = own & TARGET
    last, found = final + (own >> VALUE_SHIFT & VALUE), U0
    while final < last:
        section = U1 + np.uint64(table.final_sections[final])
        if section > found:
            after = U0
            if table.features[0]:
                after = frame_after(np.uint64(table.final_conditions[final]), frame, table, work.registers)
            if after == TOO_MANY:
                return TOO_MANY
            found = found if after == FAILED else section
        final += U1
    return found


@part
def match(text, start, stop, only, table, work):
    """Find the longest match, and collect the analyses of this match unless it ends inside of a word. `work.ends` receives the ends of
    symbols.

    Args:
        start, stop: the position where matches begin, and the end of the text.
        only: the number of symbols of the match; 0 if unknown.

    Returns:
        The number of analyses; 0, `OVER`, or `FULL` if the row must be left to the slow walk; the number of symbols of the match; 1 + the
        section of the match, or 0 without a match; and the number of symbols that any path reads.
    """
    entries, stack, path = table.entries, work.stack, work.path
    is_conditioned, is_weighted = table.features[0] > U0, len(table.arc_weights) + len(table.final_weights) > 0
    steps, state, pauses = MAX_STEPS, table.begin[U0], table.begin[U1]
    count, depth, at, written, frame, weight = U0, U0, U0, U0, U0, np.float32(0)
    folded, rests = U0, U0  # whether a symbol was read in lower case; pauses since the last symbol
    best, section, over, reach, known = only, U0, U0, U0, U0
    work.ends[U0] = start
    for feature in range(table.features[0]):
        work.registers[feature] = 0
    while True:
        if (depth + U3) * SLICE > np.uint64(len(stack)) or written == np.uint64(len(path)):
            return count, FULL, best, section, reach
        reach = max(reach, at)
        finals = entries[state] >> VALUE_SHIFT & VALUE
        if finals and at > U0 and at >= best:
            if steps < finals:
                return count, FULL, best, section, reach
            steps -= finals
            found, is_inside = section_of(state, frame, table, work), only == U0 and is_letter(text, work.ends[at], stop, table)
            if found == TOO_MANY:
                return count, FULL, best, section, reach
            if found > np.uint64(is_inside):
                if at > best:
                    best, section, count, over = at, U0, U0, U0
                section = max(section, found)
                if not is_inside and not over:
                    count, over = collect_finals(
                        state, count, written, frame, weight, MAX_ANALYSES, at, folded, rests, table, work
                    )
                    if over == FULL:
                        return count, FULL, best, section, reach
        if at == known and (only == U0 or at < only) and work.ends[at] < stop:
            if known == MAX_SYMBOLS:
                return count, FULL, best, section, reach
            work.classes[at], work.lower_classes[at], work.ends[at + U1] = symbol_at(text, work.ends[at], stop, table)
            known += U1
        cursor, end, read, after_folded = U0, U0, at + U1, folded
        if at < known:
            if work.classes[at]:
                cursor, end = slice_of(entries, state, np.uint64(work.classes[at]))
            if work.lower_classes[at]:
                first, last = slice_of(entries, state, np.uint64(work.lower_classes[at]))
                if cursor == end:
                    cursor, end, after_folded = first, last, U1
                elif first < last:
                    work.sums[depth] = weight
                    depth = push(stack, depth, first, last, pack_read(read, rests), pack_written(written, U1), frame)
        if pauses:
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, pack_read(read, rests), pack_written(written, after_folded), frame)
            cursor, end = slice_of(entries, state, EPSILON)
            read, after_folded = at | U1 << FLAG_SHIFT, folded
        while True:
            if cursor == end:
                if depth == U0:
                    return count, over, best, section, reach
                depth -= U1
                place = depth * SLICE
                cursor, end, weight = stack[place + CURSOR], stack[place + LAST], work.sums[depth]
                read, rests = read_of(stack[place + READ])
                written, after_folded, frame = written_of(stack[place + WRITTEN])
            if steps == U0:
                return count, FULL, best, section, reach
            steps -= U1
            chosen = cursor
            cursor += U1
            after_frame = frame_after(condition_of(chosen, table), frame, table, work.registers) if is_conditioned else frame
            if after_frame == FAILED:
                continue
            if after_frame == TOO_MANY:
                return count, FULL, best, section, reach
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, pack_read(read, rests), pack_written(written, after_folded), frame)
            break
        state, pauses, piece = arc_at(chosen, table)
        rests += pauses_of(chosen, table)
        if read >> FLAG_SHIFT:
            rests += U1
        else:
            work.pauses[(read & READ_MASK) - U1] = rests
            rests = U0
        at, frame, folded = read & READ_MASK, after_frame, after_folded
        path[written] = piece
        written += np.uint64(piece != U0)
        if is_weighted and not chosen & ALONE:
            weight = weight + table.arc_weights[chosen]


UNKNOWN, FIRST_SECTION = layout.UNKNOWN, layout.FIRST_SECTION


@part
def is_dropped(text, start, end, reach, stop, table):
    """Whether a match of a standard section is dropped, because the walk ends inside of a word, and the match ends at the beginning of this
    word or later.
    """
    if not is_letter(text, reach, stop, table):
        return False
    edge = reach
    while edge > start and is_letter(text, edge - U1, stop, table):
        edge -= U1
    return end > (edge - U1 if edge > start else start)


@part
def put_tokens(text, start, stop, is_open, table, output, place, characters, work):
    """Write the tokens of a row.

    Args:
        start, stop, is_open: the bounds of the row in this call, and whether the row continues in the next call.
        characters: the number of characters of the row before `start`.

    Returns:
        The position where the next token may begin, the output index after the last token, and the new number of characters.
    """
    is_weighted = len(table.arc_weights) + len(table.final_weights) > 0
    while start < stop:
        count, state, size, section, reach = match(text, start, stop, U0, table, work)
        end, reach = work.ends[size], work.ends[reach]
        if is_open and reach == stop:
            break
        is_known = size > U0 and (section > U1 or not is_dropped(text, start, end, reach, stop, table))
        if state != FULL and is_known and is_letter(text, end, stop, table):
            count, state, size, _, _ = match(text, start, stop, size, table, work)
        if state == FULL:
            return stop, put(output, place, SLOW), characters + characters_of(text, start, stop)
        if not is_known:
            is_inside, end = is_letter(text, reach, stop, table), start
            while (is_inside or end < reach) and is_letter(text, end, stop, table):
                end += U1
            if is_open and end == stop:
                break
        is_token = end > start
        if end == start:
            end += U1 + np.uint64(np.uint64(text[start]) & SURROGATE == HIGH_SURROGATE)
        after = characters + characters_of(text, start, end)
        if is_token:
            place = put(output, place, FIRST_SECTION + np.int64(section) - 1 if is_known else UNKNOWN)
            place = put(output, put(output, place, characters), after)
        if is_known:
            place = put_analyses(count, table.begin[U3], state == OVER, is_weighted, size, output, place, work)
        start, characters = end, after
    return start, place, characters


@kernel
def run_rows(text, starts, more, table, output, work):
    """Analyse texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.lookup.layout.Arguments`, and `work`, which is `fst.machines.lookup.layout.TextWork`.
    """
    call, rows = work.state, np.uint64(len(starts)) - U1
    place, end, characters = call.count, np.uint64(starts[0]), call.before if call.is_open else U0
    for index in range(rows):
        row = np.uint64(index)
        is_open = more != U0 and row + U1 == rows
        start, end = np.uint64(starts[row]), np.uint64(starts[row + U1])
        end, place, characters = put_tokens(text, start, end, is_open, table, output, place, characters, work)
        if not is_open:
            output.ends[row] = place
            characters = U0
    call.count, call.before, call.is_open = place, characters, more
    return end
