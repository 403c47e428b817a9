"""Tables with a bit changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

import fst


def survivors(table: Any, draw: Random, tries: int, place: Callable[[Random, int], int] = Random.randrange) -> Iterator[Any]:
    """Of tables with a bit changed, those that prove sound all the same. There must be some, or a test of them tests nothing.

    Args:
        table: the table, which stays as it is.
        draw: chooses a member of the table, a byte of it and a bit.
        tries: how many tables to make.
        place: draws the byte, below the number of bytes.
    """
    found = 0
    for _ in range(tries):
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
    assert found, f"of {tries} damaged tables, none proves sound"
