"""The kernel of look-up over running text. `fst.machines.lookup.text_walk` describes the tokens, and specifies them.

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
from fst.runtime.machines.lookup.kernels.found import FULL, OVER, SLOW, put, put_analyses
from fst.runtime.machines.lookup.kernels.match import match
from fst.runtime.machines.lookup.kernels.symbols import characters_of, is_letter

UNKNOWN, FIRST_SECTION = layout.UNKNOWN, layout.FIRST_SECTION


@part
def is_dropped(text, start, end, reach, stop, table):
    """Whether a match of a standard section is dropped, because the walk ends inside of a word, and the match at its beginning."""
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
