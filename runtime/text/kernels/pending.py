"""Find out from new text alone whether a kernel would still read nothing of a stream's pending text.

The requirements of `fst.runtime.text.kernels.normalizer` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.runtime.kernels.constants import U0
from fst.runtime.text.kernels.normalizer import border_between, first_lag

PLACE, COVERED, STAYS = 0, 1, 2  # indices into `noted`


@kernel
def has_border(text, limit, rewriter, memo, noted):
    """Whether a text that continues has a border, see `fst.runtime.text.kernels.normalizer.last_border`.

    Args:
        text: uint8[n], UTF-8.
        limit, rewriter, memo: as in `fst.runtime.text.kernels.normalizer.border_between`.
        noted: uint64[3], changed. `PLACE` is set to the position where the next search may continue. `COVERED` and `STAYS` are arguments of
            `border_between`, and are set to their values at this position.
    """
    found = border_between(text, U0, np.uint64(len(text)), noted[COVERED], noted[STAYS], limit, rewriter, memo)
    border, noted[PLACE], noted[COVERED], noted[STAYS] = found
    return border > U0


@kernel
def has_lag(text, rewriter):
    """Whether spans may lag behind somewhere in a text. From there on, no border is searched."""
    return first_lag(text, U0, np.uint64(len(text)), rewriter) < np.uint64(len(text))
