"""The kernel of WordPiece, which encodes text to token ids. `fst.machines.wordpiece.table.Walk` specifies the result, symbol by symbol.

The kernel reads text in rounds of a few thousand symbols, and runs six loops over each round. Each loop does one step for all symbols, with
almost no branches that depend on the text. So the processor works on many positions at the same time::

    read           text → symbols: one look-up for each character
    find_words     symbols → begins and ends of words
    find_slots     words → their slots in the table of words, which are prefetched
    look_up        words → ids; a word outside of the table is pending, and gets a gap for its ids
    transduce      pending words → ids in the gaps: all words together, one symbol at a time, through δ′ and σ′
    emit           ids → output, without the gaps, and with the special ids of each text

The table of words contains no word with an added token inside, so such a word is pending. Between `look_up` and `transduce`, `find_tokens`
finds these tokens, and `cut_words` cuts the word at its tokens into smaller pending words. Before `emit`, `join_words` joins the ids of
each word. The array `suspects` marks each text that may contain other contextual added tokens. `fst.runtime.machines.wordpiece.normalizer`
then normalizes this text, and `fst.runtime.machines.wordpiece.kernels.normalized` encodes the result.

If spans are requested, `locate` writes the spans before `emit` writes the ids.

Kernels check nothing. They require:

- The table has passed its proof, or comes directly from the compiler.
- ``text`` is valid UTF-16 in the processor's byte order; ``starts`` ascends within ``text``, and cuts no character.
  `fst.runtime.rows.texts` ensures these requirements.
- ``output.ids`` has `ids_per_unit` elements for each unit of text, an element for each special id and for each symbol that is stored from
  the last call, and `fst.tables.kernel_call.SLACK` more elements.
- The arrays in ``work`` come from `fst.tables.kernel_call.work_of`, and only kernels write to these arrays.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.core.prefetch import prefetch
from fst.runtime.kernels.constants import (
    FAIL,
    HALF,
    KIND_SHIFT,
    LABEL_SHIFT,
    LAST_OUTPUT,
    LINK,
    LOW_HALF,
    MANY,
    NEXT,
    OUTPUT,
    OUTPUT_SHIFT,
    RARE,
    ROOT,
    U0,
    U1,
    U2,
    U3,
)
from fst.runtime.kernels.output import copy, put_special_ids
from fst.runtime.kernels.spans import join_spans, span_of
from fst.runtime.machines.wordpiece.kernels.added_tokens import cut_words, find_bordered_suspects, find_tokens, join_words
from fst.runtime.machines.wordpiece.kernels.words import FAILED, find_slots, find_words, look_up, value_of, word_of
from fst.runtime.text.kernels.reading import begin_reading, is_fence, read, skip_row
from fst.tables.kernel_call import IDS_ALONE


@inlined
def pack_active(state, place):
    """Pack the first item of an active word: the word's state, and the index of its next id. The second item is the word's first symbol."""
    return state | place << HALF


@inlined
def active_of(item):
    """Return the state of an active word, and the index of its next id."""
    return item & LOW_HALF, item >> HALF


@inlined
def prefetch_step(entries, state, symbols, following, records):
    """Prefetch the two entries that a step from a state may load: the finish entry of the state, and the state's transition on the next
    symbol.
    """
    prefetch(entries, state)
    prefetch(entries, state + (records[np.uint64(symbols[following])] >> LABEL_SHIFT))


@inlined
def sort_words(symbols, table, pending, count, active, results, longer):
    """Sort pending words by length, the longest first, and write the words as active words, each in the state after its first symbol.

    Empty words, and words longer than ``table.scalars.longest``, are last.

    Returns:
        The length of the longest word. ``longer[n]`` is the number of words with at least n symbols, for n up to this length + 1.
    """
    records, start_targets, entries, scalars = table.reader.records, table.start_targets, table.entries, table.scalars
    longest, most = scalars.longest, U0
    for length in range(min(longest, pending[count - U1]) + U2 if count else U2):  # no word is longer than the end of the last word
        longer[length] = U0
    for index in range(U0, count, U2):
        word, end = pending[index], pending[index + U1]
        gap, start = word_of(word)
        length = end - start
        results[end] = FAILED if length > longest else gap
        length = U0 if length > longest else length
        longer[length] += U1
        most = max(most, length)
    before = U0
    for index in range(most + U1):
        length = most - np.uint64(index)
        words = longer[length]
        longer[length] = before
        before += words
    for index in range(U0, count, U2):
        word, end = pending[index], pending[index + U1]
        gap, start = word_of(word)
        length = U0 if end - start > longest else end - start
        rank = longer[length] << U1
        longer[length] += U1
        number = np.uint64(symbols[start])
        label = records[number] >> LABEL_SHIFT
        # The first symbol writes no id, and the root has a transition for every label.
        state = entries[ROOT + label] & NEXT if label else start_targets[number]
        prefetch_step(entries, state, symbols, start + min(length, U1), records)
        active[rank] = pack_active(state, gap)
        active[rank + U1] = start
    return most


@inlined
def put_pooled(pool, output, scratch, place):
    """Write the ids of a list in the pool, and return the index after the last id."""
    while pool[output] < LAST_OUTPUT:
        scratch[place] = np.int32(pool[output])
        place += U1
        output += U1
    scratch[place] = np.int32(pool[output] & OUTPUT)
    return place + U1


@inlined
def finish_words(step, first, last, table, scratch, active, results):
    """Write the last ids of the active words `first` to `last - 1`, which have exactly `step` symbols."""
    entries, pool = table.entries, table.pool
    for index in range(first << U1, last << U1, U2):
        (state, place), start = active_of(active[index]), active[index + U1]
        entry = entries[state]
        kind, output = entry >> KIND_SHIFT & U3, entry >> OUTPUT_SHIFT & OUTPUT
        scratch[place] = np.int32(output)
        place += kind & U1
        if kind == MANY:
            place = put_pooled(pool, output, scratch, place)
        results[start + step] = FAILED if kind == FAIL else place


@part
def follow_links(symbols, step, words, table, scratch, active):
    """For each of the first `words` active words, follow failure links to a state with a transition on the next symbol, or with no link."""
    records, entries, pool = table.reader.records, table.entries, table.pool
    for index in range(U0, words << U1, U2):
        (state, place), start = active_of(active[index]), active[index + U1]
        label = records[np.uint64(symbols[start + step])] >> LABEL_SHIFT
        while label and entries[state + label] >> LABEL_SHIFT != label and entries[state + LINK] >> LABEL_SHIFT == LINK:
            link = entries[state + LINK]
            kind, output = link >> KIND_SHIFT & U3, link >> OUTPUT_SHIFT & OUTPUT
            scratch[place] = np.int32(output)
            place += kind & U1
            if kind == MANY:
                place = put_pooled(pool, output, scratch, place)
            state = link & NEXT
        active[index] = pack_active(state, place)


@part
def transduce(symbols, table, scratch, pending, count, active, results, longer):
    """Run the transducer over all pending words together: read one symbol of each word in turn, so that memory accesses overlap.

    Words are sorted, so unfinished words are first. For each word, `results` contains, at the index of the symbol that ends the word, the
    index after the word's last id, or `FAILED`.
    """
    records, entries, pool, scalars = table.reader.records, table.entries, table.pool, table.scalars
    most = sort_words(symbols, table, pending, count, active, results, longer)
    for step in range(U1, most + U1):
        going_on = longer[step + U1]
        finish_words(step, going_on, longer[step], table, scratch, active, results)
        if scalars.is_linked:
            follow_links(symbols, step, going_on, table, scratch, active)
        for index in range(U0, going_on << U1, U2):
            (state, place), start = active_of(active[index]), active[index + U1]
            record = records[np.uint64(symbols[start + step])]
            label = record >> LABEL_SHIFT
            entry = entries[state + label]
            default = entry >> LABEL_SHIFT != label
            follow = (record if default else entry) & NEXT
            # The default transition has the output of the finish entry. A conditional index avoids a branch that is often mispredicted.
            entry = entries[state + (U0 if default else label)]
            output = entry >> OUTPUT_SHIFT & OUTPUT
            scratch[place] = np.int32(output)
            place += entry >> KIND_SHIFT & U1
            if entry & RARE:  # several ids; or no id, if the word fails
                if entry >> KIND_SHIFT & U3 == MANY:
                    place = put_pooled(pool, output, scratch, place)
                else:
                    place -= U1
                    follow = scalars.dead
            prefetch_step(entries, follow, symbols, start + step + U1, records)
            active[index] = pack_active(follow, place)


@inlined
def put_span(spans, first, last, offsets, words, at, word):
    """Write the span of an id, from the start of its first symbol to the end of its last symbol, and the number of its word."""
    start, end = span_of(join_spans(spans[first], spans[last]))  # the halves of one number, so that LLVM writes both at once
    offsets[at << U1], offsets[at << U1 | U1] = np.int32(start), np.int32(end)
    words[at] = np.int32(word)


@inlined
def locate_found(symbols, begins, stops, index, stop, isolated_ids, spans, offsets, words, at, word):
    """Write the spans of words in the table of words, and of the symbols that end words, up to the word that ends at symbol `stop`."""
    while np.uint64(stops[index]) != stop:
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        _, own = value_of(isolated_ids[np.uint64(symbols[end])])
        present = np.uint64(start < end)  # 0 for an empty word, whose span is overwritten by the next span
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
    """Compute the spans of a pending word's ids from the lengths of its tokens, and write the spans. Whatever these lengths are, each span
    lies in the word.
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


@part
def emit(symbols, scratch, written, pending, count, results, scalars, output, state):
    """Write to the output: the ids, the special ids before and after each text, and the end of each text."""
    prefix, suffix, ids, ends = output.prefix, output.suffix, output.ids, output.ends
    at, begin, row = state.count, U0, state.row
    for index in range(U0, count, U2):
        word, end = pending[index], pending[index + U1]
        gap, start = word_of(word)
        result = results[end]
        if result & FAILED:
            at = copy(scratch, begin, gap, ids, at)
            ids[at] = np.int32(scalars.unk)
            at += U1
        else:
            at = copy(scratch, begin, result, ids, at)
        begin = gap if start == end else gap + (end - start) + U1
        if symbols[end] == scalars.end_class:
            at = put_special_ids(suffix, at, output)
            ends[row] = at
            row += U1
            if row < np.uint64(len(ends)):
                at = put_special_ids(prefix, at, output)
    state.count, state.row = copy(scratch, begin, written, ids, at), row


@part
def encode_symbols(filled, table, output, work):
    """Encode all complete words, and move the symbols of the last, incomplete word to the front; return the number of these symbols."""
    symbols, spans, pending, scratch, results, state = work.symbols, work.spans, work.pending, work.scratch, work.results, work.state
    begins, stops, slots, tokens, pieces = work.begins, work.stops, work.slots, work.tokens, work.pieces
    scalars, isolated_ids = table.scalars, table.isolated_ids
    # The next symbol may cancel a fence at the end, so that the word before the fence continues.
    fenced = filled > U0 and is_fence(table.reader.records[np.uint64(symbols[filled - U1])])
    filled -= U1 if fenced else U0
    found = find_words(symbols, filled, scalars, work.masks, begins, stops, U1)
    find_slots(symbols, begins, stops, found, table, slots)
    written, count = look_up(symbols, begins, stops, slots, found, table, scratch, pending)
    of_words, known, cut = pending, count, U0
    if len(output) > IDS_ALONE and len(output.suspects):
        if table.added.scalars.has_borders:
            find_bordered_suspects(symbols, filled, begins, stops, found, table, output.suspects, state.row, work.symbol_memo)
        cut = find_tokens(symbols, pending, count, table, output.suspects, state, tokens, work.symbol_memo)
        if cut:
            of_words, known = pieces, cut_words(symbols, pending, count, tokens, cut, table.added.scalars.filler, spans, pieces)
            if len(output.offsets):  # find the words again, with all spaces: a space after a token may end a pending word
                found = find_words(symbols, filled, scalars, work.masks, begins, stops, U0)
    transduce(symbols, table, scratch, of_words, known, work.active, results, slots)  # `slots` is reused as `longer`
    if len(output) > IDS_ALONE and len(output.offsets):
        locate(symbols, begins, stops, found, scratch, of_words, known, results, table, output, work)
    if len(output) > IDS_ALONE and cut:
        join_words(symbols, pending, tokens, cut, isolated_ids, scratch, results, scalars.unk)
    emit(symbols, scratch, written, pending, count, results, scalars, output, state)
    start = np.uint64(begins[found])
    state.last_symbol = np.uint64(symbols[start - U1]) if found else state.last_symbol
    kept = min(filled - start, scalars.longest + U1)  # enough to detect that the word is too long
    for index in range(kept):
        symbols[index] = symbols[start + np.uint64(index)]
    if len(output) > IDS_ALONE and len(output.offsets) and kept:
        end = spans[filled - U1]
        for index in range(kept):
            spans[index] = spans[start + np.uint64(index)]
        spans[kept - U1] = end  # the span of the last stored symbol also covers all dropped symbols
    if fenced:
        symbols[kept], spans[kept] = symbols[filled], spans[filled]
        kept += U1
    return kept


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts.

    Args:
        text: uint16[n], all texts in UTF-16.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        more: uint64, 1 if the last text continues in the next call, otherwise 0.
        table: `fst.machines.wordpiece.arguments.Arguments`.
        output: `fst.tables.kernel_call.IdsOutput`, or `SpansOutput` for spans and suspects; filled.
        work: `fst.tables.kernel_call.Work`. All elements of ``output.state`` must be 0 before the first call.

    Returns:
        The position where reading stopped: the end of the texts, or, with `more`, the start of a character that may combine with further
        text.
    """
    state, reading = work.state, work.reading
    with_spans = len(output) > IDS_ALONE and len(output.offsets) > 0
    state.row = U0
    if len(starts) > 1 and not state.is_open:
        state.count = put_special_ids(output.prefix, state.count, output)
    state.is_open = more
    begin_reading(starts, work)
    is_more = True
    while is_more:
        filled, is_more = read(text, starts, more, table.scalars.end_class, with_spans, table.reader, work)
        state.kept = encode_symbols(filled, table, output, work)
        if len(output) > IDS_ALONE and len(output.suspects) and is_more and output.suspects[reading.row]:
            skip_row(starts, reading)  # this text is normalized and encoded again, so the rest of it need not be read
    state.before += reading.at
    return reading.at
