"""Trees of sorted strings whose equal subtrees are stored once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import read_only
from fst.compile.algebra.kernels.room import SizeError
from fst.core.jit import Deferred

MAX_NODES, MAX_ARCS = 1 << 21, 1 << 22  # of Debian's dictionaries, Turkish has the most, 274,229 and 1,409,108

share = Deferred("fst.compile.algebra.kernels.sharing", "share")


class Open(NamedTuple):
    """The nodes on the path of the latest string.

    Attributes:
        path: int32[depths], the symbols of the path.
        bottom: int64[depths], the first arc of the node at each depth.
        labels, targets: int32[arcs], the arcs of all open nodes, in the order of their depths.
    """

    path: NDArray[np.int32]
    bottom: NDArray[np.int64]
    labels: NDArray[np.int32]
    targets: NDArray[np.int32]


class Nodes(NamedTuple):
    """Nodes with different arcs.

    Attributes:
        counts: int64[2], the numbers of nodes and of arcs.
        hashes: uint64[nodes]; slots: int32[2ⁿ], 1 + the node in each slot of a table of hashes, or 0.
        ends: int64[nodes], the end of the arcs of each node.
        labels, targets: int32[arcs], the symbols, and the nodes after them.
    """

    counts: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    slots: NDArray[np.int32]
    ends: NDArray[np.int64]
    labels: NDArray[np.int32]
    targets: NDArray[np.int32]


def shared(
    strings: list[str], trees: NDArray[np.int64], follow_start: NDArray[np.int64], follows: NDArray[np.int32]
) -> tuple[Nodes, NDArray[np.int32]]:
    """The nodes of trees of strings, and int32[trees], the node of each root.

    Args:
        strings: the strings of all trees; those of a tree are distinct and sorted.
        trees: int64[trees + 1], the first string of each tree.
        follow_start: int64[strings + 1], and follows: int32[n], the numbers of what follows each string. They become the targets of arcs
            with the label -1.

    Raises:
        UnsupportedError: there are too many nodes or arcs.
    """
    symbols = np.frombuffer("".join(strings).encode("utf-32-le"), np.uint32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    depths, room = int(lengths.max(initial=0)) + 1, len(strings) + len(follows) + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    most, arcs = min(len(symbols) + len(trees), MAX_NODES), min(len(symbols) + len(follows), MAX_ARCS)
    open_nodes = Open(np.empty(depths, np.int32), np.empty(depths, np.int64), np.empty(room, np.int32), np.empty(room, np.int32))
    slots = np.zeros(1 << (2 * most).bit_length(), np.int32)
    ends, hashes = np.empty(most, np.int64), np.empty(most, np.uint64)
    nodes = Nodes(np.zeros(2, np.int64), hashes, slots, ends, np.empty(arcs, np.int32), np.empty(arcs, np.int32))
    roots = np.empty(len(trees) - 1, np.int32)
    inputs = (read_only(array) for array in (symbols, starts, trees, follow_start, follows))
    if not share.call(*inputs, open_nodes, nodes, roots):
        fault = f"the words and endings have more than {MAX_NODES:,} states or {MAX_ARCS:,} arcs; expected fewer"
        raise SizeError(fault, "split the source")
    count, size = nodes.counts.tolist()
    return nodes._replace(ends=ends[:count], labels=nodes.labels[:size], targets=nodes.targets[:size]), roots
