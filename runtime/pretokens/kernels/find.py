"""Split text into pre-tokens (`pretokens`), the first stage of byte-level BPE and Unigram. `fst.text.splitter.Splitter` specifies the
result.

A *window* is a few consecutive characters, and a table contains the decision for each window: whether a pre-token begins inside it, or
whether this is undecided. Nearly all windows are decided. Windows are independent of each other, so that the processor works on many
windows at the same time. For an undecided window, the splitter searches from the begin of the last decided pre-token. The begin of a
pre-token does not depend on text after its window, so a chunk of text ends where its last pre-token begins.

An item of `work.pretokens` is the begin of a pre-token, with the pre-token's kind in the highest three bits; a pre-token ends where the
next item begins. The end of a row, a special token and a dropped stretch of text are items, too. A later stage marks the pre-tokens that
`long_pretokens` contains.
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
UNDECIDED, DOUBT_SHIFT, DOUBT = U2, U30, np.uint64(1 << 31)  # the bit for undecided windows, in a decision and in `begins`
KIND, PLACE = np.uint64(29), np.uint64((1 << 29) - 1)
ROW_END, SPECIAL, DROPPED, LONG = (np.uint64(kind << 29) for kind in range(1, 5))  # the kinds of items; ordinary pre-tokens have kind 0


@inlined
def may_begin_special(text, at, stop, special_bytes):
    """Whether a special token may begin at a position; a quick filter by the token's first two bytes."""
    return special_bytes[text[at]] & FIRST and (at + U1 >= stop or special_bytes[text[at + U1]] & SECOND)


@part
def read_other(text, at, stop, more, table, memo):
    """Read a special token, or a character that is not ASCII or may begin a special token.

    Returns:
        Four values. For a character: its class, the position after it, 0 and False. For a token: 0, its position, its node or 0, and
        whether text after `stop` could complete a token, or a longer token.
    """
    if may_begin_special(text, at, stop, table.special_bytes):
        node, is_open = match_at(text, ITEMS, at, stop, more, table.specials, memo)
        if node or is_open:
            return U0, at, node, is_open
    number, after = class_at(text, at, table)
    return number, after, U0, False


@inlined
def note(decided, before, begins, count):
    """Append the position `before` to `begins` if a pre-token begins or may begin there; return the new length of `begins`."""
    begins[count] = before | (decided & UNDECIDED) << DOUBT_SHIFT
    return count + (decided & U1)


@inlined
def note_all(found, doubtful, first, begins, count):
    """Append the position ``first + i`` for each bit i of `found`, with `DOUBT` if bit i of `doubtful` is set; return the new length of
    `begins`.

    Positions are written eight at a time, because the processor cannot predict the end of a loop over single positions. The last of these
    eight positions may be unused.
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
    """Compute the window that ends at a position, if the `LEAD` bytes before the position are ASCII that begins no special token."""
    bits, window = table.params[WINDOW_BITS], U0
    for place in range(LEAD):
        window = window << bits | np.uint64(table.ascii_symbols[text[at - LEAD + np.uint64(place)]])
    return window & table.params[WINDOW_MASK]


@part
def decide_run(text, at, limit, table, begins, count, masks):
    """Read *plain* bytes, which are ASCII and begin no special token, 64 at a time, and decide where pre-tokens begin. The result is the
    same as with one look-up per byte.

    Args:
        text, limit, table: as in `find_begins`.
        at: the position where reading begins, after at least `LEAD` plain bytes.
        begins, count: ``work.begins``, and its number of positions.
        masks: see `fst.runtime.kernels.intrinsics.decide`.

    Returns:
        The position of the next byte that is not plain, or `limit`; and the new length of `begins`. For the last byte, the decision is made
        later.
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
    """Read text up to `limit` or to a special token, and decide by windows where pre-tokens begin.

    Args:
        text: uint8[n], UTF-8.
        at, stop: the position where reading and a pre-token begin; and the end of the row.
        limit: the position where reading must stop.
        more: whether the row continues after `stop`.
        table: `fst.pretokens.arguments.Arguments`.
        work: the working arrays. `begins` receives the begins of pre-tokens, and undecided positions with the bit `DOUBT`.

    Returns:
        The length of ``work.begins``; the position where reading stopped; the node of the special token at this position, or 0; and whether
        text after `stop` could complete a special token, or a longer token, at this position.
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
            count = note(np.uint64(decisions[window & mask]), before, begins, count)  # the decision for the character at `before`
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
def resolve(text, begins, count, reached, at_end, table, memo, pretokens, filled):
    """Append the pre-tokens that windows have found to `pretokens`; where windows between two pre-tokens are undecided, search for more
    pre-tokens.

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
            filled = search_between(text, np.uint64(begins[index]), reached, at_end, table, memo, pretokens, filled)
        else:
            pretokens[filled] = begin
            filled += U1
    return filled


@inlined
def search_inside(text, begin, following, reached, at_end, table, memo):
    """Search for the end of the pre-token at `begin`. At `following`, another pre-token begins, or reading has stopped (`reached`).

    Returns:
        The end of the pre-token; and whether text after `reached` could make it longer, which is impossible if another pre-token begins at
        `following`.
    """
    end, is_open = search(text, begin, reached, at_end, table, memo)
    if is_open and following < reached:
        if following > end + FAIRLY_FEW:
            remember(text, begin, end, following, table, memo)
        is_open = False
    return end, is_open


@part
def search_between(text, following, reached, at_end, table, memo, pretokens, filled):
    """Append the pre-tokens after the last pre-token and before `following`, which is the begin of the next decided pre-token, or
    `reached`.
    """
    begin = np.uint64(pretokens[filled - U1])
    end, is_open = search_inside(text, begin, following, reached, at_end, table, memo)
    while begin < end < following and not is_open:
        pretokens[filled] = begin = end
        filled += U1
        end, is_open = search_inside(text, begin, following, reached, at_end, table, memo)
    return filled


@part
def next_special(text, at, stop, more, table, memo):
    """Find the next special token after a position.

    Returns:
        The position where the token begins or may begin, or the end of the row; and whether this position is certain: the token begins
        there, or the text ends there.
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
    """Search for the end of a pre-token that is longer than a chunk. No special token begins before `reached`.

    Returns:
        The end of the pre-token, or `begin` if text after `stop` could make it longer.
    """
    if memo[STRETCH] <= reached:
        memo[STRETCH], memo[STRETCH_ENDS] = next_special(text, reached, stop, more, table, memo)
    end, is_open = search(text, begin, memo[STRETCH], memo[STRETCH_ENDS] > U0, table, memo)
    return begin if is_open else end


@inlined
def find_pretokens(text, starts, row, at, more, table, work):
    """Find the pre-tokens of the next round: about `CHUNK` pre-tokens or bytes, or up to the end of the texts.

    Args:
        text, starts, more, table, work: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`.
        row, at: the row and the position where the last round has stopped.

    Returns:
        The row and the position where the round stops; the number of pre-tokens; and whether the next round needs more text.
    """
    begins, pretokens, special_ids, memo = work.begins, work.pretokens, work.special_ids, work.memo
    rows, nodes = np.uint64(len(starts)) - U1, table.specials.nodes
    begin, filled, specials, is_stuck = at, U0, U0, False
    if row == U0 and at == np.uint64(starts[U0]):  # the first round of a call
        forget(memo)
    while row < rows and filled < CHUNK and at - begin < CHUNK and not is_stuck:
        stop, goes_on = np.uint64(starts[row + U1]), more and row + U1 == rows
        if at < stop:
            first = filled
            limit = min(stop, at + CHUNK)
            found, reached, node, is_open = find_begins(text, at, limit, stop, goes_on, table, work)
            ends = not is_open and (node > U0 or (reached >= stop and not goes_on))
            filled = resolve(text, begins, found, reached, ends, table, memo, pretokens, filled)
            if ends:
                at = reached
            elif filled > first + U1:
                filled -= U1  # the last pre-token may continue
                at = np.uint64(pretokens[filled])
            else:
                filled = first
                is_stuck = is_open or reached >= stop
                end = at if is_stuck else search_far(text, at, reached, stop, goes_on, table, memo)
                is_stuck = end == at
                pretokens[filled] = at
                filled += np.uint64(not is_stuck)
                at = end
            if ends and node:
                pretokens[filled] = at | SPECIAL
                special_ids[specials] = nodes[node, VALUE]
                filled += U1
                specials += U1
                at += np.uint64(nodes[node, LENGTH])
        if at >= stop and not goes_on:
            pretokens[filled] = at | ROW_END
            filled += U1
            row += U1
        elif at >= stop:
            is_stuck = True
    pretokens[filled] = at
    return row, at, filled, is_stuck


@part
def mark_dropped(text, pretokens, count, table):
    """Mark the pre-tokens that the splitter drops, such as whitespace."""
    drops = table.drops
    for index in range(count):
        item = np.uint64(pretokens[index])
        if item >> KIND == U0:
            number, _ = class_at(text, item, table)
            pretokens[index] = item | (DROPPED if drops[number] else U0)
