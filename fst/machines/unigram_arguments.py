"""The arguments of the kernels of Unigram: the arrays of a table, and those in which a kernel works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fst.machines import bpe_arguments
from fst.machines.bpe_arguments import KEY_PARTS, Arguments
from fst.machines.reading_arguments import borrowable
from fst.rows import Array
from fst.unigram import RESTARTS

RESTART, IS_WHOLE = range(2)  # indices into `UnigramArguments.rules`


class UnigramArguments(NamedTuple):
    """The arrays that `fst.runtime.kernels.unigram` reads.

    Attributes:
        beside: the arrays by which a text is cut into pieces, and pieces are looked up.
        trie: see `fst.unigram`.
        scores: float64[tokens], or float32 if sums carry on from piece to piece: the score of each token by its id.
        unknown: the score of a character that is no token; a single element of the same type.
        limit: the limit of sums; a single element of the same type.
        near: float64[1]: as long as a sum is below, it stays within the limit to the end of a word.
        rules: uint8[2]. `RESTART`: where sums begin anew, an index into `fst.unigram.RESTARTS`. `IS_WHOLE`: 1 if sums are those of whole
            texts.
        unk_id: int32[1].
        fallbacks: int32[256], by byte: the id of the token that stands for it, or -1; empty without any.
    """

    beside: Arguments
    trie: Array
    scores: Array
    unknown: Array
    limit: Array
    near: Array
    rules: Array
    unk_id: Array
    fallbacks: Array


class UnigramWork(NamedTuple):
    """The working arrays of one thread.

    Attributes:
        state, symbols, begins, pieces, slots, pending, scratch, special_ids, memo, masks: as in `fst.machines.bpe_arguments.Work`.
        counts: uint32[room], with spans: the number of ids of each pending piece.
        sums: float64[2 ** n] or float32, see `fst.unigram_paths.find_best`.
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
    memo: Array
    masks: Array
    counts: Array
    sums: Array
    total: Array


def arguments(table: Any, specials: Mapping[bytes, int]) -> UnigramArguments:
    """The arguments for a `fst.machines.unigram.UnigramTables`; `specials` are as in `fst.machines.bpe_arguments.arguments`."""
    scores, unknown = table.path_scores, table.unknown
    return UnigramArguments(
        beside=bpe_arguments.arguments(table, specials),
        trie=borrowable(table.trie, np.uint64),
        scores=borrowable(scores, scores.dtype.type),
        unknown=np.array([unknown]),
        limit=np.array([table.limit], scores.dtype),
        near=np.array([table.limit - 8 * KEY_PARTS * table.most * 1.01]),
        rules=np.array([RESTARTS.index(table.restarts), table.is_whole], np.uint8),
        unk_id=np.array([table.metadata.model.unk_id], np.int32),
        fallbacks=table.fallbacks if table.metadata.model.byte_fallback else np.empty(0, np.int32),
    )


def work(longest: int, sums: str) -> UnigramWork:
    """Allocate the working arrays; `longest` is the most bytes of a token, and `sums` says how sums are added."""
    own = bpe_arguments.work()._asdict()
    shared = {name: own[name] for name in UnigramWork._fields if name in own}
    return UnigramWork(
        **shared, counts=np.empty(len(own["pieces"]), np.uint32), sums=np.zeros(1 << longest.bit_length(), sums), total=np.zeros(1, sums)
    )
