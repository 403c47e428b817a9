"""Spans of ids: the first and the last character, and the word, of each id."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.runtime.kernels.constants import LOW_HALF, U0, U1, U2
from fst.runtime.kernels.spans import join_spans, span_of
from fst.runtime.machines.wordpiece.kernels.words import FAILED, value_of, word_of


@inlined
def put_span(spans, first, last, offsets, words, at, word):
    """Write the span of an id, from the start of its first symbol to the end of its last symbol, and the number of its word."""
    start, end = span_of(join_spans(spans[first], spans[last]))  # of one number, so that LLVM writes both halves at once
    offsets[at << U1], offsets[at << U1 | U1] = np.int32(start), np.int32(end)
    words[at] = np.int32(word)


@inlined
def locate_found(symbols, begins, stops, index, stop, isolated_ids, spans, offsets, words, at, word):
    """Write the spans of words in the table of words, and of the symbols that end words, up to the word that ends at symbol `stop`."""
    while np.uint64(stops[index]) != stop:
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        _, own = value_of(isolated_ids[np.uint64(symbols[end])])
        present = np.uint64(start < end)  # 0 for an empty word: the next span overwrites its span
        put_span(spans, start, end - present, offsets, words, at, word)
        at += present
        word += present
        put_span(spans, end, end, offsets, words, at, word)
        at += own
        word += own
        index += U1
    return index, at, word


@inlined
def locate_missing(scratch, gap, result, start, end, lengths, spans, offsets, words, at, word):
    """Compute the spans of a pending word's ids from the lengths of its tokens, and write them. Whatever these lengths are, each span lies
    in the word.
    """
    for place in range(gap, result):
        token = np.uint64(scratch[place]) << U1 | np.uint64(place > gap)
        first, after = min(start, end - U1), min(start + np.uint64(lengths[token]), end)
        put_span(spans, first, max(after, first + U1) - U1, offsets, words, at, word)
        at += U1
        start = after
    return at


@part
def locate(symbols, begins, stops, count, scratch, pending, known, results, table, output, work):
    """Write the span of each id that `emit` writes later, in the same order."""
    isolated_ids, scalars, lengths = table.isolated_ids, table.scalars, table.token_lengths
    offsets, words, state, spans = output.offsets, output.words, work.state, work.spans
    around = np.uint64(len(output.prefix) + len(output.suffix))
    index, at, word = U0, state.count, state.word
    stops[count] = np.uint32(LOW_HALF)  # a sentinel: no symbol has this index
    for item in range(U0, known, U2):
        end = pending[item + U1]
        index, at, word = locate_found(symbols, begins, stops, index, end, isolated_ids, spans, offsets, words, at, word)
        start = np.uint64(begins[index])
        (gap, missing), result = word_of(pending[item]), results[end]
        present = np.uint64(start < end)
        if missing == end or result & FAILED:
            put_span(spans, start, end - present, offsets, words, at, word)
            at += present
        else:
            at = locate_missing(scratch, gap, result, start, end, lengths, spans, offsets, words, at, word)
        word += present
        _, own = value_of(isolated_ids[np.uint64(symbols[end])])
        put_span(spans, end, end, offsets, words, at, word)
        at += own
        word += own
        if symbols[end] == scalars.end_class:
            at += around
            word = U0
        index += U1
    _, _, state.word = locate_found(symbols, begins, stops, index, LOW_HALF, isolated_ids, spans, offsets, words, at, word)
