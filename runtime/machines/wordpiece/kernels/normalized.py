"""The kernel of WordPiece for normalized texts, in which a mark replaces each added token. `fst.machines.wordpiece.table.Walk` specifies
the ids.

Few texts need this kernel, see `fst.runtime.machines.wordpiece.normalizer`. The kernel maps each character, and each mark of an added
token, to symbols with their spans in the raw text. The loops of `fst.runtime.machines.wordpiece.kernels.encode` then encode these symbols.

Kernels check nothing, and have the requirements of `fst.runtime.machines.wordpiece.kernels.encode`, except that texts and spans come from
`fst.runtime.text.kernels.normalizer.rewrite`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.runtime.kernels.constants import KIND_SHIFT, LIST, U0, U1, U3
from fst.runtime.kernels.output import put_special_ids
from fst.runtime.kernels.utf_8 import LOW_6
from fst.runtime.machines.wordpiece.kernels.encode import encode_symbols
from fst.runtime.text.kernels.composition import code_at
from fst.runtime.text.kernels.reading import PAST_LIMIT, class_of, put_list
from fst.text import marks
from fst.text.reading import NORMALIZED as FIRST_NORMALIZED

MARK, MARK_BITS, MARK_BYTES = np.uint8(marks.MARK), np.uint64(marks.MARK_BITS), np.uint64(marks.MARK_BYTES)
NORMALIZED = np.uint64(FIRST_NORMALIZED)


@inlined
def number_at(text, at):
    """Return the number of the token whose mark begins at a position."""
    number = U0
    for index in range(U1, MARK_BYTES):
        number = number << MARK_BITS | np.uint64(text[at + np.uint64(index)]) & LOW_6
    return number


@inlined
def put_symbol(number, filled, span, work):
    """Append a symbol, and return the new number of symbols."""
    work.symbols[filled], work.spans[filled] = number, span
    return filled + U1


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode normalized texts.

    Args:
        text: uint8[n], all texts in UTF-8, with marks.
        starts, more, output, work: as in `fst.runtime.machines.wordpiece.kernels.encode.encode_rows`.
        table: `fst.machines.wordpiece.arguments.NormalizedArguments`.

    Returns:
        The end of the last text.
    """
    reader, own, places, state = table.table.reader, table.table, table.places, work.state
    limit, rows = np.uint64(len(work.symbols)) - PAST_LIMIT, len(starts) - 1
    state.row = U0
    if rows and not state.is_open:
        state.count = put_special_ids(output.prefix, state.count, output)
    state.is_open = more
    filled, index, span = state.kept, U0, U0
    for row in range(rows):
        at, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        while at < end:
            if len(places):
                span = places[index]
            index += U1
            if text[at] == MARK:
                filled = put_symbol(table.tokens[number_at(text, at)], filled, span, work)
                at += MARK_BYTES
            else:
                code, at = code_at(text, at)
                number = class_of(code + NORMALIZED, reader)
                if reader.records[number] >> KIND_SHIFT & U3 == LIST:
                    filled = put_list(number, U0, filled, span, reader, work)
                else:
                    filled = put_symbol(number, filled, span, work)
            if filled >= limit:
                filled = encode_symbols(filled, own, output, work)
        if not more or row + 1 < rows:
            filled = put_symbol(own.scalars.end_class, filled, U0, work)
    state.kept = encode_symbols(filled, own, output, work)
    return np.uint64(starts[rows])


@kernel
def lacks_units(text, starts, units):
    """Whether texts contain no unit of a set.

    Args:
        text: uint16[n], UTF-16 of all texts.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        units: bool[0x10000], the set.
    """
    found = False
    for at in range(starts[0], starts[len(starts) - 1]):
        found |= units[text[np.uint64(at)]]
    return not found
