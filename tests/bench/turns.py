"""Compare the best times of functions that run in turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fst.cli.peers.turns import seconds

ROUNDS, SECONDS = 5, 0.2  # rounds; minimum seconds of a run
Run = Callable[[], Any]


def best_in_turns(runs: dict[str, Run]) -> dict[str, float]:
    """The seconds of each function: the best of several rounds, in which all run in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, function in runs.items():
            best[name] = min(best[name], seconds(function, SECONDS))
    return best
