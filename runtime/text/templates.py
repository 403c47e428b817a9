"""The special ids around a text, read from a template."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.tables.header import Template


def special_ids(single: Template) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the special ids before a text and after it.

    Args:
        single: the template of one text.

    Examples:
        >>> special_ids((((101,), 0), ("A", 0), ((102,), 0)))
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
