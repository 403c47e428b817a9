"""Describe the decisions of windows by products of sets of symbols, as `fst.pretokens.boundaries` defines them.

A window is a cell of a cube with an axis for each symbol of a window; a product is a *box* of cells::

    _cube       decisions of windows → cube of the last `SYMBOLS_IN_PRODUCT` symbols, with those of END and BEGIN. Symbols with the same
                effect at a place share an index, so that cubes are small
    _cover      cells of a decision → boxes. Each contains the most frequent cell that is not covered yet, and no cell of another decision;
                of the boxes that `_widest` finds around this cell, it covers the largest share of the windows not yet covered
    _fewer      too many boxes of unsure windows → fewer and larger boxes. The kernel looks up all windows in them
    _laid_out   boxes → array of products
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, count, permutations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.pretokens.boundaries import (
    AROUND,
    BEFORE_POSITION,
    BEGIN_MASKS,
    BEGINS,
    INSIDE,
    PRODUCTS,
    PRODUCTS_SIZE,
    SYMBOLS,
    SYMBOLS_IN_PRODUCT,
    UNDECIDED,
    UNSURE_MASKS,
)

NEVER = 7  # the decision for windows that no text contains
MOST_UNSURE = 6  # number of products of unsure windows, if there are more than `PRODUCTS` in total
ORDERS = 24  # maximum number of orders of axes in which a box is extended

Box = tuple[NDArray[np.intp], ...]  # for each side, its symbols in ascending order
Cells = NDArray[np.bool_]
Shares = NDArray[np.float64]


class Cube(NamedTuple):
    """The decisions of all windows, after symbols with the same effect at the same place are merged.

    Attributes:
        decisions: uint8, with one axis for each symbol of a window.
        kinds: for each axis, the index along the axis for each symbol.
        shares: for each axis, the expected share of each index.
    """

    decisions: NDArray[np.uint8]
    kinds: Sequence[NDArray[np.intp]]
    shares: Sequence[Shares]


def products(symbols: NDArray[np.uint8], decisions: NDArray[np.uint8], bits: int, shares: Shares) -> NDArray[np.uint8]:
    """uint8[PRODUCTS_SIZE], the products of `decisions`, see `fst.pretokens.boundaries`. `shares`: the expected share of each class in a
    text.
    """
    cube = _cube(symbols, decisions, bits, shares)
    weights = _products_of(cube.shares)
    is_begin, is_unsure, never = (cube.decisions == decision for decision in (BEGINS, UNDECIDED, NEVER))
    begins = _ends(cube)
    begins += _cover(is_begin & ~_union(begins, is_begin.shape), is_begin | is_unsure | never, weights)
    unsure = _cover(is_unsure, is_unsure | never, weights)
    if len(begins) + len(unsure) > PRODUCTS:  # the windows `BEGINS` outside the first boxes become unsure
        begins = begins[: PRODUCTS - MOST_UNSURE]
        is_unsure = is_unsure | is_begin & ~_union(begins, cube.decisions.shape)
        unsure = _fewer(_cover(is_unsure, is_unsure | never, weights), MOST_UNSURE, cube.shares)
    return _laid_out(begins, unsure, cube)


def _cube(symbols: NDArray[np.uint8], decisions: NDArray[np.uint8], bits: int, shares: Shares) -> Cube:
    """The cube of the symbols that products read."""
    end, begin = symbols[-AROUND:].tolist()
    size, width = begin + 1, (len(decisions).bit_length() - 1) // bits
    table = decisions.reshape((1 << bits,) * width)[(slice(size),) * width].copy()
    _add_ends(table, end, begin)
    while table.ndim > SYMBOLS_IN_PRODUCT:
        table = _without_first(table)
    by_symbol = np.bincount(symbols, np.append(shares, [shares.min()] * AROUND), size)
    kinds, shares_by_kind = [], []
    for axis in range(table.ndim):
        first, kind = _merged(np.moveaxis(table, axis, 0))
        table = table.take(first, axis)
        kinds.append(kind)
        shares_by_kind.append(np.bincount(kind, by_symbol).astype(np.float64))
    return Cube(table, kinds, shares_by_kind)


def _add_ends(table: NDArray[np.uint8], end: int, begin: int) -> None:
    """Set the decisions of windows with END and BEGIN. A kernel reads many texts in turn, each followed by the symbol END and several
    symbols BEGIN. An item begins at the first character of a text and at END, but not at BEGIN.
    """
    last = table.ndim - 1
    for place in range(last - 1):
        table[(slice(None),) * place + (end,)] = NEVER
    table[..., begin] = NEVER
    table[..., begin, :, :] = BEGINS
    table[..., end, :] = BEGINS
    table[..., begin, :] = INSIDE


def _ends(cube: Cube) -> list[Box]:
    """The box of all windows at END, and the box of all windows at the first character of a text."""
    sides = [np.arange(size) for size in cube.decisions.shape]
    own, before = len(sides) - AROUND, len(sides) - AROUND - 1
    *classes, end, _ = cube.kinds[own]
    ends, first = sides.copy(), sides.copy()
    ends[own], first[own], first[before] = np.array([end]), np.unique(classes), cube.kinds[before][-1:]
    return [tuple(ends), tuple(first)]


def _without_first(table: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The decisions that do not depend on the first symbol; otherwise `UNDECIDED`."""
    is_possible = table != NEVER
    known = table.max(axis=0, where=is_possible, initial=0)
    agrees = ((table == known) | ~is_possible).all(axis=0)
    found: NDArray[np.uint8] = np.where(is_possible.any(axis=0), np.where(agrees, known, np.uint8(UNDECIDED)), np.uint8(NEVER))
    return found


def _merged(table: NDArray[np.uint8]) -> tuple[list[int], NDArray[np.intp]]:
    """The kinds of equal rows: for each kind, the index of its first row; and for each row, the number of its kind."""
    numbers: dict[bytes, int] = {}
    kinds = [numbers.setdefault(row.tobytes(), len(numbers)) for row in table]
    return [kinds.index(number) for number in range(len(numbers))], np.array(kinds)


def _products_of(shares: Sequence[Shares]) -> Shares:
    """The expected share of each cell: the product of the shares of its indices."""
    found = np.ones(())
    for each in shares:
        found = np.multiply.outer(found, each)
    return found


def _cover(cells: Cells, allowed: Cells, weights: Shares) -> list[Box]:
    """Boxes that cover all `cells` and lie inside `allowed`; the box of the most frequent cell comes first."""
    left, boxes = cells.copy(), []
    axes = [axis for axis in range(cells.ndim) if cells.shape[axis] > 1]
    orders = [*permutations(axes)]
    orders = orders[:: -(-len(orders) // ORDERS)]  # every n-th order; n is rounded up
    while left.any():
        cell = np.unravel_index(np.argmax(np.where(left, weights, -1.0)), cells.shape)
        gains = left * weights
        best = max((_widest(allowed, cell, order) for order in orders), key=lambda box: float(gains[np.ix_(*box)].sum()))
        boxes.append(best)
        left[np.ix_(*best)] = False
    return boxes


def _widest(allowed: Cells, cell: Sequence[np.intp], order: Sequence[int]) -> Box:
    """The box that grows from a cell inside `allowed`: its sides are extended as far as possible, one axis after the other."""
    box = [np.array([at]) for at in cell]
    for axis in order:
        side = np.arange(allowed.shape[axis])
        inside = allowed[np.ix_(*box[:axis], side, *box[axis + 1 :])]
        box[axis] = side[np.moveaxis(inside, axis, 0).reshape(len(side), -1).all(axis=1)]
    return tuple(box)


def _union(boxes: Sequence[Box], shape: tuple[int, ...]) -> Cells:
    """The cells in any of the boxes."""
    found = np.zeros(shape, np.bool_)
    for box in boxes:
        found[np.ix_(*box)] = True
    return found


def _fewer(boxes: list[Box], most: int, shares: Sequence[Shares]) -> list[Box]:
    """At most `most` boxes that cover all `boxes` and few other windows: two boxes are replaced by the smallest box that contains both."""

    def share(box: Box) -> float:
        return prod(float(each[side].sum()) for each, side in zip(shares, box, strict=True))

    while len(boxes) > most:
        pairs = [(one, other, tuple(map(np.union1d, one, other))) for one, other in combinations(boxes, 2)]
        one, other, both = min(pairs, key=lambda pair: share(pair[2]) - share(pair[0]) - share(pair[1]))
        boxes = [box for box in boxes if box is not one and box is not other] + [both]
    return boxes


def _laid_out(begins: Sequence[Box], unsure: Sequence[Box], cube: Cube) -> NDArray[np.uint8]:
    """The array of the products."""
    found = np.zeros(PRODUCTS_SIZE, np.uint8)
    sets = found[:BEGIN_MASKS].reshape(-1, SYMBOLS_IN_PRODUCT, SYMBOLS)
    first = BEFORE_POSITION + AROUND - len(cube.kinds)  # places before the first axis may have any symbol
    for number, box in enumerate([*begins, *unsure]):
        group, bit = number >> 3, np.uint8(1 << (number & 7))
        found[(BEGIN_MASKS if number < len(begins) else UNSURE_MASKS) + group] |= bit
        sets[group] |= bit
        for place, kinds, side in zip(count(first), cube.kinds, box, strict=False):
            if len(side) < kinds.max() + 1:
                sets[group, place] &= ~bit
                sets[group, place, : len(kinds)] |= bit * np.isin(kinds, side)
    return found
