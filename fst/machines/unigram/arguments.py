"""The arguments of the kernels of Unigram: the arrays of a table, and those in which a kernel works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.unigram import aho_corasick
from fst.machines.unigram.viterbi import RESTARTS
from fst.pretokens import arguments as pretokens
from fst.pretokens.arguments import LONGEST, Arguments
from fst.text.reading_arguments import borrowable

RESTART, IS_WHOLE = range(2)  # indices into `UnigramArguments.rules`
GOES_ON = 1 << 31  # in the high halves of `Ends.nodes`
SEGMENT = 256  # fewest bytes between the begins of segments; twice or half as many are as fast


class Ends(NamedTuple):
    """The automaton of `fst.machines.unigram.aho_corasick`.

    Attributes:
        steps: see there.
        gains: float64[items of the lists], or float32 as sums: what each item adds to a sum; minus infinity for
        `fst.machines.unigram.aho_corasick.NONE`.
        nodes: uint64[items]: each item as a node, see `fst.machines.unigram.viterbi_kernels.node_size`, in the low half, its number of
        bytes in the high half,
            with the bit `GOES_ON` if it is the last of a block and the list continues.
        unknown: the score of a character that is no token; a single element of the type of sums.
        widest, stride: uint64[1], the length of the segments in which long pieces are read, and how far apart these begin: they overlap by
            as many bytes as a token has, less one. With tokens too long for that `stride` is 0, and long pieces are not read.
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
        shared: the arrays by which a text is cut into pieces, and pieces are looked up.
        trie: see `fst.machines.unigram.viterbi`.
        scores: float64[tokens], or float32 if sums carry on from piece to piece: the score of each token by its id.
        unknown: the score of a character that is no token; a single element of the same type.
        limit: the limit of sums; a single element of the same type.
        most: float64[1]: a byte of text changes a sum by no more.
        rules: uint8[2]. `RESTART`: where sums begin again, an index into `fst.machines.unigram.viterbi.RESTARTS`. `IS_WHOLE`: 1 if sums are
        those of whole
            texts.
        unk_id: int32[1].
        fallbacks: int32[256], by byte: the id of the token that represents it, or -1; empty without any.
        ends: the automaton.
        blank: int32[n], of a model of whole words with `fallbacks` the ids of the bytes of the symbol for a space; else empty.
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
    blank: Array


class UnigramWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state, symbols, begins, pieces, slots, pending, scratch, special_ids, active, longer, memo, masks: as in
            `fst.pretokens.arguments.Work`.
        tokens: as there; here the list at each place of the pending pieces, see `fst.runtime.machines.unigram.kernels.viterbi`.
        best: uint64[2 * room], the best node that ends at each of these places, as in `Ends.nodes`.
        best_sums: float64[2 * room] or float32, the sum of the best path to each.
        counts: uint32[room], with spans: the number of ids of each pending piece.
        sums: float64[2 ** n] or float32, see `fst.machines.unigram.viterbi_kernels.find_best`.
        total: of the same type, a single element: the sum before the next piece, if sums carry on.
    """

    state: Array
    symbols: Array
    begins: Array
    pieces: Array
    slots: Array
    pending: Array
    scratch: Array
    special_ids: Array
    active: Array
    tokens: Array
    longer: Array
    memo: Array
    masks: Array
    best: Array
    best_sums: Array
    counts: Array
    sums: Array
    total: Array


def arguments(table: Any, specials: Mapping[bytes, int]) -> UnigramArguments:
    """The arguments for a `fst.machines.unigram.table.UnigramTable`; `specials` are as in `fst.machines.bpe.arguments.arguments`."""
    scores, unknown = table.path_scores, table.unknown
    return UnigramArguments(
        shared=pretokens.arguments(table, specials),
        trie=borrowable(table.trie, np.uint64),
        scores=borrowable(scores, scores.dtype.type),
        unknown=np.array([unknown]),
        limit=np.array([table.limit], scores.dtype),
        most=np.array([table.most * 1.01]),
        rules=np.array([RESTARTS.index(table.restarts), table.is_whole], np.uint8),
        unk_id=np.array([table.metadata.model.unk_id], np.int32),
        fallbacks=table.fallbacks if table.metadata.model.byte_fallback else np.empty(0, np.int32),
        ends=table.ends,
        blank=table.blank,
    )


def ends(table: Any) -> Ends:
    """The automaton of a `fst.machines.unigram.table.UnigramTable`."""
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
    stride = max(SEGMENT, 4 * overlap) if 5 * overlap <= LONGEST else 0
    widest = stride + overlap if stride else LONGEST
    return Ends(
        steps=borrowable(table.steps, np.uint64),
        gains=gains,
        nodes=nodes.view(np.uint64).ravel(),
        unknown=np.array([table.unknown]),
        widest=np.array([widest], np.uint64),
        stride=np.array([stride], np.uint64),
    )


def work(longest: int, sums: str) -> UnigramWork:
    """Allocate the working arrays; `longest` is the most bytes of a token, and `sums` says how sums are added."""
    own = pretokens.work()._asdict()
    # ``2 * PIECES`` places are enough: one for each byte of a round's pending pieces, and one for each piece. At worst almost ``CHUNK``
    # pieces of a byte precede one of ``PIECES`` bytes: 2 * (CHUNK - 1) + PIECES + 1.
    shared = {name: own[name] for name in UnigramWork._fields if name in own}
    return UnigramWork(
        **shared,
        best=np.empty_like(own["tokens"]),
        best_sums=np.zeros(len(own["tokens"]), sums),
        counts=np.empty(len(own["pieces"]), np.uint32),
        sums=np.zeros(1 << longest.bit_length(), sums),
        total=np.zeros(1, sums),
    )
