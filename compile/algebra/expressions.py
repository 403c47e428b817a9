"""Rational expressions: unions, concatenations and closures of machines, whose arcs are made once, when they are needed.

A grammar joins thousands of small machines. Here an operation costs one small object; the arcs of a whole expression are then made by
Thompson's construction: each part leads from a given state to another one. A chain of labels adds no ε-arc, and a union joins its parts
at both ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.kernels.room import MAX_ARCS, REMEDY, SizeError
from fst.compile.algebra.rational import NOT_FINAL

Pairs = tuple[tuple[int, int], ...]
START, END = -1, -2  # numbers of the two given states among the states of a leaf
MAX_REPEATED = 1 << 16  # maximum of the bounds of a closure
FEW = 4  # an expression of more nodes that is used again becomes one machine first


class Expression:
    """A machine, or an operation on expressions. Expressions are immutable; their arcs are made at first use and kept.

    Examples:
        >>> word = chain([(97, 97), (98, 0)])
        >>> union([word, concatenate([word, closure(chain([(99, 99)]))])]).arcs.states
        6
    """

    def __init__(self, parts: tuple[Expression, ...] = ()) -> None:
        self.parts = parts
        self.nodes: int = 1 + sum(part.nodes for part in parts)
        self._arcs: Arcs | None = None
        self._leaf: _Leaf | None = None
        self._is_used = False

    @property
    def arcs(self) -> Arcs:
        """The machine of this expression."""
        if self._arcs is None:
            self._arcs = self.made()
        return self._arcs

    def made(self) -> Arcs:
        """Make the arcs."""
        return _Builder().machine(self)

    def leaf(self) -> _Leaf | None:
        """The arcs for a larger expression, if they have been made or this expression is used again; otherwise None."""
        if self._arcs is None and (not self._is_used or self.nodes <= FEW):
            self._is_used = True
            return None
        if self._leaf is None:
            self._leaf = _Leaf(self.arcs)
        return self._leaf

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """Put the parts between two states of a builder."""
        raise NotImplementedError


class Machine(Expression):
    """A machine as an expression."""

    def __init__(self, arcs: Arcs) -> None:
        super().__init__()
        self._arcs = arcs


class Chain(Expression):
    """A path of pairs of labels.

    Attributes:
        pairs: the labels read and written by each arc.
        weight: the weight of the path.
    """

    def __init__(self, pairs: Pairs, weight: float = 0.0) -> None:
        super().__init__()
        self.pairs, self.weight = pairs, weight

    def made(self) -> Arcs:
        """A state for each place, in order; the last one has the weight."""
        count = len(self.pairs)
        places, final = np.arange(count + 1), np.full(count + 1, NOT_FINAL)
        final[count] = self.weight
        labels = np.array(self.pairs, np.int64).reshape(-1, 2)
        return make(places[:-1], labels[:, 0], labels[:, 1], places[1:], None, final, 0)

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """Arcs for the pairs, the last one with the weight."""
        if not self.pairs:
            builder.arc(start, EPSILON, EPSILON, end, self.weight)
            return
        for read, write in self.pairs[:-1]:
            following = builder.state()
            builder.arc(start, read, write, following, 0.0)
            start = following
        builder.arc(start, *self.pairs[-1], end, self.weight)


class Union(Expression):
    """All paths of the parts."""

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """Each part between the same states."""
        for part in self.parts:
            builder.put(part, start, end)


class Concatenation(Expression):
    """The paths of the parts, one after the other."""

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """A state between each two parts."""
        for part in self.parts[:-1]:
            following = builder.state()
            builder.put(part, start, following)
            start = following
        builder.put(self.parts[-1], start, end)


class Closure(Expression):
    """All sequences of one or more paths of the part."""

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """The part between two new states, with an ε-arc back."""
        first, last = builder.state(), builder.state()
        builder.put(self.parts[0], first, last)
        for source, target in ((start, first), (last, first), (last, end)):
            builder.arc(source, EPSILON, EPSILON, target, 0.0)


class Star(Expression):
    """All sequences of paths of the part."""

    def put(self, builder: _Builder, start: int, end: int) -> None:
        """The part from a new state back to itself."""
        state = builder.state()
        builder.put(self.parts[0], state, state)
        builder.arc(start, EPSILON, EPSILON, state, 0.0)
        builder.arc(state, EPSILON, EPSILON, end, 0.0)


def chain(pairs: Iterable[tuple[int, int]], weight: float = 0.0) -> Expression:
    """The path of pairs of labels."""
    return Chain(tuple(pairs), weight)


def union(parts: Iterable[Expression]) -> Expression:
    """All paths of the parts."""
    return Union(tuple(parts))


def concatenate(parts: Iterable[Expression]) -> Expression:
    """The paths of one or more parts, one after the other. Chains that follow each other become one chain."""
    joined: list[Expression] = []
    for _, group in groupby(parts, lambda part: isinstance(part, Chain)):
        run = [*group]
        chains = [part for part in run if isinstance(part, Chain)]
        joined += [_joined(chains)] if len(chains) > 1 else run
    return joined[0] if len(joined) == 1 else Concatenation(tuple(joined))


def _joined(chains: list[Chain]) -> Chain:
    """One chain of chains that follow each other."""
    return Chain(tuple(pair for part in chains for pair in part.pairs), sum(part.weight for part in chains))


def closure(part: Expression, least: int = 0, most: int | None = None) -> Expression:
    """All sequences of `least` to `most` paths of the part; None: of any number of paths.

    Raises:
        SizeError: a bound is above `MAX_REPEATED`.
    """
    if max(least, most or 0) > MAX_REPEATED:
        fault = f"the closure has up to {max(least, most or 0):,} repetitions; expected at most {MAX_REPEATED:,}"
        raise SizeError(fault, "use smaller bounds")
    if most is None:
        return concatenate([*[part] * (least - 1), Closure((part,)) if least else Star((part,))])
    nothing = Chain(())
    optional: Expression = nothing
    for _ in range(least, most):
        optional = Union((nothing, concatenate([part, optional]) if optional is not nothing else part))
    return concatenate([part] * least + ([optional] if most > least else [])) if most else nothing


class _Leaf:
    """The arcs of a machine, numbered for a place between two given states.

    If no arc leads to the start, it becomes the first given state. A final state without arcs becomes the second one, and its weight moves
    to the arcs that lead to it. ε-arcs join the other final states, and a start that arcs lead to.
    """

    def __init__(self, arcs: Arcs) -> None:
        is_final = np.isfinite(arcs.final)
        numbers = np.zeros(arcs.states, np.int64)
        is_end = is_final & (np.diff(arcs.row_start) == 0)
        if arcs.states:
            is_end[arcs.start] = False
            numbers[arcs.start] = 0 if (arcs.target == arcs.start).any() else START
        numbers[is_end] = END
        own = numbers == 0
        numbers[own] = np.arange(own.sum())
        self.states = int(own.sum())
        ends = np.flatnonzero(is_final & ~is_end)
        joins = [(START, int(numbers[arcs.start]), 0.0)] if arcs.states and numbers[arcs.start] != START else []
        joins += [(number, END, weight) for number, weight in zip(numbers[ends].tolist(), arcs.final[ends].tolist(), strict=True)]
        self.joins = joins
        entering = np.where(is_end, arcs.final, np.float32(0))
        self.columns = (
            numbers[arcs.sources],
            arcs.ilabel,
            arcs.olabel,
            numbers[arcs.target],
            arcs.weights + entering[arcs.target] if entering.any() else arcs.weights,
        )


class _Builder:
    """Collects the arcs of an expression: single arcs in lists, leaves as arrays."""

    def __init__(self) -> None:
        self._states = 0
        self._arcs: list[tuple[int, int, int, int, float]] = []
        # Each leaf with the first number of its states, the two given states, and the number of single arcs before it.
        self._leaves: list[tuple[_Leaf, int, int, int, int]] = []
        self._leaf_arcs = 0  # in all leaves together
        self._waiting: list[tuple[Expression, int, int]] = []

    def state(self) -> int:
        """Add a state."""
        self._states += 1
        return self._states - 1

    def arc(self, source: int, read: int, write: int, target: int, weight: float) -> None:
        """Add an arc."""
        if source != target or read or write or weight < 0:  # otherwise it changes no path
            self._arcs.append((source, read, write, target, weight))

    def put(self, part: Expression, start: int, end: int) -> None:
        """Put an expression between two states, later."""
        self._waiting.append((part, start, end))

    def machine(self, root: Expression) -> Arcs:
        """The machine of an expression."""
        start, end = self.state(), self.state()
        self.put(root, start, end)
        while self._waiting:
            self._need_room()
            part, first, last = self._waiting.pop()
            leaf = None if part is root else part.leaf()
            if leaf is None:
                waiting = len(self._waiting)
                part.put(self, first, last)
                self._waiting[waiting:] = reversed(self._waiting[waiting:])
            else:
                self._put_leaf(leaf, first, last)
        final = np.full(self._states, NOT_FINAL)
        final[end] = 0
        source, read, write, target, weight = self._columns()
        return make(source, read, write, target, weight, final, start)

    def _need_room(self) -> None:
        if self._leaf_arcs + len(self._arcs) > MAX_ARCS:
            raise SizeError(f"the machine has more than {MAX_ARCS:,} arcs; expected fewer", REMEDY)

    def _put_leaf(self, leaf: _Leaf, start: int, end: int) -> None:
        offset = self._states
        self._states += leaf.states
        given = {START: start, END: end}
        for source, target, weight in leaf.joins:
            self.arc(given.get(source, source + offset), EPSILON, EPSILON, given.get(target, target + offset), weight)
        self._leaf_arcs += len(leaf.columns[0])
        self._leaves.append((leaf, offset, start, end, len(self._arcs)))

    def _columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """All arcs, in the order of the expression: source, label read, label written, target, weight."""
        single = list(zip(*self._arcs, strict=True)) or [()] * 5
        counts = [len(leaf.columns[0]) for leaf, *_ in self._leaves]
        offset, start, end, place = (np.repeat(np.array([leaf[side] for leaf in self._leaves], np.int64), counts) for side in range(1, 5))
        order = np.argsort(np.concatenate([2 * np.arange(len(self._arcs)) + 1, 2 * place]), kind="stable")
        columns = [
            np.concatenate([np.empty(0, np.int64), *(leaf.columns[side] for leaf, *_ in self._leaves)], dtype=np.int64, casting="unsafe")
            for side in range(4)
        ]
        for side in (0, 3):
            column = columns[side]
            columns[side] = np.where(column == START, start, np.where(column == END, end, column + offset))
        weights = np.concatenate([np.array(single[4], np.float32), *(leaf.columns[4] for leaf, *_ in self._leaves)])
        source, read, write, target = (
            np.concatenate([np.array(single[side], np.int64), column])[order] for side, column in enumerate(columns)
        )
        return source, read, write, target, weights[order]
