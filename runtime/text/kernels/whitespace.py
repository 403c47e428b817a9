"""Write the words and spaces of a part of a text that contains no added tokens. `fst.text.whitespace.Whitespace.written` specifies the
result.

The requirements of `fst.runtime.text.kernels.composition` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.spans import join_spans, span_of
from fst.runtime.kernels.utf_8 import copy_run, count_characters
from fst.runtime.text.kernels.composition import code_at
from fst.runtime.text.kernels.stops import next_stop
from fst.text import arguments
from fst.text.whitespace import ALWAYS, BREAK, BREAKS, FIRST, KEEPS, PREFIXES, SEPARATORS, SPACE

WHITE, OF_WORDS = np.uint8(arguments.WHITE), np.uint64(arguments.OF_WORDS)
SPACE_BYTE, BREAK_BYTE, SPACE_CODE = np.uint8(ord(SPACE)), np.uint8(ord(BREAK)), np.uint64(ord(SPACE))
IS_FIRST, IS_ALWAYS = (np.uint64(PREFIXES.index(prefix)) for prefix in (FIRST, ALWAYS))
KEEPS_WHITE, HAS_BREAKS = (np.uint64(SEPARATORS.index(separator)) for separator in (KEEPS, BREAKS))


@inlined
def copy_place(own, first, last, places, written):
    """Append the span of the characters `first` to `last` of a normalized stretch if spans are requested; return the new number of
    characters in any case.
    """
    if len(places):
        places[written] = join_spans(own[first], own[last])
    return written + U1


@inlined
def put_byte(byte, own, index, into, filled, places, written):
    """Write an ASCII character with the span ``own[index]``; return the new number of bytes and of characters."""
    into[filled] = byte
    return filled + U1, copy_place(own, index, index, places, written)


@inlined
def put_space(own, index, normalizer, into, filled, places, written):
    """Write ``normalizer.space``, the symbol for a space, with the span ``own[index]``; return the new number of bytes and characters."""
    for place in range(len(normalizer.space)):
        into[filled] = normalizer.space[place]
        filled += U1
    return filled, copy_place(own, index, index, places, written)


@inlined
def takes_prefix(index, own, normalizer):
    """Whether a word gets a prefix space; `index` is the index of the word's first character."""
    prefix = normalizer.scalars.prefix
    return prefix == IS_ALWAYS or (prefix == IS_FIRST and span_of(own[index])[0] == U0)


@part
def put_words(text, own, start, stop, index, goes_on, normalizer, into, filled, places, written):
    """Write a part of a normalized stretch that contains no added tokens, for a normalizer that writes spaces as a symbol such as ▁.

    Args:
        text, own, start, stop, index: as in `fst.runtime.text.kernels.normalizer.put_part`. The prefix `FIRST` requires spans.
        goes_on: whether the first word continues from text before the part.
        normalizer, into, filled, places, written: as in `fst.runtime.text.kernels.normalizer.put_part`.
    """
    kinds, symbol, separator = normalizer.kinds, normalizer.scalars.symbol, normalizer.scalars.separator
    in_word = has_word = goes_on
    at = start
    while at < stop:
        if in_word and not len(places):
            end = next_stop(text, at, stop, normalizer.stops, OF_WORDS)
            count = count_characters(text, at, end)
            filled, written = copy_run(text, at, end, into, filled), written + count
            at, index = end, index + count
            if at == stop:
                break
        code, after = code_at(text, at)
        if separator != KEEPS_WHITE and kinds[code] & WHITE:
            in_word = False
        else:
            is_space = code in (symbol, SPACE_CODE)
            if not in_word:
                if has_word and separator == HAS_BREAKS:
                    filled, written = put_byte(BREAK_BYTE, own, index, into, filled, places, written)
                if not is_space and takes_prefix(index, own, normalizer):
                    filled, written = put_space(own, index, normalizer, into, filled, places, written)
                in_word = has_word = True
            if is_space:
                filled, written = put_space(own, index, normalizer, into, filled, places, written)
            else:
                for place in range(at, after):
                    into[filled] = text[np.uint64(place)]
                    filled += U1
                written = copy_place(own, index, index, places, written)
        at, index = after, index + U1
    return filled, written
