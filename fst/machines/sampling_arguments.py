"""The arguments of the kernels that sample segmentations of Unigram: the arrays that they read, and those in which they work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fst.machines.piece_table import WORD_BYTES
from fst.machines.unigram_arguments import UnigramArguments, UnigramWork
from fst.nbest import MOST_DEVIATIONS
from fst.rows import Array
from fst.sampling import MOST_PATHS

WORDS, NODES = 1 << 12, 48  # words that are kept, and the most nodes of each
MOST_BITS = 900  # of 1,023
PATHS = 1 << 21  # of all places of a piece together
STEPS = 1 + MOST_DEVIATIONS  # numbers of a segmentation in `NBestWork.steps`


class SamplingArguments(NamedTuple):
    """The arrays that `fst.runtime.kernels.sampling` reads.

    Attributes:
        own: those of the table.
        numbers, exponents: float64[tokens + 1] and int64[tokens + 1], see `fst.sampling.weights`; no exponents if all are 0.
        is_narrow: uint8[1], 1 if the weight of a word needs no exponent, see `is_narrow`.
        alpha: float64[1].
        seed: uint64[1].
    """

    own: UnigramArguments
    numbers: Array
    exponents: Array
    is_narrow: Array
    alpha: Array
    seed: Array


class SamplingWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state, symbols, begins, pieces, slots, pending, special_ids, memo, masks, counts: as in
            `fst.machines.unigram_arguments.UnigramWork`.
        found, sizes: see `fst.runtime.kernels.unigram_nodes.nodes_from`.
        weights, exponents: float64[2 ** n] and int64[2 ** n], of the last places, see `fst.runtime.kernels.sampling.draw`.
        words: uint64[4 * WORDS], words that were seen before, each at the slot of its hash: its key as in
            `fst.machines.piece_table.PieceTable`, then ``length << 32 | number of nodes``; 0 if the slot is free, no nodes if they are too
            many.
        nodes: uint64[WORDS * NODES], of each word, in the order of their begins: ``node | begin << 32 | end << 40``.
        node_weights: float64[WORDS * NODES], the weight of each.
        alpha: float64[1], the alpha of these weights.
    """

    state: Array
    symbols: Array
    begins: Array
    pieces: Array
    slots: Array
    pending: Array
    special_ids: Array
    memo: Array
    masks: Array
    counts: Array
    found: Array
    sizes: Array
    weights: Array
    exponents: Array
    words: Array
    nodes: Array
    node_weights: Array
    alpha: Array


def is_narrow(numbers: Array, exponents: Array) -> bool:
    """Whether the weights of all paths through a word, as products of the numbers of its nodes, are far from what float64 holds."""
    return not exponents.any() and WORD_BYTES * float(np.abs(np.log2(numbers)).max()) < MOST_BITS


def sampling_work(own: UnigramWork, longest: int) -> SamplingWork:
    """The working arrays beside those of encoding, which must not be in use elsewhere; `longest` is the most bytes of a token."""
    room = 1 << max(longest, WORD_BYTES).bit_length()
    return SamplingWork(
        **_shared(own, SamplingWork),
        found=np.zeros(room, np.int32),
        sizes=np.zeros(room, np.uint32),
        weights=np.zeros(room, np.float64),
        exponents=np.zeros(room, np.int64),
        words=np.zeros(4 * WORDS, np.uint64),
        nodes=np.empty(WORDS * NODES, np.uint64),  # only memory that is written is committed
        node_weights=np.empty(WORDS * NODES, np.float64),
        alpha=np.full(1, np.nan),
    )


def _shared(own: UnigramWork, kind: Any) -> dict[str, Array]:
    """The working arrays of encoding that another kernel has, too."""
    return {name: array for name, array in own._asdict().items() if name in kind._fields}


class NBestArguments(NamedTuple):
    """The arrays that `fst.runtime.kernels.nbest` reads.

    Attributes:
        own: those of the table.
        most: uint64[1], the number of the best segmentations of a text.
        is_every: uint64[1], 1 if there is only one text and each of these becomes a row, 0 if one of them is drawn.
        alpha: float64[1], see `fst.sampling.Sampling`.
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
        state, symbols, begins, pieces, pending, special_ids, memo, masks, counts: as in `fst.machines.unigram_arguments.UnigramWork`.
        found, sizes: see `fst.runtime.kernels.unigram_nodes.nodes_from`.
        bounds: int64[2], where the row begins and ends.
        places: uint32[PATHS], the number of paths to each place of a piece.
        scores, nodes, ranks: float64[PATHS], int32[PATHS], uint16[PATHS], the paths to each place, the best first: the score of each, its
            last node, see `fst.unigram_paths.node_size`, and the rank of the path before that node among those to its begin.
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
    """The working arrays beside those of encoding, which must not be in use elsewhere; `longest` is the most bytes of a token."""
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
