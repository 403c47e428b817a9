"""Measure the time of a function, when several functions are timed in turns."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


def seconds(function: Callable[[], Any], at_least: float, before: Callable[[], object] = lambda: None) -> float:
    """Call a function repeatedly, and return the mean seconds of a call, without the time to free its result.

    Args:
        function: the function to time.
        at_least: the minimum seconds of all calls together; 0: one call.
        before: a function that is called before each call, without being timed.
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
