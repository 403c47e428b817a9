"""Templates at run time: what stands around the ids of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def frame(single: Sequence[Sequence[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The ids before and after a text.

    Args:
        single: ``about["single"]`` of tables: pieces ``[[id, …], type_id]``, and ``["A", type_id]`` where the text stands.

    Example:
        >>> frame([[[101], 0], ["A", 0], [[102], 0]])
        (array([101], dtype=int32), array([102], dtype=int32))
    """
    sides: list[list[int]] = [[]]
    for content, _ in single:
        if isinstance(content, str):
            sides.append([])
        else:
            sides[-1].extend(content)
    before, after = sides
    return np.array(before, np.int32), np.array(after, np.int32)
