"""Kernels for the steps of Unigram training: expectation, maximization, best paths, and the loss of a piece.

The kernels use the lattices of `fst.compile.train.unigram.lattices`. Each sum is added in the same order as in `tokenizers`, and exp and
log are from libm, so losses that are equal in `tokenizers` are also equal here. The paths to a place are added in descending length of
their last piece.

Best paths are found by comparing sums. If the two greatest sums at a place of the best path differ by less than `MARGIN`, the choice may
depend on rounding. In this case, `fst.compile.train.unigram.ties` finds the path that `tokenizers` chooses.
"""

from __future__ import annotations

import math

import numpy as np

from fst.compile.train.unigram.ties import SPLITS, find_path, fits, list_nodes, rank_paths
from fst.core.jit import kernel, part

MARGIN = 1e-9  # relative to 1 + the sum; the relative rounding error is below 1e-12
FAR = 50.0  # `log_sum` leaves out a summand whose logarithm is smaller than the other by more than this number
LEAST = 0.5  # minimum expected count of a piece; `maximize` drops rarer pieces
DROPPED, KEPT, WEIGHED = 0, 1, 2


@part
def log_sum(left, right):
    """log(exp(left) + exp(right))."""
    low, high = (right, left) if left > right else (left, right)
    return high if high > low + FAR else high + math.log(math.exp(low - high) + 1.0)


@kernel
def take_log_shares(scores):
    """Replace each number by the logarithm of its share in the total. `scores`: float64[n], positive; changed."""
    total = 0.0
    for score in scores:
        total += score
    log_total = math.log(total)
    for index in range(len(scores)):
        scores[index] = math.log(scores[index]) - log_total


@kernel
def expect(lattices, scores, forward, backward, expected):
    """Compute the expected count of each piece: its occurrences in all segmentations of the words, weighted by the segmentations'
    probabilities.

    Args:
        lattices: `fst.compile.train.unigram.lattices.Lattices`.
        scores: float64[seeds], finite for all seeds of arcs.
        forward, backward: float64[longest word + 1], scratch for the log probability of all paths to a place, and from the place to the
            end.
        expected: output, float64[seeds], initially 0.
    """
    starts, counts, first, seeds, sizes = lattices
    for word in range(len(starts) - 1):
        begin, size, count = starts[word], starts[word + 1] - 1 - starts[word], counts[word]
        forward[0], backward[size] = 0.0, 0.0
        for place in range(1, size + 1):
            forward[place] = -np.inf
        for place in range(size):
            for arc in range(first[begin + place], first[begin + place + 1]):
                end, path = place + sizes[arc], scores[seeds[arc]] + forward[place]
                forward[end] = path if forward[end] == -np.inf else log_sum(forward[end], path)
        for place in range(size - 1, -1, -1):
            total = -np.inf
            for arc in range(first[begin + place], first[begin + place + 1]):
                path = scores[seeds[arc]] + backward[place + sizes[arc]]
                total = path if total == -np.inf else log_sum(total, path)
            backward[place] = total
        for place in range(size):
            for arc in range(first[begin + place], first[begin + place + 1]):
                seed = seeds[arc]
                path = forward[place] + scores[seed] + backward[place + sizes[arc]] - forward[size]
                expected[seed] += count * math.exp(path)


@part
def digamma(number):
    """The derivative of log Γ, by its asymptotic series for arguments of 7 or more."""
    below = 0.0
    while number < 7.0:
        below -= 1.0 / number
        number += 1.0
    number -= 1.0 / 2.0
    inverse = 1.0 / number
    square = inverse * inverse
    fourth = square * square
    series = math.log(number) + (1.0 / 24.0) * square - 7.0 / 960.0 * fourth
    return below + (series + (31.0 / 8064.0) * fourth * square - (127.0 / 30720.0) * fourth * fourth)


@kernel
def maximize(expected, pieces, kept, scores):
    """Drop pieces with expected counts below 0.5, and compute the scores of the other pieces from their expected counts.

    Args:
        expected: float64[seeds], from `expect`.
        pieces: int32[n], the seeds that are pieces, in order; the first piece is seed 0, the unknown piece.
        kept, scores: output, int32[n], float64[n]: the pieces that stay, in order, and their scores. The score of seed 0 is NaN.

    Returns:
        The number of pieces that stay.
    """
    kept[0], scores[0], stay, total = 0, np.nan, 1, 0.0
    for index in range(1, len(pieces)):
        times = expected[pieces[index]]
        if times >= LEAST:
            kept[stay], scores[stay] = pieces[index], times
            stay += 1
            total += times
    log_total = digamma(total)
    for index in range(1, stay):
        scores[index] = digamma(scores[index]) - log_total
    return stay


@part
def find_sums(lattices, scores, begin, size, longest, best, second, arcs):
    """Find the two greatest sums of scores on paths to each place of a string, and the best path.

    Args:
        lattices, scores: as in `expect`.
        begin, size: the first place of the string, and its number of letters.
        longest: the maximum number of letters of an arc; longer arcs are skipped.
        best, second, arcs: output, float64[size + 1], float64[size + 1], int64[size + 1]: for each place, the greatest and the second
            greatest sum on a path to the place, and the last arc of the first path with the greatest sum. Scores and sums may be float32.
    """
    for place in range(size + 1):
        best[place], second[place] = -np.inf, -np.inf
    best[0] = 0.0
    for place in range(size):
        for arc in range(lattices.first[begin + place], lattices.first[begin + place + 1]):
            end = place + lattices.sizes[arc]
            if end > size or lattices.sizes[arc] > longest:
                continue
            total = best[place] + scores[lattices.seeds[arc]]
            if total > best[end]:
                best[end], second[end], arcs[end] = total, best[end], arc
            elif total > second[end]:
                second[end] = total


@part
def is_near(left, right):
    """Whether two sums of scores are so close that rounding may change their order."""
    return abs(left - right) <= MARGIN * (1.0 + abs(left))


@part
def read_path(lattices, size, best, second, arcs, path):
    """Read the best path of a string, from the end of the string to its start.

    Args:
        lattices: as in `expect`.
        size: the number of letters of the string.
        best, second, arcs: from `find_sums`.
        path: output, int32[size]: the seeds on the path, from last to first.

    Returns:
        The number of seeds; -1 if the best path may depend on rounding.
    """
    count, place = 0, size
    while place > 0:
        if is_near(best[place], second[place]):
            return -1
        path[count] = lattices.seeds[arcs[place]]
        place -= lattices.sizes[arcs[place]]
        count += 1
    return count


@kernel
def count_best(lattices, scores, begin, sums, nodes, counts):
    """Count the pieces of the best segmentations of the words.

    Args:
        lattices, scores: as in `expect`.
        begin: the index of the first word to count.
        sums: `fst.compile.train.unigram.lattices.Sums`, for the longest word.
        nodes: `fst.compile.train.unigram.lattices.Nodes`, scratch.
        counts: float64[seeds], to which the counts of the words' pieces are added.

    Returns:
        The number of words. If `nodes` is full, the index of the first word that is not yet counted.
    """
    best, second, arcs, path = sums
    for word in range(begin, len(lattices.counts)):
        place, size = lattices.starts[word], lattices.starts[word + 1] - 1 - lattices.starts[word]
        find_sums(lattices, scores, place, size, size, best, second, arcs)
        count = read_path(lattices, size, best, second, arcs, path)
        if count < 0:
            if not fits(lattices, place, size, nodes):
                return word
            last = list_nodes(lattices, scores, place, size, nodes)
            count = find_path(nodes, last, path)
        for index in range(count):
            counts[path[index]] += lattices.counts[word]
    return len(lattices.counts)


@part
def replacement(lattices, scores, begin, size, seed, sums, nodes, paths):
    """Find the best path over the letters of a piece, without the piece itself.

    Args:
        lattices, scores, sums, nodes: as in `count_best`.
        paths: `fst.compile.train.unigram.lattices.Paths`, scratch.
        begin, size, seed: a place of the piece, its number of letters, and its seed.

    Returns:
        The number of pieces on the path; `sums.path` then contains the pieces, the last one first. `SPLITS` if the best path of the piece's
        letters is not the piece itself. -1 if `nodes` or `paths` is full.
    """
    find_sums(lattices, scores, begin, size, size - 1, sums.best, sums.second, sums.arcs)
    if not is_near(sums.best[size], scores[seed]):
        if sums.best[size] > scores[seed]:
            return SPLITS
        count = read_path(lattices, size, sums.best, sums.second, sums.arcs, sums.path)
        if count > 0:
            return count
    if not fits(lattices, begin, size, nodes):
        return -1
    list_nodes(lattices, scores, begin, size, nodes)
    return rank_paths(nodes, paths, sums.path)


@kernel
def weigh(lattices, scores, places, lengths, pieces, begin, counts, is_right, sums, nodes, paths, verdicts, losses):
    """Decide which pieces can be pruned, and estimate how much the log likelihood decreases without each of them.

    Args:
        lattices, scores, sums, nodes, paths: as in `replacement`.
        places, lengths: int64[seeds], int32[seeds], a place of each seed, and its number of letters.
        pieces: int32[n], the seeds that are pieces; the first piece is seed 0, the unknown piece.
        begin: the index of the first piece to decide on.
        counts: float64[seeds], from `count_best`.
        is_right: if True, the total count without a piece is computed from the number of pieces in its replacement; if False, from the
            number of all pieces, as in `tokenizers`.
        verdicts, losses: output, uint8[n], float64[n]: `DROPPED`, `KEPT` or `WEIGHED`; and the loss if `WEIGHED`.

    Returns:
        The number of pieces. If `nodes` or `paths` are full, the index of the first piece that is still undecided.
    """
    words, total = 0.0, 0.0
    for count in lattices.counts:
        words += count
    for index in range(len(pieces)):
        total += counts[pieces[index]]
    log_total = math.log(total)
    for index in range(begin, len(pieces)):
        seed = pieces[index]
        size, count, losses[index] = lengths[seed], counts[seed], 0.0
        verdicts[index] = KEPT if size == 1 else DROPPED
        if size < 2 or count == 0.0:
            continue
        parts = replacement(lattices, scores, places[seed], size, seed, sums, nodes, paths)
        if parts < 0:
            return index
        verdicts[index] = KEPT if parts == SPLITS else WEIGHED
        if parts == SPLITS:
            continue
        log_without = math.log(total + count * ((parts if is_right else len(pieces)) - 1))
        without = 0.0
        for place in range(parts - 1, -1, -1):
            without += math.log(counts[sums.path[place]] + count) - log_without
        losses[index] = count / words * (math.log(count) - log_total - without)
    return len(pieces)
