r"""The texts of a set of JSON values, as an automaton over bytes.

An object is written with its named properties first, in their order, followed by the other properties. A string is written without escapes
where it can
be: a quotation mark, a backslash and control characters have one escape each, ``\n`` or ``\u0001``. At positions of a string where every
character may follow and all characters lead to the same state, every escape of JSON may be used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache, reduce
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.guide.builder import Block, Builder
from fst.compile.machines.guide.languages import MAX_STATES, Language, block_of, by_range, of_builder, ranges_of
from fst.compile.machines.guide.regex import whole
from fst.compile.machines.guide.schema.numbers import written
from fst.compile.machines.guide.schema.patterns import anything
from fst.compile.machines.guide.schema.values import ANY, Algebra, Arrays, Objects, Others, Values
from fst.compile.patterns.code_points import of_text

QUOTE, BACKSLASH, SPACE = 0x22, 0x5C, 0x20
MAX_WRITTEN = 1 << 22  # maximum number of states of the texts of a set of strings
MOST_BUILT = 2  # maximum number of states that are built for each state of the result
SHORT = {QUOTE: '"', BACKSLASH: "\\", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t"}  # the escapes with a single letter
HEX = "09afAF"


def written_strings(language: Language, symbol: int | None = None) -> Block:
    """The automaton of the texts of strings, without quotation marks. If every character may follow a state and all lead to the same state,
    one arc reads `symbol`, unless it is None, in place of all characters of several bytes.
    """
    escaped = [*range(SPACE), QUOTE, BACKSLASH]
    targets, firsts = by_range(language, escaped)
    free = _free_targets(targets, firsts)
    states = np.flatnonzero(free >= 0)
    inner, template = any_escape() if symbol is None else (0, np.array([[0, symbol, symbol, 1]]))
    if symbol is not None:
        targets[np.ix_(free >= 0, firsts[:-1] >= 0x80)] = -1
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


@cache
def any_string() -> Block:
    """The texts of all strings, without quotation marks."""
    return written_strings(anything())


@lru_cache(maxsize=64)
def free_values(whitespace: str, depth: int) -> Block:
    """The texts of all values with at most the given levels of arrays and objects. Arguments are those of `Writer`."""
    values = replace(ANY, arrays=ANY.arrays[: depth > 0], objects=ANY.objects[: depth > 0])
    return block_of(Writer(Algebra(), whitespace, depth - 1, MAX_STATES).language(values))


class Writer:
    """A builder of the texts of values. `whitespace` is a pattern of the whitespace allowed between two tokens of JSON, `depth` is the
    number of levels of arrays and objects in a value without a schema, and `most` the largest number of states.
    """

    def __init__(self, algebra: Algebra, whitespace: str, depth: int, most: int) -> None:
        self._algebra, self._pattern, self._depth, self._most = algebra, whitespace, depth, most
        self._whitespace = whole(whitespace)
        self._values: dict[int, tuple[Values, Block | None]] = {}  # by id, each set added before; from the second time on, with its block
        self.builder = Builder(MOST_BUILT * most)

    def language(self, values: Values) -> Language:
        """The texts of a set of values."""
        outer, self.builder = self.builder, Builder(MOST_BUILT * self._most)
        start, end = self.builder.state(), self.builder.state()
        self._add_types(values, start, end)
        found, self.builder = of_builder(self.builder, start, end, self._most), outer
        return found

    def add(self, values: Values, start: int, end: int) -> None:
        """Add the texts of a set of values between two states."""
        if values is ANY:
            self.builder.block(start, free_values(self._pattern, self._depth), end)
        elif values.arrays or values.objects:
            self._add_again(values, start, end)
        else:
            self._add_types(values, start, end)

    def _add_again(self, values: Values, start: int, end: int) -> None:
        """Add a set of values. If it was added before, it gets an automaton of its own, so that as few states as possible are copied."""
        block = None
        if id(values) in self._values:
            block = self._values[id(values)][1] or block_of(self.language(values))
            self.builder.block(start, block, end)
        else:
            self._add_types(values, start, end)
        self._values[id(values)] = values, block

    def _add_types(self, values: Values, start: int, end: int) -> None:
        for literal in sorted(values.literals):
            self.builder.text(start, literal.encode(), end)
        if not values.numbers.is_empty:
            self.builder.block(start, self._block(values.numbers, "number"), end)
        if not values.strings.is_empty:
            self._add_string(values.strings, start, end)
        for arrays in values.arrays:
            self._add_arrays(arrays, start, end)
        for objects in values.objects:
            self._add_objects(objects, start, end)

    # Parts.

    def _block(self, language: Language, kind: str) -> Block:
        key, kept = (id(language), kind), self._algebra.blocks
        if language is anything() and kind == "string":
            return any_string()
        if key not in kept:
            block = (
                block_of(written(language)) if kind == "number" else written_strings(language) if kind == "string" else block_of(language)
            )
            kept[key] = language, block
        return kept[key][1]

    def _add_string(self, language: Language, start: int, end: int) -> None:
        first, last = self.builder.text(start, b'"'), self.builder.state()
        self.builder.block(first, self._block(language, "string"), last)
        self.builder.text(last, b'"', end)

    def _space(self, start: int) -> int:
        """Add whitespace; return the state after it."""
        if len(self._whitespace.is_final) == 1 and (self._whitespace.targets < 0).all():
            return start
        end = self.builder.state()
        self.builder.block(start, self._block(self._whitespace, "whitespace"), end)
        return end

    def _mark(self, start: int, mark: bytes) -> int:
        """Add a comma or a colon with whitespace around it; return the state after it."""
        return self._space(self.builder.text(self._space(start), mark))

    # Arrays and objects.

    def _add_arrays(self, term: Arrays, start: int, end: int) -> None:
        """Add arrays. A state is the number of items so far and, as bits, the elements of `some` and `distinct` that contain them."""
        needed = (1 << len(term.some)) - 1
        loop = max(len(term.first), term.least, 1, *(place + 1 for place, _ in term.some)) if term.most is None else term.most
        states = _States(self.builder)
        empty = states[0, 0] = self._space(self.builder.text(start, b"["))
        begun: dict[tuple[int, int], tuple[Values, int]] = {}  # (id of values, state after the item) → values, state before it
        for count in range(loop + (term.most is None)):
            following = count + 1 if term.most is not None else min(count + 1, loop)
            for met in states.at(count):
                before = self._mark(states[count, met], b",") if count else empty
                for more, values in self._contained(term, count, met):
                    key = id(values), states[following, met | more]
                    if key not in begun:
                        begun[key] = values, self.builder.state()
                        self.add(values, begun[key][1], key[1])
                    self.builder.skip(before, begun[key][1])
        for (count, met), state in states.items():
            if count >= term.least and met & needed == needed:
                self.builder.text(self._space(state) if count else state, b"]", end)

    def _contained(self, term: Arrays, place: int, met: int) -> Iterator[tuple[int, Values]]:
        """For each choice, the set of an item, and as bits, the elements of `some` and `distinct` that the item is in and no earlier item
        is.
        """
        if term.distinct:
            yield from self._unused(term, place, met)
            return
        bits = [bit for bit, (first, _) in enumerate(term.some) if place >= first and not met >> bit & 1]
        for chosen in chain.from_iterable(combinations(bits, count) for count in range(len(bits) + 1)):
            values = reduce(self._algebra.intersection, (term.some[bit][1] for bit in chosen), term.item(place))
            if not values.is_empty:
                yield sum(1 << bit for bit in chosen), values

    def _unused(self, term: Arrays, place: int, met: int) -> Iterator[tuple[int, Values]]:
        """`_contained` for items that must differ."""
        for bit, values in enumerate(term.distinct, len(term.some)):
            if not met >> bit & 1 and self._meets(values, term.item(place)):
                some = sum(1 << which for which, (first, each) in enumerate(term.some) if place >= first and self._meets(values, each))
                yield 1 << bit | some & ~met, values

    def _meets(self, values: Values, other: Values) -> bool:
        """Whether two sets have a common value."""
        return not self._algebra.intersection(values, other).is_empty

    def _add_objects(self, term: Objects, start: int, end: int) -> None:
        """Add objects: named properties, then other properties, then the properties that `some` requires. A state is a place and the number
        of properties so far; the number is only counted as far as bounds need it. The properties for `some` come last, because the last of
        two properties with the same name counts.
        """
        named = [(name, each) for name, each in term.named.items() if not each.values.is_empty]
        is_exact = term.most is not None and (bool(term.others) or term.most < len(named))
        required = sum(each.is_required for _, each in named)
        counting = _Counting(term.most or 0 if is_exact else max(1, term.least) if term.least > required else 1, is_exact)
        states = _States(self.builder)
        states[0, 0] = self._space(self.builder.text(start, b"{"))
        for place, (name, each) in enumerate(named):
            text = json.dumps(name, ensure_ascii=False).encode()
            for count, before in self._begun(states, place, counting):
                self.add(each.values, self._mark(self.builder.text(before, text), b":"), states[place + 1, count])
            if not each.is_required:
                for count in states.at(place):
                    self.builder.skip(states[place, count], states[place + 1, count])
        last = len(named)
        if term.others:
            for count, before in self._begun(states, last, counting, again=True):
                for other in term.others:
                    self._add_other(other, before, states[last, count])
        everything = (1 << len(term.some)) - 1  # place `last` plus a number: as bits, the elements of `some` that are met
        for met in range(everything):
            for count, before in self._begun(states, last + met, counting):
                for more, other in self._within(term, met):
                    self._add_other(other, before, states[last + (met | more), count])
        last += everything
        for count in states.at(last):
            if count >= min(term.least, counting.limit) or term.least <= required:
                self.builder.text(self._space(states[last, count]) if count else states[last, count], b"}", end)

    def _begun(self, states: _States, place: int, counting: _Counting, *, again: bool = False) -> list[tuple[int, int]]:
        """Begin another property at a place, with a comma after the first property; with `again`, properties are added there repeatedly.
        Return pairs: the number of properties including the new one, and the state before its name.
        """
        counts = states.at(place)
        known = {*counts}
        for count in counts:  # the loop appends to `counts`
            following = counting.after(count)
            if again and following is not None and following not in known:
                counts.append(following)
                known.add(following)
        before: dict[int, int] = {}
        for count in counts:
            following = counting.after(count)
            if following is not None:
                before.setdefault(following, self.builder.states)
                if before[following] == self.builder.states:
                    self.builder.state()
                self.builder.skip(self._mark(states[place, count], b",") if count else states[place, count], before[following])
        return [*before.items()]

    def _add_other(self, other: Others, start: int, end: int) -> None:
        """Add a property that is not named."""
        name = self.builder.state()
        self._add_string(other.names, start, name)
        self.add(other.values, self._mark(name, b":"), end)

    def _within(self, term: Objects, met: int) -> Iterator[tuple[int, Others]]:
        """For each choice, the elements of `some` that are not yet met and that a property meets, as bits; and the properties that meet
        them.
        """
        bits = [bit for bit in range(len(term.some)) if not met >> bit & 1]
        for chosen in chain.from_iterable(combinations(bits, count + 1) for count in range(len(bits))):
            for each in term.others:
                names = reduce(self._algebra.both, (term.some[bit].names for bit in chosen), each.names)
                values = reduce(self._algebra.intersection, (term.some[bit].values for bit in chosen), each.values)
                if not names.is_empty and not values.is_empty:
                    yield sum(1 << bit for bit in chosen), Others(names, values)


class _States(dict[tuple[int, int], int]):
    """States of an array or object; a state is made when it is first looked up."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._places: dict[int, list[int]] = {}

    def __setitem__(self, key: tuple[int, int], state: int) -> None:
        if key not in self:
            self._places.setdefault(key[0], []).append(key[1])
        super().__setitem__(key, state)

    def __missing__(self, key: tuple[int, int]) -> int:
        self[key] = self._builder.state()
        return self[key]

    def at(self, place: int) -> list[int]:
        """The second numbers of the keys of the states at a place, in a new list."""
        return [*self._places.get(place, [])]


class _Counting(NamedTuple):
    """How properties are counted.

    Attributes:
        limit: the largest count.
        is_exact: whether no property may follow `limit` properties; if False, the count `limit` means `limit` or more properties.
    """

    limit: int
    is_exact: bool

    def after(self, count: int) -> int | None:
        """The count after another property; None if no other property may follow."""
        return count + 1 if count < self.limit else None if self.is_exact else count
