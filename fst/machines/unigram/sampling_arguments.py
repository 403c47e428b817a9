"""The arguments of the kernels that sample segmentations of Unigram: the arrays that they read, and those in which they work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.unigram.arguments import UnigramArguments, UnigramWork
from fst.machines.unigram.nbest import MOST_DEVIATIONS
from fst.machines.unigram.sampling import MOST_PATHS

MOST_BITS = 900  # of the exponent of a weight; float64 has 1,023, and the rest is a margin
PATHS = 1 << 21  # of all places of a piece together
STEPS = 1 + MOST_DEVIATIONS  # numbers of a segmentation in `NBestWork.steps`


class SamplingArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.unigram.kernels.sampling` reads.

    Attributes:
        own: those of the table.
        numbers: float64[tokens + 2], those of `fst.machines.unigram.sampling.weights`, then 0 for the items
        `fst.machines.unigram.aho_corasick.NONE`, which end no path.
        exponents: int64[tokens + 1], those of the same function; empty if all are 0.
        most_bytes: uint64[1], see `most_narrow_bytes`.
        seed: uint64[1].
    """

    own: UnigramArguments
    numbers: Array
    exponents: Array
    most_bytes: Array
    seed: Array


class SamplingWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state, symbols, begins, pieces, pending, special_ids, active, tokens, longer, memo, masks, best, counts: as in
            `fst.machines.unigram.arguments.UnigramWork`.
        best_sums: float64[2 * room], the weight of all paths to each place of the listed pieces. `best` is never written, but named by
            `find_nodes`.
        found, sizes: see `fst.runtime.machines.unigram.kernels.nodes.nodes_from`.
        weights, exponents: float64[2 ** n] and int64[2 ** n], of the last places, see `fst.runtime.machines.unigram.kernels.sampling.draw`.
    """

    state: Array
    symbols: Array
    begins: Array
    pieces: Array
    pending: Array
    special_ids: Array
    active: Array
    tokens: Array
    longer: Array
    memo: Array
    masks: Array
    best: Array
    best_sums: Array
    counts: Array
    found: Array
    sizes: Array
    weights: Array
    exponents: Array


def most_narrow_bytes(numbers: Array, exponents: Array) -> int:
    """The most bytes of a piece whose weights need no exponents: float64 holds the products of its nodes' numbers, and their sums.

    Such weights differ from those with exponents only by powers of two, so every choice is the same.

    Args:
        numbers: float64[tokens + 1], see `fst.machines.unigram.sampling.weights`.
        exponents: int64[tokens + 1], see there.
    """
    if exponents.any():
        return 0
    return int(MOST_BITS / (1 + float(np.abs(np.log2(numbers)).max())))  # a piece of n bytes has fewer than 2 ** n paths


def sampling_work(own: UnigramWork, longest: int) -> SamplingWork:
    """The working arrays next to those of encoding, which must not be in use elsewhere; `longest` is the most bytes of a token."""
    room = 1 << longest.bit_length()
    shared = _shared(own, SamplingWork)
    return SamplingWork(
        **{**shared, "best_sums": np.zeros(len(own.best_sums))},  # weights are float64, where sums may be float32
        found=np.zeros(room, np.int32),
        sizes=np.zeros(room, np.uint32),
        weights=np.zeros(room, np.float64),
        exponents=np.zeros(room, np.int64),
    )


def _shared(own: UnigramWork, kind: Any) -> dict[str, Array]:
    """The working arrays of encoding that another kernel has, too."""
    return {name: array for name, array in own._asdict().items() if name in kind._fields}


class NBestArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.unigram.kernels.nbest` reads.

    Attributes:
        own: those of the table.
        most: uint64[1], the number of the best segmentations of a text.
        is_every: uint64[1], 1 if there is only one text and each of these becomes a row, 0 if one of them is drawn.
        alpha: float64[1], see `fst.machines.unigram.sampling.Sampling`.
        seed: uint64[1].
    """

    own: UnigramArguments
    most: Array
    is_every: Array
    alpha: Array
    seed: Array


class NBestWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state, symbols, begins, pieces, pending, special_ids, memo, masks, counts: as in `fst.machines.unigram.arguments.UnigramWork`.
        found, sizes: see `fst.runtime.machines.unigram.kernels.nodes.nodes_from`.
        bounds: int64[2], where the row begins and ends.
        places: uint32[PATHS], the number of paths to each place of a piece.
        scores, nodes, ranks: float64[PATHS], int32[PATHS], uint16[PATHS], the paths to each place, the best first: the score of each, its
            last node, see `fst.machines.unigram.viterbi_kernels.node_size`, and the rank of the path before that node among those to its
            begin.
        new_scores, new_nodes, new_ranks: of `MOST_PATHS`, scratch for the paths to a place.
        totals: float64[2 * MOST_PATHS], the scores of the best segmentations of a text; and scratch.
        steps: uint64[2 * STEPS * MOST_PATHS], for each the number of its deviations, then ``rank | index of the piece in the row << 16`` of
            each; and scratch.
        heads: uint32[MOST_PATHS], scratch.
    """

    state: Array
    symbols: Array
    begins: Array
    pieces: Array
    pending: Array
    special_ids: Array
    memo: Array
    masks: Array
    counts: Array
    found: Array
    sizes: Array
    bounds: Array
    places: Array
    scores: Array
    nodes: Array
    ranks: Array
    new_scores: Array
    new_nodes: Array
    new_ranks: Array
    totals: Array
    steps: Array
    heads: Array


def nbest_work(own: UnigramWork, longest: int) -> NBestWork:
    """The working arrays next to those of encoding, which must not be in use elsewhere; `longest` is the most bytes of a token."""
    return NBestWork(
        **_shared(own, NBestWork),
        found=np.zeros(longest + 1, np.int32),
        sizes=np.zeros(longest + 1, np.uint32),
        bounds=np.zeros(2, np.int64),
        places=np.empty(PATHS, np.uint32),  # only memory that is written is committed
        scores=np.empty(PATHS, np.float64),
        nodes=np.empty(PATHS, np.int32),
        ranks=np.empty(PATHS, np.uint16),
        new_scores=np.empty(MOST_PATHS, np.float64),
        new_nodes=np.empty(MOST_PATHS, np.int32),
        new_ranks=np.empty(MOST_PATHS, np.uint16),
        totals=np.zeros(2 * MOST_PATHS, np.float64),
        steps=np.zeros(2 * STEPS * MOST_PATHS, np.uint64),
        heads=np.zeros(MOST_PATHS, np.uint32),
    )
