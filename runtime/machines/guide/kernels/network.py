"""The product of a recursive transition network with the trie of a vocabulary: one scan gives the mask of a state.

A call adds a cell to a chain of cells, and a return goes on at the state of the innermost cell. The chains of all nodes on a path are kept,
because the chains share cells: a node overwrites only the cell that was added at its depth, and no node on its path uses this cell.

Preconditions: a `fst.machines.guide.network.Network`, which the compiler has made; the innermost cell of ``work.cells[0]``, and all cells
around it, are in ``work``.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.kernels.scan import BIT, BYTE, ONE, WORD_SHIFT, add_twins
from fst.machines.guide.network import RETURN

DEPTH_SHIFT = np.uint32(8)


@part
def read_byte(network, work, depth, byte):
    """Read a byte after a number of bytes, and store the state and the cell after it; return the state, or `NO_STATE`."""
    cell = work.cells[depth]
    target = network.targets[work.states[depth], network.classes[byte]]
    if target >= len(network.targets):
        call = target - len(network.targets)
        target = network.entered[call]
        if network.after[call] != RETURN:  # otherwise, the call returns to the same place as the call around it
            work.returns[depth], work.parents[depth] = network.after[call], cell
            cell = np.int32(depth)
    elif target == RETURN:
        if cell < 0:
            return np.int32(NO_STATE)
        target, cell = work.returns[cell], work.parents[cell]
    work.states[depth + 1], work.cells[depth + 1] = target, cell
    return target


@kernel
def walk_network(network, work, data):
    """Read some bytes from the state at depth 0. The last state in ``work.states`` stays `NO_STATE` if the bytes are not read.

    Args:
        network: a `fst.machines.guide.network.Network`.
        work: a `fst.runtime.machines.guide.network_states.Work`, for the number of bytes.
        data: uint8[n].
    """
    for depth in range(len(data)):
        if read_byte(network, work, depth, data[depth]) < 0:
            break


@kernel
def scan_network(network, trie, work, row):
    """Set the bits of the tokens that are read completely from the state at depth 0.

    Args:
        network, work: as in `walk_network`; `work` is for the longest token.
        trie: a `fst.machines.guide.vocabulary.Trie`.
        row: uint32[words + 1], the mask; the last word gets the bits of nodes without tokens.
    """
    node = np.int64(0)
    while node < len(trie.labels):
        label = trie.labels[node]
        if read_byte(network, work, np.int64(label >> DEPTH_SHIFT), label & BYTE) < 0:
            node = np.int64(trie.skips[node])
        else:
            token = trie.tokens[node]
            row[token >> WORD_SHIFT] |= ONE << (token & BIT)
            node += 1
    add_twins(trie, row)
