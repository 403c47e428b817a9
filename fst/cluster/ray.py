"""Run tasks on a cluster of Ray, by Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any


def ray_map(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Run a task for each item, like the built-in `map`, on the cluster of Ray that this process is connected to.

    A task takes one core. Ray repeats the tasks of a process that dies; an exception of a task ends the run, and is raised here as an error
    of Ray.

    Args:
        task: a function that can be pickled.
        items: the arguments of its calls.

    Returns:
        The result of each call, in the order of the items.
    """
    import ray

    def called(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "result": task(items[row["id"]])}

    count = len(items)
    rows = ray.data.range(count, override_num_blocks=max(count, 1)).map(called, num_cpus=1).take_all()
    return [row["result"] for row in sorted(rows, key=itemgetter("id"))]
