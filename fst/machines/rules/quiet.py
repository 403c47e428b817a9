"""The parts of texts that a stage copies, and that kernels find without running both passes.

A column is *quiet* if every state copies the character, and writes nothing else. A *stop* is a character whose column may be not quiet, as
far as the character and the next character determine it. Between two stops the text is copied, and only the states matter. Many
characters determine the state: `Quiet.states` and `Quiet.sets` contain the state after such a character, and the set before it, whatever
the rest of the text is.

Example: ``s -> z / _ [bdg]``. Stops are an s before b, d or g. These three lead to the set "a context comes next", and each other character
leads to the other set. So each character determines the set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS, Array
from fst.machines.rules.entries import COPY, ENDED, LOW_HALF, NOTHING, columns_of, rows_of, strings_of
from fst.text.stops import LEADS, stops_of_pairs

UNKNOWN = TOO_MANY = (1 << 64) - 1
END = 0xFF  # a byte that UTF-8 does not contain; as the next byte, it represents the end of a row
MAX_STEPS = 1 << 26  # maximum number of sets × classes × classes, for which stops are searched

Bools = NDArray[np.bool_]


class Quiet(NamedTuple):
    """The arrays that kernels read.

    Attributes:
        stops: uint8[512], see `fst.text.stops`; empty if the passes must read every character.
        sets, states: uint64[classes], the row of the set before a character of each class, and the row of the state after the character if
            it is no stop; `UNKNOWN` if the row depends on other characters.
    """

    stops: Array
    sets: Array
    states: Array


NEVER = Quiet(np.empty(0, np.uint8), np.empty(0, np.uint64), np.empty(0, np.uint64))  # for a stage whose passes read every character


def quiet(to_left: Array, to_right: Array, finals: Array, of_codes: Array) -> Quiet:
    """Find the stops of a stage.

    Args:
        to_left, to_right, finals: as in `fst.machines.rules.table.Stage`, with two axes.
        of_codes: uint16[0x110000], the class of each code point.
    """
    sets, classes = to_left.shape
    outside = _outside(to_right)
    if sets * classes * classes > MAX_STEPS or (finals[outside] > ENDED).any():  # the ends of texts are no stops
        return NEVER
    columns, before = columns_of(to_left), rows_of(to_left)
    is_quiet = (to_right[outside] & np.uint64(LOW_HALF) == COPY).all(axis=0)
    after, known = _common(np.where(is_quiet, rows_of(to_right[outside]), -1))
    stops = stops_of_pairs(_pairs(_events(before // classes, ~is_quiet[columns]), of_codes))
    kept, has_kept = _common(np.where(is_quiet[columns], np.where(known, after, -2)[columns], -1), missing=-1)
    found, has_found = _common(before)
    return Quiet(stops, _or_unknown(found, has_found), _or_unknown(kept, has_kept & (kept >= 0)))


def _outside(to_right: Array) -> Bools:
    """bool[states], whether each state can occur at a position where no match goes on."""
    copies = to_right & np.uint64(COPY) > 0
    found = np.zeros(len(to_right), np.bool_)
    found[0] = True
    found[rows_of(to_right)[copies | (strings_of(to_right) != NOTHING)] // to_right.shape[1]] = True
    return found


def _common(values: Array, missing: int | None = None) -> tuple[Array, Bools]:
    """The common value of each column of an array, and whether all its values are equal; values that are `missing` do not count."""
    if missing is None:
        return values[0], (values == values[0]).all(axis=0)
    highest = values.max(axis=0)
    return highest, ((values == highest) | (values == missing)).all(axis=0)


def _or_unknown(rows: Array, is_known: Any) -> Array:
    return np.where(is_known, rows.astype(np.uint64), np.uint64(UNKNOWN))


def _events(before: Array, is_event: Bools) -> Bools:
    """bool[classes, classes + 1], whether a character may be a stop if a character of another class is next, or if the row ends."""
    sets, classes = before.shape
    leads_to = np.zeros((classes + 1, sets), np.float32)
    leads_to[np.arange(classes), before] = 1
    leads_to[classes, 0] = 1
    found: Bools = (leads_to @ is_event.astype(np.float32)).T > 0
    return found


def _pairs(events: Bools, of_codes: Array) -> Bools:
    """bool[256, 256], whether two bytes may be a stop; see `fst.text.stops`."""
    classes = len(events)
    begins = np.zeros((256, classes + 1), np.bool_)  # the classes of the characters that begin with a byte
    begins[np.arange(128), of_codes[:128]] = True
    begins[END, classes] = True
    pairs = np.zeros((256, 256), np.bool_)
    may_stop: Array = np.any(events, axis=1)
    for bits, start, end, lead in LEADS:
        codes = np.arange(start, end)
        begins[lead | codes >> bits, of_codes[start:end]] = True
        codes = codes[may_stop[of_codes[start:end]]]
        pairs[lead | codes >> bits, 0x80 | codes >> bits - 6 & 0x3F] = True
    pairs[:128] = events[of_codes[:128]].astype(np.float32) @ begins.T.astype(np.float32) > 0
    assert len(of_codes) == CODE_POINTS
    return pairs
