"""The arguments of a runtime kernel, which is called as ``encode_rows(text, starts, more, table, output, work)``, or if a machine has no
tokens, as ``run_rows`` with the same arguments.

``table`` and ``work`` are the results of a table's methods `arguments` and `work`; ``output`` is an `IdsOutput` or a `SpansOutput`. Kernels
and their callers share the constants of this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar

CHUNK = 4096  # number of new symbols per round of a kernel's loops; 2048 to 16384 are equally fast
MARGIN = 128  # number of spare symbols after a chunk, for the symbols of its last character, and for vector loads past the end
MOST_UNITS = (1 << 29) - 1  # maximum number of code units in one call, because some kernels store positions in 29 bits
SHORT = 1 << 13  # maximum number of characters of a short text, see `fst.runtime.short_texts`
SLACK = 32  # number of ids that a kernel may write after the last counted id
IDS_ALONE = len(("prefix", "suffix", "ids", "ends"))  # for an output with only this number of fields, kernels contain no code for spans


class State(Fields):
    """The state of a kernel between calls, all zero before the first call. Each machine uses some of the fields."""

    kept: Scalar  # number of symbols, or of bytes of normalized text, that are stored for the next call
    count: Scalar  # number of ids written so far
    row: Scalar  # the current row of this call
    is_open: Scalar  # 1 if the last call had ``more``, so that its last text is unfinished
    before: Scalar  # number of characters read in the unfinished text
    word: Scalar  # with spans, the number of words read in the unfinished text
    last_symbol: Scalar  # the class of the symbol before the kept symbols, which ended the last word
    kept_characters: Scalar  # number of characters of the normalized text that is kept
    first_row: Scalar  # for random results, the number of the first row of this call
    place_in_row: Scalar  # for random results, number of bytes read in the unfinished text
    in_word: Scalar  # with spans, 1 inside a word that `word` does not count yet; for keywords, 1 after a word character
    known: Scalar  # for overlapping keywords, number of bytes that are read again, although matches that end in them are already reported
    last_right: Scalar  # for MeCab, the right id of the last word of the unfinished text


class Reading(Fields):
    """The state from which `fst.runtime.text.kernels.reading.read` resumes."""

    at: Scalar  # position in the current text
    row: Scalar  # the row of this text
    ranks: Scalar  # bits: one for each rank in a run of marks that has not been read yet
    run_start: Scalar
    run_end: Scalar
    run_at: Scalar  # position in the run
    run_turn: Scalar  # position from which the next span is searched
    run_span: Scalar  # the last span that was returned


class IdsOutput(NamedTuple):
    """The output arrays of a kernel for ids only.

    Attributes:
        prefix, suffix: int32[n], the special ids before and after each text.
        ids: int32[n], filled from index ``state.count``.
        ends: int64[rows], filled: the end of the ids of each text. An unfinished text is not counted as a row.
    """

    prefix: Array
    suffix: Array
    ids: Array
    ends: Array


class SpansOutput(NamedTuple):
    """The output arrays of a kernel for ids, spans and suspects. The kernel does not fill empty arrays.

    Attributes:
        prefix, suffix, ids, ends: see `IdsOutput`.
        offsets: int32[2 * n], filled like `ids`: for each id, the index of its first character in the text, and of the character after the
            id's last character; 0 and 0 for special ids of the template.
        words: int32[n], filled like `ids`: the index in the text of each id's word; -1 for special ids.
        suspects: uint8[rows], set to 1 for texts that may contain a contextual added token and must be encoded again.
    """

    prefix: Array
    suffix: Array
    ids: Array
    ends: Array
    offsets: Array
    words: Array
    suspects: Array


Output = IdsOutput | SpansOutput


class Work(NamedTuple):
    """The working arrays of one thread, for machines over symbols. Other machines may have different arrays, but always `state` and
    `symbols`.

    Attributes:
        state, reading: the state between calls.
        symbols: uint16[capacity], classes; the first ``state.kept`` classes are kept between calls.
        spans: uint64[capacity], the span of each symbol, ``first character | one past the last << 32``; the first ``state.kept`` spans are
            kept, too.
        masks: uint64[capacity // 32], bit masks of symbols; begins, stops: uint32[capacity], the bounds of words.
        slots, results: uint64[capacity]; scratch: int32[2 * capacity], ids with gaps.
        pending, active: uint64[2 * capacity], pending words.
        tokens, pieces: uint64[2 * capacity], added tokens inside words, and the other parts of these words.
        memo, symbol_memo: uint64[3], see `fst.runtime.kernels.tries.match_at`.
    """

    state: State
    reading: Reading
    symbols: Array
    spans: Array
    masks: Array
    begins: Array
    stops: Array
    slots: Array
    results: Array
    scratch: Array
    pending: Array
    active: Array
    tokens: Array
    pieces: Array
    memo: Array
    symbol_memo: Array


def work_of(longest: int) -> Work:
    """Allocate the working arrays of a kernel that looks up words of at most `longest` symbols."""
    capacity = -(-(CHUNK + 2 * (longest + 1) + MARGIN) // 64) * 64
    return Work(
        state=State(),
        reading=Reading(),
        symbols=np.zeros(capacity, np.uint16),
        spans=np.empty(capacity, np.uint64),
        masks=np.empty(capacity // 32, np.uint64),
        begins=np.empty(capacity, np.uint32),
        stops=np.empty(capacity, np.uint32),
        slots=np.empty(capacity, np.uint64),
        results=np.empty(capacity, np.uint64),
        scratch=np.empty(2 * capacity, np.int32),
        pending=np.empty(2 * capacity, np.uint64),
        active=np.empty(2 * capacity, np.uint64),
        tokens=np.empty(2 * capacity, np.uint64),
        pieces=np.empty(2 * capacity, np.uint64),
        memo=np.zeros(3, np.uint64),
        symbol_memo=np.zeros(3, np.uint64),
    )
