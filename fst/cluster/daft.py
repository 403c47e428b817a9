"""Run tasks with Daft, on one machine or on the cluster that Daft runs on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any


def daft_map(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Run a task for each item, like the built-in `map`, with the runner of Daft. Each item is a batch.

    Args:
        task: a function that can be pickled, with a result that JSON expresses.
        items: the arguments of its calls.

    Returns:
        The result of each call, in the order of the items.
    """
    import daft

    if not items:
        return []  # Daft cannot sort an empty column

    @daft.func(return_dtype=daft.DataType.string())  # type: ignore[untyped-decorator, unused-ignore]
    def called(number: int) -> str:
        return json.dumps(task(items[number]))

    batches = daft.from_pydict({"id": [*range(len(items))]}).into_batches(1)
    rows = batches.with_column("result", called(daft.col("id"))).sort("id").to_pydict()
    return [json.loads(result) for result in rows["result"]]
