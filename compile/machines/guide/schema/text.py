r"""The texts of strings of JSON, as automata over bytes.

A string is written without escapes where it can be: a quotation mark, a backslash and control characters have one escape each, ``\n`` or
``\u0001``. At positions of a string where every character may follow and all characters lead to the same state, every escape of JSON may be
used.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.guide.builder import Block, Builder
from fst.compile.machines.guide.languages import Language, by_range, ranges_of
from fst.compile.patterns.code_points import of_text

QUOTE, BACKSLASH, SPACE = 0x22, 0x5C, 0x20
MAX_WRITTEN = 1 << 22  # maximum number of states of the texts of a set of strings
SHORT = {QUOTE: '"', BACKSLASH: "\\", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t"}  # the escapes with a single letter
HEX = "09afAF"


def written_strings(language: Language) -> Block:
    """The automaton of the texts of strings, without quotation marks."""
    escaped = [*range(SPACE), QUOTE, BACKSLASH]
    targets, firsts = by_range(language, escaped)
    free = _free_targets(targets, firsts)
    states = np.flatnonzero(free >= 0)
    inner, template = any_escape()
    numbers = np.concatenate(
        [states[:, None], free[states][:, None], len(targets) + np.arange(len(states) * inner).reshape(len(states), inner)], axis=1
    )
    arcs = np.repeat(template[None], len(states), axis=0)
    arcs[:, :, 0], arcs[:, :, 3] = numbers[:, template[:, 0]], numbers[:, template[:, 3]]
    builder = Builder(MAX_WRITTEN)
    builder.room(len(targets) + len(states) * inner)
    columns = np.searchsorted(firsts, escaped)
    states = np.flatnonzero((free < 0) & (targets[:, columns] >= 0).any(axis=1))
    ends: dict[bytes, int] = {}  # for the targets of escaped characters, the state after a backslash
    backslashes = np.full((len(states), 4), BACKSLASH)
    for arc, state, row in zip(backslashes, states.tolist(), targets[np.ix_(states, columns)], strict=True):
        key = row.tobytes()
        if key not in ends:
            ends[key] = add_escaped(builder, {code: end for code, end in zip(escaped, row.tolist(), strict=True) if end >= 0})
        arc[0], arc[3] = state, ends[key]
    targets[:, columns] = -1
    every = [ranges_of(targets, firsts), arcs.reshape(-1, 4), backslashes, np.array(builder.arcs, np.int64).reshape(-1, 4)]
    loops = np.flatnonzero(language.is_final & (free == np.arange(len(free)))).tolist()
    return Block(builder.states, np.concatenate(every), np.flatnonzero(language.is_final).tolist(), loops)


def _free_targets(targets: NDArray[np.int32], firsts: NDArray[np.int64]) -> NDArray[np.int32]:
    """int32[states], the state to which every character leads; -1 if characters lead to different states, or if a character is not allowed.

    Arguments are those of `ranges_of`.
    """
    columns = np.repeat(np.arange(targets.shape[1]), np.diff(firsts)).tolist()

    def after(first: int, last: int, states: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The target of a range of bytes for each state; -1 if the range has several targets."""
        begin, end = columns[first], columns[last]
        found = targets[:, begin]
        if begin < end:
            found = np.where((targets[:, begin + 1 : end + 1] == found[:, None]).all(axis=1), found, -1)
        return found if states is None else np.where(states >= 0, found[states], -1)

    one = after(0x80, 0xBF)
    two = after(0x80, 0xBF, one)
    three = after(0x80, 0xBF, two)

    def then(following: NDArray[np.int32], states: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(states >= 0, following[states], -1)

    found = after(0, 0x7F)
    leads = [
        then(one, after(0xC2, 0xDF)),
        then(one, after(0xA0, 0xBF, after(0xE0, 0xE0))),
        then(two, after(0xE1, 0xEC)),
        then(one, after(0x80, 0x9F, after(0xED, 0xED))),
        then(two, after(0xEE, 0xEF)),
        then(two, after(0x90, 0xBF, after(0xF0, 0xF0))),
        then(three, after(0xF1, 0xF3)),
        then(two, after(0x80, 0x8F, after(0xF4, 0xF4))),
    ]
    return np.where(np.all([each == found for each in leads], axis=0), found, -1).astype(np.int32)


@cache
def any_escape() -> tuple[int, NDArray[np.int64]]:
    """The number of inner states, and the arcs, of all escapes between the states 0 and 1; inner states are numbered from 2."""
    builder = Builder()
    builder.room(2)
    after = builder.text(0, b"\\")
    for letter in '"\\/bfnrt':
        builder.text(after, letter.encode(), 1)
    unit, hex_1, hex_2, hex_3, surrogate = builder.text(after, b"u"), *(builder.state() for _ in range(4))
    for start, digits, end in (
        (unit, "09acefACEF", hex_3),
        (hex_3, HEX, hex_2),
        (hex_2, HEX, hex_1),
        (hex_1, HEX, 1),
        (unit, "ddDD", surrogate),
        (surrogate, "07", hex_2),
    ):
        _read_any(builder, start, digits, end)
    for digits in ("89abAB", HEX, HEX):  # each pair is the first and the last digit of a range
        surrogate = _read_any(builder, surrogate, digits, builder.state())
    low = builder.text(surrogate, b"\\u")
    for digits, end in (("ddDD", builder.state()), ("cfCF", hex_2)):
        low = _read_any(builder, low, digits, end)
    return builder.states - 2, np.array(builder.arcs, np.int64)


def _read_any(builder: Builder, start: int, ranges: str, end: int) -> int:
    """Add one arc for each of the given ranges of letters, given as first and last letters; return the state after the arcs."""
    for first, last in zip(ranges[::2], ranges[1::2], strict=True):
        builder.read(start, ord(first), ord(last), end)
    return end


def add_escapes(builder: Builder, start: int, targets: dict[int, int]) -> None:
    """Add the escape of each character in `targets`, leading to the character's target."""
    if targets:
        builder.read(start, BACKSLASH, BACKSLASH, add_escaped(builder, targets))


def add_escaped(builder: Builder, targets: dict[int, int]) -> int:
    """Add the escapes of characters without the backslash before them; return the state before them."""
    after = builder.state()
    units: dict[tuple[int, int], list[int]] = {}  # the low digits of the characters with the same high digit and target
    for code, target in targets.items():
        if code in SHORT:
            builder.text(after, SHORT[code].encode(), target)
        else:
            units.setdefault((code >> 4, target), []).append(code & 15)
    if units:
        zeros = builder.text(after, b"u00")
        highs = {high: builder.text(zeros, b"%d" % high) for high in sorted({high for high, _ in units})}
        for (high, target), digits in units.items():
            for first, last in _ranges_of_digits(tuple(digits)):
                builder.read(highs[high], first, last, target)
    return after


@lru_cache(maxsize=1 << 10)
def _ranges_of_digits(digits: tuple[int, ...]) -> list[tuple[int, int]]:
    """The ranges of bytes of hexadecimal digits."""
    edges = of_text(letter for digit in digits for letter in (f"{digit:x}", f"{digit:X}")).tolist()
    return [(first, end - 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]
