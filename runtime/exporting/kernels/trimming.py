"""The kernel that changes spans after they are found. The methods `_trim` of tokenizers do the same for batches, with NumPy.

tests/export/test_trimming.py compares the kernel with the methods.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.runtime.kernels.constants import U0, U1, U2, U3


@inlined
def goes_on(offsets, index, is_prefix, in_words):
    """Whether the next id's token, a byte, continues the character or word of the id at an index. It always continues a character; it
    continues a word if both ids have the same span, unless the id at the index is before the text.
    """
    if not in_words:
        return True
    at = index + index
    is_same = offsets[at] == offsets[at + U2] and offsets[at + U1] == offsets[at + U3]
    return is_same and not is_prefix


@kernel
def trim(ids, offsets, state, earlier, before, keeps_first, leading, trailing, continues, in_words):
    """Change the spans of the ids of a text or of a part of one. No part ends between the bytes of a character or word.

    Args:
        ids, offsets: int32[n] and int32[2 * n], see `fst.tables.kernel_call.SpansOutput`.
        state: the state of the kernel that encodes; ``state.count`` is the number of ids.
        earlier: uint64[1], the number of ids of earlier parts.
        before: the number of special ids before the text.
        keeps_first: 1 if the span of the first token includes a single space, otherwise 0.
        leading, trailing: int32[ids], the numbers of spaces at the start and at the end of each id's token, which are removed from its
            span; or int32[0].
        continues: bool[ids], whether each id's token is a byte that may continue a character or a word (then the previous id loses the span
            of this character or word); or bool[0].
        in_words: 1 if bytes continue words, otherwise 0.

    Returns:
        0.
    """
    count = state.count
    for number in range(count):
        index = np.uint64(number)
        at, own = index + index, np.uint64(ids[index])
        start, end = offsets[at], offsets[at + U1]
        if len(continues) and index + U1 < count and continues[np.uint64(ids[index + U1])]:
            end = start if goes_on(offsets, index, earlier[U0] + index + U1 == before, in_words) else end
        if len(leading):
            is_first = start == 0 or earlier[U0] + index == before
            skipped = np.int32(0) if keeps_first and is_first and leading[own] == 1 else leading[own]
            start = min(start + skipped, end)
            end = max(end - trailing[own], start) if end >= trailing[own] else end
        offsets[at], offsets[at + U1] = start, end
    return U0
