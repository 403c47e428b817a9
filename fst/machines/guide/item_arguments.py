"""The arguments of the kernels of late guides, and the numbers that kernels and their callers share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar

ACCEPT = 0  # the position that accepts a text
DEAD, OUTERMOST = 0, 1  # the empty set, and the frame of whole texts
FRAME_BITS = 32  # of an item: ``position << FRAME_BITS | frame``

NONE, UNKNOWN = -1, -6  # instead of the set after a byte: there is none, or it is not found yet
NO_ROOM, NO_WORK, NO_ROW, NO_PART = -2, -3, -4, -5  # results instead of a number: the pool, `work` or `steps` is full; a part must be made
NO_CLASS = -7  # another such result: the mask of a class must be made
BEGUN, FILLED, OTHERS, CLASS, ALL, POSTPONED, SPACED = range(7)  # phases of a mask, see `fst.runtime.machines.guide.kernels.late`
MAX_CHAIN = 24  # maximum number of steps of a chain, see `fst.runtime.machines.guide.kernels.classes`
OUTSIDE, PLAIN, ESCAPED, QUOTED = range(4)  # kinds of tokens, see `fst.runtime.machines.guide.kernels.strings.classify`


class Parts(NamedTuple):
    """The parts that are made. The arrays have room for more.

    Attributes:
        starts: int32[parts, 2], for each part, the position of its start, or -1 if it is not made; and its rank: higher than the
            ranks of all parts that it calls, directly or through others, before it reads a byte.
        positions: int32[positions + 1, 3], the first arc and the first move of each position, and its flags. The arcs of a position end
            where those of the next position begin.
        arcs: int32[n, 3], the first and the last byte, and the next position.
        moves: int32[n, 4], the kind, the two numbers and the next position; see `fst.machines.guide.parts.Part`.
    """

    starts: Array
    positions: Array
    arcs: Array
    moves: Array


class Steps(NamedTuple):
    """The steps from the sets that a walk has reached.

    Attributes:
        rows: int32[room of the pool], the row of each set; -1: none yet.
        targets: int32[rows, 256], the set after each byte; -1: none; `UNKNOWN`: not found yet.
        finals: uint8[rows], 1 if a text may end in the set.
        ends: int64[rows + 1], the first arc of each row, and the end of the arcs of the last row.
        arcs: int64[n, 2], the arcs of the items of each set, and of the items that moves add to it: ``first byte << 8 | last byte``, and
            the next item.
    """

    rows: Array
    targets: Array
    finals: Array
    ends: Array
    arcs: Array


class Counts(Fields, dtype=np.int64):
    """Numbers that kernels change."""

    stamp: Scalar  # number of sets closed so far
    found: Scalar  # number of items in `Work.found`
    calls: Scalar  # number of calls in `Work.calls`
    needed: Scalar  # the part to make
    rows: Scalar  # number of rows of `Steps`
    arcs: Scalar  # number of arcs of `Steps`
    phase: Scalar  # of a mask, see `kernels.late`
    node: Scalar  # the node where a scan goes on
    inside: Scalar  # the number of bytes of the node's path that are in a class
    steps: Scalar  # the number of steps of a chain; no bound for a loop
    exits: Scalar  # groups of bytes, see `fst.machines.guide.arguments.GROUPS`
    decided: Scalar  # the maximum number of bytes of a token that is decided by a class
    loop: Scalar  # the set to which the characters of a class lead back; `NONE`: the class is that of a chain
    postponed: Scalar  # the first byte of tokens that are scanned last; `NONE`: there is none
    shared: Scalar  # the set whose mask is shared by the tokens of some first bytes, see `kernels.late`; `NONE`: no set


class Work(NamedTuple):
    """Working arrays.

    Attributes:
        counts: numbers.
        found: int64[n], the items of a set that is closed; stamps, slots: int64[2ᵐ], at least twice as long, a table of hashes of them.
        calls: int64[n, 2], the called part, and the item after the call.
        row: int64[n], items or cells of a new set.
        marks: int64[257], 1 for each byte where a range of arcs begins, or that follows the end of one; else 0.
        path: int64[longest token + 1], the set after each number of bytes.
        members, initials: uint64[4], sets of first bytes: of the characters of a class, and of those that lead into its loop.
        chain: int64[MAX_CHAIN + 1], the chain of a class.
    """

    counts: Counts
    found: Array
    stamps: Array
    slots: Array
    calls: Array
    row: Array
    marks: Array
    path: Array
    members: Array
    initials: Array
    chain: Array

    @classmethod
    def of(cls, room: int, longest: int = 0) -> Work:
        """Arrays for sets of at most `room` items, a power of two. `longest`: the length of the longest token."""
        ints = {name: np.empty(room, np.int64) for name in ("found", "row")}
        return cls(
            counts=Counts(),
            **ints,
            stamps=np.zeros(2 * room, np.int64),
            slots=np.empty(2 * room, np.int64),
            calls=np.empty((room, 2), np.int64),
            marks=np.zeros(257, np.int64),
            path=np.zeros(longest + 1, np.int64),
            members=np.zeros(4, np.uint64),
            initials=np.zeros(4, np.uint64),
            chain=np.zeros(MAX_CHAIN + 1, np.int64),
        )

    def larger(self) -> Work:
        """Arrays for twice as many items. What a walk needs to continue is kept."""
        found = Work.of(2 * len(self.found), len(self.path) - 1)
        for name in ("counts", "path", "members", "initials", "chain"):
            getattr(found, name)[:] = getattr(self, name)
        found.counts.stamp = 0
        return found
