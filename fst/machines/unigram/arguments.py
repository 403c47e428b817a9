"""The arguments of Unigram's kernels: the arrays of a table, and working arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.unigram import aho_corasick
from fst.machines.unigram.sampling import MOST_DEVIATIONS, MOST_PATHS
from fst.machines.unigram.viterbi import RESTARTS
from fst.pretokens import arguments as pretokens
from fst.pretokens.arguments import LONGEST, Arguments, Work
from fst.text.reading_arguments import borrowable

RESTART, HAS_TEXT_SCOPE = range(2)  # indices into `UnigramArguments.rules`
GOES_ON = 1 << 31  # a bit of the high halves of `Ends.nodes`
SEGMENT = 256  # minimum number of bytes between the starts of two segments; the speed is the same with 128 and 512


class Ends(NamedTuple):
    """The automaton of `fst.machines.unigram.aho_corasick`.

    Attributes:
        steps: see `fst.machines.unigram.aho_corasick`.
        gains: float64[items of the lists], or float32 if sums are float32: the score that each item adds to a sum; minus infinity for
            `fst.machines.unigram.aho_corasick.NONE`.
        nodes: uint64[items]. The low half is the item as a node, see `fst.machines.unigram.viterbi_kernels.node_size`. The high half is the
            item's number of bytes, with the bit `GOES_ON` if the item is the last of its block and the list continues.
        unknown: the score of a character that is not a token; one element, with the dtype of sums.
        widest, stride: uint64[1] each. Long pre-tokens are read in segments: `widest` is the length of a segment, and `stride` the distance
            between the starts of two segments. Segments overlap by the maximum length of a token, minus one byte. If tokens are too long
            for segments, `stride` is 0, and this automaton does not read long pre-tokens. If the table has no automaton, both are 0, and
            each pre-token is read by the trie.
    """

    steps: Array
    gains: Array
    nodes: Array
    unknown: Array
    widest: Array
    stride: Array


class UnigramArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.unigram.kernels.encode` reads.

    Attributes:
        shared: the arrays for splitting a text into pre-tokens, and for looking up pre-tokens.
        trie: see `fst.machines.unigram.viterbi`.
        scores: float64[tokens], or float32 if sums span whole texts: the score of each token by its id.
        unknown: the score of a character that is not a token; one element, with the dtype of sums.
        limit: the absolute value above which sums are reduced; one element, with the dtype of sums.
        most: float64[1], the maximum change of a sum per byte of text.
        rules: uint8[2]. `RESTART`: the positions where sums restart, as an index into `fst.machines.unigram.viterbi.RESTARTS`.
            `HAS_TEXT_SCOPE`: 1 if sums span whole texts.
        unk_id: int32[2], the id of the unknown token, or `fst.machines.unigram.table.NO_ID` if there is none; and the number above all ids,
            from which on tokens have no id.
        fallbacks: int32[256], the id of the fallback token of each byte, or -1; empty if the model has no byte fallback.
        ends: the automaton.
        space: int32[n], the fallback ids of the bytes of the symbol for a space; empty unless tokens are whole words with `fallbacks`.
    """

    shared: Arguments
    trie: Array
    scores: Array
    unknown: Array
    limit: Array
    most: Array
    rules: Array
    unk_id: Array
    fallbacks: Array
    ends: Ends
    space: Array


class UnigramWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        shared: the working arrays that find pre-tokens and look them up. Here, `shared.tokens` contains the number of the list at each
            position of the pending pre-tokens, see `fst.runtime.machines.unigram.kernels.viterbi`.
        best: uint64[2 * capacity], the best node that ends at each of these positions, as in `Ends.nodes`.
        best_sums: float64[2 * capacity] or float32, the sum of the best path to each of these positions.
        longer: uint64[LONGEST + 2], the number of segments with at least n bytes, for each n, see
            `fst.runtime.machines.unigram.kernels.segments`; zeros between rounds.
        counts: uint32[capacity], the number of ids of each pending pre-token; used if spans are requested.
        sums: float64[2 ** n] or float32, see `fst.machines.unigram.viterbi_kernels.find_best`.
        total: one element with the dtype of `sums`, the sum before the next pre-token; used if sums continue from one pre-token to the
            next.
    """

    shared: Work
    best: Array
    best_sums: Array
    longer: Array
    counts: Array
    sums: Array
    total: Array


def arguments(table: Any, specials: Mapping[bytes, int]) -> UnigramArguments:
    """The arguments for a `fst.machines.unigram.table.UnigramTable`; for `specials`, see `fst.pretokens.arguments.arguments`."""
    scores, unknown = table.path_scores, table.unknown
    return UnigramArguments(
        shared=pretokens.arguments(table, specials),
        trie=borrowable(table.trie, np.uint64),
        scores=borrowable(scores, scores.dtype.type),
        unknown=np.array([unknown]),
        limit=np.array([table.limit], scores.dtype),
        most=np.array([table.most * 1.01]),  # 1 % more, so that it is a bound in spite of rounding
        rules=np.array([RESTARTS.index(table.restarts), table.has_text_scope], np.uint8),
        unk_id=np.array([table.unknown_id, table.first_unnamed], np.int32),
        fallbacks=table.fallbacks if table.falls_back else np.empty(0, np.int32),
        ends=table.ends,
        space=table.space,
    )


def ends(table: Any) -> Ends:
    """The automaton of a `fst.machines.unigram.table.UnigramTable`; exports may lack it."""
    lists, scores = table.lists, table.path_scores
    others = np.flatnonzero(lists < 0)
    gains = scores.take(lists & ~aho_corasick.GOES_ON, mode="clip")
    gains[others] = np.where(lists[others] == aho_corasick.NONE, scores.dtype.type(-np.inf), table.unknown)
    nodes = np.empty((len(lists), 2), "<u4")
    nodes[:, 0] = lists & ~aho_corasick.GOES_ON
    nodes[others, 0] = lists[others]
    nodes[:, 1] = table.item_sizes
    nodes[np.flatnonzero(lists >= aho_corasick.GOES_ON), 1] |= GOES_ON
    overlap = table.metadata.automaton.longest - 1
    stride = max(SEGMENT, 4 * overlap) if len(lists) and 5 * overlap <= LONGEST else 0
    widest = stride + overlap if stride else LONGEST * bool(len(lists))
    return Ends(
        steps=borrowable(table.steps, np.uint64),
        gains=gains,
        nodes=nodes.view(np.uint64).ravel(),
        unknown=np.array([table.unknown]),
        widest=np.array([widest], np.uint64),
        stride=np.array([stride], np.uint64),
    )


def work(longest: int, dtype: str) -> UnigramWork:
    """Allocate the working arrays; `longest` is the maximum number of bytes of a token, and `dtype` is the dtype of sums."""
    shared = pretokens.work()
    # ``2 * PRETOKENS`` positions are enough: one for each byte of a round's pending pre-tokens, plus one for each pre-token. In the worst
    # case, CHUNK - 1 pre-tokens of one byte precede one pre-token of ``PRETOKENS`` bytes: 2 * (CHUNK - 1) + PRETOKENS + 1.
    return UnigramWork(
        shared=shared,
        best=np.empty(len(shared.tokens), np.uint64),
        best_sums=np.zeros(len(shared.tokens), dtype),
        longer=np.zeros(LONGEST + 2, np.uint64),
        counts=np.empty(len(shared.pretokens), np.uint32),
        sums=np.zeros(1 << longest.bit_length(), dtype),
        total=np.zeros(1, dtype),
    )


MOST_BITS = 900  # maximum binary exponent of a weight; float64 allows 1,023, which leaves a margin
PATHS = 1 << 21  # maximum total number of paths to the positions of a pre-token
STEPS = 1 + MOST_DEVIATIONS  # number of elements for each segmentation in `NBestWork.steps`


class SamplingArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.unigram.kernels.sampling` reads.

    Attributes:
        own: the arguments of the kernel that encodes without randomness.
        numbers: float64[tokens + 2], the numbers from `fst.machines.unigram.sampling.weights`; then 0 for the item
            `fst.machines.unigram.aho_corasick.NONE`, which ends no path.
        exponents: int64[tokens + 1], the exponents from `fst.machines.unigram.sampling.weights`; empty if all exponents are 0.
        most_bytes: uint64[1], see `most_narrow_bytes`.
        seed: uint64[1], the seed of the random numbers.
    """

    own: UnigramArguments
    numbers: Array
    exponents: Array
    most_bytes: Array
    seed: Array


class SamplingWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        own: the working arrays of the table's kernel. Here, `own.best_sums` contains float64, the weight of all paths to each position of
            the listed pre-tokens; `own.best` is never written.
        found, sizes: see `fst.runtime.machines.unigram.kernels.viterbi.nodes_from`.
        weights, exponents: float64[2 ** n] and int64[2 ** n], the weights of the latest positions, see
            `fst.runtime.machines.unigram.kernels.sampling.draw`.
    """

    own: UnigramWork
    found: Array
    sizes: Array
    weights: Array
    exponents: Array


def most_narrow_bytes(numbers: Array, exponents: Array) -> int:
    """The maximum number of bytes of a pre-token whose weights need no exponents, because float64 can represent all products and sums.

    Weights without exponents differ from weights with exponents only by powers of two, so all choices are the same.

    Args:
        numbers, exponents: float64[tokens + 1] and int64[tokens + 1], see `fst.machines.unigram.sampling.weights`.
    """
    if exponents.any():
        return 0
    return int(MOST_BITS / (1 + float(np.abs(np.log2(numbers)).max())))  # a pre-token of n bytes has fewer than 2 ** n paths


def sampling_work(own: UnigramWork, longest: int) -> SamplingWork:
    """The working arrays of sampling, which share arrays with `own`. `own` must not be in use. A token has at most `longest` bytes."""
    capacity = 1 << longest.bit_length()
    return SamplingWork(
        own=_in_float64(own),
        found=np.zeros(capacity, np.int32),
        sizes=np.zeros(capacity, np.uint32),
        weights=np.zeros(capacity, np.float64),
        exponents=np.zeros(capacity, np.int64),
    )


def _in_float64(own: UnigramWork) -> UnigramWork:
    """Working arrays whose sums are float64, so that tables with sums in float32 use the same kernels; the other arrays are shared."""
    return own._replace(best_sums=np.zeros(len(own.best_sums)), sums=np.zeros(len(own.sums)), total=np.zeros(len(own.total)))


class NBestArguments(NamedTuple):
    """The arrays that `fst.runtime.machines.unigram.kernels.nbest` reads.

    Attributes:
        own: the arguments of the kernel that encodes without randomness.
        most: uint64[1], the maximum number of best segmentations of a text.
        is_every: uint64[1]. 1: there is one text, and each of its best segmentations becomes a row. 0: one of the best segmentations is
            drawn.
        alpha: float64[1], see `fst.machines.unigram.sampling.Sampling`.
        seed: uint64[1], the seed of the random numbers.
    """

    own: UnigramArguments
    most: Array
    is_every: Array
    alpha: Array
    seed: Array


class NBestWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        own: the working arrays of the table's kernel.
        found, sizes: see `fst.runtime.machines.unigram.kernels.viterbi.nodes_from`.
        bounds: int64[2], the start and the end of the row.
        places: uint32[PATHS], the number of paths to each position of a pre-token.
        scores, nodes, ranks: float64[PATHS], int32[PATHS], uint16[PATHS], the paths to each position, the best first. A path has a score;
            its last node, see `fst.machines.unigram.viterbi_kernels.node_size`; and the rank of the rest of the path among the paths to the
            beginning of the last node.
        new_scores, new_nodes, new_ranks: arrays of length `MOST_PATHS`, scratch for the paths to one position.
        totals: float64[2 * MOST_PATHS], the scores of the best segmentations of a text; the second half is scratch.
        steps: uint64[2 * STEPS * MOST_PATHS], for each segmentation the number of its deviations, then each deviation as ``rank | index of
            the pre-token in the row << 16``; the second half is scratch.
        heads: uint32[MOST_PATHS], scratch.
    """

    own: UnigramWork
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
    """The working arrays of n-best segmentations, which share arrays with `own`. `own` must not be in use. A token has at most `longest`
    bytes.
    """
    return NBestWork(
        own=_in_float64(own),
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
