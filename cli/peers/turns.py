"""Time a function that takes turns with others."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


def seconds(function: Callable[[], Any], at_least: float, before: Callable[[], object] = lambda: None) -> float:
    """The seconds of a call, the mean of as many as fill a run. Freeing what it gives is not counted.

    Args:
        function: what is timed.
        at_least: seconds of a run; with 0 there is one call.
        before: called before each call, untimed.
    """
    spent, calls = 0.0, 0
    while calls == 0 or spent < at_least:
        before()
        begun = perf_counter()
        result = function()
        spent += perf_counter() - begun
        calls += 1
        del result
    return spent / calls
