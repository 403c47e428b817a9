"""Time a function that takes turns with others."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any


def seconds(function: Callable[[], Any], at_least: float, before: Callable[[], object] = lambda: None) -> float:
    """The seconds of a call: the mean of the calls in a run. The time to free their results does not count.

    Args:
        function: the function to time.
        at_least: the minimum seconds of a run; 0: one call.
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
