"""The kernel that finds the n best Unigram segmentations of a text, or draws one of these segmentations at random.
`fst.machines.unigram.sampling` specifies the result.

Each row is read twice. First, `scan` lists the best paths through each pre-token, and extends the best segmentations of the row by these
paths. For each segmentation, `scan` stores only the score and the *steps*. A step is a pre-token whose path is not the best path, with the
rank of this path. Then, `put_row` reads the row again, and writes a segmentation from its steps.

Kernels check nothing, and have the requirements of `fst.runtime.machines.unigram.kernels.encode`.
"""

from __future__ import annotations

from math import floor, ldexp

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.unigram import arguments, sampling
from fst.machines.unigram.viterbi_kernels import node_size
from fst.runtime.kernels.constants import U0, U1, U16
from fst.runtime.kernels.random import GAMMA, TO_SHARE, UNIT, key_of, mixed
from fst.runtime.machines.unigram.kernels.encode import locate, put_nodes
from fst.runtime.machines.unigram.kernels.viterbi import nodes_from
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, PLACE, find_pretokens, mark_dropped
from fst.runtime.pretokens.kernels.look_up import pack_pending
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.tables.kernel_call import IDS_ALONE

LOG_2, LOG_2_HIGH, LOG_2_LOW, TERMS = sampling.LOG_2, sampling.LOG_2_HIGH, sampling.LOG_2_LOW, sampling.TERMS
LEAST_ARGUMENT = sampling.LEAST_ARGUMENT
PATHS, STEPS, MOST_PATHS = (np.uint64(size) for size in (arguments.PATHS, arguments.STEPS, sampling.MOST_PATHS))
RANK = np.uint64((1 << 16) - 1)


@part
def exponential(argument):
    """Compute exp(argument), see `fst.machines.unigram.sampling.exponentials`; return 0 for arguments below `LEAST_ARGUMENT`."""
    if argument < LEAST_ARGUMENT:
        return 0.0
    power = floor(argument / LOG_2 + 0.5)
    rest = (argument - power * LOG_2_HIGH) - power * LOG_2_LOW
    number = 1.0
    for left in range(TERMS):
        number = number * rest / (TERMS - left) + 1.0
    return ldexp(number, int(power))


@part
def extend(work, most, start, end, node, score):
    """Extend the paths to position `start` by a node, and merge the extended paths into the paths to position `end`. Among equal scores,
    older paths come first.
    """
    scores, nodes, ranks = work.scores, work.nodes, work.ranks
    own, other, count, more = end * most, start * most, np.uint64(work.places[end]), np.uint64(work.places[start])
    if count == most and scores[other] + score <= scores[own + most - U1]:
        return
    kept = taken = U0
    total = min(count + more, most)
    for index in range(total):
        if kept < count and (taken == more or scores[own + kept] >= scores[other + taken] + score):
            work.new_scores[index], work.new_nodes[index] = scores[own + kept], nodes[own + kept]
            work.new_ranks[index] = ranks[own + kept]
            kept += U1
        else:
            work.new_scores[index], work.new_nodes[index], work.new_ranks[index] = scores[other + taken] + score, node, taken
            taken += U1
    for index in range(total):
        place = own + np.uint64(index)
        scores[place], nodes[place], ranks[place] = work.new_scores[index], work.new_nodes[index], work.new_ranks[index]
    work.places[end] = total


@part
def list_paths(text, start, end, table, most, work):
    """List the best paths to each position of a pre-token, in ``work.scores``, ``work.nodes`` and ``work.ranks``, each from index
    ``position * most`` on.

    Args:
        text, start, end: the pre-token, for which the arrays of `work` are large enough.
        table: `fst.machines.unigram.arguments.UnigramArguments`.
        most: the maximum number of paths to a position.
        work: `fst.machines.unigram.arguments.NBestWork`.
    """
    size = end - start
    for index in range(size + U1):
        work.places[index] = 0
    work.places[0], work.scores[0] = 1, 0.0
    at = start
    while at < end:
        count, after = nodes_from(text, at, end, table.trie, work.found, work.sizes)
        for index in range(count):
            node, place = work.found[index], at - start
            score = table.scores[np.uint64(node)] if node >= 0 else table.unknown[0]
            extend(work, most, place, place + np.uint64(work.sizes[index]), node, score)
        at = after


@part
def line_up(size, rank, most, lengths, work, nodes, at):
    """Write the nodes of a path through a pre-token to the end of ``nodes[at : at + size]``; return the index of the first node."""
    left = out = size
    while left:
        place = left * most + rank
        out -= U1
        nodes[at + out] = work.nodes[place]
        rank = np.uint64(work.ranks[place])
        left -= node_size(work.nodes[place], lengths)
    return at + out


@inlined
def copy_text(work, source, target):
    """Copy the score and the steps of a segmentation."""
    work.totals[target] = work.totals[source]
    for step in range(work.steps[source * STEPS] + U1):
        work.steps[target * STEPS + step] = work.steps[source * STEPS + step]


@part
def join(work, most, count, size, index):
    """Extend the best segmentations of a row by the best paths through its next pre-token; return the number of segmentations.

    Args:
        work: the working arrays. `totals` and `steps` contain the best segmentations up to this pre-token, and are large enough for the
            extended segmentations.
        most, count: the maximum number of segmentations, and the present number.
        size: the number of bytes of the pre-token.
        index: the number of pre-tokens of the row before this pre-token.
    """
    scores, totals, steps, heads, own, paths = work.scores, work.totals, work.steps, work.heads, size * most, np.uint64(work.places[size])
    if paths == U1:
        for text in range(count):
            totals[text] += scores[own]
        return count
    total, open_paths, heads[0] = min(count * paths, most), U1, 0  # `heads`: by path, how many segmentations it has extended
    for place in range(total):
        best, value = open_paths, 0.0
        for path in range(open_paths):
            head = np.uint64(heads[path])
            if head < count and (best == open_paths or totals[head] + scores[own + path] > value):
                best, value = np.uint64(path), totals[head] + scores[own + path]
        head, target = np.uint64(heads[best]), MOST_PATHS + np.uint64(place)
        copy_text(work, head, target)
        totals[target] = value
        if best:
            step = min(steps[target * STEPS] + U1, STEPS - U1)
            steps[target * STEPS], steps[target * STEPS + step] = step, best | index << U16
        if head == U0 and open_paths < paths:
            heads[open_paths] = 0
            open_paths += U1
        heads[best] += np.uint32(1)
    for place in range(total):
        copy_text(work, MOST_PATHS + np.uint64(place), np.uint64(place))
    return total


@inlined
def next_pieces(text, row, at, shared, work):
    """Find the next pre-tokens of the row between ``work.bounds``. Return 1 if the row ends after these pre-tokens, otherwise 0; the end of
    the last pre-token; and the number of pre-tokens.
    """
    row, at, count, _ = find_pretokens(text, work.bounds, row, at, U0, shared, work.own.shared)
    if len(shared.drops):
        mark_dropped(text, work.own.shared.pretokens, count, shared)
    return row, at, count


@part
def scan(text, table, work):
    """Find the best segmentations of a row; return the number of segmentations, or 0 if a pre-token has too many paths for the arrays of
    `work`.
    """
    most, pretokens, own = table.most[0], work.own.shared.pretokens, table.own
    row, at, index, texts = U0, np.uint64(work.bounds[0]), U0, U1
    work.totals[0], work.steps[0] = 0.0, 0
    while row == U0:
        row, at, count = next_pieces(text, row, at, own.shared, work)
        for pretoken in range(count):
            first, last = np.uint64(pretokens[pretoken]), np.uint64(pretokens[np.uint64(pretoken) + U1]) & PLACE
            if first >> KIND == U0:
                if (last - first + U1) * most > PATHS:
                    return U0
                list_paths(text, first, last, own, most, work)
                texts = join(work, most, texts, last - first, index)
                index += U1
    return texts


@part
def draw(texts, table, work, row):
    """Draw one of the best segmentations of a row at random, see `fst.machines.unigram.sampling.drawn`."""
    totals, alpha, total = work.totals, table.alpha[0], 0.0
    likeliest = totals[0] if alpha >= 0 else totals[texts - U1]
    for text in range(texts):
        total += exponential(alpha * (totals[text] - likeliest))
    number = mixed(key_of(table.seed[0], work.own.shared.state.first_row + row) + GAMMA)
    limit = np.float64(number >> TO_SHARE) * UNIT * total
    total, found = 0.0, U0
    for text in range(texts):
        total += exponential(alpha * (totals[text] - likeliest))
        if limit >= total:
            found += U1
    return min(found, texts - U1)


@part
def put_row(text, chosen, ended, table, output, work):
    """Write the segmentation `chosen` of a row, with special ids, to the output; return the next row."""
    state, pretokens, own, ids, steps = work.own.shared.state, work.own.shared.pretokens, table.own, output.ids, work.steps
    step, last_step = chosen * STEPS + U1, chosen * STEPS + steps[chosen * STEPS]
    row, start, index = U0, np.uint64(work.bounds[0]), U0
    while row == U0:
        row, start, count = next_pieces(text, row, start, own.shared, work)
        at, special, place, first_row = state.count, U0, state.count, ended
        for pretoken in range(count):
            kind = np.uint64(pretokens[pretoken]) >> KIND << KIND
            first, last = np.uint64(pretokens[pretoken]) & PLACE, np.uint64(pretokens[np.uint64(pretoken) + U1]) & PLACE
            work.own.shared.pending[pretoken] = pack_pending(U0, np.uint64(pretoken), U0)
            if kind == U0:
                rank, before = U0, at
                if step <= last_step and steps[step] >> U16 == index:
                    rank = steps[step] & RANK
                    step += U1
                list_paths(text, first, last, own, rank + U1, work)
                nodes = line_up(last - first, rank, rank + U1, own.shared.lengths, work, ids, at)
                at = put_nodes(text, first, last, nodes, own, output, at)
                work.own.counts[pretoken] = at - before
                index += U1
            elif kind != DROPPED:
                at, ended, special = put_other(kind, work.own.shared.special_ids, special, ended, output, at)
        state.count = at
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, count, own, output, place, first_row, work.own)
    return ended


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table` and `work`,
    which are `fst.machines.unigram.arguments.NBestArguments` and `NBestWork`; and ``work.state`` contains the number of the first row. If
    ``table.is_every`` is 1, the kernel writes all best segmentations, each as a row; ``work.state.row`` is then their number, and
    ``work.totals`` contains their scores.

    Returns:
        The end of the texts; one past the end of `text` if the last text continues in the next call, or if a text is too long for the
        arrays.
    """
    state = work.own.shared.state
    if more:
        return np.uint64(len(text)) + U1
    begin_call(starts, more, output, state)
    ended = U0
    for row in range(np.uint64(len(starts)) - U1):
        work.bounds[0], work.bounds[1] = starts[np.uint64(row)], starts[np.uint64(row) + U1]
        texts = scan(text, table, work)
        if texts == U0:
            return np.uint64(len(text)) + U1
        if table.is_every[0]:
            state.row = texts
            for chosen in range(texts):
                ended = put_row(text, np.uint64(chosen), ended, table, output, work)
        else:
            ended = put_row(text, draw(texts, table, work, np.uint64(row)), ended, table, output, work)
    return np.uint64(starts[np.uint64(len(starts)) - U1])
