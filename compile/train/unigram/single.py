"""Kernels for the steps of SentencePiece's Unigram training: numbers are float32, and sums are made in its shares and order.

SentencePiece divides the words among threads: word n belongs to share ``n % shares``. Each share adds up its own numbers, and the sums of
the shares are added in their order. A kernel here counts one share at a time.

The kernels use the lattices of `fst.compile.train.unigram.lattices`, with one difference: the last letter of each word is not part of the
word, but represents the text after it. The unknown piece counts as the first piece, since SentencePiece gives both the number 0.
exp, log and log1p are from libm, like those of SentencePiece.
"""

from __future__ import annotations

import math

import numpy as np

from fst.compile.train.unigram.steps import DROPPED, KEPT, WEIGHED, digamma, find_sums
from fst.compile.train.unigram.ties import BEGIN, END, NONE, SPLITS, add_node
from fst.core.jit import kernel, part

UNKNOWN = 0  # the seed of the unknown piece
FAR = np.float32(50.0)
LEAST = np.float32(0.5)
ALONE, FULL = -1, -2  # results of `second_best`, like `SPLITS`
# SentencePiece drops paths when more than these wait to be extended, or exist; here, training ends with an error.
MOST_WAITING, MOST_PATHS = 10_000, 100_000


@part
def log_sum(left, right):
    """log(exp(left) + exp(right)), rounded to float32."""
    low, high = (right, left) if left > right else (left, right)
    if high > low + FAR:
        return high
    return np.float32(np.float64(high) + math.log1p(math.exp(np.float64(low - high))))


@kernel
def expect_share(lattices, scores, share, shares, first_piece, forward, backward, expected):
    """Compute the expected count of each piece in one share of the words.

    Args:
        lattices: `fst.compile.train.unigram.lattices.Lattices`; see the head of this file.
        scores: float32[seeds], finite for all seeds of arcs.
        share, shares: the number of the share, and the number of shares.
        first_piece: the seed of the first piece.
        forward, backward: float32[longest word + 1], scratch for the log probability of all paths to a place, and from it to the end.
        expected: output, float32[seeds], initially 0.
    """
    starts, counts, first, seeds, sizes = lattices
    for word in range(share, len(counts), shares):
        begin, size, count = starts[word], starts[word + 1] - 2 - starts[word], np.float64(np.float32(counts[word]))
        for place in range(size + 1):
            forward[place], backward[place] = -np.inf, -np.inf
        forward[0], backward[size] = 0.0, 0.0
        for place in range(size):
            for arc in range(first[begin + place], first[begin + place + 1]):
                end, path = place + sizes[arc], scores[seeds[arc]] + forward[place]
                forward[end] = path if forward[end] == -np.inf else log_sum(forward[end], path)
        for place in range(size - 1, -1, -1):
            for arc in range(first[begin + place], first[begin + place + 1]):
                path = scores[seeds[arc]] + backward[place + sizes[arc]]
                backward[place] = path if backward[place] == -np.inf else log_sum(backward[place], path)
        for place in range(size):
            for arc in range(first[begin + place], first[begin + place + 1]):
                path = forward[place] + scores[seeds[arc]] + backward[place + sizes[arc]] - forward[size]
                seed = first_piece if seeds[arc] == UNKNOWN else seeds[arc]
                expected[seed] = np.float32(np.float64(expected[seed]) + count * math.exp(np.float64(path)))


@kernel
def maximize(expected, pieces, kept, scores):
    """Drop pieces with expected counts below 0.5, and compute the scores of the other pieces from their expected counts.

    Args:
        expected: float32[seeds], the sums of `expect_share`.
        pieces: int32[n], the seeds that are pieces, in order.
        kept, scores: output, int32[n], float32[n]: the pieces that stay, in order, and their scores.

    Returns:
        The number of pieces that stay.
    """
    stay, total = 0, np.float32(0.0)
    for index in range(len(pieces)):
        times = expected[pieces[index]]
        if times >= LEAST:
            kept[stay], scores[stay] = pieces[index], times
            stay += 1
            total += times
    log_total = np.float64(np.float32(digamma(np.float64(total))))
    for index in range(stay):
        scores[index] = np.float32(digamma(np.float64(scores[index])) - log_total)
    return stay


@part
def first_arc(lattices, scores, begin, place, score, best):
    """Of the arcs that end at a place, the first whose sum of scores, plus `score`, is the greatest after rounding."""
    most = best[place] + score
    for start in range(place):
        for arc in range(lattices.first[begin + start], lattices.first[begin + start + 1]):
            if start + lattices.sizes[arc] == place and best[start] + scores[lattices.seeds[arc]] + score == most:
                return arc
    return np.int64(NONE)


@kernel
def count_share(lattices, scores, share, shares, first_piece, sums, counts):
    """Count the pieces of the best segmentations of one share of the words.

    Args:
        lattices, scores, share, shares, first_piece: as in `expect_share`.
        sums: `fst.compile.train.unigram.lattices.Sums` in float32, for the longest word.
        counts: float32[seeds], to which the counts are added.
    """
    for word in range(share, len(lattices.counts), shares):
        begin, place = lattices.starts[word], lattices.starts[word + 1] - 2 - lattices.starts[word]
        find_sums(lattices, scores, begin, place, place, sums.best, sums.second, sums.arcs)
        score, count = np.float32(0.0), np.float32(lattices.counts[word])
        while place > 0:
            arc = sums.arcs[place]
            if sums.second[place] + score == sums.best[place] + score:
                arc = first_arc(lattices, scores, begin, place, score, sums.best)
            seed = lattices.seeds[arc]
            score = scores[seed]
            place -= lattices.sizes[arc]
            counts[first_piece if seed == UNKNOWN else seed] += count


@part
def list_nodes(lattices, scores, begin, size, nodes):
    """List the nodes of a string, each with the greatest sum of scores on a path to the node. `nodes`:
    `fst.compile.train.unigram.lattices.Nodes` in float32, large enough for the string; filled. Returns the number of nodes.
    """
    for place in range(size + 1):
        nodes.head[place] = NONE
    add_node(nodes, BEGIN, 0, 0, 0, np.float32(0.0))
    nodes.total[BEGIN], nodes.begin[END], nodes.score[END], node = np.float32(0.0), size, np.float32(0.0), 2
    for place in range(size):
        most, before = np.float32(-np.inf), nodes.head[place]
        while before != NONE:
            most = max(most, nodes.total[before])
            before = nodes.later[before]
        for arc in range(lattices.first[begin + place], lattices.first[begin + place + 1]):
            end, seed = place + lattices.sizes[arc], lattices.seeds[arc]
            if end <= size:
                add_node(nodes, node, place, end, seed, scores[seed])
                nodes.total[node] = most + scores[seed]
                node += 1
    return node


@part
def sift_up(paths, at, entry):
    """Put an entry into the gap `at` of a binary heap, and move it up, as ``std::push_heap`` does."""
    while at > 0 and paths.hope[paths.heap[(at - 1) // 2]] < paths.hope[entry]:
        paths.heap[at] = paths.heap[(at - 1) // 2]
        at = (at - 1) // 2
    paths.heap[at] = entry


@part
def pop(paths, size):
    """Pop the greatest entry of a binary heap of `size` entries, as ``std::pop_heap`` does: the gap moves to the bottom, and the last
    entry moves up from there.
    """
    greatest, last, at, size = paths.heap[0], paths.heap[size - 1], 0, size - 1
    while 2 * at + 2 < size:
        child = 2 * at + 2
        if paths.hope[paths.heap[child]] < paths.hope[paths.heap[child - 1]]:
            child -= 1
        paths.heap[at] = paths.heap[child]
        at = child
    if 2 * at + 2 == size:
        paths.heap[at] = paths.heap[2 * at + 1]
        at = 2 * at + 1
    if size:
        sift_up(paths, at, last)
    return greatest


@part
def second_best(nodes, paths, path):
    """Find the second best path of a string, if the best path is a single piece.

    Args:
        nodes: from `list_nodes`.
        paths: `fst.compile.train.unigram.lattices.Paths` in float32, scratch.
        path: output, int32[size]: the seeds on the second best path, in order.

    Returns:
        The number of seeds; `SPLITS`: the best path has several pieces; `ALONE`: there is no second path; `FULL`: there
        are too many paths.
    """
    paths.node[0], paths.after[0], paths.total[0] = END, NONE, np.float32(0.0)
    most, node = np.float32(-np.inf), nodes.head[nodes.begin[END]]
    while node != NONE:
        most = max(most, nodes.total[node])
        node = nodes.later[node]
    paths.hope[0] = most
    sift_up(paths, 0, 0)
    size, entries, is_second = 1, 1, False
    while size > 0:
        entry = pop(paths, size)
        size -= 1
        if paths.node[entry] == BEGIN:
            count, at = 0, paths.after[entry]
            while paths.after[at] != NONE:
                path[count] = nodes.seed[paths.node[at]]
                count += 1
                at = paths.after[at]
            if is_second:
                return count
            if count > 1:
                return SPLITS
            is_second = True
            continue
        node = nodes.head[nodes.begin[paths.node[entry]]]
        while node != NONE:
            paths.node[entries], paths.after[entries] = node, entry
            paths.hope[entries] = nodes.total[node] + paths.total[entry]
            paths.total[entries] = nodes.score[node] + paths.total[entry]
            sift_up(paths, size, entries)
            entries, size, node = entries + 1, size + 1, nodes.later[node]
        if size >= MOST_WAITING or entries >= MOST_PATHS:
            return FULL
    return ALONE


@kernel
def weigh(lattices, scores, places, lengths, pieces, counts, sums, nodes, paths, verdicts, losses):
    """Decide which pieces can be pruned, and estimate how much the log likelihood decreases without each of them.

    Args:
        lattices, scores: as in `expect_share`.
        places, lengths: int64[seeds], int32[seeds], a place of each seed, and its number of letters.
        pieces: int32[n], the seeds that are pieces, in order.
        counts: float32[seeds], the sums of `count_share`.
        sums, nodes, paths: scratch, as in `count_share`, `list_nodes` and `second_best`.
        verdicts, losses: output, uint8[n], float32[n]: `DROPPED`, `KEPT` or `WEIGHED`; and the loss if `WEIGHED`.

    Returns:
        The number of pieces; if a piece has too many paths, its index.
    """
    added = 0.0
    for index in range(len(pieces)):
        added += np.float64(counts[pieces[index]])
    total = np.float32(added)
    log_total = np.float64(np.float32(math.log(np.float64(total))))
    for index in range(len(pieces)):
        seed = pieces[index]
        count, losses[index], verdicts[index] = counts[seed], 0.0, DROPPED
        if count == 0:
            continue
        parts = ALONE
        if lengths[seed] > 1:
            list_nodes(lattices, scores, places[seed], lengths[seed], nodes)
            parts = second_best(nodes, paths, sums.path)
        if parts == FULL:
            return index
        if parts == SPLITS:
            continue
        verdicts[index] = KEPT if parts == ALONE else WEIGHED
        if parts > 0:
            log_without = np.float64(np.float32(math.log(np.float64(total + count * np.float32(parts - 1)))))
            without = np.float32(0.0)
            for at in range(parts):
                other = pieces[0] if sums.path[at] == UNKNOWN else sums.path[at]
                without = np.float32(np.float64(without) + (math.log(np.float64(counts[other] + count)) - log_without))
            log_share = np.float32(math.log(np.float64(count)) - log_total)
            losses[index] = count / total * (log_share - without)
    return len(pieces)


@kernel
def find_unreachable(lattices, scores, places, lengths, pieces, sums, verdicts):
    """Find the pieces that are never on a best path, because other pieces spell the same letters with a greater sum of scores. `verdicts`:
    output, uint8[n]: `DROPPED` or `KEPT`. For the other arguments, see `weigh`.
    """
    for index in range(len(pieces)):
        seed = pieces[index]
        size = lengths[seed]
        find_sums(lattices, scores, places[seed], size, size - 1, sums.best, sums.second, sums.arcs)
        verdicts[index] = DROPPED if sums.best[size] > scores[seed] else KEPT
