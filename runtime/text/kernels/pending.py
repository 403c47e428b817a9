"""Text that surely continues: what tells a stream, from new text alone, that a kernel would read nothing of all that is unread.

Kernels require what those of `fst.runtime.text.kernels.normalizer` require.
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
        noted: uint64[3], changed. `PLACE`: where the search begins, and then from where on the next one may go on. `COVERED`, `STAYS`: how
            far tokens cover the text there, and how many bytes before it stay.
    """
    found = border_between(text, U0, np.uint64(len(text)), noted[COVERED], noted[STAYS], limit, rewriter, memo)
    border, noted[PLACE], noted[COVERED], noted[STAYS] = found
    return border > U0


@kernel
def has_lag(text, rewriter):
    """Whether spans may lag behind somewhere in a text. No border is sought from there on."""
    return first_lag(text, U0, np.uint64(len(text)), rewriter) < np.uint64(len(text))
