"""The fallback for texts with contextual added tokens, which depend on normalised text or on their neighbours.

These kernels follow the reference step by step: they find the tokens in raw text, then the symbols of the text between them, and then the
tokens among these symbols. `Pattern` and `Symbols` are those of `fst.runtime.machines.wordpiece.fallback_arguments`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, kernel, part
from fst.runtime.kernels.constants import CONTINUES_RUN, HALF, HAS_MARKS, KIND_SHIFT, LIST, LOW_HALF, NEXT, OUTPUT_SHIFT, U0, U1, U3, U8
from fst.runtime.kernels.intrinsics import trailing_zeros
from fst.runtime.kernels.tries import NODE, READ, START, match_at
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.machines.wordpiece import fallback_arguments as contextual
from fst.runtime.text.kernels.reading import CLASS, RANK_SHIFT, class_of, ranks_of

WORD_PART, BEGINS_WORD, ENDS_WORD = np.uint8(contextual.WORD_PART), np.uint8(contextual.BEGINS_WORD), np.uint8(contextual.ENDS_WORD)
SPACED, WHITE, MIXED = np.uint8(contextual.SPACED), np.uint8(contextual.WHITE), np.uint8(contextual.MIXED)
BEGINS_RAW = np.uint8(contextual.BEGINS_RAW)
SINGLE_WORD, LSTRIP, RSTRIP = (np.int32(contextual.FLAGS[name]) for name in ("single_word", "lstrip", "rstrip"))
NO_SOURCE = np.uint32(contextual.NO_SOURCE)


@inlined
def put_symbol(number, first, last, source, ordinal, filled, symbols):
    """Append a symbol with the span from `first` to before `last`. Returns the new count of symbols."""
    symbols.classes[filled] = number
    symbols.spans[filled] = first | last << HALF
    symbols.sources[filled] = source
    symbols.ordinals[filled] = ordinal
    return filled + U1


@inlined
def put_run(codes, first, stop, start, filled, reader, symbols):
    """Append the symbols of a run of characters whose records are lists, in canonical order. `start` is where their text begins.

    Spans ascend although symbols are permuted, as in `fst.runtime.text.kernels.reading.read_run`. Returns the new count of symbols.
    """
    records, lists = reader.records, reader.lists
    ranks = U0
    for at in range(first, stop):
        ranks |= ranks_of(records[class_of(np.uint64(codes[at]), reader)], lists)
    turn, place = first, first - start
    while ranks:
        rank = trailing_zeros(ranks)
        ranks &= ranks - U1
        for at in range(first, stop):
            listed = records[class_of(np.uint64(codes[at]), reader)] & NEXT
            count, ordinal = np.uint64(lists[listed]), U0
            if count and np.uint64(lists[listed + U1]) >> RANK_SHIFT == rank:
                while not lists[records[class_of(np.uint64(codes[turn]), reader)] & NEXT]:
                    turn += U1
                place = turn - start
                turn += U1
            for index in range(U1, count + U1):
                symbol = np.uint64(lists[listed + index])
                if symbol >> RANK_SHIFT == rank and symbol & CLASS:
                    filled = put_symbol(symbol & CLASS, place, place + U1, at, ordinal, filled, symbols)
                ordinal += np.uint64(symbol & CLASS > U0)
    return filled


@part
def put_characters_of(codes, first, stop, start, filled, reader, symbols):
    """Append the symbols of a stretch of the text that begins at `start`. Returns the new count of symbols."""
    records = reader.records
    at = first
    while at < stop:
        number = class_of(np.uint64(codes[at]), reader)
        record, end = records[number], at + U1
        if record >> KIND_SHIFT & U3 != LIST:
            filled = put_symbol(number, at - start, end - start, at, U0, filled, symbols)
        else:
            is_run = record >> OUTPUT_SHIFT & (HAS_MARKS | CONTINUES_RUN)
            while is_run and end < stop:
                following = records[class_of(np.uint64(codes[end]), reader)]
                if following >> KIND_SHIFT & U3 != LIST or not following >> OUTPUT_SHIFT & CONTINUES_RUN:
                    break
                end += U1
            filled = put_run(codes, at, end, start, filled, reader, symbols)
        at = end
    return filled


@kernel
def count_symbols(codes, reader):
    """An upper bound on the symbols of characters. Each character counts as at least one, since it may be an added token."""
    records, lists = reader.records, reader.lists
    count = U0
    for at in range(np.uint64(len(codes))):
        record = records[class_of(np.uint64(codes[at]), reader)]
        count += max(np.uint64(lists[record & NEXT]), U1) if record >> KIND_SHIFT & U3 == LIST else U1
    return count


@inlined
def is_in_word(codes, first, stop, start, end, kinds):
    """Whether a part of a word stands right before or right after a stretch of a text."""
    return (first > start and kinds[codes[first - U1]] & WORD_PART) or (stop < end and kinds[codes[stop]] & WORD_PART)


@kernel
def read_raw(codes, starts, reader, pattern, kinds, end_class, memo, symbols):
    """Read texts into symbols, with the added tokens in raw text found as by the reference's ``AddedVocabulary.find_matches``.

    Args:
        codes: uint32[n], code points of all texts.
        starts: int64[rows + 1], where each text begins, and where the last one ends.
        reader: `fst.text.reading_arguments.Reader`.
        pattern: the tokens in raw text.
        kinds: uint8[0x110000], the kinds of each code point, as bits of `fst.runtime.machines.wordpiece.fallback_arguments`.
        end_class: the class for the end of a text.
        memo: uint64[3], see `fst.runtime.kernels.tries.match_at`.
        symbols: filled; it has room for `count_symbols`, and for one more a text.

    Returns:
        The number of symbols.
    """
    nodes, tokens = pattern.trie.nodes, pattern.tokens
    memo[START] = memo[READ] = memo[NODE] = filled = U0
    for row in range(len(starts) - 1):
        start, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        at = begun = white = start  # next position; first position not yet read into symbols; end of the white space that a token has taken
        while at < end:
            if not kinds[codes[at]] & BEGINS_RAW:
                at += U1
                continue
            node, _ = match_at(codes, ITEMS, at, end, U0, pattern.trie, memo)
            if not nodes[node, LENGTH]:
                at += U1
                continue
            first, stop = at, at + np.uint64(nodes[node, LENGTH])
            at = stop
            number, flags = tokens[nodes[node, VALUE], 0], tokens[nodes[node, VALUE], 1]
            if flags & SINGLE_WORD and is_in_word(codes, first, stop, start, end, kinds):
                continue
            while flags & LSTRIP and first > begun and kinds[codes[first - U1]] & WHITE:
                first -= U1
            if flags & RSTRIP:
                stop = max(stop, white)
                while stop < end and kinds[codes[stop]] & WHITE:
                    stop += U1
                white = stop
            # A token may lie inside white space that the one before it has taken; then no text stands between the two.
            filled = put_characters_of(codes, begun, max(first, begun), start, filled, reader, symbols)
            filled = put_symbol(number, first - start, stop - start, NO_SOURCE, U0, filled, symbols)
            begun = stop
        filled = put_characters_of(codes, begun, end, start, filled, reader, symbols)
        filled = put_symbol(end_class, end - start, end - start + U1, NO_SOURCE, U0, filled, symbols)
    return filled


@inlined
def is_part(codes, symbols, at, kind, kinds, mixed):
    """Whether a symbol beside a token is a part of a word. `kind` is `ENDS_WORD` before the token, and `BEGINS_WORD` after it.

    If only some symbols of a character are parts of words, `mixed` lists these: ``code point << 8 | ordinal``, ascending.
    """
    sources, ordinals = symbols.sources, symbols.ordinals
    if sources[at] == NO_SOURCE:
        return False
    code = np.uint64(codes[sources[at]])
    own = kinds[code]
    if not own & MIXED:
        return own & (kind | SPACED) == kind
    key, low, high = code << U8 | np.uint64(ordinals[at]), U0, np.uint64(len(mixed))
    while low < high:
        middle = low + high >> U1
        if mixed[middle] < key:
            low = middle + U1
        else:
            high = middle
    return low < np.uint64(len(mixed)) and mixed[low] == key


@inlined
def is_spaced(codes, symbols, at, kinds):
    """Whether normalisation puts blanks around a symbol's character."""
    sources = symbols.sources
    return sources[at] != NO_SOURCE and kinds[codes[sources[at]]] & SPACED > 0


@kernel
def find_normalized(codes, count, symbols, pattern, begins, kinds, mixed, blank, memo, classes, spans):
    """Find the added tokens in normalised text, and write each as one symbol in place of its own symbols.

    Args:
        codes, kinds, memo: as in `read_raw`.
        count: the number of symbols; the last one is the end of a text.
        symbols: the result of `read_raw`.
        pattern: the tokens in normalised text, as strings of classes.
        begins: uint8[classes + 1], 1 for the first class of each token.
        mixed: uint64[n], see `is_part`.
        blank: the class of blanks.
        classes, spans: uint16[count] and uint64[count], filled.

    Returns:
        The number of symbols written.
    """
    own_classes, own_spans, nodes, tokens = symbols.classes, symbols.spans, pattern.trie.nodes, pattern.tokens
    memo[START] = memo[READ] = memo[NODE] = filled = at = last = U0
    while at < count:
        stop = at + U1
        number, flags, is_token = np.int32(0), np.int32(0), False
        if begins[own_classes[at]]:
            node, _ = match_at(own_classes, ITEMS, at, count, U0, pattern.trie, memo)
            if nodes[node, LENGTH]:
                stop = at + np.uint64(nodes[node, LENGTH])
                number, flags = tokens[nodes[node, VALUE], 0], tokens[nodes[node, VALUE], 1]
                is_token = not flags & SINGLE_WORD or not (
                    (at > U0 and is_part(codes, symbols, at - U1, ENDS_WORD, kinds, mixed))
                    or is_part(codes, symbols, stop, BEGINS_WORD, kinds, mixed)
                )
        if not is_token:
            while at < stop:
                classes[filled], spans[filled] = own_classes[at], own_spans[at]
                filled += U1
                at += U1
            continue
        begin, end = own_spans[at] & LOW_HALF, own_spans[stop - U1] >> HALF
        if flags & LSTRIP:
            while at > last and own_classes[at - U1] == blank:
                at -= U1
                filled -= U1
                begin = own_spans[at] & LOW_HALF
            if at > last and is_spaced(codes, symbols, at - U1, kinds):
                begin = own_spans[at - U1] & LOW_HALF
        if flags & RSTRIP:
            while own_classes[stop] == blank:
                end = own_spans[stop] >> HALF
                stop += U1
            if is_spaced(codes, symbols, stop, kinds):
                end = own_spans[stop] >> HALF
        classes[filled], spans[filled] = number, begin | end << HALF
        filled += U1
        at = last = stop
    return filled
