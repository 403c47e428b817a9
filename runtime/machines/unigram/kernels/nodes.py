"""The nodes that begin at a place of a piece of Unigram, see `fst.machines.unigram.viterbi`: what kernels share that need more than the
best path.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.machines.unigram.viterbi_kernels import LABEL_SHIFT, LEAF, ROOT, TARGET, VALUE, VALUE_SHIFT, character_size
from fst.runtime.kernels.constants import U0, U1


@part
def nodes_from(text, at, end, trie, nodes, sizes):
    """List the nodes that begin at a place: tokens, the shortest first, and an unknown character if no token is that character.

    Args:
        text: uint8[n].
        at, end: the place, and where the piece ends.
        trie: see `fst.machines.unigram.viterbi`.
        nodes, sizes: int32[n] and uint32[n], with room for more than a token has bytes; filled: each node, see
            `fst.machines.unigram.viterbi_kernels.node_size`, and its number of bytes.

    Returns:
        The number of nodes, and the place of the next character.
    """
    after = at + character_size(np.uint64(text[at]))
    state, reached, count, is_token, is_open = ROOT, at, U0, False, True
    while is_open:
        byte = np.uint64(text[reached])
        entry = trie[state + U1 + byte]
        is_open = entry >> LABEL_SHIFT == byte
        if is_open:
            reached += U1
            value = entry >> VALUE_SHIFT & VALUE
            if value:
                nodes[count], sizes[count] = np.int32(value - U1), reached - at
                count += U1
                is_token |= reached == after
            state = entry & TARGET
            is_open = state != LEAF and reached < end
    if not is_token:
        nodes[count], sizes[count] = -np.int32(after - at), after - at
        count += U1
    return count, after
