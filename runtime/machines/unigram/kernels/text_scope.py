"""Unigram with float32 sums over whole texts, as in sentencepiece; see `fst.runtime.machines.unigram.kernels.encode`."""

from __future__ import annotations

from fst.core.jit import kernel
from fst.runtime.machines.unigram.kernels.encode import encode


@kernel
def encode_rows(text, starts, more, table, output, work):
    """`encode` texts, with scores summed over each text."""
    return encode(text, starts, more, table, output, work)
