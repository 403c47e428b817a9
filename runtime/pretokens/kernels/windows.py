"""Decide where pre-tokens begin, by the windows of symbols around each position (`fst.compile.pretokens.boundaries`).

`decide_all` decides 64 positions at a time, by products of sets of symbols (`fst.pretokens.boundaries`), after the characters have been
read. `find_begins` looks up the window of each character while it reads the text; it is for processors without instructions for products,
and for tables with too many symbols. Both find the same begins.

A position is *unsure* if products do not decide, so that its window is looked up; it is *undecided* if the window does not decide, either,
so that the splitter searches at the position. An undecided position is written with the bit `DOUBT`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.pretokens.boundaries import BEFORE_POSITION
from fst.runtime.kernels.constants import U0, U1, U2, U8, U64
from fst.runtime.kernels.intrinsics import decide, decide_by_three, ones, trailing_zeros
from fst.runtime.kernels.tries import reset
from fst.runtime.pretokens.kernels.symbols import NOT_PLAIN, ORIGIN, read_other

U30, ALL = np.uint64(30), np.uint64((1 << 64) - 1)
LEFT = np.uint64(BEFORE_POSITION)
UNDECIDED, DOUBT_SHIFT, DOUBT = U2, U30, np.uint64(1 << 31)  # the bit for undecided windows, in a decision and in a begin


@inlined
def note(decided, before, begins, count):
    """If a pre-token begins or may begin at the position `before`, append this position to `begins`; return the new length of `begins`."""
    begins[count] = before | (decided & UNDECIDED) << DOUBT_SHIFT
    return count + (decided & U1)


@inlined
def note_all(found, doubtful, first, places, begins, count):
    """Append ``places[first + i]`` for each bit i of `found`, with `DOUBT` if bit i of `doubtful` is set; return the new number of begins.

    Positions are written eight at a time, because the processor cannot predict the end of a loop over single positions. Up to seven unused
    elements follow the begins, and are overwritten later. So elements of `places` up to index ``first + 64`` are read, and must exist.
    """
    left = found
    for index in range(U0, ones(found), U8):
        for more in range(U8):
            begins[count + index + more] = places[first + trailing_zeros(left)]
            left &= left - U1
    while doubtful:
        begins[count + ones(found & (doubtful - U1) & ~doubtful)] |= DOUBT
        doubtful &= doubtful - U1
    return count + ones(found)


@part
def window_of(index, table, symbols):
    """Compute the window that decides about a character; `index` is the index of the character's symbol. Before BEGIN, a window contains
    only BEGIN, although symbols of other texts precede it in the array.
    """
    bits, mask, start = table.scalars.window_bits, table.scalars.window_mask, np.uint64(table.symbols[table.scalars.columns])
    window, shift, at, symbol = U0, U0, index + U1, U0
    while mask >> shift:
        symbol = start if symbol == start else np.uint64(symbols[at])
        window |= symbol << shift
        shift += bits
        at -= U1
    return window


@part
def look_up_unsure(unsure, found, first, table, symbols):
    """Look up the windows of the characters for which products do not decide.

    Args:
        unsure, found: bit masks of 64 characters: the unsure characters; and the begins of pre-tokens that products have found, which are
            ignored at unsure characters.
        first: the index of the first character's symbol.
        symbols: ``work.text_symbols``.

    Returns:
        Two bit masks: of the characters where a pre-token begins or may begin, and of the characters where this is undecided.
    """
    found, doubtful = found & ~unsure, U0
    while unsure:
        place = trailing_zeros(unsure)
        decided = np.uint64(table.decisions[window_of(first + place, table, symbols)])
        found |= (decided & U1) << place
        doubtful |= (decided & UNDECIDED) >> U1 << place
        unsure &= unsure - U1
    return found, doubtful


@inlined
def decide_all(count, table, work):
    """For the first `count` symbols, write the places of all begins of pre-tokens, and of all symbols END, to ``work.pretokens``.

    Returns:
        The number of items; and whether any begin is undecided, and thus has the bit `DOUBT`.
    """
    symbols, masks, reads_three, filled, has_doubt = work.text_symbols, work.masks, table.scalars.reads_three > U0, U0, False
    for first in range(ORIGIN, count, U64):
        known = ALL >> U64 - min(U64, count - first)
        if reads_three:
            found = decide_by_three(symbols, first - LEFT, table.products, U0, masks, U0) & known
        else:
            found = decide(symbols, first - LEFT, table.products, U0, masks, U0) & known
        unsure, doubtful = masks[0] & known, U0
        if unsure:
            found, doubtful = look_up_unsure(unsure, found, first, table, symbols)
            has_doubt |= doubtful > U0
        filled = note_all(found, doubtful, first, work.places, work.pretokens, filled)
    return filled, has_doubt


@part
def find_begins(text, at, limit, end, more, table, work):
    """Read text up to `limit` or to a special token, and decide where pre-tokens begin, by one look-up per character.

    Args:
        text: uint8[n], UTF-8.
        at, end: the position where reading and a pre-token begin; and the end of the row.
        limit: the position where reading must stop.
        more: whether the row continues after `end`.
        table: `fst.pretokens.arguments.Arguments`.
        work: the working arrays. `begins` receives the begins of pre-tokens, and undecided positions with the bit `DOUBT`.

    Returns:
        The length of ``work.begins``; the position where reading stopped; the node of the special token at this position, or 0; and whether
        text after `end` could complete a special token, or a longer token, at this position.
    """
    symbols, ascii_symbols, decisions = table.symbols, table.ascii_symbols, table.decisions
    bits, mask, window = table.scalars.window_bits, table.scalars.window_mask, table.scalars.first_window
    begins, memo = work.begins, work.memo
    reset(at, memo)
    begins[0] = at
    count, before, node, is_open = U1, at, U0, False
    while at < limit and not (node or is_open):
        symbol = np.uint64(ascii_symbols[text[at]])
        while symbol != NOT_PLAIN:
            window = window << bits | symbol
            count = note(np.uint64(decisions[window & mask]), before, begins, count)  # the decision for the character at `before`
            before = at
            at += U1
            symbol = np.uint64(ascii_symbols[text[at]]) if at < limit else NOT_PLAIN
        if at < limit:
            number, after, node, is_open = read_other(text, at, end, more, table, memo)
            if after > at:
                window = window << bits | np.uint64(symbols[number])
                count = note(np.uint64(decisions[window & mask]), before, begins, count)
                before, at = at, after
    if not is_open and (node or (at >= end and not more)):
        window = window << bits | np.uint64(symbols[table.scalars.columns - U1])
        count = note(np.uint64(decisions[window & mask]), before, begins, count)
    return count if at > np.uint64(begins[0]) else U0, at, node, is_open
