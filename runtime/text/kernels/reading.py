"""Convert text to symbols, which WordPiece reads.

A symbol is the number of a class of characters (uint16). One look-up in `bmp_classes` converts most characters to one symbol. `read_other`
reads special tokens, characters that become no symbol or several symbols, and runs of marks, which canonical ordering may permute.

`read` appends symbols to `work.symbols` until the array is full or the texts end, and stores in `work.reading` where to resume. The machine
encodes the symbols, moves the symbols of an incomplete word to the front, and calls `read` again.

If spans are requested, `work.spans` contains the span of each symbol, ``first character | one past the last << 32``.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import (
    CONTINUES_RUN,
    FENCE,
    HAS_MARKS,
    KIND_SHIFT,
    LIST,
    LOW_7,
    NEXT,
    OUTPUT,
    OUTPUT_SHIFT,
    STARTS_SPECIAL,
    U0,
    U1,
    U3,
    U7,
    U32,
    U63,
)
from fst.runtime.kernels.intrinsics import classes_looked_up, classes_of, trailing_zeros
from fst.runtime.kernels.spans import pack_span
from fst.runtime.kernels.tries import NODE, READ, START, match_at
from fst.runtime.kernels.unicode import UTF_16, label_at, pairs
from fst.tables.kernel_call import MARGIN
from fst.text.reading_arguments import NOT_PLAIN as NOT_PLAIN_BIT

NOT_PLAIN = np.uint16(NOT_PLAIN_BIT)
RANK_SHIFT, CLASS = np.uint64(16), np.uint64(0xFFFF)  # a symbol in a list is ``class | rank << 16``
PAST_LIMIT = np.uint64(MARGIN)  # number of array elements after the limit that may be written
STEP = np.uint64((1 << 32) + 1)  # the difference between the spans of two consecutive characters
AT_START = np.uint64(1 << 32)  # the span of the first character


@inlined
def class_of(code, reader):
    """Look up the class of a code point."""
    pages, blocks = reader.pages, reader.blocks
    return np.uint64(blocks[np.uint64(pages[code >> U7]) << U7 | code & LOW_7])


@inlined
def class_at(text, at, reader):
    """Look up the class of the character at a position; return also the position of the next character."""
    code, after = label_at(text, at, UTF_16)
    return class_of(code, reader), after


@inlined
def may_begin_special(text, at, end, seconds, unknown):
    """Whether a special token may begin at a position; a quick filter by the token's second unit.

    The caller has checked the first unit. Earlier calls of `match_at` have shown that no token begins before the position `unknown`.
    """
    return at >= unknown and (at + U1 == end or seconds >> (np.uint64(text[at + U1]) & U63) & U1 > U0)


@inlined
def is_other(found, text, at, end, seconds, unknown):
    """Whether `read_other` must read a character; `found` is the character's element in `bmp_classes`."""
    return found == NOT_PLAIN or (found > NOT_PLAIN and may_begin_special(text, at, end, seconds, unknown))


@part
def read_plain(text, at, end, symbols, filled, bmp_classes, seconds, unknown):
    """Read characters that become one symbol each, up to a character for `read_other`; return the position of this character, and the
    number of symbols.
    """
    while at + U32 <= end:
        unsure = classes_of(bmp_classes, U0, text, at, symbols, filled)
        if unsure and not bmp_classes[text[at + trailing_zeros(unsure)]] & NOT_PLAIN:
            unsure = classes_looked_up(bmp_classes, U0, text, at, symbols, filled)
        while unsure:
            known = trailing_zeros(unsure)
            found = bmp_classes[text[at + known]]
            if is_other(found, text, at + known, end, seconds, unknown):
                return at + known, filled + known
            symbols[filled + known] = found & ~NOT_PLAIN
            unsure &= unsure - U1
        at += U32
        filled += U32
    while at < end:
        found = bmp_classes[text[at]]
        if found & NOT_PLAIN:
            if is_other(found, text, at, end, seconds, unknown):
                break
            found ^= NOT_PLAIN
        symbols[filled] = found
        at += U1
        filled += U1
    return at, filled


@part
def special_at(text, at, end, more, trie, memo):
    """Find the longest special token that begins at a position and ends at `end` or earlier.

    Returns:
        The end of the token, or `at` if no token is found; the class of the token; and whether text after `end` could complete a longer
        token.
    """
    node, is_open = match_at(text, UTF_16, at, end, more, trie, memo)
    return at + np.uint64(trie.nodes[node, LENGTH]), np.uint64(trie.nodes[node, VALUE]), is_open


@inlined
def ranks_of(record, lists):
    """Return a bit mask of the canonical ranks in a record's list of symbols: bit i is set if a symbol has rank i."""
    ranks = U0
    first = record & NEXT
    for index in range(np.uint64(lists[first])):
        ranks |= U1 << (np.uint64(lists[first + U1 + index]) >> RANK_SHIFT)
    return ranks


@inlined
def run_end(text, at, end, more, record, reader, memo):
    """Find the end of a run of marks, from the record of its first character and the position `at` after this character.

    Returns:
        The end of the run, or `end` if text after `end` could complete a special token; and a bit mask of the canonical ranks in the run,
        or 0 if the run leaves no symbol.
    """
    records, lists = reader.records, reader.lists
    ranks, seen = ranks_of(record, lists), record >> OUTPUT_SHIFT
    while at < end:
        number, after = class_at(text, at, reader)
        record = records[number]
        flags = record >> OUTPUT_SHIFT & OUTPUT
        if record >> KIND_SHIFT & U3 != LIST or not flags & CONTINUES_RUN:
            break
        if flags & STARTS_SPECIAL:
            special_end, _, is_open = special_at(text, at, end, more, reader.specials, memo)
            if more and is_open:
                return end, U0
            if special_end > at:
                break
        ranks |= ranks_of(record, lists)
        seen |= flags
        at = after
    return at, ranks if seen & HAS_MARKS else U0


@inlined
def is_fence(record):
    """Whether a record belongs to a fence, which is a space that produces output."""
    return record > U0 and record & ~FENCE == U0


@inlined
def put_list(number, rank, filled, span, reader, work):
    """Append the symbols of canonical rank `rank` in a character's list, all with the same span; return the new number of symbols.

    Two equal fences next to each other are both removed. A mark that leaves no symbol, of class 0, is not appended.
    """
    records, lists = reader.records, reader.lists
    symbols, spans = work.symbols, work.spans
    first = records[number] & NEXT
    for index in range(np.uint64(lists[first])):
        symbol = np.uint64(lists[first + U1 + np.uint64(index)])
        if symbol >> RANK_SHIFT == rank:
            own = symbol & CLASS
            if filled and np.uint64(symbols[filled - U1]) == own and is_fence(records[own]):
                filled -= U1
            elif own > U0:
                symbols[filled] = own
                spans[filled] = span
                filled += U1
    return filled


@inlined
def read_other(text, at, stop, more, run_flags, filled, span, reader, work):
    """Read a special token, a character that becomes a list of symbols, or a character beyond `bmp_classes`; or find the end of a run of
    marks.

    A character with a nonempty list and one of `run_flags` begins a run of marks. `read_run` reads the run later, unless the run leaves no
    symbol or has only one character. With `more`, the text continues after `stop`; then nothing is read if the token or the run could
    continue after `stop`, too. Inlined, because a call would pass all arrays, which takes 4× as long as reading a character of four bytes.

    Returns:
        The position after the last character read; the new number of symbols; and, for a run that `read_run` must read, a bit mask of its
        ranks, otherwise 0.
    """
    records = reader.records
    symbols, spans, memo = work.symbols, work.spans, work.memo
    number, after = class_at(text, at, reader)
    record = records[number]
    if record >> KIND_SHIFT & U3 != LIST:
        symbols[filled] = number
        spans[filled] = span
        return after, filled + U1, U0
    flags = record >> OUTPUT_SHIFT & OUTPUT
    if flags & STARTS_SPECIAL and may_begin_special(text, at, stop, reader.second_units[0], memo[START]):
        special_end, special, is_open = special_at(text, at, stop, more, reader.specials, memo)
        if more and is_open:
            return at, filled, U0
        if special_end > at:
            symbols[filled] = special
            spans[filled] = span + pack_span(U0, special_end - at - pairs(text, at, special_end) - U1)
            return special_end, filled + U1, U0
    if not flags & run_flags or not reader.lists[record & NEXT]:
        return after, put_list(number, U0, filled, span, reader, work), U0
    end, ranks = run_end(text, after, stop, more, record, reader, memo)
    if more and end == stop:
        return at, filled, U0
    while ranks and end == after:  # a single character needs no ordering
        filled = put_list(number, trailing_zeros(ranks), filled, span, reader, work)
        ranks &= ranks - U1
    return end, filled, ranks


@inlined
def number_spans(spans, start, end, span):
    """Write the spans of symbols that represent one character each; `span` is the span of the first symbol."""
    for index in range(end - start):
        spans[start + np.uint64(index)] = span + np.uint64(index) * STEP


@inlined
def next_span(text, turn, span, reader):
    """Find the run's next character with symbols; return the position after this character, and its span."""
    records, lists = reader.records, reader.lists
    while True:
        number, turn = class_at(text, turn, reader)
        span += STEP
        if lists[records[number] & NEXT]:
            return turn, span


@part
def read_run(text, filled, reader, work):
    """Append symbols of a run of marks in canonical order, until `work.symbols` is full or the run ends; return the new number of symbols.

    The run is read once for each rank that occurs in it. Spans ascend although symbols are permuted, because the n-th character in
    canonical order gets the span of the n-th character with symbols in the text, and all symbols of a character have the same span.
    """
    reading, records, lists = work.reading, reader.records, reader.lists
    limit = np.uint64(len(work.symbols)) - PAST_LIMIT
    ranks, at, end = reading.ranks, reading.run_at, reading.run_end
    turn, span = reading.run_turn, reading.run_span
    while ranks and filled < limit:
        rank = trailing_zeros(ranks)
        while at < end and filled < limit:
            number, at = class_at(text, at, reader)
            first = records[number] & NEXT
            if lists[first] and np.uint64(lists[first + U1]) >> RANK_SHIFT == rank:
                turn, span = next_span(text, turn, span, reader)
            filled = put_list(number, rank, filled, span, reader, work)
        if at == end:
            ranks, at = ranks & ranks - U1, reading.run_start
    reading.ranks, reading.run_at, reading.run_turn, reading.run_span = ranks, at, turn, span
    return filled


@inlined
def begin_run(ranks, start, end, span, reading):
    """Prepare `read_run` for a run of marks. `span` is the span of the run's first character."""
    reading.ranks, reading.run_span = ranks, span - STEP
    reading.run_start = reading.run_at = reading.run_turn = start
    reading.run_end = end


@inlined
def begin_reading(starts, work):
    """Begin to read new texts. The first text may continue from the last call, so the stored symbols and the number of characters stay the
    same.
    """
    reading, memo = work.reading, work.memo
    reading.at = memo[START] = memo[READ] = np.uint64(starts[0])
    reading.row = reading.ranks = memo[NODE] = U0
    # From now on, position + `state.before` is the index of a character in its text.
    work.state.before -= reading.at


@inlined
def skip_row(starts, reading):
    """Skip the rest of the current text."""
    reading.at, reading.ranks = np.uint64(starts[reading.row + U1]), U0


@inlined
def read(text, starts, more, end, with_spans, reader, work):
    """Read symbols until `work.symbols` is full or the texts end.

    Args:
        text, starts, more: as in `fst.runtime.machines.wordpiece.kernels.encode.encode_rows`.
        end: the symbol to append after each text.
        with_spans: whether spans are requested. If so, a run may also begin with a mark that leaves no symbol.
        reader: `fst.text.reading_arguments.Reader`.
        work: the working arrays, of which symbols, spans, state, reading and memo are used.

    Returns:
        The number of symbols in `work.symbols`, and whether unread text remains.
    """
    symbols, spans, state, reading, memo = work.symbols, work.spans, work.state, work.reading, work.memo
    bmp_classes, second_units = reader.bmp_classes, reader.second_units[0]
    run_flags = HAS_MARKS | CONTINUES_RUN if with_spans else HAS_MARKS
    rows, limit = np.uint64(len(starts)) - U1, np.uint64(len(symbols)) - PAST_LIMIT
    filled, at, row, before = state.kept, reading.at, reading.row, state.before
    if reading.ranks:
        filled = read_run(text, filled, reader, work)
    while row < rows and filled < limit:
        stop = np.uint64(starts[row + U1])
        goes_on = U1 if more and row + U1 == rows else U0
        tried = stop
        while at < stop and filled < limit:
            first, known = at, filled
            at, filled = read_plain(text, at, min(stop, at + (limit - filled)), symbols, filled, bmp_classes, second_units, memo[START])
            if with_spans:
                number_spans(spans, known, filled, AT_START + (first + before) * STEP)
            tried = stop
            while at < stop and filled < limit and at != tried and bmp_classes[text[at]] & NOT_PLAIN:
                tried = at
                span = AT_START + (at + before) * STEP
                at, filled, ranks = read_other(text, at, stop, goes_on, run_flags, filled, span, reader, work)
                if with_spans:
                    before -= pairs(text, tried, at)
                if ranks:
                    begin_run(ranks, tried, at, span, reading)
                    filled = read_run(text, filled, reader, work)
            if at == tried:
                break
        if filled >= limit:
            break
        if not goes_on:
            symbols[filled] = end
            filled += U1
            before = U0 - stop  # position + `before` is 0 at the start of the next text
        row += U1
    reading.at, reading.row, state.before = at, row, before
    return filled, row < rows or reading.ranks > U0
