"""The kernel that finds texts which WordPiece's alphabet may not express."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel


@kernel
def lacks_units(text, starts, units):
    """Whether texts contain no unit of a set.

    Args:
        text: uint16[n], UTF-16 of all texts.
        starts: int64[rows + 1], the start of each text, and the end of the last text.
        units: bool[0x10000], the set.
    """
    found = False
    for at in range(starts[0], starts[len(starts) - 1]):
        found |= units[text[np.uint64(at)]]
    return not found
