"""Sampling over Unigram tables: slow walks that specify the results of the kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.automata.rows import Array
from fst.machines.unigram import nbest
from fst.machines.unigram.sampling import Sampling, sampled, weights
from fst.machines.unigram.table import UnigramTable
from fst.machines.unigram.viterbi import BONUS, USER_DEFINED, Node


def scores_of(table: UnigramTable) -> Array:
    """float64[tokens], what each token of the model adds to a segmentation. That is what it adds to a path, but for one case.

    A user's own token has a bonus for each character after the first, where encoding has one for each byte: ``unigram_model.cc`` of
    ``sentencepiece`` does this.
    """
    scores: Array = table.path_scores.astype(np.float64)
    if table.is_whole:
        ends = table.token_ends[: len(scores)]
        begun = np.append(0, np.cumsum(table.token_bytes & 0xC0 != 0x80))[ends]  # characters up to the end of each token
        own = table.types == USER_DEFINED
        scores[own] = (np.float32(BONUS) * (np.diff(begun, prepend=0)[own] - 1)).astype(np.float32)
    return scores


def run_sampling(table: UnigramTable, text: str, by: Sampling, row: int = 0) -> list[int]:
    """The token ids of a text, without a template, drawn from all segmentations or from the n best; `row` is its number in the call."""
    if by.nbest_size > 0:
        found = run_nbest(table, text, by.nbest_size)
        return found[nbest.drawn([score for score, _ in found], by, row)][1]
    weighed, place = weights(scores_of(table), float(table.unknown), by.alpha), 0
    paths: list[Sequence[Node]] = []
    for part, special in table.parts(text):
        if special is None:
            paths.append(sampled(table.trie, weighed, part.encode(), by, row, place))
            place += len(part.encode())
    return _along(table, text, paths)


def run_nbest(table: UnigramTable, text: str, most: int) -> list[tuple[float, list[int]]]:
    """The best segmentations of a text, each with its score and its token ids, without a template."""
    pieces = [part.encode() for part, special in table.parts(text) if special is None]
    scores = scores_of(table)
    ranked = [nbest.paths(table.trie, scores, float(table.unknown), piece, most) for piece in pieces]
    texts: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for found in ranked:
        texts = nbest.joined(texts, [score for score, _ in found], most)
    return [(total, _along(table, text, [found[rank][1] for found, rank in zip(ranked, ranks, strict=True)])) for total, ranks in texts]


def _along(table: UnigramTable, text: str, paths: Sequence[Sequence[Node]]) -> list[int]:
    """The token ids of a text with a path through each of its pieces."""
    ids, left = list[int](), iter(paths)
    for part, special in table.parts(text):
        ids += [number for number, _ in table.spans(part.encode(), next(left))] if special is None else [special]
    return ids
