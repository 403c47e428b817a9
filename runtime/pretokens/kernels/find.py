"""Split text into pre-tokens (`pieces`): the first stage of machines over bytes. `fst.text.splitter.Splitter` specifies the result.

A window of a few characters decides whether a pre-token begins in it. Nearly all windows are decided, and independent of each other, so
that the processor works on many at the same time. If a window is undecided, the splitter searches from the last decided pre-token on. The
start of a pre-token does not depend on text after its window, so a chunk of text ends where its last pre-token begins.

An item of `work.pieces` is the start of a pre-token, with its kind in the highest three bits; the pre-token ends where the next one begins.
The end of a row, a special token and a dropped stretch of text are separate items. A later stage marks pre-tokens that are one token of
`long_pieces`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, part
from fst.pretokens.arguments import BEGIN, FIRST, SECOND, WINDOW_BITS, WINDOW_MASK
from fst.pretokens.arguments import NOT_PLAIN as ANY_SYMBOL
from fst.pretokens.boundaries import WIDEST
from fst.runtime.kernels.constants import U0, U1, U2, U3, U8, U64
from fst.runtime.kernels.intrinsics import AT_ONCE, decide, ones, trailing_zeros
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.text.kernels.search import FAIRLY_FEW, class_at, forget, remember, search
from fst.tables.kernel_call import CHUNK as CHUNK_SIZE
from fst.text.splitter import COLUMNS, STRETCH, STRETCH_ENDS

U30, ALL = np.uint64(30), np.uint64((1 << 64) - 1)
LEAD = np.uint64(WIDEST)
NOT_PLAIN, CHUNK = np.uint64(ANY_SYMBOL), np.uint64(CHUNK_SIZE)
UNDECIDED, DOUBT_SHIFT, DOUBT = U2, U30, np.uint64(1 << 31)  # bits of an undecided window: in a decision, in `begins`
KIND, PLACE = np.uint64(29), np.uint64((1 << 29) - 1)
ROW_END, SPECIAL, DROPPED, LONG = (np.uint64(kind << 29) for kind in range(1, 5))  # the kinds; other pre-tokens have kind 0


@inlined
def may_begin_special(text, at, stop, special_bytes):
    """Filter: whether a special token may begin at a position, by the first two bytes."""
    return special_bytes[text[at]] & FIRST and (at + U1 >= stop or special_bytes[text[at + U1]] & SECOND)


@part
def read_other(text, at, stop, more, table, memo):
    """Read a special token, or a character that is not ASCII or may begin a special token.

    Returns:
        Four values. For a character: its class, the position after it, 0 and False. For a token: 0, its position, its node or 0, and
        whether the text after `stop` could complete a token, or a longer one.
    """
    if may_begin_special(text, at, stop, table.special_bytes):
        node, is_open = match_at(text, ITEMS, at, stop, more, table.specials, memo)
        if node or is_open:
            return U0, at, node, is_open
    number, after = class_at(text, at, table)
    return number, after, U0, False


@inlined
def note(decided, before, begins, count):
    """Write position `before` to `begins` if a pre-token begins or may begin there; return the new number of `begins`."""
    begins[count] = before | (decided & UNDECIDED) << DOUBT_SHIFT
    return count + (decided & U1)


@inlined
def note_all(found, doubtful, first, begins, count):
    """Write a position for each bit of `found`, from `first` on, with `DOUBT` if `doubtful` has the bit; return the number of `begins`.

    Positions are written eight at a time, and the last ones may be unused: the end of a loop over single positions is hard to predict.
    """
    left = found
    for index in range(U0, ones(found), U8):
        for more in range(U8):
            begins[count + index + more] = first + trailing_zeros(left)
            left &= left - U1
    while doubtful:
        begins[count + ones(found & (doubtful - U1) & ~doubtful)] |= DOUBT
        doubtful &= doubtful - U1
    return count + ones(found)


@part
def window_before(text, at, table):
    """The window before a position, after at least `LEAD` plain bytes."""
    bits, window = table.params[WINDOW_BITS], U0
    for place in range(LEAD):
        window = window << bits | np.uint64(table.ascii_symbols[text[at - LEAD + np.uint64(place)]])
    return window & table.params[WINDOW_MASK]


@part
def decide_run(text, at, limit, table, begins, count, masks):
    """Read plain bytes, 64 at a time, and decide where pre-tokens begin. The result is the same as with one look-up per byte.

    Args:
        text, limit, table: as in `find_begins`.
        at: the position to begin, after at least `LEAD` plain bytes.
        begins, count: ``work.begins``, and the number of items in it.
        masks: see `fst.runtime.kernels.intrinsics.decide`.

    Returns:
        The position of the next byte that is not plain, or `limit`; and the number of `begins`. The last byte read is not decided.
    """
    length = U64
    while length == U64 and at < limit:
        found = decide(text, at - U3, table.factors, U0, masks, U0)
        length = min(trailing_zeros(masks[1]), limit - at)
        known = ALL >> U64 - length if length else U0
        found, unsure, doubtful = found & known, masks[0] & known, U0
        while unsure:
            place = trailing_zeros(unsure)
            decided = np.uint64(table.decisions[window_before(text, at + place + U1, table)])
            found ^= (decided & U1 ^ U1) << place
            doubtful |= (decided & UNDECIDED) >> U1 << place
            unsure &= unsure - U1
        count = note_all(found, doubtful, at - U1, begins, count)
        at += length
    return at, count


@part
def find_begins(text, at, limit, stop, more, table, work):
    """Read a stretch of text, up to `limit` or to a special token, and decide by windows where pre-tokens begin.

    Args:
        text: uint8[n], UTF-8.
        at, stop: the start of the stretch, where a pre-token begins; and the end of its row.
        limit: the maximum position to read to.
        more: whether the row continues after `stop`.
        table: `fst.pretokens.arguments.Arguments`.
        work: `begins` is filled with the starts of pre-tokens, and with undecided positions, which have the bit `DOUBT`.

    Returns:
        The number of ``work.begins``; the position where reading stopped; the node of the special token there, or 0; and whether the text
        after `stop` could complete a special token there, or a longer one.
    """
    symbols, ascii_symbols, decisions = table.symbols, table.ascii_symbols, table.decisions
    bits, mask, window = table.params[WINDOW_BITS], table.params[WINDOW_MASK], table.params[BEGIN]
    begins, memo = work.begins, work.memo
    reset(at, memo)
    begins[0] = at
    count, before, node, is_open = U1, at, U0, False
    at_once = AT_ONCE and len(table.factors) > 0
    while at < limit and not (node or is_open):
        symbol = np.uint64(ascii_symbols[text[at]])
        lead = min(at + LEAD, limit) if at_once else limit
        while symbol != NOT_PLAIN:
            window = window << bits | symbol
            count = note(np.uint64(decisions[window & mask]), before, begins, count)  # for the character before this one
            before = at
            at += U1
            symbol = np.uint64(ascii_symbols[text[at]]) if at < lead else NOT_PLAIN
        if at == lead < limit:
            at, count = decide_run(text, at, limit, table, begins, count, work.masks)
            before, window = at - U1, window_before(text, at, table)
        elif at < limit:
            number, after, node, is_open = read_other(text, at, stop, more, table, memo)
            if after > at:
                window = window << bits | np.uint64(symbols[number])
                count = note(np.uint64(decisions[window & mask]), before, begins, count)
                before, at = at, after
    if not is_open and (node or (at >= stop and not more)):
        window = window << bits | np.uint64(symbols[table.params[COLUMNS] - U1])
        count = note(np.uint64(decisions[window & mask]), before, begins, count)
    return count if at > np.uint64(begins[0]) else U0, at, node, is_open


@part
def resolve(text, begins, count, reached, at_end, table, memo, pieces, filled):
    """Append the pre-tokens that windows have found; between two of them with undecided windows, search for more.

    Returns:
        The number of pre-tokens.
    """
    begins[count] = reached
    index = U0
    while index < count:
        begin = np.uint64(begins[index])
        index += U1
        if begin & DOUBT:
            while np.uint64(begins[index]) & DOUBT:
                index += U1
            filled = search_between(text, np.uint64(begins[index]), reached, at_end, table, memo, pieces, filled)
        else:
            pieces[filled] = begin
            filled += U1
    return filled


@inlined
def search_inside(text, begin, following, reached, at_end, table, memo):
    """Search for the pre-token at `begin`. Another pre-token begins at `following`, unless `following` is `reached`.

    Returns:
        The end of the pre-token; and whether the text after `reached` could make it longer, which is impossible before a decided pre-token.
    """
    end, is_open = search(text, begin, reached, at_end, table, memo)
    if is_open and following < reached:
        if following > end + FAIRLY_FEW:
            remember(text, begin, end, following, table, memo)
        is_open = False
    return end, is_open


@part
def search_between(text, following, reached, at_end, table, memo, pieces, filled):
    """Append the pre-tokens between the last one and `following`: the next one that windows have found, or the end of reading."""
    begin = np.uint64(pieces[filled - U1])
    end, is_open = search_inside(text, begin, following, reached, at_end, table, memo)
    while begin < end < following and not is_open:
        pieces[filled] = begin = end
        filled += U1
        end, is_open = search_inside(text, begin, following, reached, at_end, table, memo)
    return filled


@part
def next_special(text, at, stop, more, table, memo):
    """Find the next special token, searched from a position on.

    Returns:
        The position where it begins or may begin, or the end of the row; and whether it certainly begins there, or the text ends there.
    """
    reset(at, memo)
    while at < stop:
        if may_begin_special(text, at, stop, table.special_bytes):
            node, is_open = match_at(text, ITEMS, at, stop, more, table.specials, memo)
            if node or is_open:
                return at, not is_open
        at += U1
    return at, not more


@part
def search_far(text, begin, reached, stop, more, table, memo):
    """Search for a pre-token that is longer than a chunk. No special token begins before `reached`.

    Returns:
        The end of the pre-token; `begin` if the text after `stop` could make it longer.
    """
    if memo[STRETCH] <= reached:
        memo[STRETCH], memo[STRETCH_ENDS] = next_special(text, reached, stop, more, table, memo)
    end, is_open = search(text, begin, memo[STRETCH], memo[STRETCH_ENDS] > U0, table, memo)
    return begin if is_open else end


@inlined
def find_pieces(text, starts, row, at, more, table, work):
    """Find pre-tokens until a round has enough pre-tokens or bytes, or the texts end.

    Args:
        text, starts, more, table, work: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`.
        row, at: the row and the position where the last round stopped.

    Returns:
        The row and the position where this round stops; the number of pre-tokens; and whether more text is needed to continue.
    """
    begins, pieces, special_ids, memo = work.begins, work.pieces, work.special_ids, work.memo
    rows, nodes = np.uint64(len(starts)) - U1, table.specials.nodes
    begin, filled, specials, is_stuck = at, U0, U0, False
    if row == U0 and at == np.uint64(starts[U0]):  # a new call
        forget(memo)
    while row < rows and filled < CHUNK and at - begin < CHUNK and not is_stuck:
        stop, goes_on = np.uint64(starts[row + U1]), more and row + U1 == rows
        if at < stop:
            first = filled
            limit = min(stop, at + CHUNK)
            found, reached, node, is_open = find_begins(text, at, limit, stop, goes_on, table, work)
            ends = not is_open and (node > U0 or (reached >= stop and not goes_on))
            filled = resolve(text, begins, found, reached, ends, table, memo, pieces, filled)
            if ends:
                at = reached
            elif filled > first + U1:
                filled -= U1  # the last pre-token may continue
                at = np.uint64(pieces[filled])
            else:
                filled = first
                is_stuck = is_open or reached >= stop
                end = at if is_stuck else search_far(text, at, reached, stop, goes_on, table, memo)
                is_stuck = end == at
                pieces[filled] = at
                filled += np.uint64(not is_stuck)
                at = end
            if ends and node:
                pieces[filled] = at | SPECIAL
                special_ids[specials] = nodes[node, VALUE]
                filled += U1
                specials += U1
                at += np.uint64(nodes[node, LENGTH])
        if at >= stop and not goes_on:
            pieces[filled] = at | ROW_END
            filled += U1
            row += U1
        elif at >= stop:
            is_stuck = True
    pieces[filled] = at
    return row, at, filled, is_stuck


@part
def mark_dropped(text, pieces, count, table):
    """Mark dropped pre-tokens."""
    drops = table.drops
    for index in range(count):
        item = np.uint64(pieces[index])
        if item >> KIND == U0:
            number, _ = class_at(text, item, table)
            pieces[index] = item | (DROPPED if drops[number] else U0)
