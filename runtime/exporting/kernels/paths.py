"""Kernels that write the path of a short text through the automaton of a table, for programs that show this path.

A path has three numbers for each symbol that the automaton reads: the symbol itself, the state after it, and the last token of the text so
far, or a negative number if there is none. Numbers of states are arbitrary, but equal numbers mean equal states. A path ends when its array
is full.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.bpe.automaton import LABELS
from fst.runtime.kernels.constants import (
    FAIL,
    KIND_SHIFT,
    LABEL_SHIFT,
    LAST_OUTPUT,
    LINK,
    LOW_HALF,
    MANY,
    NEXT,
    OUTPUT,
    OUTPUT_SHIFT,
    ROOT,
    U0,
    U1,
    U2,
    U3,
)
from fst.runtime.machines.bpe.kernels import encode as bpe
from fst.runtime.machines.unigram.kernels import viterbi
from fst.runtime.text.kernels.reading import begin_reading, read

BYTES = np.uint64(LABELS)  # the lowest byte that marks an added token; no automaton reads such bytes
NO_TOKEN = np.int32(-1)


@inlined
def put(path, count, symbol, state, token):
    """Append a step to a path; return the new number of steps."""
    at = U3 * count
    path[at], path[at + U1], path[at + U2] = np.int32(symbol), np.int32(state), np.int32(token)
    return count + U1


@inlined
def steps_left(path, starts):
    """The number of bytes of a text whose steps fit into the path."""
    return min(np.uint64(starts[1]), np.uint64(len(path)) // U3)


@kernel
def bpe_path(text, starts, entries, path):
    """Write the path through `fst.machines.bpe.automaton`. The last token is the token that the state represents.

    Args:
        text, starts: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, for one pre-token.
        entries: see `fst.machines.bpe.table.BpeTable`.
        path: int32[3 * n], filled.

    Returns:
        The number of steps.
    """
    state, count = ROOT, U0
    for index in range(steps_left(path, starts)):
        byte, token = np.uint64(text[np.uint64(index)]), U0
        state = bpe.step(entries, state, byte) if byte < BYTES else ROOT
        token = np.uint64(entries[state]) & bpe.TARGET
        count = put(path, count, byte, state, token if state != ROOT else NO_TOKEN)
    return count


@kernel
def unigram_path(text, starts, ends, path):
    """Write the path through `fst.machines.unigram.aho_corasick`. The last token is the longest token that ends with the byte.

    Args:
        text, starts, path: as in `bpe_path`.
        ends: `fst.machines.unigram.arguments.Ends`.

    Returns:
        The number of steps.
    """
    state, count, steps = ROOT, U0, ends.steps
    for index in range(steps_left(path, starts)):
        byte = np.uint64(text[np.uint64(index)])
        entry = viterbi.step(steps, state, byte) if byte < BYTES else ROOT
        state = entry & viterbi.TARGET
        first = ends.nodes[(entry >> viterbi.VALUE_SHIFT & viterbi.VALUE) * viterbi.BLOCK]
        count = put(path, count, byte, state, first & LOW_HALF)
    return count


@inlined
def last_token(state, table):
    """The last token of a word that ends in a state."""
    entry = table.entries[state]
    kind, at = entry >> KIND_SHIFT & U3, entry >> OUTPUT_SHIFT & OUTPUT
    if kind == MANY:
        while table.pool[at] < LAST_OUTPUT:
            at += U1
        return np.int32(np.uint64(table.pool[at]) & OUTPUT)
    return np.int32(at) if kind == U1 else NO_TOKEN


@inlined
def after(state, number, table):
    """The state after a symbol inside a word."""
    entries, record = table.entries, table.reader.records[number]
    label = record >> LABEL_SHIFT
    if table.scalars.is_linked:
        while label and entries[state + label] >> LABEL_SHIFT != label and entries[state + LINK] >> LABEL_SHIFT == LINK:
            state = entries[state + LINK] & NEXT
    if label and entries[state + label] >> LABEL_SHIFT == label:
        return entries[state + label] & NEXT
    return table.scalars.dead if entries[state] >> KIND_SHIFT & U3 == FAIL else record & NEXT


@kernel
def wordpiece_path(text, starts, table, work, path):
    """Write the path through the automaton of WordPiece. A symbol is the index of its character in the text. The last token is the last
    token of the word, if the word ended at the symbol. A symbol outside words leads to the root.

    Args:
        text, starts, table, work: as in `fst.runtime.machines.wordpiece.kernels.encode.encode_rows`; the state is all zero.
        path: as in `bpe_path`, for fewer symbols than a chunk.

    Returns:
        The number of steps.
    """
    begin_reading(starts, work)
    filled, _ = read(text, starts, U0, table.scalars.end_class, True, table.reader, work)
    state, count, is_inside = ROOT, U0, False
    for index in range(min(filled, np.uint64(len(path)) // U3)):
        number, place = np.uint64(work.symbols[np.uint64(index)]), work.spans[np.uint64(index)] & LOW_HALF
        if number >= table.scalars.parts or not number:
            token = np.int32(table.isolated_ids[number] & LOW_HALF) if table.isolated_ids[number] else NO_TOKEN
            state, is_inside = ROOT, False
        else:
            label = table.reader.records[number] >> LABEL_SHIFT
            if is_inside:
                state = after(state, number, table)
            else:
                state, is_inside = table.entries[ROOT + label] & NEXT if label else table.start_targets[number], True
            token = last_token(state, table)
        if number != table.scalars.end_class:
            count = put(path, count, place, state, token)
    return count
