"""How a kernel of the runtime is called: ``encode_rows(text, starts, more, machine, output, work)``.

``machine`` is what a table gives for `arguments`, ``output`` one of the two kinds below, ``work`` what the table gives for `work`. Kernels
and the code that calls them share the constants of this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.rows import Array

CHUNK = 4096  # symbols that the loops of a kernel go over at a time, beside those of a word or two; 2048 to 16384 are equally fast
MARGIN = 128  # symbols that there is room for past the limit of a chunk: those of a character, and what is loaded with the last
SLACK = 16  # ids that a kernel may write past the last one that it counts
IDS_ALONE = len(("prefix", "suffix", "ids", "ends"))  # fields of `IdsOutput`; numba leaves out of a kernel what else it can do

# Places in `Work.state`.
KEPT, COUNT, ROW, OPEN, BEFORE, WORD, BESIDE = range(7)
# Places in `Work.reading`.
AT, READ_ROW, RANKS, RUN_BEGIN, RUN_STOP, RUN_AT, RUN_TURN, RUN_SPAN = range(8)


class IdsOutput(NamedTuple):
    """Where a kernel writes ids.

    Attributes:
        prefix, suffix: int32[n], ids put around each text.
        ids: int32[n], filled from ``state[COUNT]`` on.
        ends: int64[rows], filled: where the ids of each text end; of a text that goes on in the next call, nothing.
    """

    prefix: Array
    suffix: Array
    ids: Array
    ends: Array


class SpansOutput(NamedTuple):
    """Where a kernel writes ids and what else is asked for. An empty array is not asked for.

    Attributes:
        prefix, suffix, ids, ends: as in `IdsOutput`.
        offsets: int32[2 * n], filled like `ids`: the first character in its text that an id stands for and one past the last, 0 and 0 for
            ids put around a text.
        words: int32[n], filled likewise: the number of the word in its text that an id belongs to, -1 for ids put around it.
        suspects: uint8[rows], set to 1 for texts in which a contextual added token may stand.
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
    """What one thread works in, for machines over symbols. A machine of its own may have other arrays, `state` and `symbols` among them.

    Attributes:
        state: uint64[7], all zero before the first call. `KEPT`, the symbols kept; `COUNT`, the ids written so far; `ROW`, the row of this
            call; `OPEN`, whether the last call had ``more``; where spans are asked for, `BEFORE` and `WORD`, the characters and words of
            that text so far; `BESIDE`, the class that ended the word before the symbols kept.
        reading: uint64[8], where `fst.runtime.kernels.reading.read` goes on. `AT`, a place in the text; `READ_ROW`, its row; of a run of
            marks `RANKS`, those still to be read, `RUN_BEGIN`, `RUN_STOP` and `RUN_AT`, where it begins, ends and goes on, `RUN_TURN` and
            `RUN_SPAN`, the next character to have a span, and the last one.
        symbols: uint16[room], classes; the first `KEPT` of them are kept between calls.
        spans: uint64[room], the characters of each symbol, ``first | one past the last << 32``; kept likewise.
        masks: uint64[room // 32]; begins, stops: uint32[room], of words.
        slots, results: uint64[room]; scratch: int32[2 * room]; pending, active: uint64[2 * room], words on their way.
        tokens, pieces: uint64[2 * room], added tokens inside words, and what they leave of these.
        memo, symbol_memo: uint64[3], see `fst.runtime.kernels.tries.match_at`.
    """

    state: Array
    reading: Array
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
    """The work of a kernel that looks up words of so many symbols at most."""
    room = -(-(CHUNK + 2 * (longest + 1) + MARGIN) // 64) * 64
    return Work(
        state=np.zeros(7, np.uint64),
        reading=np.zeros(8, np.uint64),
        symbols=np.zeros(room, np.uint16),
        spans=np.empty(room, np.uint64),
        masks=np.empty(room // 32, np.uint64),
        begins=np.empty(room, np.uint32),
        stops=np.empty(room, np.uint32),
        slots=np.empty(room, np.uint64),
        results=np.empty(room, np.uint64),
        scratch=np.empty(2 * room, np.int32),
        pending=np.empty(2 * room, np.uint64),
        active=np.empty(2 * room, np.uint64),
        tokens=np.empty(2 * room, np.uint64),
        pieces=np.empty(2 * room, np.uint64),
        memo=np.zeros(3, np.uint64),
        symbol_memo=np.zeros(3, np.uint64),
    )
