"""Split text into pre-tokens (`pretokens`), the first stage of byte-level BPE and Unigram. `fst.text.splitter.Splitter` specifies the
result.

A *window* is a few consecutive characters. A table contains the decision for each window: a pre-token begins at the window's second-to-last
character, no pre-token begins there, or this is undecided. Nearly all windows are decided. Windows are independent of each other, so that
the processor works on many windows at the same time. For an undecided window, the splitter searches from the start of the last decided
pre-token. The start of a pre-token does not depend on text after its window, so a chunk of text ends where the chunk's last pre-token
begins.

An item of `work.pretokens` is the start of a pre-token, with the pre-token's kind in the highest three bits; a pre-token ends where the
next item begins. The end of a row, a special token and a dropped part of the text are items, too. A later stage marks the pre-tokens that
`long_pretokens` contains.

A *stretch* is the text between two special tokens or ends of rows. The steps of `find_together`, for a round of several stretches::

    read_symbols   text → symbols of characters; put_end appends END and BEGIN to each stretch
    decide_all     symbols → items, with the bit `DOUBT` at undecided positions; 64 decisions at a time
    resolve        undecided positions → items, by searches of the splitter; only if there are undecided positions
    last_pretoken  removes the last item if reading stopped inside a stretch

`find_row_by_row` runs `find_begins`, `resolve` and `last_pretoken` for each stretch, for processors and tables without products.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, part
from fst.pretokens.boundaries import BEFORE_POSITION
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.intrinsics import AT_ONCE, SYMBOLS_AT_ONCE
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.pretokens.kernels.symbols import ORIGIN, may_begin_special, read_symbols
from fst.runtime.pretokens.kernels.windows import DOUBT, decide_all, find_begins
from fst.runtime.text.kernels.search import FAIRLY_FEW, class_at, forget, remember, search
from fst.tables.kernel_call import CHUNK as CHUNK_SIZE
from fst.text.splitter import STRETCH, STRETCH_ENDS

CHUNK, MOST_SYMBOLS, BETWEEN = np.uint64(CHUNK_SIZE), np.uint64(SYMBOLS_AT_ONCE), np.uint64(BEFORE_POSITION)
KIND, PLACE = np.uint64(29), np.uint64((1 << 29) - 1)
ROW_END, SPECIAL, DROPPED, LONG = (np.uint64(kind << 29) for kind in range(1, 5))  # the kinds of items; ordinary pre-tokens have kind 0


@inlined
def end_of_stretch(begins, index, count, reached, at_end):
    """Find the end of the stretch of text to which the item at `index` belongs, and whether the text ends at this position; the arguments
    are as in `resolve`.
    """
    while index < count:
        item = np.uint64(begins[index])
        if item >> KIND and not item & DOUBT:
            return item & PLACE, True
        index += U1
    return reached, at_end


@part
def resolve(text, begins, count, reached, at_end, table, memo, pretokens, filled):
    """Append the items that windows have found to `pretokens`; where windows between two pre-tokens are undecided, search for more
    pre-tokens.

    Args:
        begins, count: the items, and the number of items. The bit `DOUBT` marks undecided positions.
        reached, at_end: the position where reading stopped, and whether the text ends at this position.

    Returns:
        The number of items in `pretokens`.
    """
    begins[count] = reached
    index = U0
    while index < count:
        item = np.uint64(begins[index])
        index += U1
        if item & DOUBT:
            while np.uint64(begins[index]) & DOUBT:
                index += U1
            end, is_end = end_of_stretch(begins, index, count, reached, at_end)
            filled = search_between(text, np.uint64(begins[index]) & PLACE, end, is_end, table, memo, pretokens, filled)
        else:
            pretokens[filled] = item
            filled += U1
    return filled


@inlined
def search_inside(text, start, following, reached, at_end, table, memo):
    """Search for the end of the pre-token at `start`. At `following`, either the next pre-token begins, or reading has stopped (`reached`).

    Returns:
        The end of the pre-token; and whether text after `reached` could make this pre-token longer, which is impossible if another
        pre-token begins at `following`.
    """
    end, is_open = search(text, start, reached, at_end, table, memo)
    if is_open and following < reached:
        if following > end + FAIRLY_FEW:
            remember(text, start, end, following, table, memo)
        is_open = False
    return end, is_open


@part
def search_between(text, following, reached, at_end, table, memo, pretokens, filled):
    """Append the pre-tokens after the last pre-token and before `following`, which is the start of the next decided pre-token, or
    `reached`; return the number of items in `pretokens`.
    """
    start = np.uint64(pretokens[filled - U1])
    end, is_open = search_inside(text, start, following, reached, at_end, table, memo)
    while start < end < following and not is_open:
        pretokens[filled] = start = end
        filled += U1
        end, is_open = search_inside(text, start, following, reached, at_end, table, memo)
    return filled


@part
def next_special(text, at, end, more, table, memo):
    """Find the next special token after a position.

    Returns:
        The position where the token begins or may begin, or the end of the row; and whether it is certain that the token begins, or that
        the text ends, at this position.
    """
    reset(at, memo)
    while at < end:
        if may_begin_special(text, at, end, table.special_bytes):
            node, is_open = match_at(text, ITEMS, at, end, more, table.specials, memo)
            if node or is_open:
                return at, not is_open
        at += U1
    return at, not more


@part
def search_far(text, start, reached, stop, more, table, memo):
    """Search for the end of a pre-token that is longer than a chunk. No special token begins before `reached`.

    Returns:
        The end of the pre-token, or `start` if text after `stop` could make the pre-token longer.
    """
    if memo[STRETCH] <= reached:
        memo[STRETCH], memo[STRETCH_ENDS] = next_special(text, reached, stop, more, table, memo)
    end, is_open = search(text, start, memo[STRETCH], memo[STRETCH_ENDS] > U0, table, memo)
    return start if is_open else end


@inlined
def put_end(item, end, work, count):
    """Append END, whose element of `places` is an item of another kind than 0, and symbols BEGIN for the next stretch of text; return the
    new number of symbols.
    """
    work.places[count] = item
    work.text_symbols[count] = end
    for place in range(U1, U1 + BETWEEN):
        work.text_symbols[count + place] = end + U1  # BEGIN
    return count + U1 + BETWEEN


@inlined
def last_pretoken(text, start, reached, stop, more, is_open, table, work, filled):
    """If reading stopped inside a stretch, remove the stretch's last pre-token, because later text may change it.

    Args:
        start, reached: the positions where the stretch begins, and where reading stopped.
        stop, more, table, work: as in `read_symbols`.
        is_open: whether text after `stop` could complete a special token at `reached`.
        filled: the number of items.

    Returns:
        The position from which reading must continue; the new number of items; and whether reading can continue only with more text.
    """
    pretokens, memo = work.pretokens, work.memo
    last = np.uint64(pretokens[filled - U1]) if reached > start else start
    filled -= np.uint64(reached > start)
    if last > start:
        return last, filled, False
    is_stuck = is_open or reached >= stop
    end = start if is_stuck else search_far(text, start, reached, stop, more, table, memo)
    pretokens[filled] = start
    return end, filled + np.uint64(end > start), end == start


@part
def find_together(text, starts, row, at, more, table, work):
    """Find the pre-tokens of the next round as `find_pretokens` does: read the symbols of all characters of the round, and then decide 64
    positions at a time.
    """
    nodes, memo, end = table.specials.nodes, work.memo, np.uint64(table.symbols[table.scalars.columns - U1])
    rows, count, specials, first_at, start, stop = np.uint64(len(starts)) - U1, ORIGIN, U0, at, at, at
    goes_on = is_open = is_cut = is_stuck = False
    work.text_symbols[:ORIGIN] = end + U1  # BEGIN
    while row < rows and count < ORIGIN + CHUNK and at - first_at < CHUNK and not is_cut:
        stop, goes_on, start = np.uint64(starts[row + U1]), more and row + U1 == rows, at
        first = count
        count, at, node, is_open = read_symbols(text, at, min(stop, at + CHUNK), stop, goes_on, table, work, count)
        if node and not is_open:
            count = put_end(at | SPECIAL, end, work, count)
            work.special_ids[specials] = nodes[node, VALUE]
            specials += U1
            at += np.uint64(nodes[node, LENGTH])
        elif is_open or at < stop or goes_on:
            is_cut = True
            count -= np.uint64(count > first + U1)  # the window of the last character is incomplete
        if at >= stop and not (goes_on or is_open):
            count = put_end(at | ROW_END, end, work, count)
            row += U1
    filled, has_doubt = decide_all(count, table, work)
    if has_doubt:
        for index in range(filled):
            work.begins[index] = work.pretokens[index]
        filled = resolve(text, work.begins, filled, at, not is_cut, table, memo, work.pretokens, U0)
    if is_cut:
        at, filled, is_stuck = last_pretoken(text, start, at, stop, goes_on, is_open, table, work, filled)
    work.pretokens[filled] = at
    return row, at, filled, is_stuck


@part
def find_row_by_row(text, starts, row, at, more, table, work):
    """Find the pre-tokens of the next round as `find_pretokens` does, with one look-up of a window for each character."""
    begins, pretokens, special_ids, memo = work.begins, work.pretokens, work.special_ids, work.memo
    rows, nodes = np.uint64(len(starts)) - U1, table.specials.nodes
    start, filled, specials, is_stuck = at, U0, U0, False
    while row < rows and filled < CHUNK and at - start < CHUNK and not is_stuck:
        end, goes_on = np.uint64(starts[row + U1]), more and row + U1 == rows
        if at < end:
            limit = min(end, at + CHUNK)
            found, reached, node, is_open = find_begins(text, at, limit, end, goes_on, table, work)
            ends = not is_open and (node > U0 or (reached >= end and not goes_on))
            filled = resolve(text, begins, found, reached, ends, table, memo, pretokens, filled)
            if ends:
                at = reached
            else:
                at, filled, is_stuck = last_pretoken(text, at, reached, end, goes_on, is_open, table, work, filled)
            if ends and node:
                pretokens[filled] = at | SPECIAL
                special_ids[specials] = nodes[node, VALUE]
                filled += U1
                specials += U1
                at += np.uint64(nodes[node, LENGTH])
        if at >= end and not goes_on:
            pretokens[filled] = at | ROW_END
            filled += U1
            row += U1
        elif at >= end:
            is_stuck = True
    pretokens[filled] = at
    return row, at, filled, is_stuck


@inlined
def find_pretokens(text, starts, row, at, more, table, work):
    """Find the pre-tokens of the next round: about `CHUNK` pre-tokens or bytes, or up to the end of the texts.

    Args:
        text, starts, more, table, work: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`.
        row, at: the row and the position where the previous round stopped.

    Returns:
        The row and the position where the round stops; the number of pre-tokens; and whether the next round needs more text.
    """
    if row == U0 and at == np.uint64(starts[U0]):  # this is the first round of a call
        forget(work.memo)
    if AT_ONCE and len(table.products) and (table.scalars.reads_three or table.symbols[table.scalars.columns] < MOST_SYMBOLS):
        return find_together(text, starts, row, at, more, table, work)
    return find_row_by_row(text, starts, row, at, more, table, work)


@part
def mark_dropped(text, pretokens, count, table):
    """Mark the pre-tokens that the splitter drops, such as whitespace."""
    drops = table.drops
    for index in range(count):
        item = np.uint64(pretokens[index])
        if item >> KIND == U0:
            number, _ = class_at(text, item, table)
            pretokens[index] = item | (DROPPED if drops[number] else U0)
