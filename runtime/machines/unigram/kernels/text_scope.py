"""The kernel of Unigram with the score scope "text" and sums in float32, as in ``sentencepiece``; see
`fst.runtime.machines.unigram.kernels.encode`.
"""

from __future__ import annotations

from fst.core.jit import kernel
from fst.runtime.machines.unigram.kernels.encode import encode


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts with the score scope "text" and sums in float32; see `encode`."""
    return encode(text, starts, more, table, output, work)
