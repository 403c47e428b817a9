"""Transducers over bytes as transducers over characters.

A state of the result is a state of the transducer, together with the bytes of an incomplete character on each side. An arc that completes a
character reads or writes it; the arcs before it read or write nothing. Paths that read malformed UTF-8 have no counterpart.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs, make
from fst.compile.algebra.connect import connect
from fst.errors import UnsupportedError

MAX_ARCS = 1 << 23  # maximum number of arcs of the result
State = tuple[int, bytes, bytes]  # a state of the transducer, and the bytes read and written of an incomplete character


def over_characters(arcs: Arcs) -> Arcs:
    """A transducer over characters, for texts and outputs that are UTF-8. A transducer over characters is returned unchanged."""
    if arcs.unit == "character":
        return arcs
    if not arcs.states:
        return replace(arcs, unit="character")
    start: State = (arcs.start, b"", b"")
    numbers, found, final = {start: 0}, list[tuple[int, int, int, int, float]](), list[float]()
    listed = [start]
    for number, (state, read, written) in enumerate(listed):
        final.append(float(arcs.final[state]) if not read else float("inf"))
        if written and np.isfinite(final[-1]):
            raise _malformed(written)
        for reads, writes, target, weight in arcs.arcs_of(state):
            (label, rest), (output, left) = _after(read, reads), _after(written, writes)
            if rest is None:
                continue
            if left is None:
                raise _malformed(written + bytes([writes]) if writes < FIRST_SYMBOL else written)
            goal = numbers.setdefault((target, rest, left), len(listed))
            if goal == len(listed):
                listed.append((target, rest, left))
            found.append((number, label, output, goal, weight))
        if len(found) > MAX_ARCS:
            raise UnsupportedError(f"the transducer has more than {MAX_ARCS:,} arcs over characters; expected fewer; restrict its alphabet")
    source, ilabel, olabel, goals, weights = zip(*found, strict=True) if found else ([],) * 5
    return connect(make(source, ilabel, olabel, goals, weights, np.array(final), 0, arcs.symbols))


def _after(held: bytes, label: int) -> tuple[int, bytes | None]:
    """The label of the character that a byte completes, and the bytes still incomplete after it; None if the bytes are not UTF-8."""
    if label == EPSILON:
        return EPSILON, held
    if label >= FIRST_SYMBOL:
        return label, None if held else b""
    data = held + bytes([label])
    try:
        return ord(data.decode()), b""
    except UnicodeDecodeError as error:
        return EPSILON, data if error.reason == "unexpected end of data" else None


def _malformed(data: bytes) -> UnsupportedError:
    return UnsupportedError(f"the transducer writes the bytes {data!r}; expected UTF-8")
