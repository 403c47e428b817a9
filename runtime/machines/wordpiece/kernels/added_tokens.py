"""Contextual added tokens: find inside tokens, and mark each text that may contain a bordered token, because such a text must be
normalized.

`fst.machines.wordpiece.arguments.AddedTokens` defines inside tokens, bordered tokens and grams.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LEAST, LENGTH, VALUE
from fst.core.jit import inlined, part
from fst.machines.wordpiece.arguments import (
    BEGINNING,
    BEGINS,
    BORDER,
    CLEAR,
    ENDS,
    IN_WORD,
    OWN,
)
from fst.runtime.kernels.constants import HALF, HASH_MULTIPLIER, LOW_HALF, U0, U1, U2, U4, U8, U42, U48, U54, U63, U64
from fst.runtime.kernels.intrinsics import trailing_zeros
from fst.runtime.kernels.spans import join_spans
from fst.runtime.kernels.tries import NODE, READ, START, match_at
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.machines.wordpiece.kernels.words import FAILED, pack_word, value_of, word_of

OWN_GRAMS, BEGINNING_GRAMS, BORDER_GRAMS = np.uint64(OWN), np.uint64(BEGINNING), np.uint64(BORDER)
NO_WORD = LOW_HALF  # in place of the index of a pending word


@inlined
def pack_token(first, end):
    """Pack the bounds of a token: its first symbol, and one past its last symbol."""
    return first | end << HALF


@inlined
def token_of(item):
    """Return the bounds of a token."""
    return item & LOW_HALF, item >> HALF


@inlined
def pack_class(index, number):
    """Pack the index in `pending` of a token's word, and the class of the token."""
    return index | number << HALF


@inlined
def class_of(item):
    """Return the index of a token's word, and the class of the token."""
    return item & LOW_HALF, item >> HALF


@inlined
def four_at(symbols, at):
    """Pack four symbols into one number."""
    four = U0
    for index in range(4):
        four |= np.uint64(symbols[at + np.uint64(index)]) << np.uint64(16 * index)
    return four


@inlined
def is_gram(symbols, at, width, kind, grams):
    """Whether the next `width` symbols, at most eight, are a gram of a kind. The test reads a Bloom filter, so the result may be a false
    positive.
    """
    inner = min(width, U4)
    shift = U64 - (inner << U4)
    gram = four_at(symbols, at) << shift ^ four_at(symbols, at + (width - inner)) << shift << U8
    hashed = gram * HASH_MULTIPLIER
    bits = np.uint64(grams[kind | hashed >> U54])
    return bits >> (hashed >> U48 & U63) & bits >> (hashed >> U42 & U63) & U1


@inlined
def near(symbols, at, width, grams):
    """Return a bit mask: bit i is set if an inside token may begin i symbols after `at`, for i < 4. The loop has no branch."""
    found = U0
    for offset in range(4):
        found |= is_gram(symbols, at + np.uint64(offset), width, BEGINNING_GRAMS, grams) << np.uint64(offset)
    return found


@inlined
def is_known(symbols, at, end, beyond, kind, widths, grams):
    """Whether a gram of a kind begins at a position. Bit n of `widths` is set if grams of n symbols are tested; if n symbols reach past
    `end`, the result of the test is `beyond`, 0 or 1.
    """
    found = U0
    while widths:  # no early exit: the processor predicts the number of widths, but not the width that matches
        width = trailing_zeros(widths)
        found |= is_gram(symbols, at, width, kind, grams) if at + width <= end else beyond
        widths &= widths - U1
    return found > U0


@inlined
def token_at(symbols, first, end, before, added, memo):
    """Find the longest inside token that begins at `first`, in a word that ends at `end`; `before` is the class before the token.

    Returns:
        The end of the token, or `first` if no token begins there; the class of the token, or 0 if this is no valid place for the token; and
        whether only the normalized text can decide about the place.
    """
    nodes, sides = added.trie.nodes, added.sides
    node, _ = match_at(symbols, ITEMS, first, end, U0, added.trie, memo)
    stop = first + np.uint64(nodes[node, LENGTH])
    if stop == first:
        return first, U0, False
    kind, unclear = np.uint64(nodes[node, VALUE]), nodes[node, LEAST] == 0
    if kind & U1:
        neighbours = sides[before], sides[np.uint64(symbols[stop])]
        if (neighbours[0] | neighbours[1]) & IN_WORD:
            kind = U0
        else:
            unclear |= kind == U1 or not neighbours[0] & neighbours[1] & CLEAR
    return stop, kind >> U1, unclear


@part
def find_tokens(symbols, pending, count, table, suspects, state, tokens, memo):
    """Find inside tokens. Only pending words can contain inside tokens; words in the table of words do not contain any.

    A text is marked in `suspects` if symbols do not decide whether a place of a token is valid, or if a word of the text is too long to be
    looked up.

    Returns:
        Twice the number of tokens. `tokens` contains two items for each token, of `pack_token` and of `pack_class`.
    """
    added, row, longest, last_class = table.added, state.row, table.scalars.longest, table.scalars.end_class
    shortest, widths = added.scalars.shortest, added.scalars.inside_widths
    memo[START] = memo[READ] = memo[NODE] = U0
    found = U0
    for index in range(U0, count, U2):
        (_, start), end = word_of(pending[index]), pending[index + U1]
        if end - start > longest:
            suspects[row] = 1
        elif end - start >= shortest:
            free, last = start, end - shortest  # the end of the previous token; the last position at which a token may begin
            for four in range(start, last + U1, U4):
                places = near(symbols, four, shortest, added.grams)
                while places:
                    first = four + trailing_zeros(places)
                    places &= places - U1
                    if is_known(symbols, first, end, U0, OWN_GRAMS, widths, added.grams):
                        before = np.uint64(symbols[first - U1]) if first else state.last_symbol
                        stop, number, unclear = token_at(symbols, first, end, before, added, memo)
                        if unclear:
                            suspects[row] = 1
                        if first >= free and stop > first:
                            free = stop
                            tokens[found], tokens[found + U1] = pack_token(first, stop), pack_class(index, number)
                            found += U2 if number else U0
        row += U1 if symbols[end] == last_class else U0
    return found


@part
def cut_words(symbols, pending, count, tokens, found, filler, spans, pieces):
    """Cut pending words at inside tokens. In each token, the token's class replaces the first symbol, and `filler` replaces all other
    symbols.

    Returns:
        Twice the number of `pieces`. A piece is a pending word without tokens, or a part of a pending word before, between or after its
        tokens. If a piece starts at symbol n of its word, the gap of the piece starts at index n of the word's gap. So the ids of all
        pieces fit into the word's gap.
    """
    known, token = U0, U0
    tokens[found + U1] = NO_WORD  # a sentinel after the last token: no word has this index
    for index in range(U0, count, U2):
        word, end = pending[index], pending[index + U1]
        gap, start = word_of(word)
        begin = start
        while class_of(tokens[token + U1])[0] == index:
            first, stop = token_of(tokens[token])
            spans[first] = join_spans(spans[first], spans[stop - U1])
            for at in range(first, stop):
                symbols[at] = filler
            symbols[first] = class_of(tokens[token + U1])[1]
            pieces[known], pieces[known + U1] = pack_word(gap + (begin - start), begin), first
            known += U2 if begin < first else U0
            begin = stop
            token += U2
        pieces[known], pieces[known + U1] = pack_word(gap + (begin - start), begin), end
        known += U2
    return known


@inlined
def join_piece(scratch, gap, place, result, unk):
    """Move the ids of a piece to an index in the gap of its word, and return the index after the last id."""
    if result & FAILED:
        scratch[place] = np.int32(unk)
        return place + U1
    for index in range(gap, result):
        scratch[place] = scratch[index]
        place += U1
    return place


@part
def join_words(symbols, pending, tokens, found, isolated_ids, scratch, results, unk):
    """For each word that contains tokens, fill its gap with the ids of its tokens and pieces, in order."""
    token = U0
    while token < found:
        index, _ = class_of(tokens[token + U1])
        word, end = pending[index], pending[index + U1]
        place, start = word_of(word)
        gap, begin = place, start
        while class_of(tokens[token + U1])[0] == index:
            first, stop = token_of(tokens[token])
            if begin < first:
                place = join_piece(scratch, gap + (begin - start), place, results[first], unk)
            scratch[place] = np.int32(value_of(isolated_ids[np.uint64(symbols[first])])[0])
            place += U1
            begin = stop
            token += U2
        if begin < end:
            place = join_piece(scratch, gap + (begin - start), place, results[end], unk)
        results[end] = place


@part
def find_bordered_suspects(symbols, filled, begins, stops, count, table, suspects, row, memo):
    """Mark texts that may contain a bordered token. The search examines each symbol that ends a word, because such a symbol may be the
    first border of a token.
    """
    added, last_class = table.added, table.scalars.end_class
    grams, sides, widths, border_widths = added.grams, added.sides, added.scalars.gram_widths, added.scalars.border_widths
    memo[START] = memo[READ] = memo[NODE] = U0
    for index in range(count):
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        ended = np.uint64(symbols[end])
        side = sides[ended]
        if side & BEGINS or (side & ENDS and end > start and is_known(symbols, end - U1, filled, U1, BORDER_GRAMS, border_widths, grams)):
            for first in range(start, end + U1):
                if is_known(symbols, first, filled, U1, OWN_GRAMS, widths, grams):
                    node, is_open = match_at(symbols, ITEMS, first, filled, U1, added.trie, memo)
                    if is_open or added.trie.nodes[node, LEAST] == 0:
                        suspects[row] = 1
        row += U1 if ended == last_class else U0
