"""Read characters as symbols of windows, and find special tokens between them.

`read_symbols` reads 64 bytes together, up to the first byte that is not *plain*: not ASCII, or the first byte of a possible special token.
It reads this byte and the next few bytes one by one. It reads and writes up to 64 elements past the last character.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined
from fst.pretokens.arguments import FIRST, FIRST_SYMBOL, SECOND
from fst.pretokens.arguments import NOT_PLAIN as ANY_SYMBOL
from fst.runtime.kernels.constants import U0, U1, U64
from fst.runtime.kernels.intrinsics import symbols_of, trailing_zeros
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.text.kernels.search import class_at

NOT_PLAIN, ORIGIN = np.uint64(ANY_SYMBOL), np.uint64(FIRST_SYMBOL)
NEARBY = np.uint64(4)  # number of consecutive plain bytes that are read one by one, before 64 bytes are read together


@inlined
def may_begin_special(text, at, end, special_bytes):
    """Whether a special token may begin at a position; a quick filter by the token's first two bytes."""
    return special_bytes[text[at]] & FIRST and (at + U1 >= end or special_bytes[text[at + U1]] & SECOND)


@inlined
def read_other(text, at, end, more, table, memo):
    """Read a special token, or a character that is not ASCII or may begin a special token.

    Returns:
        Four values. Four values. For a character: its class, the position after it, 0 and False. For a token: 0, its position, its node or
        0, and whether text after `end` could complete a token, or a longer token.
    """
    if may_begin_special(text, at, end, table.special_bytes):
        node, is_open = match_at(text, ITEMS, at, end, more, table.specials, memo)
        if node or is_open:
            return U0, at, node, is_open
    number, after = class_at(text, at, table)
    return number, after, U0, False


@inlined
def read_one_by_one(text, at, limit, end, more, table, work, count):
    """Read characters as `read_symbols` does, with the same arguments and result, but stop after `NEARBY` consecutive plain bytes."""
    symbols, places, node, is_open, near = work.text_symbols, work.places, U0, False, U0
    while at < limit and near < NEARBY and not (node or is_open):
        symbol, after = np.uint64(table.ascii_symbols[text[at]]), at + U1
        near += U1
        if symbol == NOT_PLAIN:
            number, after, node, is_open = read_other(text, at, end, more, table, work.memo)
            symbol, near = np.uint64(table.symbols[number]), U0
        symbols[count] = symbol
        places[count] = at
        count += np.uint64(after > at)
        at = after
    return count, at, node, is_open


@inlined
def read_symbols(text, at, limit, end, more, table, work, count):
    """Read text up to `limit` or to a special token, and append the symbols and positions of its characters to ``work.text_symbols`` and
    ``work.places``.

    Args:
        text: uint8[n], UTF-8.
        at, end: the position where reading begins, and the end of the row.
        limit: the position where reading must stop.
        more: whether the row continues after `end`.
        table: `fst.pretokens.arguments.Arguments`.
        work: `fst.pretokens.arguments.Work`.
        count: the number of symbols.

    Returns:
        The new number of symbols; the position where reading stopped; the node of the special token at this position, or 0; and whether
        text after `end` could complete a special token, or a longer token, at this position.
    """
    symbols, places = work.text_symbols, work.places
    reset(at, work.memo)
    node, is_open = U0, False
    certain = limit - np.uint64(more and limit == end)  # the last byte may begin a special token that later text completes
    while at < limit and not (node or is_open):
        others = symbols_of(text, at, table.plain, U0, symbols, count)
        for place in range(U64):
            places[count + place] = at + place
        length = min(trailing_zeros(others), certain - at)
        at += length
        count += length
        if length < U64 and at < limit:
            count, at, node, is_open = read_one_by_one(text, at, limit, end, more, table, work, count)
    return count, at, node, is_open
