"""The kernel of Unigram, which encodes text to token ids. `fst.machines.unigram.table.UnigramTable.run` specifies the ids of a pre-token.

The loops over a round are those of `fst.runtime.machines.bpe.kernels.encode`, but a search for the best path replaces the automaton. The
table of words finds pre-tokens that are one token. For other pre-tokens, `find_nodes` or `fst.machines.unigram.viterbi_kernels` finds the
best node that ends at each byte, and the path is read from its end. A search takes linear time, and stores sums only for as many positions
as the longest token has bytes. The sizes of nodes are stored in the output array, where ids overwrite them. The sizes take one byte for
each byte of text, or two bytes if a token may have more than 255 bytes.

If sums continue from one pre-token to the next (`fst.machines.unigram.viterbi`), `emit` computes the sum before each pre-token.

If spans are requested, `emit` writes the span of each id in bytes, and `locate` converts the spans to characters.

Kernels check nothing, and have the requirements of `fst.runtime.machines.bpe.kernels.encode`, except that the arrays in ``work`` come from
`fst.machines.unigram.arguments.work`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.unigram.arguments import HAS_TEXT_SCOPE, RESTART
from fst.machines.unigram.viterbi import BEFORE_SPACE, PIECE, RESTARTS, STRETCH
from fst.machines.unigram.viterbi_kernels import find_best, node_of, node_size, run_of, shift_of, size_at, token_of
from fst.runtime.kernels.code_points import characters_before, count_from, count_to
from fst.runtime.kernels.constants import U0, U1, U2, U3
from fst.runtime.kernels.output import copy, copy_few
from fst.runtime.machines.unigram.kernels.segments import read_together
from fst.runtime.machines.unigram.kernels.viterbi import find_nodes, find_path, is_certain, sum_after
from fst.runtime.machines.unigram.kernels.viterbi import line_up as line_up_listed
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, PLACE, ROW_END, SPECIAL, find_pretokens
from fst.runtime.pretokens.kernels.look_up import WORD_BYTES, bounds_of, find_words, is_tuned, pending_of, tuned_of
from fst.runtime.pretokens.kernels.rows import begin_call, put_other
from fst.runtime.pretokens.kernels.spans import put_span
from fst.runtime.text.kernels.composition import code_at
from fst.runtime.text.kernels.whitespace import SPACE_BYTE
from fst.tables.kernel_call import IDS_ALONE

ROUNDING = 2.0**-50  # 8 times the largest relative error of one rounding of float64, for the margin of `is_certain`
AT_PIECE, AT_SPACE, AT_STRETCH = (np.uint8(RESTARTS.index(restart)) for restart in (PIECE, BEFORE_SPACE, STRETCH))


@inlined
def search(text, start, end, table, work, ids, at):
    """Find the best path through a pre-token, and store its sum in ``work.total``. The sizes of the path's nodes begin at ``ids[at]``, see
    `fst.machines.unigram.viterbi_kernels.find_best`.
    """
    sums, total, limit, sizes = work.sums, work.total[0], table.limit[0], ids.view(np.uint8)
    work.total[0] = find_best(text, start, end, table.trie, table.scores, table.unknown[0], total, limit, sums, sizes, at << U2)


@part
def capacity_of(start, end, table, sums, ids, at):
    """Compute how many elements `ids` must have from `at` on, so that `line_up` reads each size and node before it overwrites them."""
    sizes, shift = ids.view(np.uint8), shift_of(sums)
    most, nodes = end - start if len(table.fallbacks) else U0, U0  # an unknown node may become one id per byte
    while end > start:
        most = max(most, nodes + ((end - start << shift) + U3 >> U2))
        end -= size_at(sizes, at << U2, end - start - U1, shift)
        nodes += U1
    return max(most, nodes)


@part
def line_up(text, start, end, table, sums, ids, at):
    """Write the nodes of the best path through a pre-token next to each other. The sizes and, later, the ids begin at ``ids[at]``.

    Returns:
        The index of the first node.
    """
    sizes, shift = ids.view(np.uint8), shift_of(sums)
    out = at + capacity_of(start, end, table, sums, ids, at)
    while end > start:
        size = size_at(sizes, at << U2, end - start - U1, shift)
        out -= U1
        ids[out] = node_of(text, end - size, end, table.trie)
        end -= size
    return out


@inlined
def restarts_at(text, place, rules):
    """Whether the sum restarts from 0 at the pre-token that begins at a position, see `fst.machines.unigram.viterbi.RESTARTS`."""
    return rules[RESTART] == AT_PIECE or (rules[RESTART] == AT_SPACE and text[place] == SPACE_BYTE)


@inlined
def is_near(total, length, most, limit):
    """Whether sums that continue from `total` are certain to stay within the limit over the next `length` bytes."""
    return abs(total) + most[0] * length < limit[0]


@part
def add_near_words(text, pretokens, scratch, index, start, end, rules, scores, most, limit, total):
    """Add the scores of words to the sum ``total[0]``, but stop before a word that may move the sum beyond the limit. Arguments are as in
    `add_words`; `rules`, `scores`, `most` and `limit` are fields of `table` there, and `total` is a field of `work`.

    Returns:
        The index in `scratch` of the first word whose score is not added; `end` if all are added.
    """
    word = end
    while word > start and not restarts_at(text, np.uint64(pretokens[index + (word - start)]) & PLACE, rules):
        word -= U1
    if restarts_at(text, np.uint64(pretokens[index + (word - start)]) & PLACE, rules):
        total[0] = 0
    so_far = total[0]
    while word < end and is_near(so_far, WORD_BYTES, most, limit):
        so_far += scores[np.uint64(scratch[word])]
        word += U1
    total[0] = so_far
    return word


@part
def add_far_words(text, pretokens, index, start, end, table, work, ids, at):
    """Add the scores of words to the sum ``work.total``. If a word may move the sum beyond the limit, the word's path is searched, because
    the sum may be reset at any character of the word.
    """
    total = work.total
    for word in range(start, end):
        if is_near(total[0], WORD_BYTES, table.most, table.limit):
            total[0] += table.scores[np.uint64(work.shared.scratch[np.uint64(word)])]
        else:
            place, after, _ = bounds_of(pretokens, index + (np.uint64(word) - start))
            search(text, place, after, table, work, ids, at)


@inlined
def add_words(text, pretokens, index, start, end, table, work, ids, at):
    """Compute the sum after words, ``work.total``; 0 if the sum restarts after the words. `ids` from `at` on is used for temporary values.

    Args:
        text, table, work: as in `encode`.
        pretokens, index: the pre-tokens, and the index of the first word.
        start, end: the index in `work.scratch` of the first word's id, and one past the last word's id.
    """
    if restarts_at(text, np.uint64(pretokens[index + (end - start)]) & PLACE, table.rules):
        work.total[0] = 0
        return
    rules, scores, most, limit, scratch = table.rules, table.scores, table.most, table.limit, work.shared.scratch
    word = add_near_words(text, pretokens, scratch, index, start, end, rules, scores, most, limit, work.total)
    if word < end:
        add_far_words(text, pretokens, index + (word - start), word, end, table, work, ids, at)


@inlined
def put_id(number, start, end, output, at):
    """Write an id and, if spans are requested, its span in bytes; return the next output index."""
    output.ids[at] = number
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[at << U1], output.offsets[at << U1 | U1] = start, end
    return at + U1


@part
def put_unknown(text, start, end, table, output, at):
    """Write the ids of a run of unknown nodes. A byte token gets the span of the run, or, with the score scope "text", the span of its
    character.

    Returns:
        The next index.
    """
    fallbacks = table.fallbacks
    value = run_of(text, start, end, table.trie) if table.rules[HAS_TEXT_SCOPE] else token_of(text, start, end, table.trie)
    if value:
        return put_id(np.int32(value - U1), start, end, output, at)
    is_known = len(fallbacks) > 0
    for place in range(start, end):
        is_known = is_known and fallbacks[text[np.uint64(place)]] >= 0
    if not is_known:
        return put_id(table.unk_id[0], start, end, output, at)
    first, last = start, start if table.rules[HAS_TEXT_SCOPE] else end
    for place in range(start, end):
        if np.uint64(place) == last:
            first = last
            _, last = code_at(text, first)
        at = put_id(fallbacks[text[np.uint64(place)]], first, last, output, at)
    return at


@part
def put_nodes(text, start, end, nodes, table, output, at):
    """Write the ids of a pre-token from its nodes, which begin at ``output.ids[nodes]``; return the next output index."""
    ids, lengths, unk_id, named = output.ids, table.shared.lengths, table.unk_id[0], table.unk_id[1]
    place = run = start  # `run`: the start of the run of unknown nodes
    while place < end:
        node = ids[nodes]
        nodes += U1
        after = place + node_size(node, lengths)
        if node >= 0 and node != unk_id:
            if run < place:
                at = put_unknown(text, run, place, table, output, at)
            at = put_id(node if node < named else unk_id, place, after, output, at)
            run = after
        place = after
    return put_unknown(text, run, place, table, output, at) if run < place else at


@part
def encode_piece(text, start, end, table, work, output, at):
    """Find the best path through a pre-token, and write its ids; return the next output index."""
    search(text, start, end, table, work, output.ids, at)
    return put_nodes(text, start, end, line_up(text, start, end, table, work.sums, output.ids, at), table, output, at)


@inlined
def put_path(text, start, end, table, work, ids, at, base):
    """Write the nodes of the best path through a pre-token that `find_nodes` has read, and compute the sum after the pre-token,
    ``work.total``. The arguments are as in `encode_listed`, and the result as in `line_up_listed`.

    The path of `find_nodes`, whose sums begin with 0, is used if the sum before the pre-token is 0, or if the path is certain after any
    sum. Otherwise `find_path` adds the scores to the true sum.
    """
    ends, lists, best, sums, unk_id = table.ends, work.shared.tokens, work.best, work.best_sums, table.unk_id
    size, before = end - start, work.total[0]
    if table.rules[RESTART] != AT_STRETCH and not table.rules[HAS_TEXT_SCOPE] and size <= ends.widest[0]:
        nodes, is_known = line_up_listed(best, base, size, unk_id, ids, at)
        if before == 0:
            work.total[0] = sums[base + size]
            return nodes, is_known
        margin = (abs(before) + table.most[0] * size) * (size + U1) * ROUNDING
        if is_certain(best, base, size, margin, lists, ends.gains, ends.nodes, sums):
            work.total[0] = sum_after(before, ids, nodes, at + size + U1, table.scores, ends.unknown)
            return nodes, is_known
    find_path(text, start, end, before, ends, work, base)
    work.total[0] = sums[base + size]
    return line_up_listed(best, base, size, unk_id, ids, at)


@inlined
def encode_listed(text, start, end, table, work, output, at, base):
    """Write the ids of a pre-token that `find_nodes` has read; the pre-token's slice of the arrays in `work` begins at `base`. Return the
    next output index.
    """
    if not is_near(work.total[0], end - start, table.most, table.limit):
        return encode_piece(text, start, end, table, work, output, at)
    nodes, is_known = put_path(text, start, end, table, work, output.ids, at, base)
    if not is_known or (len(output) > IDS_ALONE and len(output.offsets)):
        return put_nodes(text, start, end, nodes, table, output, at)
    return copy_few(output.ids, nodes, at + (end - start) + U1, output.ids, at)  # to earlier places, so each id is read in time


@inlined
def put_tuned(text, first, last, item, table, work, output, at):
    """Write the ids of a tuned word, and compute the sum after the word, unless the sum restarts there; return the next output index.
    `item`: the pending pre-token, whose bounds are `first` and `last`. The path of a tuned word is the best path after any sum.
    """
    tuned, scores, lengths = table.shared.tuned, table.scores, table.shared.lengths
    begin, end = tuned_of(item)
    after = copy_few(tuned, begin, end, output.ids, at)
    if not restarts_at(text, last, table.rules):
        total = work.total[0]
        for place in range(begin, end):
            total += scores[np.uint64(tuned[np.uint64(place)])]
        work.total[0] = total
    if len(output) > IDS_ALONE and len(output.offsets):
        for place in range(at, after):
            size = np.uint64(lengths[np.uint64(output.ids[np.uint64(place)])])
            put_id(output.ids[np.uint64(place)], first, first + size, output, np.uint64(place))
            first += size
    return after


@part
def emit(text, pretokens, scratch, written, pending, waiting, row, table, output, work):
    """Write ids to the output, with the special ids and the ends of texts; return the row after the last complete row. The arguments are as
    in `fst.runtime.machines.bpe.kernels.encode.emit`.
    """
    special_ids, ids, ends, at = work.shared.special_ids, output.ids, table.ends, work.shared.state.count
    start = base = special = following = U0  # `following`: the index after the last pending pre-token
    for item in range(waiting):
        gap, index = pending_of(pending[item])
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        first, last, length = bounds_of(pretokens, index)
        at = copy(scratch, start, gap, ids, at)
        if kind == U0:
            add_words(text, pretokens, following, start, gap, table, work, ids, at)
        start, following = gap + U1, index + U1
        if kind == U0:
            before = at
            if is_tuned(pending[item]) and is_near(work.total[0], length, table.most, table.limit):
                at = put_tuned(text, first, last, pending[item], table, work, output, at)
            elif not is_tuned(pending[item]) and read_together(length, ends.widest[0], ends.stride[0]):
                at = encode_listed(text, first, last, table, work, output, at, base)
                base += length + U1
            else:
                at = encode_piece(text, first, last, table, work, output, at)
            work.counts[item] = at - before
        else:
            at, row, special = put_other(kind, special_ids, special, row, output, at)
            work.total[0] = 0
    work.shared.state.count = at = copy(scratch, start, written, ids, at)
    if start < written and table.rules[RESTART] != AT_PIECE:
        add_words(text, pretokens, following, start, written, table, work, ids, at)
    return row


@part
def locate(text, pretokens, count, waiting, table, output, place, row, work):
    """Convert the spans of a round's ids to characters. The arguments are as in `fst.runtime.pretokens.kernels.spans.locate`."""
    state, pending, offsets = work.shared.state, work.shared.pending, output.offsets
    characters, word, in_word, joins, item = state.before, state.word, state.in_word, table.shared.scalars.joins_words, U0
    block, bits, behind = count_from(text, np.uint64(pretokens[0]) & PLACE, characters)
    for index in range(count):
        pretoken, end = np.uint64(pretokens[index]), np.uint64(pretokens[np.uint64(index) + U1]) & PLACE
        kind = pretoken >> KIND << KIND
        is_pending = item < waiting and pending_of(pending[item])[1] == np.uint64(index)
        ids = np.uint64(work.counts[item]) if is_pending and kind == U0 else np.uint64(kind != DROPPED)
        item += np.uint64(is_pending)
        if kind == ROW_END:
            row += U1
            place += np.uint64(len(output.suffix)) + (np.uint64(len(output.prefix)) if row < np.uint64(len(output.ends)) else U0)
            characters = word = in_word = U0
            block, bits, behind = count_from(text, end, U0)
            continue
        word += in_word if kind == SPECIAL or (kind == U0 and restarts_at(text, pretoken, table.rules)) else U0
        in_word = joins if kind == U0 else U0
        reached = pretoken & PLACE
        begun = characters
        for _ in range(ids):
            after = np.uint64(offsets[place << U1 | U1]) if is_pending and kind == U0 else end
            if after > reached:
                begun, reached = characters, after
                block, bits, behind = count_to(text, after, block, bits, behind)
                characters = characters_before(after, block, bits, behind)
            put_span(begun, characters, word, output, place)
            place += U1
        if kind == DROPPED:
            block, bits, behind = count_to(text, end, block, bits, behind)
            characters = characters_before(end, block, bits, behind)
        word += np.uint64(kind != DROPPED and not in_word)
    state.before, state.word, state.in_word = characters, word, in_word


@inlined
def encode(text, starts, more, table, output, work):
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table` and `work`,
    which are `fst.machines.unigram.arguments.UnigramArguments` and `UnigramWork`.
    """
    own, shared = work.shared, table.shared
    state, pretokens, scratch, pending = own.state, own.pretokens, own.scratch, own.pending
    if not state.is_open:
        work.total[0] = 0
    begin_call(starts, more, output, state)
    rows, row, ended, at, is_stuck = np.uint64(len(starts)) - U1, U0, U0, np.uint64(starts[0]), False
    while row < rows and not is_stuck:
        row, at, count, is_stuck = find_pretokens(text, starts, row, at, more, shared, own)
        written, waiting = find_words(text, count, shared, own)
        find_nodes(text, pretokens, pending, waiting, table.ends, table.rules[RESTART] != AT_STRETCH, work)
        place, first = state.count, ended
        ended = emit(text, pretokens, scratch, written, pending, waiting, ended, table, output, work)
        if len(output) > IDS_ALONE and len(output.offsets):
            locate(text, pretokens, count, waiting, table, output, place, first, work)
    return at


@kernel
def encode_rows(text, starts, more, table, output, work):
    """Encode texts with the score scope "word" and sums in float64; see `encode`."""
    return encode(text, starts, more, table, output, work)
