"""Measure functions that run in turns: the best times, or all results; and processor time, of this process and of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any, TypeVar

from fst.cli.peers.libraries import seconds

ROUNDS, SECONDS = 5, 0.2  # rounds; minimum seconds of a run
Run = Callable[[], Any]
Result = TypeVar("Result")


def in_turns(measures: Mapping[str, Callable[[], Result]], rounds: int = ROUNDS) -> dict[str, list[Result]]:
    """The results of each function in several rounds; in each round, all functions run in turns."""
    found: dict[str, list[Result]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return found


def best_in_turns(runs: Mapping[str, Run]) -> dict[str, float]:
    """The seconds of each function, the best of several rounds; in each round, all functions run in turns."""
    measures = {name: partial(seconds, function, SECONDS) for name, function in runs.items()}
    return {name: min(times) for name, times in in_turns(measures).items()}


def processor_time(function: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds of processor time of a call, and its result."""
    begun = process_time()
    result = function()
    return process_time() - begun, result


def processor_time_of_children(function: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds of processor time of the processes that a call starts and awaits, and its result."""
    before = getrusage(RUSAGE_CHILDREN)
    result = function()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result
