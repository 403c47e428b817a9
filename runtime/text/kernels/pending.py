"""Test a stream's pending raw text for a border, with a search of the new text only.

The requirements of `fst.runtime.text.kernels.normalizer` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.runtime.kernels.constants import U0
from fst.runtime.text.kernels.normalizer import border_between, first_lag

PLACE, COVERED, STAYS = 0, 1, 2  # indices into `noted`


@kernel
def has_border(text, limit, normalizer, memo, noted):
    """Whether a text that continues has a border, see `fst.runtime.text.kernels.normalizer.last_border`.

    Args:
        text: uint8[n], UTF-8.
        limit, normalizer, memo: as in `fst.runtime.text.kernels.normalizer.border_between`.
        noted: uint64[3], the state of the search, updated. ``noted[PLACE]`` is the position where the next search may continue;
            ``noted[COVERED]`` and ``noted[STAYS]`` are the arguments of `border_between` at this position.
    """
    found = border_between(text, U0, np.uint64(len(text)), noted[COVERED], noted[STAYS], limit, normalizer, memo)
    border, noted[PLACE], noted[COVERED], noted[STAYS] = found
    return border > U0


@kernel
def has_lag(text, normalizer):
    """Whether spans may lag at some position of a text; after this position, no border is searched."""
    return first_lag(text, U0, np.uint64(len(text)), normalizer) < np.uint64(len(text))
