"""Cut normalized text into pre-tokens before the splitter of a table cuts it, as `fst.text.normalizer.Normalizer.splitter` does.

The requirements of `fst.runtime.text.kernels.composition` apply.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.core.jit import part
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.utf_8 import copy_run, put_code
from fst.runtime.text.kernels.composition import code_at
from fst.runtime.text.kernels.search import forget, search
from fst.runtime.text.kernels.whitespace import SPACE_BYTE, copy_place, put_byte, takes_prefix
from fst.text.normalizer import EDGE as EDGE_CHARACTER
from fst.text.splitter import START

EDGE, VIRTUAL_CODES = np.uint64(ord(EDGE_CHARACTER)), np.uint64(CODE_POINTS)


@part
def run_after(text, at, stop, splitter):
    """Count the members of the run that begins at a position, see `fst.text.counted_runs`; return also the kind of the character after the
    run.
    """
    members, count = splitter.scalars.members, U0
    while at < stop:
        code, at = code_at(text, at)
        mark = np.uint64(splitter.marks[code])
        if mark >= members:
            return count, mark - members
        count += U1
    return count, splitter.scalars.end


@part
def put_symbols(text, start, stop, splitter, symbols):
    """Write the symbol of each character of a part, see `fst.text.splitter.SplitterArguments`; return the number of characters."""
    scalars, classes, marks = splitter.scalars, splitter.classes, splitter.marks
    count = rest = kind = U0
    while start < stop:
        code, after = code_at(text, start)
        mark = np.uint64(marks[code]) if len(marks) else scalars.members
        if mark < scalars.members:
            if rest == U0:
                rest, kind = run_after(text, start, stop, splitter)
            code = VIRTUAL_CODES + (mark * scalars.kinds + kind) * scalars.period + rest % scalars.period
            rest -= U1
        symbols[count] = classes[code]
        count, start = count + U1, after
    return count


@part
def is_match(symbols, begun, end, count, splitter):
    """Whether the result of a search is a match, and not one symbol with which no match begins."""
    if end > begun + U1:
        return True
    moves, columns = splitter.moves, splitter.scalars.columns
    state = np.uint64(moves[np.uint64(START) * columns + symbols[begun]]) >> U1
    following = np.uint64(symbols[end]) if end < count else columns - U1
    return state > U0 and (np.uint64(moves[state * columns + following]) & U1) > U0


@part
def search_or_gap(symbols, begun, count, splitter, memo):
    """Search for a match; if none begins here, return the end of the gap before the next match."""
    end, _ = search(symbols, begun, count, True, splitter, memo)
    if not is_match(symbols, begun, end, count, splitter):
        while end < count:
            after, _ = search(symbols, end, count, True, splitter, memo)
            if is_match(symbols, end, after, count, splitter):
                return end
            end = after
    return end


@part
def put_pretokens(text, own, start, stop, index, normalizer, work, into, filled, places, written):
    """Split a part of a normalized stretch into pre-tokens by ``normalizer.splitter``, and write them. Arguments: see
    `fst.runtime.text.kernels.normalizer.put_part`.
    """
    splitter, symbols, memo = normalizer.splitter, work.symbols, work.cut_memo
    forget(memo)
    count, begun, is_first = put_symbols(text, start, stop, splitter, symbols), U0, True
    while begun < count:
        end = search_or_gap(symbols, begun, count, splitter, memo)
        after = start
        for _ in range(begun, end):
            after = code_at(text, after)[1]
        if not splitter.drops[symbols[begun]]:
            if not is_first:
                filled, written = put_code(EDGE, into, filled), copy_place(own, index, index, places, written)
            if text[start] != SPACE_BYTE and takes_prefix(index, own, normalizer):
                filled, written = put_byte(SPACE_BYTE, own, index, into, filled, places, written)
            filled = copy_run(text, start, after, into, filled)
            for place in range(end - begun if len(places) else U0):
                written = copy_place(own, index + np.uint64(place), index + np.uint64(place), places, written)
            is_first = False
        start, index, begun = after, index + end - begun, end
    return filled, written
