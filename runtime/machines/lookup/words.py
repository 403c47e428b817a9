"""Look up one word with a single call of a kernel, without the overhead of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.runtime.machines.lookup.spelling import Strings
from fst.runtime.rows.strings import Work, new_work
from fst.runtime.rows.texts import PAST_END, Bytes, Ints
from fst.runtime.run import Runner
from fst.runtime.short_texts import prepared
from fst.runtime.workspace import NO_SPECIAL_IDS

MOST_BYTES = 1 << 16  # maximum number of bytes of all analyses of a word; a batch looks up words with more
MOST_ANALYSES = 1 << 10

look_up = Deferred("fst.runtime.machines.lookup.kernels.words", "look_up")


class Spelled(NamedTuple):
    """The strings of one word, and working arrays that make them.

    Attributes:
        weighted: uint64[1], 1 if a weight follows each analysis, otherwise 0.
        data, starts: uint8[n] and int64[n], receive the bytes of all analyses, the start of each, and the end of the last.
        address: int64[1], the address of `data`.
        work: the working arrays of `fst.runtime.rows.strings`.
    """

    weighted: NDArray[np.uint64]
    data: Bytes
    starts: Ints
    address: Ints
    work: Work


def finder(runner: Runner, pieces: Strings, *, weighted: bool) -> Callable[[str], list[str] | None]:
    """Make a function that looks up a word.

    Args:
        runner: a runner for ids.
        pieces: the pieces of the table.
        weighted: whether a weight follows each analysis.

    Returns:
        A function that returns the analyses of a str; None if the word needs a batch, as a word of more than
        `fst.tables.kernel_call.SHORT` characters does, or if another call has begun and not ended, of another thread or of the garbage
        collector.
    """
    data, starts = np.empty(MOST_BYTES + PAST_END, np.uint8), np.empty(MOST_ANALYSES + 1, np.int64)
    spelled = Spelled(np.array([weighted], np.uint64), data, starts, np.array([data.ctypes.data]), new_work())
    others = pieces, spelled, np.zeros(1, np.uint64)
    short, calls = prepared(runner, NO_SPECIAL_IDS, lambda short: look_up.prepare(short, *others, ""))
    find = partial(look_up.call, short, *others)
    vars(find)["calls"] = calls  # `short` contains only their words
    return find
