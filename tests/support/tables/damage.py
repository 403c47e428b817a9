"""Change one element or one bit of a table, for tests that damaged tables are refused, or are harmless if they pass their proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

import fst


def changed(table: Any, field: str, place: Any, value: Any) -> Any:
    """A table with one changed element; with a place of None, the field becomes the value."""
    array = getattr(table, field).copy()
    if place is None:
        array = np.array(value, array.dtype)
    else:
        array[place] = value
    return replace(table, **{field: array})


def survivors(table: Any, draw: Random, tries: int, place: Callable[[Random, int], int] = Random.randrange) -> Iterator[Any]:
    """Yield tables with one changed bit that still pass their proof; if no table passes, the test fails, because it would check nothing.

    Args:
        table: the table; it is not changed.
        draw: the random choice of an array of the table, a byte and a bit.
        tries: the number of changed tables; if none of them passes, up to ten times as many.
        place: a function that draws the index of the byte; its second argument is the number of bytes.
    """
    found = 0
    for tried in range(10 * tries):
        if tried >= tries and found:
            return
        name = draw.choice([name for name in table.schema() if getattr(table, name).size])
        array = getattr(table, name).copy()
        view = array.reshape(-1).view(np.uint8)
        view[place(draw, len(view))] ^= 1 << draw.randrange(8)
        damaged = replace(table, **{name: array})
        try:
            damaged.prove()
        except fst.TableError:
            continue
        found += 1
        yield damaged
    assert found, f"of {10 * tries} damaged tables, none proves sound"
