"""MaxMatch in the order of reading. `fst.machines.maxmatch` says what the tokens are; its slow walk specifies them.

The kernel is that of keyword search, which writes the characters between matches, too: see `fst.runtime.kernels.maxmatch_tokens`. Texts
that are read backward come in reverse order, see `fst.runtime.maxmatch`.

Kernels check nothing. They require a proven table, UTF-8 or its reverse, and room for an id for each byte of text.
"""

from __future__ import annotations

from fst.jit import kernel
from fst.runtime.kernels.keywords import search
from fst.runtime.kernels.maxmatch_tokens import DONE


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Segment texts. Arguments and result are those of `fst.runtime.kernels.bpe.encode_rows`, but for `machine`, which is
    `fst.machines.maxmatch.Arguments`, and `work`, which is `fst.machines.keywords.Work`.
    """
    work.notes[DONE] = starts[0]
    return search(text, starts, more, machine, output, work)
