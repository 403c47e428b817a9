"""Compare functions by their best times, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

ROUNDS, SECONDS = 5, 0.2  # of a run, at least
Run = Callable[[], Any]


def best_in_turns(runs: dict[str, Run]) -> dict[str, float]:
    """The seconds of each function: the best of some rounds, in which all take turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, function in runs.items():
            best[name] = min(best[name], seconds(function))
    return best


def seconds(function: Run) -> float:
    """The seconds of a call, the mean of as many as fill a run. Freeing what it gives is not counted."""
    spent, calls = 0.0, 0
    while spent < SECONDS:
        begun = time.perf_counter()
        result = function()
        spent += time.perf_counter() - begun
        calls += 1
        del result
    return spent / calls
