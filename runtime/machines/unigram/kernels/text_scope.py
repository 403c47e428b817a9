"""Unigram with sums that carry on from piece to piece, as sentencepiece has them: `fst.runtime.machines.unigram.kernels.encode` for sums of
float32.
"""

from __future__ import annotations

from fst.core.jit import kernel
from fst.runtime.machines.unigram.kernels.encode import encode


@kernel
def encode_rows(text, starts, more, table, output, work):
    """`encode` texts, all pieces of each together."""
    return encode(text, starts, more, table, output, work)
